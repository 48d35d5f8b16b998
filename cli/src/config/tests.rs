use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sanswire::host::RefreshMode;
use sanswire::host::catalog::ExposureMode;
use sanswire::host::policy::{RuleDecision, ServerMode};
use sanswire::host::results::Marker;

use super::*;

/// A folder of its own, gone afterwards.
pub(super) struct Folder(pub(super) PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sanswire-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("work")).expect("a folder");
        Self(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    pub(super) fn places(&self) -> Places {
        Places {
            directory: self.0.join("work"),
            home: Some(self.0.clone()),
            config_home: Some(self.0.join("config")),
            roaming: None,
            system: System::Other,
            named: BTreeMap::new(),
        }
    }

    pub(super) fn load(&self) -> Configuration {
        Configuration::load_in(&self.places(), None).unwrap_or_else(|failure| panic!("{}", failure.message))
    }
}

const OWN: &str = "config/sanswire/config.json";
const PROJECT: &str = "work/.sanswire.json";

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn every_member_of_an_entry_of_our_own_is_read() {
    // H-148
    let folder = Folder::new("every");
    folder.write(
        OWN,
        r#"{"mcpServers":{
            "all":{"command":"x","transport":"stdio","approval":"allow","trust_annotations":true,
                "allowed_tools":["a","b"],"blocked_tools":["b"],"sub_agents":["helper"],"connect_timeout":2.5,
                "timeout":9,"tool_timeouts":{"slow":100},"enabled":false},
            "closed":{"command":"x","approval":"deny","allowed_tools":[]},
            "plain":{"command":"x"}},
          "servers":{"web":{"url":"https://x/","type":"sse","headers":{"Authorization":"${TOKEN}","A":"b\r\nc"}},
            "old":{"url":"https://x/","transport":"sse"},"new":{"url":"https://x/","transport":"http"}}}"#,
    );
    let found = folder.load();
    assert_eq!(found.warnings, Vec::<String>::new());
    let host = found.host();
    let all = &host.servers["all"];
    assert_eq!((all.enabled, all.transport, all.mode), (false, "stdio", ServerMode::Allow));
    assert!(all.trust_annotations);
    assert_eq!(all.filter.allowed_tools, Some(strings(&["a", "b"])));
    assert_eq!(all.filter.blocked_tools, ["b"]);
    assert_eq!(all.sub_agents, ["helper"]);
    assert_eq!(all.connect_timeout(), Duration::from_millis(2500));
    let access = &found.find("all").expect("all").access;
    assert_eq!(access.timeout, Some(Duration::from_secs(9)));
    assert_eq!(access.tool_timeouts["slow"], Duration::from_secs(100));
    let closed = &host.servers["closed"];
    assert_eq!((closed.mode, &closed.filter.allowed_tools), (ServerMode::Deny, &Some(Vec::new())));
    let plain = &host.servers["plain"];
    assert_eq!((plain.enabled, plain.mode, plain.trust_annotations), (true, ServerMode::Ask, false));
    assert_eq!((&plain.filter.allowed_tools, plain.sub_agents.len()), (&None, 0));
    assert_eq!(host.servers["web"].transport, "http");
    let Kind::Http(Remote { url, headers, speaks, .. }) = &found.find("web").expect("web").kind else {
        panic!("a command")
    };
    assert_eq!((url.as_str(), *speaks), ("https://x/", Speaks::Sse));
    for (name, said) in [("old", Speaks::Sse), ("new", Speaks::Http)] {
        let Kind::Http(Remote { speaks, .. }) = found.find(name).expect(name).kind else {
            panic!("a command")
        };
        assert_eq!(speaks, said, "{name}");
    }
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(*headers, [header("Authorization", "${TOKEN}"), header("A", "bc")]);
}

#[test]
fn what_is_said_for_all_servers_reaches_the_host_and_the_policy() {
    let folder = Folder::new("all");
    folder.write(
        OWN,
        r#"{"sanswire":{"rules":{"a/*":"allow","a/rm":"deny"},"never_trust_annotations":true,
            "plan_mode_honours_grants":false,"ask_on_repeat":5,"exposure":"lazy","tool_refresh":"live",
            "max_result_bytes":9000,"marker":"bytes_total_kept","enabled_default":false,"grants":"persistent"},
          "mcpServers":{"a":{"command":"x"},"b":{"command":"x","enabled":true},"c":{"command":"x","disabled":false}}}"#,
    );
    let found = folder.load();
    let host = found.host();
    let on: Vec<(&str, bool)> =
        ["a", "b", "c"].into_iter().map(|name| (name, host.servers[name].enabled)).collect();
    assert_eq!(on, [("a", false), ("b", true), ("c", true)]);
    let decisions: Vec<RuleDecision> = host.policy.rules.rules().iter().map(|(_, said)| *said).collect();
    assert_eq!(decisions, [RuleDecision::Allow, RuleDecision::Deny]);
    assert!(host.policy.never_trust_annotations && !host.policy.plan_mode_honours_grants);
    assert_eq!(host.policy.ask_on_repeat, 5);
    assert_eq!(host.exposure.mode, ExposureMode::Lazy);
    assert_eq!(host.refresh.mode, RefreshMode::Live);
    assert_eq!((host.results.max_result_bytes, host.results.marker), (9000, Marker::BytesTotalKept));
    assert_eq!(found.settings.grants, GrantStore::Persistent);
    let policy = found.policy();
    assert_eq!(policy.servers["a"].mode, ServerMode::Ask);
}

