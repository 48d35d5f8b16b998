//! What a client may try between the rounds of a call of 2026-07-28. The servers are those of `asks`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};

use crate::common::{raw, trials};

trials!(
    a_state_that_was_changed_or_belongs_elsewhere_is_refused,
    a_state_is_too_old_after_its_lifetime,
    a_state_outlives_the_server_if_its_key_does,
    answers_to_what_was_not_asked_are_ignored,
);

/// A server that is spoken to in lines of our own, in 2026-07-28.
struct Lines {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u32,
}

impl Lines {
    fn new(flags: &[&str]) -> Self {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--child", "asking"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, id: 0 }
    }

    /// The answer to a call with these parameters more.
    fn call(&mut self, tool: &str, more: &str) -> RawJson {
        self.id += 1;
        writeln!(
            self.input,
            concat!(
                r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","_meta":{{"#,
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                r#""io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{}}}}}}{}}}}}"#
            ),
            self.id, tool, more
        )
        .unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        raw(line.trim_end())
    }

    /// The state that a round ends with.
    fn state(&mut self, tool: &str, more: &str) -> String {
        let answer = self.call(tool, more);
        let state = answer.view().get("result").and_then(|result| result.get("requestState"));
        state.and_then(JsonRef::str).unwrap_or_else(|| panic!("{}", answer.as_str())).decode().into_owned()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const WORD: &str = r#""inputResponses":{"word":{"action":"accept","content":{"word":"a"}}}"#;

fn code(answer: &RawJson) -> Option<i64> {
    answer.view().get("error")?.get("code")?.as_i64()
}

fn a_state_that_was_changed_or_belongs_elsewhere_is_refused() {
    // P-314, P-315, P-316
    let mut server = Lines::new(&[]);
    let state = server.state("say", "");
    let with = |state: &str, arguments: &str| format!(r#",{WORD},"requestState":"{state}"{arguments}"#);
    let bent = |at: usize| {
        let mut bytes = state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    for (what, more) in [
        ("its beginning was changed", with(&bent(0), "")),
        ("its middle was changed", with(&bent(state.len() / 2), "")),
        ("its tag was changed", with(&bent(state.len() - 3), "")),
        ("junk", with("junk", "")),
        ("other arguments", with(&state, r#","arguments":{"a":1}"#)),
    ] {
        let answer = server.call("say", &more);
        assert_eq!(code(&answer), Some(-32602), "{what}: {}", answer.as_str());
    }
    let elsewhere = server.call("perhaps", &with(&state, ""));
    assert_eq!(code(&elsewhere), Some(-32602), "{}", elsewhere.as_str());
    let good = server.call("say", &with(&state, ""));
    assert!(good.as_str().contains("accepted"), "{}", good.as_str());
}

fn a_state_is_too_old_after_its_lifetime() {
    // P-316
    let mut server = Lines::new(&[]);
    let state = server.state("say", "");
    let more = format!(r#",{WORD},"requestState":"{state}""#);
    server.call("pass", "");
    assert!(server.call("say", &more).as_str().contains("accepted"));
    server.call("pass", "");
    let answer = server.call("say", &more);
    assert_eq!(code(&answer), Some(-32602));
    assert!(answer.as_str().contains("expired"), "{}", answer.as_str());
}

fn a_state_outlives_the_server_if_its_key_does() {
    let state = Lines::new(&["key=7"]).state("say", "");
    let more = format!(r#",{WORD},"requestState":"{state}""#);
    assert!(Lines::new(&["key=7"]).call("say", &more).as_str().contains("accepted"));
    for other in [&["key=8"][..], &[]] {
        assert_eq!(code(&Lines::new(other).call("say", &more)), Some(-32602), "{other:?}");
    }
}

fn answers_to_what_was_not_asked_are_ignored() {
    // P-319, P-320
    let mut server = Lines::new(&[]);
    let state = server.state("order", "");
    let answers = |keys: &[&str]| {
        let answer = |key: &&str| format!(r#""{key}":{{"action":"accept","content":{{"{key}":"a"}}}}"#);
        let answers: Vec<_> = keys.iter().map(answer).collect();
        format!(r#","inputResponses":{{{}}},"requestState":"{state}""#, answers.join(","))
    };
    // The size alone was asked for so far.
    for (given, asked) in [(&["size", "colour"][..], "colour"), (&["colour"], "size")] {
        let answer = server.call("order", &answers(given));
        let requests = answer.view().get("result").and_then(|result| result.get("inputRequests")).unwrap();
        let keys: Vec<_> = requests.members().map(|(key, _)| key.decode().into_owned()).collect();
        assert_eq!(keys, [asked], "{given:?}");
    }
}
