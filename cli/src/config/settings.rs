//! What our own files say for all servers: their member `sanswire`.
//!
//! A file of a project comes from strangers. What it says counts where it makes things stricter, or where it is a
//! matter of taste; it never lets anything through that the user's own file does not.

use sanswire::host::RefreshMode;
use sanswire::host::catalog::ExposureMode;
use sanswire::host::policy::{CallRules, RuleDecision, RuleKey};
use sanswire::host::results::{MAX_RESULT_CEILING, Marker};
use sanswire::jsonrpc::{JsonRef, Kind};

use crate::arguments::suggestion;
use crate::json::{member, text};

const KNOWN: [&str; 10] = [
    "rules",
    "never_trust_annotations",
    "plan_mode_honours_grants",
    "ask_on_repeat",
    "exposure",
    "tool_refresh",
    "max_result_bytes",
    "marker",
    "enabled_default",
    "grants",
];

/// How long it is remembered that a tool may always be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GrantStore {
    /// As long as the program runs.
    #[default]
    Session,
    /// Between runs.
    Persistent,
}

/// What all files together say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) rules: CallRules,
    pub(crate) never_trust_annotations: bool,
    pub(crate) plan_mode_honours_grants: Option<bool>,
    pub(crate) ask_on_repeat: Option<u32>,
    pub(crate) exposure: Option<ExposureMode>,
    pub(crate) tool_refresh: Option<RefreshMode>,
    pub(crate) max_result_bytes: Option<usize>,
    pub(crate) marker: Option<Marker>,
    pub(crate) grants: GrantStore,
}

/// What one file says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    rules: CallRules,
    never_trust_annotations: Option<bool>,
    plan_mode_honours_grants: Option<bool>,
    ask_on_repeat: Option<u32>,
    exposure: Option<ExposureMode>,
    tool_refresh: Option<RefreshMode>,
    max_result_bytes: Option<usize>,
    marker: Option<Marker>,
    grants: Option<GrantStore>,
    /// Whether a server of this file is on that does not say so itself.
    pub(super) enabled_default: Option<bool>,
}

impl Said {
    /// Reads the member `sanswire` of a file. What is odd goes into `warnings`.
    ///
    /// Fails where something cannot be meant, or looks like a mistyped name: what was meant to be forbidden is not
    /// allowed by a slip.
    pub(super) fn read(file: JsonRef<'_>, warnings: &mut Vec<String>) -> Result<Self, String> {
        let Some(value) = member(file, "sanswire") else { return Ok(Self::default()) };
        if value.kind() != Kind::Object {
            return Err(format!("sanswire is {}, not an object", value.kind()));
        }
        for (name, _) in value.members() {
            let name = name.decode();
            if KNOWN.contains(&&*name) {
                continue;
            }
            let known = KNOWN.map(str::to_owned);
            match suggestion(&name, &known) {
                Some(meant) => return Err(format!("sanswire has {name:?}; did you mean {meant}?")),
                None => warnings.push(format!("sanswire.{name} is no setting and has no effect")),
            }
        }
        Ok(Self {
            rules: rules(value, warnings)?,
            never_trust_annotations: flag(value, "never_trust_annotations")?,
            plan_mode_honours_grants: flag(value, "plan_mode_honours_grants")?,
            ask_on_repeat: number(value, "ask_on_repeat", 0, u32::MAX.into())?
                .and_then(|number| u32::try_from(number).ok()),
            exposure: choice(value, "exposure", ExposureMode::named, "eager, lazy or auto")?,
            tool_refresh: choice(value, "tool_refresh", RefreshMode::named, "frozen, staged or live")?,
            max_result_bytes: number(value, "max_result_bytes", 1, MAX_RESULT_CEILING as u64)?
                .and_then(|number| usize::try_from(number).ok()),
            marker: choice(value, "marker", Marker::named, "shown_total or bytes_total_kept")?,
            grants: choice(value, "grants", grants, "session or persistent")?,
            enabled_default: flag(value, "enabled_default")?,
        })
    }
}

impl Said {
    /// What rules of this file would let through.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &RuleKey> {
        self.rules.rules().iter().filter(|(_, said)| *said == RuleDecision::Allow).map(|(key, _)| key)
    }
}

