//! What a handler asks its client, in both eras.
#![expect(clippy::print_stderr, reason = "what the child writes there is what the test reads")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, SystemTime};

use sanswire_std::sanswire::client::{Outcome, Start};
use sanswire_std::sanswire::jsonrpc::{JsonRef, RawJson};
use sanswire_std::sanswire::mcp::types::call_result::CallToolResult;
use sanswire_std::sanswire::mcp::types::elicited::Elicited;
use sanswire_std::sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use sanswire_std::sanswire::mcp::{Method, Revision};
use sanswire_std::sanswire::waist::Bindings;
use sanswire_std::{AskError, Call, Client, Pending, Prompt, Resource, Responder, Schema, Server, ToolError};
use serde::de::IgnoredAny;

use crate::common::{child, eventually, no_options, options, outcome, raw, text_of, tool, trials};

trials!(
    questions_in_sequence_are_answered_in_both_eras,
    several_questions_make_one_round,
    a_person_may_decline_or_cancel,
    a_person_may_be_sent_to_an_address,
    prompts_and_resources_ask_as_well,
    a_question_ends_with_its_call,
    a_question_ends_with_its_connection,
    a_client_that_declared_nothing_is_not_asked,
    a_handler_may_do_without_an_answer,
    a_client_that_fails_to_ask_fails_the_tool,
    a_call_that_asks_without_end_is_stopped,
    a_round_is_neither_a_failure_nor_a_repetition,
);

/// A server of tools that ask. Handlers write to standard error when they run.
pub(crate) fn serve(flags: &[String]) {
    const ANY: &str = r#"{"inputSchema":{"type":"object"}}"#;
    let flag = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name));
    let passed = Arc::new(AtomicU64::new(0));
    let (clock, passes) = (Arc::clone(&passed), Arc::clone(&passed));
    let mut builder = Server::builder("asking", "0")
        .wall_clock(move || {
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + clock.load(Ordering::SeqCst))
        })
        .tool("order", ANY, order)
        .tool("both", ANY, both)
        .tool("say", ANY, say)
        .tool("perhaps", ANY, perhaps)
        .tool("sign", ANY, sign)
        .prompt("greet", Prompt::new("Greets"), |_: (), call: &Call<'_>| {
            Ok(format!("Greet {}.", filled(&call.ask("name", &ask_for("name"))?, "name")))
        })
        .resource("asking://name", Resource::new("name"), |_, call: &Call<'_>| {
            Ok(filled(&call.ask("name", &ask_for("name"))?, "name"))
        })
        .tool("endless", ANY, endless)
        .tool("pass", ANY, move |_: IgnoredAny, _: &Call<'_>| {
            passes.fetch_add(599, Ordering::SeqCst);
            Ok("599 s later")
        });
    if let Some(byte) = flag("key=") {
        builder = builder.state_key([byte.parse().unwrap(); 32]);
    }
    if flag("strict").is_some() {
        let mut bindings = Bindings::default();
        (bindings.brakes.max_repeats, bindings.brakes.error_percent) = (1, 1);
        bindings.brakes.error_samples = 1;
        builder = builder.waist(bindings).records(|record, _| {
            eprintln!("record {} {}", record.kind.as_str(), record.error.map_or("-", |class| class.as_str()));
        });
    }
    builder.build().unwrap().serve_stdio().unwrap();
}

fn ask_for(field: &str) -> InputRequest {
    let params = format!(
        r#"{{"message":"{field}?","requestedSchema":{{"type":"object",
            "properties":{{"{field}":{{"type":"string"}}}},"required":["{field}"]}}}}"#
    );
    InputRequest { kind: InputKind::ElicitForm, params: Some(raw(&params)) }
}

fn filled(answer: &RawJson, field: &str) -> String {
    let field = answer.view().get("content").and_then(|content| content.get(field)).and_then(JsonRef::str);
    field.map_or("nothing".into(), |text| text.decode().into_owned())
}

fn order(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
    eprintln!("ran order");
    let size = call.ask("size", &ask_for("size"))?;
    let colour = call.ask("colour", &ask_for("colour"))?;
    // Asked before: known.
    assert_eq!(call.ask("size", &ask_for("size"))?, size);
    eprintln!("ordered");
    Ok(format!("{} {}", filled(&size, "size"), filled(&colour, "colour")))
}

fn both(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
    eprintln!("ran both");
    let answers = call.ask_all(&[("size", &ask_for("size")), ("colour", &ask_for("colour"))])?;
    let [size, colour] = &answers[..] else { panic!("one answer a question") };
    Ok(format!("{} {}", filled(size, "size"), filled(colour, "colour")))
}

