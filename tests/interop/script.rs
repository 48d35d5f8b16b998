//! What a client's script printed: one line of JSON for each step, with what the SDK made of the answer.

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::clients::Run;
use crate::equal;

/// The tools that the script calls, in the order in which they are listed.
const CALLED: [&str; 9] = ["echo", "add", "slow", "image", "fail", "ask", "log", "count", "toggle"];

pub(crate) fn check(stdout: &str, run: &Run) -> Result<(), Failed> {
    let lines: Vec<Value> = stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let names: Vec<_> = lines.iter().map(|line| line["step"].as_str().unwrap_or_default()).collect();
    equal(&names, &expected_steps(run.revision), "the steps")?;
    for line in &lines {
        let step = line["step"].as_str().unwrap_or_default();
        check_step(step, line, run).map_err(|what| format!("{step}: {what} in {line}"))?;
    }
    Ok(())
}

fn expected_steps(revision: &str) -> Vec<&'static str> {
    let mut steps = vec!["connect", "tools", "echo", "add", "slow", "denied", "failed"];
    // Revisions are compared as the dates that they are.
    if revision >= "2025-06-18" {
        steps.push("ask");
    }
    steps.extend(["cancel", "after"]);
    if revision < "2026" {
        steps.push("ping");
    }
    steps.extend(["resource", "template", "prompt", "complete", "log", "changed", "end"]);
    steps
}

fn check_step(step: &str, line: &Value, run: &Run) -> Result<(), String> {
    let result = &line["result"];
    match step {
        "connect" => {
            is(result, "/revision", &json!(run.revision))?;
            // Who does not ask what it talks to is not told.
            let asked = run.openings != ["tools/list"];
            let name = if asked { json!("sanswire-demo") } else { Value::Null };
            is(result, "/server/name", &name)
        }
        "tools" => {
            let names = names(result)?;
            let called: Vec<_> = names.iter().copied().filter(|name| CALLED.contains(name)).collect();
            if called == CALLED { Ok(()) } else { Err(format!("the tools are {names:?}")) }
        }
        "echo" => succeeded(result, "gr\u{fc}\u{df}e \u{1f600} \u{2028}"),
        "add" => {
            // Structured content came with 2025-06-18; older clients may be left with the text.
            if run.revision >= "2025-06-18" && result["structuredContent"]["sum"].as_f64() != Some(42.0) {
                return Err("no structured sum".into());
            }
            succeeded(result, "42")
        }
        "slow" => {
            let reports = line["progress"].as_array().ok_or("no progress")?;
            let done: Vec<_> = reports.iter().filter_map(|report| report["progress"].as_f64()).collect();
            if done.len() < 2 || !done.is_sorted_by(|before, after| before < after) {
                return Err(format!("the progress is {done:?}"));
            }
            succeeded(result, "")
        }
        // Not of those that are granted.
        "denied" => failed(result, ""),
        "failed" => failed(result, "on purpose"),
        // What the client answered to the question came back.
        "ask" => succeeded(result, "whoever hears \"Who is there?\""),
        "cancel" => is(result, "/outcome", &json!("no result")),
        "after" => succeeded(result, "still here"),
        "ping" => {
            if result.is_object() {
                Ok(())
            } else {
                Err("no result".into())
            }
        }
        "resource" => {
            is(result, "/contents/0/mimeType", &json!("text/markdown"))?;
            contains(result, "/contents/0/text", "# demo")
        }
        "template" => contains(result, "/contents/0/text", "Ada"),
        "prompt" => {
            contains(result, "/messages/0/content/text", "Ada")?;
            contains(result, "/messages/0/content/text", "formal")
        }
        "complete" => is(result, "/completion/values", &json!(["Ada", "Alan"])),
        "log" => succeeded(result, ""),
        // What was heard of was not taken from what the client remembered.
        "changed" if names(result)?.contains(&"extra") => Ok(()),
        "changed" => Err("the new tool is not listed".into()),
        _ => Ok(()),
    }
}

fn names(result: &Value) -> Result<Vec<&str>, &'static str> {
    let tools = result["tools"].as_array().ok_or("no tools")?;
    Ok(tools.iter().filter_map(|tool| tool["name"].as_str()).collect())
}

fn succeeded(result: &Value, text: &str) -> Result<(), String> {
    if result["isError"] == true {
        return Err("an error".into());
    }
    contains(result, "/content/0/text", text)
}

/// As a tool fails: with a result that says so, and nothing but words.
pub(crate) fn failed(result: &Value, text: &str) -> Result<(), String> {
    is(result, "/isError", &json!(true))?;
    contains(result, "/content/0/text", text)
}

pub(crate) fn contains(result: &Value, pointer: &str, text: &str) -> Result<(), String> {
    match result.pointer(pointer).and_then(Value::as_str) {
        Some(found) if found.contains(text) => Ok(()),
        found => Err(format!("{pointer}: got {found:?}, expected {text:?}")),
    }
}

fn is(result: &Value, pointer: &str, expected: &Value) -> Result<(), String> {
    let found = result.pointer(pointer).unwrap_or(&Value::Null);
    if found == expected { Ok(()) } else { Err(format!("{pointer}: got {found}, expected {expected}")) }
}
