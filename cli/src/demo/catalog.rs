//! What there is to list.

/// The array of tools.
pub(super) const TOOLS: &str = r#"[
{"name":"echo","title":"Echo","description":"Gives the text back.",
 "inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"What to give back."}},
  "required":["text"],"additionalProperties":false},
 "annotations":{"readOnlyHint":true,"openWorldHint":false}},
{"name":"add","title":"Add","description":"Adds two numbers.",
 "inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},
  "required":["a","b"],"additionalProperties":false},
 "outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]},
 "annotations":{"readOnlyHint":true,"openWorldHint":false}},
{"name":"slow","title":"Slow","description":"Takes its time, and reports progress meanwhile. Can be cancelled.",
 "inputSchema":{"type":"object","properties":{
  "seconds":{"type":"number","description":"How long.","minimum":0,"maximum":3600},
  "steps":{"type":"integer","description":"In how many steps.","minimum":1,"maximum":1000,"default":10}},
  "required":["seconds"],"additionalProperties":false},
 "annotations":{"readOnlyHint":true,"openWorldHint":false}},
{"name":"image","title":"Image","description":"Gives a small picture: a red disc.",
 "inputSchema":{"type":"object","properties":{},"additionalProperties":false},
 "annotations":{"readOnlyHint":true,"openWorldHint":false}},
{"name":"fail","title":"Fail","description":"Fails, as a tool does: with a result that says so.",
 "inputSchema":{"type":"object","properties":{"message":{"type":"string","description":"What to say."}},
  "additionalProperties":false},
 "annotations":{"readOnlyHint":true,"openWorldHint":false}},
{"name":"ask","title":"Ask","description":"Asks for a name before it answers.",
 "inputSchema":{"type":"object","properties":{"question":{"type":"string","description":"What to ask."}},
  "additionalProperties":false},
 "annotations":{"readOnlyHint":true,"openWorldHint":false}}
]"#;

/// The array of resources.
pub(super) const RESOURCES: &str = r#"[
{"uri":"demo://readme","name":"readme","title":"About this server","mimeType":"text/markdown",
 "description":"A few words about the demo server."},
{"uri":"demo://disc.png","name":"disc.png","title":"A red disc","mimeType":"image/png"}
]"#;

/// The array of resource templates.
pub(super) const TEMPLATES: &str = r#"[
{"uriTemplate":"demo://greeting/{name}","name":"greeting","title":"A greeting","mimeType":"text/plain",
 "description":"Greets the one whose name stands in the address."}
]"#;

/// The array of prompts.
pub(super) const PROMPTS: &str = r#"[
{"name":"greet","title":"Greet somebody","description":"Asks a model to greet somebody.",
 "arguments":[{"name":"name","description":"Whom to greet.","required":true},
  {"name":"tone","description":"How: friendly, formal or brief.","required":false}]}
]"#;

/// What `demo://readme` says.
pub(super) const README: &str = "# demo

This server is built into the command line. Try:

    sanswire tools demo
    sanswire call demo/add a=2 b=40
    sanswire call demo/slow seconds=3
    sanswire prompt demo/greet name=Ada
";

/// Names that can be completed.
pub(super) const NAMES: [&str; 6] = ["Ada", "Alan", "Barbara", "Edsger", "Grace", "Tony"];
/// Tones that can be completed.
pub(super) const TONES: [&str; 3] = ["brief", "formal", "friendly"];

/// A picture of 16 by 16 points, in Base64.
pub(super) const DISC_PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAMAAAAoLQ9TAAAABlBMVEX////IPCiMOMWDAAAA\
H0lEQVR42mNgIBMwQgA6Hy7CyIgmQh8BDHdguhQvAAA3IwBuUKt60AAAAABJRU5ErkJggg==";