fn say(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
    let form = Schema::object().property("word", Schema::string());
    Ok(match call.elicit("word", "word?", &form)? {
        Elicited::Accepted(content) => format!("accepted {}", content.as_str()),
        Elicited::Declined => "declined".into(),
        Elicited::Cancelled => "cancelled".into(),
    })
}

fn sign(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
    let signed = call.elicit_url("signed", "sign here", "https://example.com/sign", "sign-1")?;
    Ok(format!("{signed:?}"))
}

fn perhaps(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
    match call.ask("word", &ask_for("word")) {
        Err(AskError::Undeclared { missing, .. }) => {
            Ok(format!("without a word: {}", missing.elicitation_form))
        }
        other => Ok(filled(&other?, "word")),
    }
}

fn endless(_: IgnoredAny, call: &Call<'_>) -> Result<String, ToolError> {
    for n in 0.. {
        call.ask(&n.to_string(), &ask_for("more"))?;
    }
    unreachable!()
}

/// Fills each field with its own name in capitals; declines a question of a word.
struct Fills(InputAnswer);

impl Responder for Fills {
    fn respond(&self, request: &InputRequest) -> InputAnswer {
        let field = request.message().unwrap();
        let field = field.trim_end_matches('?');
        if field == "word" {
            return self.0.clone();
        }
        let content = raw(&format!(r#"{{"{field}":"{}"}}"#, field.to_uppercase()));
        InputAnswer::accept(Some(&content))
    }
}

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn connect(flags: &[&str], revision: Revision, word: Option<InputAnswer>) -> Client {
    let mut options = options();
    options.config.start = Start::Pinned(revision);
    if let Some(word) = word {
        options.config.capabilities.elicitation_form = true;
        options.responder = Some(Arc::new(Fills(word)));
    }
    Client::connect(&child(&[&["asking"], flags].concat()), options).unwrap()
}

fn failed(client: &Client, tool: &str) -> String {
    let Outcome::Complete(result) = outcome(client, tool, "{}") else { panic!("{tool} is no result") };
    let result = CallToolResult::new(result);
    assert!(result.is_error(), "{tool}: {}", result.text());
    result.text()
}

/// How often a line was written by handlers, after the server's end.
fn count(client: &Client, line: &str) -> usize {
    client.close();
    client.stderr_tail().lines().filter(|written| *written == line).count()
}

fn questions_in_sequence_are_answered_in_both_eras() {
    for (revision, runs) in ERAS.into_iter().zip([1, 3]) {
        let client = connect(&[], revision, Some(InputAnswer::Decline));
        assert_eq!(tool(&client, "order", "{}"), "SIZE COLOUR", "{revision}");
        client.close();
        // A round starts the handler again; it comes behind its last question once.
        assert_eq!((count(&client, "ran order"), count(&client, "ordered")), (runs, 1), "{revision}");
    }
}

fn several_questions_make_one_round() {
    for (revision, runs) in ERAS.into_iter().zip([1, 2]) {
        let client = connect(&[], revision, Some(InputAnswer::Decline));
        assert_eq!(tool(&client, "both", "{}"), "SIZE COLOUR", "{revision}");
        assert_eq!(count(&client, "ran both"), runs, "{revision}");
    }
}

fn a_person_may_decline_or_cancel() {
    let accepted = InputAnswer::accept(Some(&raw(r#"{"word":"a"}"#)));
    for revision in ERAS {
        for (answer, text) in [
            (InputAnswer::Decline, "declined"),
            (InputAnswer::Cancel, "cancelled"),
            (accepted.clone(), r#"accepted {"word":"a"}"#),
        ] {
            let client = connect(&[], revision, Some(answer));
            assert_eq!(tool(&client, "say", "{}"), text, "{revision}");
        }
    }
}

fn a_person_may_be_sent_to_an_address() {
    struct Opens;
    impl Responder for Opens {
        fn respond(&self, request: &InputRequest) -> InputAnswer {
            assert_eq!(request.kind, InputKind::ElicitUrl);
            InputAnswer::accept(None)
        }
    }
    for revision in ERAS {
        let mut options = options();
        options.config.start = Start::Pinned(revision);
        options.config.capabilities.elicitation_url = true;
        options.responder = Some(Arc::new(Opens));
        let client = Client::connect(&child(&["asking"]), options).unwrap();
        assert!(tool(&client, "sign", "{}").starts_with("Accepted"), "{revision}");
    }
}

fn prompts_and_resources_ask_as_well() {
    for revision in ERAS {
        let client = connect(&[], revision, Some(InputAnswer::Decline));
        for (method, params, text) in [
            (Method::PromptsGet, r#"{"name":"greet"}"#, "Greet NAME."),
            (Method::ResourcesRead, r#"{"uri":"asking://name"}"#, r#""text":"NAME""#),
        ] {
            let outcome = client.complete(method, Some(raw(params)), &no_options(), &mut |_| ()).unwrap();
            let Outcome::Complete(result) = outcome else { panic!("{outcome:?}") };
            assert!(result.as_str().contains(text), "{revision}: {}", result.as_str());
        }
    }
}

/// A client of an older revision whose person is asked and does not answer until the test does.
fn hesitates() -> (Client, Arc<Barrier>, Arc<Barrier>) {
    struct Hesitates(Arc<Barrier>, Arc<Barrier>);
    impl Responder for Hesitates {
        fn respond(&self, _: &InputRequest) -> InputAnswer {
            self.0.wait();
            self.1.wait();
            InputAnswer::Decline
        }
    }
    let (asked, answers) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let mut options = options();
    options.config.start = Start::Pinned(Revision::V2025_11_25);
    options.config.capabilities.elicitation_form = true;
    options.responder = Some(Arc::new(Hesitates(Arc::clone(&asked), Arc::clone(&answers))));
    (Client::connect(&child(&["asking", "strict"]), options).unwrap(), asked, answers)
}

fn begin(client: &Client, arguments: &str) -> Pending {
    let params = raw(&format!(r#"{{"name":"say","arguments":{arguments}}}"#));
    client.start(Method::ToolsCall, Some(params), &no_options()).unwrap()
}

fn a_question_ends_with_its_call() {
    let (client, asked, answers) = hesitates();
    let call = begin(&client, "{}");
    asked.wait();
    call.cancel(None);
    eventually("the handler has ended", || client.stderr_tail().contains("record end cancelled"));
    answers.wait();
    // The late answer harms nobody.
    let call = begin(&client, r#"{"again":true}"#);
    asked.wait();
    answers.wait();
    assert_eq!(text_of(call.wait()), "declined");
}

fn a_question_ends_with_its_connection() {
    let (client, asked, answers) = hesitates();
    let call = begin(&client, "{}");
    asked.wait();
    // It waits for no answer that cannot come.
    let exit = client.close();
    assert_eq!(exit.to_string(), "exited with status 0");
    assert!(client.stderr_tail().contains("record end "));
    answers.wait();
    drop(call);
}

fn a_client_that_declared_nothing_is_not_asked() {
    // P-312
    let legacy = connect(&[], Revision::V2025_11_25, None);
    assert!(failed(&legacy, "order").contains("the client takes none"));
    let modern = connect(&[], Revision::V2026_07_28, None);
    let Outcome::Error(error) = outcome(&modern, "order", "{}") else { panic!() };
    assert_eq!(error.code, -32021);
    assert_eq!(error.data.unwrap().as_str(), r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#);
}

fn a_handler_may_do_without_an_answer() {
    for revision in ERAS {
        let client = connect(&[], revision, None);
        assert_eq!(tool(&client, "perhaps", "{}"), "without a word: true", "{revision}");
    }
}

fn a_client_that_fails_to_ask_fails_the_tool() {
    let client =
        connect(&[], Revision::V2025_11_25, Some(InputAnswer::Result(raw(r#"{"action":"perhaps"}"#))));
    assert!(failed(&client, "say").contains("word"));
    // P-318
    let client =
        connect(&[], Revision::V2026_07_28, Some(InputAnswer::Result(raw(r#"{"action":"perhaps"}"#))));
    let Outcome::Error(error) = outcome(&client, "say", "{}") else { panic!() };
    assert_eq!(error.code, -32602);
}

fn a_call_that_asks_without_end_is_stopped() {
    for revision in ERAS {
        let mut options = options();
        options.config.start = Start::Pinned(revision);
        options.config.capabilities.elicitation_form = true;
        options.config.limits.max_input_rounds = 100;
        options.responder = Some(Arc::new(Fills(InputAnswer::Decline)));
        let client = Client::connect(&child(&["asking"]), options).unwrap();
        assert!(failed(&client, "endless").contains("32 questions"), "{revision}");
    }
}

fn a_round_is_neither_a_failure_nor_a_repetition() {
    // H-187
    let client = connect(&["strict"], Revision::V2026_07_28, Some(InputAnswer::Decline));
    assert_eq!(tool(&client, "order", "{}"), "SIZE COLOUR");
    assert_eq!(text_of(client.call_tool("say", None, &no_options()).unwrap()), "declined");
    client.close();
    let text = client.stderr_tail();
    let ends: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("record end ")).collect();
    assert_eq!(ends, ["needs_approval", "needs_approval", "-", "needs_approval", "-"]);
}
