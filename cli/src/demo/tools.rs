//! The tools.

use std::time::Duration;

use sanswire::jsonrpc::RawJson;
use sanswire::limits::Limits;
use sanswire::mcp::types::elicited::Elicited;
use sanswire::mcp::types::log::LogLevel;
use sanswire_std::{Builder, Call, Content, Schema, Tool, ToolError};

use super::resources::{COUNTER, DISC_PNG, count};
use crate::json::{object, text};

/// What a result needs around its text.
const AROUND: usize = 4096;

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The names of all of them, that of the one that comes and goes too.
pub(super) const NAMES: [&str; 12] =
    ["echo", "add", "slow", "image", "fail", "ask", "big", "structured", "log", "count", "toggle", "extra"];

pub(super) fn offer(builder: Builder) -> Builder {
    let sum = Schema::object().property("sum", Schema::number());
    let seconds = Schema::number().description("How long.").minimum(0).maximum(3600);
    let steps = Schema::integer().description("In how many steps.").minimum(1).maximum(1000);
    builder
        .tool(
            "echo",
            quiet("Echo", "Gives the text back.").string("text", "What to give back."),
            |(), call| call.argument::<String>("text"),
        )
        .tool(
            "add",
            quiet("Add", "Adds two numbers.").number("a", "One.").number("b", "The other.").output(&sum),
            add,
        )
        .tool(
            "slow",
            quiet("Slow", "Takes its time, and reports progress meanwhile. Can be cancelled.")
                .argument("seconds", seconds)
                .argument("steps", steps.with("default", number(10)))
                .optional(),
            slow,
        )
        .tool("image", quiet("Image", "Gives a small picture: a red disc."), |(), _| {
            Ok(Content::new().image("image/png", DISC_PNG))
        })
        .tool(
            "fail",
            quiet("Fail", "Fails, as a tool does: with a result that says so.")
                .string("message", "What to say.")
                .optional(),
            |(), call| {
                let message: Option<String> = call.argument("message")?;
                Err::<(), _>(ToolError::new(message.as_deref().unwrap_or("This tool always fails.")))
            },
        )
        .tool(
            "ask",
            quiet("Ask", "Asks for a name before it answers.").string("question", "What to ask.").optional(),
            ask,
        )
        .tool(
            "big",
            quiet("Big", "Gives a text of that many bytes.")
                .argument("bytes", Schema::integer().description("How many.").minimum(0)),
            big,
        )
        .tool(
            "structured",
            quiet("Structured", "Gives a nested structured result.").output(&nested()),
            |(), _| Ok(RawJson::parse_str(NESTED)?),
        )
        .tool(
            "log",
            quiet("Log", "Sends a log message.")
                .choice("level", "How serious it is.", &LEVELS)
                .string("message", "What to say."),
            log,
        )
        .tool(
            "count",
            changing("Count", "Counts one further, which changes the resource demo://counter."),
            |(), call| {
                let counted = count();
                call.server().resource_updated(COUNTER);
                Ok(counted.to_string())
            },
        )
        .tool(
            "toggle",
            changing("Toggle", "Adds the tool extra to what is listed, or takes it away."),
            toggle,
        )
}

/// A tool that changes nothing.
fn quiet(title: &str, description: &str) -> Tool {
    Tool::new(description).title(title).read_only().open_world(false)
}

/// A tool that changes this server, and nothing else.
fn changing(title: &str, description: &str) -> Tool {
    Tool::new(description).title(title).destructive(false).open_world(false)
}

fn number(value: u64) -> RawJson {
    RawJson::serialize(&value).unwrap_or_else(|_| RawJson::null())
}

/// Whole numbers stay whole.
fn add((): (), call: &Call<'_>) -> Result<RawJson, ToolError> {
    let whole = call.argument::<i64>("a").ok().zip(call.argument::<i64>("b").ok());
    if let Some(sum) = whole.and_then(|(a, b)| a.checked_add(b)) {
        return Ok(object(|w| {
            w.i64("sum", sum);
        }));
    }
    let (a, b): (f64, f64) = (call.argument("a")?, call.argument("b")?);
    Ok(object(|w| {
        w.f64("sum", a + b);
    }))
}

fn slow((): (), call: &Call<'_>) -> Result<String, ToolError> {
    let seconds = call.argument::<f64>("seconds")?.clamp(0.0, 3600.0);
    let steps = call.argument::<Option<u32>>("steps")?.unwrap_or(10).clamp(1, 1000);
    let step = Duration::from_secs_f64(seconds / f64::from(steps));
    for done in 1..=steps {
        if call.sleep(step) {
            return Err(ToolError::new("cancelled"));
        }
        if done < steps {
            let message = format!("step {done} of {steps}");
            call.progress(done.into(), Some(steps.into()), Some(&message));
        }
    }
    Ok(format!("Took {seconds} s in {steps} steps."))
}

fn ask((): (), call: &Call<'_>) -> Result<String, ToolError> {
    let question: Option<String> = call.argument("question")?;
    let form = Schema::object().property("name", Schema::string().title("Name").max_length(100));
    let question = question.as_deref().unwrap_or("What is your name?");
    Ok(match call.elicit("name", question, &form)? {
        Elicited::Accepted(content) => {
            format!("Hello, {}!", text(content.view(), "name").unwrap_or_default())
        }
        Elicited::Declined => "You would rather not say.".into(),
        Elicited::Cancelled => "You did not answer.".into(),
    })
}

fn big((): (), call: &Call<'_>) -> Result<String, ToolError> {
    let most = Limits::default().max_message_bytes - AROUND;
    let bytes: usize = call.argument("bytes")?;
    if bytes > most {
        return Err(ToolError::new(format!("bytes must be {most} at most: a message holds no more")));
    }
    let line = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXY\u{20}";
    Ok(line.chars().cycle().take(bytes).collect())
}

const NESTED: &str = r#"{"name":"demo","tags":["one","two"],"place":{"city":"London","at":[51.5,-0.1]},
    "nothing":null,"yes":true}"#;

fn nested() -> Schema {
    let place =
        Schema::object().property("city", Schema::string()).property("at", Schema::array(&Schema::number()));
    Schema::object()
        .property("name", Schema::string())
        .property("tags", Schema::array(&Schema::string()))
        .property("place", place)
}

fn log((): (), call: &Call<'_>) -> Result<&'static str, ToolError> {
    let (level, message): (String, String) = (call.argument("level")?, call.argument("message")?);
    let level = LogLevel::named(&level)
        .ok_or_else(|| ToolError::new(format!("level must be one of {}", LEVELS.join(", "))))?;
    call.log(level, Some("demo"), &RawJson::serialize(&message)?);
    Ok("Sent, if you want messages of that level.")
}

/// What is listed differs from call to call, as it does when a plug-in comes and goes.
fn toggle((): (), call: &Call<'_>) -> Result<&'static str, ToolError> {
    let server = call.server();
    if server.remove_tool("extra") {
        return Ok("There is no tool extra any more.");
    }
    server.add_tool("extra", quiet("Extra", "Is there for a while."), |(), _| Ok("Here I am."))?;
    Ok("There is a tool extra now.")
}