impl Settings {
    /// The user's, and a project's as far as it may say something.
    pub(super) fn of(user: Said, project: &Said) -> Self {
        let stricter = |a: Option<u32>, b: Option<u32>| match (a.unwrap_or(3), b) {
            (0, Some(b)) => Some(b),
            (a, Some(b)) if b > 0 => Some(a.min(b)),
            _ => a,
        };
        let calmer = |a: Option<RefreshMode>, b: Option<RefreshMode>| match (a.unwrap_or_default(), b) {
            (_, Some(RefreshMode::Frozen)) => b,
            (RefreshMode::Live, Some(RefreshMode::Staged)) => b,
            _ => a,
        };
        Self {
            rules: joined(&user.rules, &project.rules),
            never_trust_annotations: user.never_trust_annotations == Some(true)
                || project.never_trust_annotations == Some(true),
            plan_mode_honours_grants: project
                .plan_mode_honours_grants
                .filter(|honours| !honours)
                .or(user.plan_mode_honours_grants),
            ask_on_repeat: stricter(user.ask_on_repeat, project.ask_on_repeat),
            exposure: user.exposure.or(project.exposure),
            tool_refresh: calmer(user.tool_refresh, project.tool_refresh),
            max_result_bytes: user.max_result_bytes.or(project.max_result_bytes),
            marker: user.marker.or(project.marker),
            grants: match (user.grants, project.grants) {
                (Some(GrantStore::Persistent), Some(GrantStore::Session)) => GrantStore::Session,
                (user, _) => user.unwrap_or_default(),
            },
        }
    }
}

/// The user's rules between what a project asks about, which counts where the user says nothing, and what it denies,
/// which counts in any case.
fn joined(user: &CallRules, project: &CallRules) -> CallRules {
    let of = |decision| project.rules().iter().filter(move |(_, said)| *said == decision).cloned();
    let user = user.rules().iter().cloned();
    CallRules::of(of(RuleDecision::Ask).chain(user).chain(of(RuleDecision::Deny)))
}

fn rules(value: JsonRef<'_>, warnings: &mut Vec<String>) -> Result<CallRules, String> {
    let Some(rules) = member(value, "rules") else { return Ok(CallRules::default()) };
    if rules.kind() != Kind::Object {
        return Err(format!("sanswire.rules is {}, not an object of SERVER/TOOL and decision", rules.kind()));
    }
    let said: Vec<(String, String)> = rules
        .members()
        .map(|(key, decision)| {
            let decision = decision.str().map(|text| text.decode().into_owned()).unwrap_or_default();
            (key.decode().into_owned(), decision)
        })
        .collect();
    let (rules, dropped) =
        CallRules::read(said.iter().map(|(key, decision)| (key.as_str(), decision.as_str())));
    warnings.extend(dropped.iter().map(|dropped| format!("sanswire.rules: {dropped}")));
    let mut seen: Vec<&RuleKey> = Vec::new();
    for (key, _) in rules.rules() {
        if seen.contains(&key) {
            warnings.push(format!("sanswire.rules has {key} twice; the later one counts"));
        }
        seen.push(key);
    }
    Ok(rules)
}

fn grants(name: &str) -> Option<GrantStore> {
    match name {
        "session" => Some(GrantStore::Session),
        "persistent" => Some(GrantStore::Persistent),
        _ => None,
    }
}

fn flag(value: JsonRef<'_>, name: &str) -> Result<Option<bool>, String> {
    let Some(flag) = member(value, name) else { return Ok(None) };
    let said = flag.as_bool();
    said.map(Some).ok_or_else(|| format!("sanswire.{name} is {}, not true or false", flag.kind()))
}

fn number(value: JsonRef<'_>, name: &str, min: u64, max: u64) -> Result<Option<u64>, String> {
    let Some(number) = member(value, name) else { return Ok(None) };
    let said = number.as_u64().filter(|said| (min..=max).contains(said));
    said.map(Some).ok_or_else(|| format!("sanswire.{name} is no whole number from {min} to {max}"))
}

fn choice<T>(
    value: JsonRef<'_>,
    name: &str,
    named: impl Fn(&str) -> Option<T>,
    choices: &str,
) -> Result<Option<T>, String> {
    if member(value, name).is_none() {
        return Ok(None);
    }
    let said = text(value, name).unwrap_or_default();
    named(&said).map(Some).ok_or_else(|| format!("sanswire.{name} is {said:?}, not {choices}"))
}

#[cfg(test)]
mod tests {
    use sanswire::host::Provenance;
    use sanswire::jsonrpc::RawJson;

    use super::*;

