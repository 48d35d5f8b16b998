//! Resources, a prompt, and the completion of both.

use std::sync::atomic::{AtomicU64, Ordering};

use sanswire_std::{Builder, Prompt, Resource};

/// A picture of 16 by 16 points.
pub(super) const DISC_PNG: &[u8] = include_bytes!("disc.png");

/// The address of the resource that [`count`] changes.
pub(super) const COUNTER: &str = "demo://counter";

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Counts one further.
pub(super) fn count() -> u64 {
    COUNT.fetch_add(1, Ordering::Relaxed) + 1
}

const README: &str = "# demo

This server is built into the command line. Try:

    sanswire tools demo
    sanswire call demo/add a=2 b=40
    sanswire call demo/slow seconds=3
    sanswire prompt demo/greet name=Ada
";

const NAMES: [&str; 6] = ["Ada", "Alan", "Barbara", "Edsger", "Grace", "Tony"];
const TONES: [&str; 3] = ["brief", "formal", "friendly"];

pub(super) fn offer(builder: Builder) -> Builder {
    let readme = Resource::new("readme").title("About this server").mime_type("text/markdown");
    let disc = Resource::new("disc.png").title("A red disc").mime_type("image/png");
    let counter = Resource::new("counter").title("A counter").mime_type("text/plain");
    let greeting = Resource::new("greeting").title("A greeting").mime_type("text/plain");
    let greet = Prompt::new("Asks a model to greet somebody.")
        .title("Greet somebody")
        .argument("name", "Whom to greet.")
        .argument("tone", "How: friendly, formal or brief.")
        .optional();
    builder
        .resource("demo://readme", readme.description("A few words about the demo server."), |_, _| {
            Ok(README)
        })
        .resource("demo://disc.png", disc, |_, _| Ok(DISC_PNG))
        .resource(COUNTER, counter.description("How often the tool count was called."), |_, _| {
            Ok(COUNT.load(Ordering::Relaxed).to_string())
        })
        .resource_template(
            "demo://greeting/{name}",
            greeting.description("Greets the one whose name stands in the address."),
            |uri, _| Ok(format!("Hello, {}!", uri.variable("name"))),
        )
        .subscribable()
        .prompt("greet", greet, |(), call| {
            let (name, tone): (String, Option<String>) = (call.argument("name")?, call.argument("tone")?);
            let tone = tone.unwrap_or_else(|| "friendly".into());
            Ok(format!("Write a {tone} greeting for {name}, one sentence long."))
        })
        .complete(|asked, _| {
            let known = match &*asked.argument {
                "name" => &NAMES[..],
                "tone" => &TONES,
                _ => &[],
            };
            let begun = asked.value.to_lowercase();
            Ok(known.iter().copied().filter(|word| word.to_lowercase().starts_with(&begun)).collect())
        })
}
