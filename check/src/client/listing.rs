//! Lists: pages, cursors, and what stands in them.

use super::ALONE;
use super::work::on_first;
use crate::check::{Check, Script, Source, Strength};
use crate::finding::{Finding, shown};
use crate::stage::{Message, Stage, TOOL, quoted};

const PAGES: Source = Source::Spec("server/utilities/pagination#implementation-guidelines");
const LISTING: Source = Source::Spec("server/tools#listing-tools");
const TOOLS: Source = Source::Spec("server/tools#tool");
const LIST: &str = "tools/list";

/// How often one cursor may be asked for before it is called endless.
const MOST_REPEATS: usize = 1_000;
/// How many pages may be asked for.
const MOST_PAGES: usize = 10_000;

macro_rules! listed {
    ($id:literal, $title:literal, $source:expr, $strength:ident, $explain:literal, $members:expr) => {
        Check {
            id: $id,
            title: $title,
            source: $source,
            strength: Strength::$strength,
            needs: &[LIST],
            explain: $explain,
            script: Script::Client(|stage| listed(stage, $members)),
            ..ALONE
        }
    };
}

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "client-listing-pages",
        title: "a list is read to its last page",
        source: PAGES,
        strength: Strength::Should,
        needs: &[LIST],
        explain: "While a result holds nextCursor there is more. Ask again with it until there is none, or half of the tools are never seen.",
        script: Script::Client(pages),
        ..ALONE
    },
    Check {
        id: "client-listing-cursor-opaque",
        title: "a cursor comes back as it was given",
        source: PAGES,
        strength: Strength::Must,
        needs: &[LIST],
        explain: "A cursor is any text: do not trim, parse, shorten or encode it.",
        script: Script::Client(opaque),
        ..ALONE
    },
    Check {
        id: "client-listing-same-cursor",
        title: "a cursor that comes back for ever ends the list",
        needs: &[LIST],
        explain: "A server that ignores the cursor gives the first page again and again. Stop where a cursor repeats, and use what you have.",
        script: Script::Client(|stage| endless(stage, MOST_REPEATS, |_| "again".into())),
        ..ALONE
    },
    Check {
        id: "client-listing-endless",
        title: "a list without an end is cut",
        needs: &[LIST],
        explain: "A broken server makes up cursors for ever. Bound how many pages are read.",
        script: Script::Client(|stage| endless(stage, MOST_PAGES, |page| format!("page {page}"))),
        ..ALONE
    },
    Check {
        id: "client-listing-page-refused",
        title: "an error in place of the second page ends the client in time",
        source: Source::Spec("server/utilities/pagination#error-handling"),
        strength: Strength::Should,
        needs: &[LIST],
        explain: "A cursor may have become invalid meanwhile. Say so, or use what you have; do not wait for more.",
        script: Script::Client(page_refused),
        ..ALONE
    },
    Check {
        id: "client-listing-empty",
        title: "an empty list does no harm",
        source: LISTING,
        strength: Strength::Should,
        needs: &[LIST],
        explain: "A server may have no tools at this time.",
        script: Script::Client(empty),
        ..ALONE
    },
    listed!(
        "client-listing-null-cursor",
        "a nextCursor that is null ends the list",
        Source::Practice,
        Advice,
        "Some servers write null where they have nothing to say. Take it as absent.",
        format!(r#""tools":[{TOOL}],"nextCursor":null"#)
    ),
    listed!(
        "client-listing-bare-tool",
        "a tool with nothing but a name and a schema is taken",
        TOOLS,
        Must,
        "Description, title and everything else of a tool are optional.",
        r#""tools":[{"name":"echo","inputSchema":{"type":"object"}}]"#
    ),
    listed!(
        "client-listing-rich-tool",
        "a tool with everything that may be said of one is taken",
        TOOLS,
        Should,
        "Titles, icons, annotations and metadata are optional, and stand in real listings.",
        concat!(
            r#""tools":[{"name":"echo","title":"Echo \ud83d\ude00","description":"Says\nit\tagain.","#,
            r#""icons":[{"src":"data:image/png;base64,AAAA","mimeType":"image/png","sizes":["any"]}],"#,
            r#""inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"#,
            r#""execution":{"taskSupport":"forbidden"},"#,
            r#""annotations":{"title":"Echo","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"#,
            r#""_meta":{"example.com/x":[1]}}]"#
        )
    ),
    listed!(
        "client-listing-unknown-members",
        "what the client does not know in a listing does no harm",
        TOOLS,
        Should,
        "Results are open: newer servers say more of a tool. Read what you know, and let the rest be.",
        concat!(
            r#""weather":"fine","tools":[{"name":"echo","description":"Says it again.","hologram":{"depth":3},"inputSchema":{"type":"object"},"#,
            r#""annotations":{"smellHint":"mild"}}]"#
        )
    ),
    listed!(
        "client-listing-schema",
        "a schema with references and alternatives is taken",
        TOOLS,
        Should,
        "An input schema is any JSON Schema whose root is an object: definitions, references, alternatives and boolean schemas are part of it.",
        concat!(
            r#""tools":[{"name":"echo","description":"Says it again.","inputSchema":{"#,
            r#""$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","#,
            r##""properties":{"text":{"anyOf":[{"$ref":"#/$defs/t"},{"type":["integer","null"]}]},"any":true},"##,
            r#""$defs":{"t":{"type":"string","pattern":"^.*$"}}}}]"#
        )
    ),
    listed!(
        "client-listing-thousand",
        "a thousand tools on one page are taken",
        LISTING,
        Should,
        "Nothing bounds a page, and gateways list what many servers have.",
        format!(
            r#""tools":[{TOOL}{}]"#,
            (1..1000)
                .map(|n| format!(
                    r#",{{"name":"tool_{n}","description":"The tool {n}.","inputSchema":{{"type":"object"}}}}"#
                ))
                .collect::<String>()
        )
    ),
    Check {
        id: "client-listing-changed",
        title: "a list that changes while it is read does no harm",
        source: Source::Spec("server/tools#list-changed-notification"),
        strength: Strength::Should,
        needs: &[LIST],
        explain: "A server that declares listChanged tells of changes at any time, between a request and its answer too.",
        script: Script::Client(changed),
        ..ALONE
    },
];

