//! `policy test`: decisions that are expected, compared with those that the files lead to. Nothing is started.
//!
//! A file holds one JSON object a line, or one array of them:
//!
//! ```json
//! {"server": "files", "tool": "delete_file", "expect": "ask"}
//! {"server": "files", "tool": "read_file", "approver": false, "expect": "call", "reason": "rule_allow"}
//! ```

use std::path::Path;

use sanswire::host::Provenance;
use sanswire::host::policy::{CallContext, Hints, decide};
use sanswire::jsonrpc::{JsonRef, Kind, MAX_DEPTH, RawJson};

use super::explain::word;
use crate::approvals::Control;
use crate::arguments::{read_input, suggestion};
use crate::config::Configuration;
use crate::context::Context;
use crate::failure::{Failure, status};
use crate::json::{member, object, text};
use crate::output::table::table;
use crate::output::{document, json_document};
use crate::target::unknown;

/// What a row may say.
const MEMBERS: [&str; 10] =
    ["server", "tool", "plan", "approver", "granted", "yes", "nth", "hints", "expect", "reason"];

/// What can come of a call.
const VERDICTS: [&str; 4] = ["call", "ask", "deny", "left_out"];

/// One expectation, and what came of it.
struct Row {
    number: usize,
    tool: Provenance,
    expect: String,
    expect_reason: Option<String>,
    got: &'static str,
    reason: &'static str,
}

impl Row {
    fn holds(&self) -> bool {
        self.expect == self.got && self.expect_reason.as_deref().is_none_or(|reason| reason == self.reason)
    }
}

pub(super) fn run(context: &Context, file: &Path) -> Result<u8, Failure> {
    let configuration = context.configuration()?;
    let text = read_input(file)?;
    let values = values(&text).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))?;
    if values.is_empty() {
        return Err(Failure::usage(format!("{} expects nothing", file.display())));
    }
    let mut rows = Vec::with_capacity(values.len());
    for (n, value) in values.iter().enumerate() {
        let number = n + 1;
        let wrong = |why| Failure::usage(format!("{}: row {number}: {why}", file.display()));
        rows.push(row(context, &configuration, number, value.view(), &wrong)?);
    }
    let failed: Vec<&Row> = rows.iter().filter(|row| !row.holds()).collect();
    if context.common.json {
        json_document(&to_json(&rows, &failed))?;
    } else if failed.is_empty() {
        document(&format!("{} decisions, all as expected\n", rows.len()))?;
    } else {
        let cells = failed.iter().map(|row| {
            let expected = match &row.expect_reason {
                Some(reason) => format!("{} ({reason})", row.expect),
                None => row.expect.clone(),
            };
            vec![
                row.number.to_string(),
                row.tool.to_string(),
                expected,
                format!("{} ({})", row.got, row.reason),
            ]
        });
        let shown = table(&["row", "tool", "expected", "is"], cells);
        document(&format!("{} of {} decisions are not as expected:\n\n{shown}", failed.len(), rows.len()))?;
    }
    Ok(if failed.is_empty() { 0 } else { status::FINDINGS })
}