#[test]
fn no_file_of_a_project_or_of_another_program_lets_more_through() {
    let folder = Folder::new("strangers");
    let wide = r#"{"command":"x","approval":"allow","trust_annotations":true,"sub_agents":["any"]}"#;
    folder.write(
        PROJECT,
        &format!(r#"{{"sanswire":{{"rules":{{"*/*":"allow","p/rm":"deny"}}}},"mcpServers":{{"p":{wide},"same":{wide}}}}}"#),
    );
    folder.write("work/.mcp.json", &format!(r#"{{"mcpServers":{{"m":{wide}}}}}"#));
    folder.write(".cursor/mcp.json", &format!(r#"{{"mcpServers":{{"c":{wide}}}}}"#));
    folder.write(OWN, r#"{"mcpServers":{"same":{"command":"mine","approval":"allow"}}}"#);
    let found = folder.load();
    let host = found.host();
    for name in ["p", "m", "c", "same@project"] {
        let server = &host.servers[name];
        assert_eq!((server.mode, server.trust_annotations), (ServerMode::Ask, false), "{name}");
        assert!(server.sub_agents.is_empty(), "{name}");
    }
    // The user's own name stays the user's own server.
    assert_eq!(host.servers["same"].mode, ServerMode::Allow);
    let rules: Vec<String> =
        host.policy.rules.rules().iter().map(|(key, said)| format!("{key} {}", said.as_str())).collect();
    assert_eq!(rules, ["p/rm deny"]);
    let told =
        |what: &str| found.warnings.iter().any(|warning| warning.contains("p in ") && warning.contains(what));
    assert!(
        told("approval \"allow\"") && told("trust_annotations") && told("sub_agents"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn a_mistyped_decision_makes_the_entry_useless_and_other_slips_are_told() {
    let folder = Folder::new("slips");
    for (member, says) in [
        (r#""aproval":"deny""#, "did you mean approval?"),
        (r#""allowedTools":["a"]"#, "did you mean allowed_tools?"),
        (r#""block_tools":["a"]"#, "did you mean blocked_tools?"),
        (r#""approval":"yes""#, "set it to ask, allow or deny"),
        (r#""approval":true"#, "approval is a boolean"),
        (r#""allowed_tools":"a""#, "not an array of strings"),
        (r#""trust_annotations":"no""#, "not true or false"),
        (r#""connect_timeout":0"#, "connect_timeout is not a number of seconds"),
        (r#""tool_timeouts":{"":1}"#, "a tool without a name"),
        (r#""tool_timeouts":{"t":0}"#, "tool_timeouts.t is not a number of seconds"),
        (r#""enable":false"#, "did you mean enabled?"),
    ] {
        folder.write(OWN, &format!(r#"{{"mcpServers":{{"s":{{"command":"x",{member}}}}}}}"#));
        let found = folder.load();
        let Kind::Broken(why) = &found.find("s").expect("s").kind else { panic!("{member} passed") };
        assert!(why.contains(says), "{member}: {why}");
    }
    for (headers, says) in
        [(r#"{"Mcp-Session-Id":"1"}"#, "belongs to the transport"), (r#"{"a b":"1"}"#, "no name of a header")]
    {
        folder.write(OWN, &format!(r#"{{"mcpServers":{{"s":{{"url":"https://x","headers":{headers}}}}}}}"#));
        let Kind::Broken(why) = &folder.load().find("s").expect("s").kind.clone() else {
            panic!("{headers}")
        };
        assert!(why.contains(says), "{headers}: {why}");
    }
    folder.write(OWN, r#"{"mcpServer":{},"mcpServers":{"s":{"command":"x","argss":[],"color":1}}}"#);
    let found = folder.load();
    let all = found.warnings.join("\n");
    for says in
        ["did you mean mcpServers?", "\"argss\" has no effect; did you mean args?", "\"color\" has no effect"]
    {
        assert!(all.contains(says), "{says}: {all}");
    }
    assert!(matches!(found.find("s").expect("s").kind, Kind::Command { .. }));
}

#[test]
fn what_is_sent_to_a_server_on_the_web_is_put_in_and_checked() {
    // H-151
    let folder = Folder::new("web");
    let home = std::env::var("HOME").expect("HOME is set");
    folder.write(
        OWN,
        r#"{"mcpServers":{
            "s":{"url":"https://x/${HOME}","headers":{"Authorization":"${HOME}","X-Plain":"a ${NOPE:-b}"}},
            "basic":{"url":"https://x","headers":{"authorization":"Basic ${HOME}"}},
            "unset":{"url":"https://x","headers":{"A":"${SURELY_NOT_SET}"}},
            "break":{"url":"https://x","headers":{"A":"${NOPE:-a\nb}"}}}}"#,
    );
    let found = folder.load();
    let web = |name: &str| web(found.find(name).expect(name)).map(|web| web.expect("on the web"));
    let s = web("s").unwrap_or_else(|failure| panic!("{}", failure.message));
    assert_eq!(s.url, "https://x/${HOME}");
    let header = |name: &str, value: String| (name.to_owned(), value);
    assert_eq!(
        s.headers,
        [header("Authorization", format!("Bearer {home}")), header("X-Plain", "a b".into())]
    );
    assert!(s.secrets.contains(&format!("Bearer {home}")), "{:?}", s.secrets);
    assert!(s.speaks == Speaks::Auto && s.warnings.is_empty());
    let basic = web("basic").unwrap_or_else(|failure| panic!("{}", failure.message));
    assert_eq!(basic.headers, [header("authorization", format!("Basic {home}"))]);
    assert!(web("unset").expect_err("unset").message.contains("SURELY_NOT_SET"));
    // The line break of a default in the file went when the file was read.
    assert_eq!(web("break").map(|web| web.headers).ok(), Some(vec![header("A", "ab".into())]));
}