fn is_list(message: &Message) -> bool {
    message.is(LIST)
}

/// Where a page begins, as the client says it; empty for the first.
fn cursor(message: &Message) -> String {
    message.param("cursor").and_then(|it| it.str()).map(|it| it.decode().into_owned()).unwrap_or_default()
}

/// The list is this, and the client goes on as usual.
fn listed(stage: &mut Stage, members: impl AsRef<str>) -> Result<(), Finding> {
    on_first(stage, is_list, "the client does not list tools", |stage, request| {
        stage.result(request, members.as_ref());
        Ok(true)
    })
}

/// The list in three pages; `cursors` are those of the second and the third.
fn in_pages(stage: &mut Stage, cursors: [&str; 2]) -> (Vec<String>, crate::stage::Ending) {
    let mut asked = Vec::new();
    let ending = stage.play(|stage, request| {
        if !is_list(request) {
            return false;
        }
        let at = cursor(request);
        let page = |tool: &str, next: &str| format!(r#""tools":[{tool}],"nextCursor":{}"#, quoted(next));
        if at.is_empty() {
            stage.result(request, &page(TOOL, cursors[0]));
        } else if at == cursors[0] {
            stage.result(
                request,
                &page(
                    r#"{"name":"b","description":"The second.","inputSchema":{"type":"object"}}"#,
                    cursors[1],
                ),
            );
        } else if at == cursors[1] {
            stage.result(
                request,
                r#""tools":[{"name":"c","description":"The third.","inputSchema":{"type":"object"}}]"#,
            );
        } else {
            stage.refuse(request, -32602, "there is no such cursor", None);
        }
        asked.push(at);
        true
    });
    (asked, ending)
}

fn pages(stage: &mut Stage) -> Result<(), Finding> {
    let cursors = ["two", "three"];
    let (asked, ending) = in_pages(stage, cursors);
    match cursors.iter().find(|cursor| !asked.iter().any(|it| it == *cursor)) {
        Some(missing) => {
            let got = format!("{} requests without it", asked.len());
            Err(Finding::new(format!("a request with the cursor {missing}"), got))
        }
        None => stage.as_usual(ending),
    }
}

fn opaque(stage: &mut Stage) -> Result<(), Finding> {
    let long = "a/b+c==".repeat(80);
    let cursors = [" \u{e9}\u{1f600}\t\"\\ {\"page\":2} %2F+&=\n ", long.as_str()];
    let (asked, ending) = in_pages(stage, cursors);
    let other = asked.iter().find(|it| !it.is_empty() && !cursors.contains(&it.as_str()));
    match other {
        Some(other) => Err(Finding::new("the cursor as it was given", shown(other.as_bytes()))),
        None if asked.iter().all(String::is_empty) => stage.not_tried("the client asks for one page alone"),
        None => stage.as_usual(ending),
    }
}

fn endless(stage: &mut Stage, most: usize, next: fn(usize) -> String) -> Result<(), Finding> {
    let mut asked = 0;
    let ending = stage.play(|stage, request| {
        if !is_list(request) {
            return false;
        }
        asked += 1;
        if asked > most {
            stage.stop();
        }
        let members = format!(r#""tools":[{TOOL}],"nextCursor":{}"#, quoted(&next(asked)));
        stage.result(request, &members);
        true
    });
    if asked > most {
        return Err(Finding::new("an end", format!("{asked} requests for pages")));
    }
    ending.in_time().map(|_| ())
}

fn page_refused(stage: &mut Stage) -> Result<(), Finding> {
    let mut refused = false;
    let ending = stage.play(|stage, request| {
        if !is_list(request) {
            return false;
        }
        if cursor(request).is_empty() {
            stage.result(request, &format!(r#""tools":[{TOOL}],"nextCursor":"two""#));
        } else {
            refused = true;
            stage.refuse(request, -32602, "the cursor is no longer valid", None);
        }
        true
    });
    ending.in_time()?;
    if refused { Ok(()) } else { stage.not_tried("the client asks for one page alone") }
}

fn empty(stage: &mut Stage) -> Result<(), Finding> {
    let ending = stage.play(|stage, request| {
        if is_list(request) {
            stage.result(request, r#""tools":[]"#);
        }
        is_list(request)
    });
    ending.in_time().map(|_| ())
}

fn changed(stage: &mut Stage) -> Result<(), Finding> {
    on_first(stage, is_list, "the client does not list tools", |stage, request| {
        let line = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        stage.say_line(request.launch, line);
        stage.answer(request);
        stage.say_line(request.launch, line);
        Ok(true)
    })
}