    fn said(settings: &str) -> Result<(Said, Vec<String>), String> {
        let file =
            RawJson::parse_str(&format!(r#"{{"sanswire":{settings}}}"#)).unwrap_or_else(|e| panic!("{e}"));
        let mut warnings = Vec::new();
        Said::read(file.view(), &mut warnings).map(|said| (said, warnings))
    }

    fn both(user: &str, project: &str) -> Settings {
        let read = |text| said(text).unwrap_or_else(|why| panic!("{why}")).0;
        Settings::of(read(user), &read(project))
    }

    fn decision(settings: &Settings, tool: &str) -> Option<&'static str> {
        let tool = Provenance { server: "s".into(), tool: tool.into() };
        settings.rules.find(&tool).map(|(_, decision)| decision.as_str())
    }

    #[test]
    fn a_project_makes_things_stricter_and_never_looser() {
        let user = r#"{"rules":{"s/read":"allow","s/rm":"deny","s/edit":"ask"}}"#;
        let settings = both(user, r#"{"rules":{"s/*":"allow"}}"#);
        for (tool, expected) in
            [("read", Some("allow")), ("rm", Some("deny")), ("edit", Some("ask")), ("x", None)]
        {
            assert_eq!(decision(&settings, tool), expected, "{tool}");
        }
        let settings = both(user, r#"{"rules":{"s/*":"ask","s/edit":"deny"}}"#);
        for (tool, expected) in [("read", "allow"), ("rm", "deny"), ("edit", "deny"), ("x", "ask")] {
            assert_eq!(decision(&settings, tool), Some(expected), "{tool}");
        }
        let looser = r#"{"never_trust_annotations":false,"plan_mode_honours_grants":true,"ask_on_repeat":0,
            "tool_refresh":"live","grants":"persistent"}"#;
        let strict = r#"{"never_trust_annotations":true,"plan_mode_honours_grants":false,"ask_on_repeat":2,
            "tool_refresh":"frozen","grants":"session"}"#;
        let widest = r#"{"ask_on_repeat":0,"tool_refresh":"live","grants":"persistent"}"#;
        for (user, project) in [(strict, looser), (looser, strict), (widest, strict), ("{}", strict)] {
            let settings = both(user, project);
            assert!(settings.never_trust_annotations);
            assert_eq!(settings.plan_mode_honours_grants, Some(false));
            assert_eq!(settings.ask_on_repeat, Some(2));
            assert_eq!(settings.tool_refresh, Some(RefreshMode::Frozen));
            assert_eq!(settings.grants, GrantStore::Session);
        }
        let settings = both("{}", looser);
        assert!(!settings.never_trust_annotations && settings.plan_mode_honours_grants.is_none());
        assert_eq!(settings.ask_on_repeat, None);
        assert_eq!(settings.tool_refresh, None);
        assert_eq!(settings.grants, GrantStore::Session);
        assert_eq!(both(widest, "{}").grants, GrantStore::Persistent);
        // What is a matter of taste a project may choose, where the user did not.
        let taste = r#"{"exposure":"lazy","max_result_bytes":1000,"marker":"bytes_total_kept"}"#;
        let settings = both(r#"{"exposure":"eager"}"#, taste);
        assert_eq!(settings.exposure, Some(ExposureMode::Eager));
        assert_eq!((settings.max_result_bytes, settings.marker), (Some(1000), Some(Marker::BytesTotalKept)));
    }

    #[test]
    fn a_slip_never_lets_anything_through() {
        for (settings, says) in [
            ("[]", "an array, not an object"),
            (r#"{"rule":{"s/rm":"deny"}}"#, "did you mean rules?"),
            (r#"{"rules":[]}"#, "not an object of SERVER/TOOL"),
            (r#"{"ask_on_repeat":-1}"#, "no whole number from 0"),
            (r#"{"max_result_bytes":0}"#, "no whole number from 1 to 1048576"),
            (r#"{"grants":"forever"}"#, "not session or persistent"),
            (r#"{"exposure":"all"}"#, "not eager, lazy or auto"),
            (r#"{"tool_refresh":5}"#, "not frozen, staged or live"),
            (r#"{"never_trust_annotations":"yes"}"#, "not true or false"),
        ] {
            let why = said(settings).map(|_| ()).expect_err(settings);
            assert!(why.contains(says), "{settings}: {why}");
        }
        let (read, warnings) =
            said(r#"{"rules":{"s/a":"Allow","s":"allow","s/b":true},"zzz":1}"#).unwrap_or_default();
        assert_eq!(read.rules.rules(), []);
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[0].contains("zzz") && warnings[1].contains("s/a"), "{warnings:?}");
        let (_, warnings) = said(r#"{"rules":{"s/a":"deny","s/a":"allow"}}"#).unwrap_or_default();
        assert!(warnings[0].contains("twice"), "{warnings:?}");
    }
}