/// The rows of a file, of either form.
fn values(text: &str) -> Result<Vec<RawJson>, String> {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(whole) = RawJson::from_slice(text.trim().as_bytes(), MAX_DEPTH)
        && whole.view().kind() == Kind::Array
    {
        return Ok(whole.view().elements().filter_map(|row| whole.slice_of(row)).collect());
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(n, line): (usize, &str)| {
        RawJson::parse_str(line.trim()).map_err(|fault| format!("line {}: {fault}", n + 1))
    };
    lines.map(read).collect()
}

fn row(
    context: &Context,
    configuration: &Configuration,
    number: usize,
    value: JsonRef<'_>,
    wrong: &dyn Fn(String) -> Failure,
) -> Result<Row, Failure> {
    if value.kind() != Kind::Object {
        return Err(wrong(format!("it is {}, not an object", value.kind())));
    }
    let known = MEMBERS.map(str::to_owned);
    for (n, (name, _)) in value.members().enumerate() {
        let name = name.decode();
        if value.members().take(n).any(|(before, _)| before.decode() == name) {
            return Err(wrong(format!("{name:?} stands there twice")));
        }
        if !MEMBERS.contains(&&*name) {
            // A slip would make a row that says less than it seems to.
            let meant = suggestion(&name, &known).map(|meant| format!("; did you mean {meant}?"));
            return Err(wrong(format!("{name:?} is nothing that is known{}", meant.unwrap_or_default())));
        }
    }
    let string = |name: &str| text(value, name).ok_or_else(|| wrong(format!("{name} is no text")));
    let flag = |name: &str, default| match member(value, name) {
        None => Ok(default),
        Some(flag) => flag.as_bool().ok_or_else(|| wrong(format!("{name} is not true or false"))),
    };
    let (server, tool, expect) = (string("server")?, string("tool")?, string("expect")?);
    if !VERDICTS.contains(&expect.as_str()) {
        return Err(wrong(format!("expect is {expect:?}, not one of {}", VERDICTS.join(", "))));
    }
    let expect_reason = member(value, "reason").map(|_| string("reason")).transpose()?;
    let Some(entry) = configuration.find(&server) else {
        return Err(unknown(context, configuration, &server));
    };
    let tool = Provenance::new(server, tool);
    if entry.access.filter.admit(&tool.tool).is_err() {
        return Ok(Row { number, tool, expect, expect_reason, got: "left_out", reason: "filtered" });
    }
    let mut policy = Control::of_entry(configuration, entry).policy;
    policy.skip_prompts = flag("yes", false)?;
    let mut call = CallContext::new(&tool);
    call.plan_mode = flag("plan", false)?;
    call.approver = flag("approver", true)?;
    call.granted = flag("granted", false)?;
    if let Some(nth) = member(value, "nth") {
        let nth = nth.as_u64().and_then(|nth| u32::try_from(nth).ok()).filter(|nth| *nth > 0);
        call.nth_in_turn = nth.ok_or_else(|| wrong("nth is no whole number from 1 on".into()))?;
    }
    if let Some(hints) = member(value, "hints") {
        call.hints = read_hints(hints).map_err(wrong)?;
    }
    let decision = decide(&policy, &call);
    let (got, reason) = (word(decision.verdict), decision.reason.as_str());
    Ok(Row { number, tool: tool.clone(), expect, expect_reason, got, reason })
}

fn read_hints(value: JsonRef<'_>) -> Result<Hints, String> {
    let mut hints = Hints::default();
    if value.kind() != Kind::Object {
        return Err(format!("hints is {}, not an object", value.kind()));
    }
    for (name, said) in value.members() {
        let name = name.decode();
        let slot = match &*name {
            "readOnlyHint" => &mut hints.read_only,
            "destructiveHint" => &mut hints.destructive,
            "openWorldHint" => &mut hints.open_world,
            "idempotentHint" | "title" => continue,
            _ => return Err(format!("hints has {name:?}, which decides nothing")),
        };
        *slot = Some(said.as_bool().ok_or_else(|| format!("hints.{name} is not true or false"))?);
    }
    Ok(hints)
}

fn to_json(rows: &[Row], failed: &[&Row]) -> RawJson {
    object(|w| {
        w.u64("rows", rows.len() as u64).u64("failed", failed.len() as u64);
        w.array("failures", |w| {
            for row in failed {
                w.object(|w| {
                    w.u64("row", row.number as u64);
                    w.string("server", &row.tool.server).string("tool", &row.tool.tool);
                    w.string("expect", &row.expect);
                    if let Some(reason) = &row.expect_reason {
                        w.string("expect_reason", reason);
                    }
                    w.string("verdict", row.got).string("reason", row.reason);
                });
            }
        });
    })
}
