//! Subscriptions: to what changes, in either era.

use sanswire::jsonrpc::{JsonRef, Kind, RawJson};

use super::base::check;
use crate::check::{Check, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::{Answer, Talk};

const ACK: Source = Source::Spec("basic/patterns/subscriptions#acknowledgment");
const SUBSCRIPTIONS: Source = Source::Spec("server/resources#subscriptions");
/// What no server has.
const NOWHERE: &str = "file:///sanswire/no-such-resource";

pub(super) const CHECKS: &[Check] = &[
    modern(
        "listen-acknowledged",
        "a subscription is acknowledged first, under its id",
        ACK,
        "notifications/subscriptions/acknowledged is the first message of a subscription, with the id of the request in _meta: nothing else tells the client that it is heard.",
        |talk| acknowledged(talk, &["7001"]),
    ),
    modern(
        "listen-several",
        "several subscriptions are told apart by their ids",
        Source::Spec("basic/patterns/subscriptions#multiple-concurrent-subscriptions"),
        "Each message of a subscription carries the id of its request, a string as a string and a number as a number.",
        |talk| acknowledged(talk, &["7002", "\"7002\"", "\"sanswire-listen\""]),
    ),
    modern(
        "listen-subset",
        "what is acknowledged was asked for",
        ACK,
        "The acknowledgement holds what of the filter will be served: no more than was asked for, and what the server does not have is left out.",
        subset,
    ),
    modern(
        "listen-nothing-else",
        "nothing is sent that was not asked for",
        Source::Spec("basic/patterns/subscriptions#opening-a-stream"),
        "A filter that is empty asks for nothing, so that only the acknowledgement comes.",
        nothing_else,
    ),
    Check {
        strength: Strength::Should,
        ..modern(
            "listen-without-filter",
            "a subscription without a filter is refused with -32602",
            Source::Spec("schema#subscriptionslistenrequest"),
            "notifications is required: {} asks for nothing, and a request that lacks it is malformed.",
            without_filter,
        )
    },
    modern(
        "listen-others-served",
        "other requests are served while a subscription is open",
        Source::Spec("basic/patterns/subscriptions#opening-a-stream"),
        "A subscription stays open for as long as the client wants. Do not wait for its end before the next line is read.",
        others_served,
    ),
    modern(
        "listen-cancelled",
        "a subscription that was cancelled sends nothing more",
        Source::Spec("basic/transports/stdio#cancellation"),
        "notifications/cancelled with its id ends a subscription: no further notification, and no answer to its request.",
        cancelled,
    ),
    Check {
        needs: &["resources"],
        ..legacy(
            "listen-subscribe",
            "a subscription to a resource is answered",
            "Who declares resources.subscribe serves resources/subscribe and resources/unsubscribe with {}, or refuses what is not there with an error.",
            subscribe,
        )
    },
    Check {
        strength: Strength::Should,
        needs: &["resources"],
        ..legacy(
            "listen-unsubscribe-unknown",
            "the end of a subscription that never was is answered",
            "Clients that lost track end what they do not have. Answer {} or an error, and keep the other subscriptions.",
            unsubscribe_unknown,
        )
    },
];

const fn modern(
    id: &'static str,
    title: &'static str,
    source: Source,
    explain: &'static str,
    script: fn(&mut Talk) -> Result<(), Finding>,
) -> Check {
    Check { speaks: Speaks::Modern, ..check(id, title, source, explain, script) }
}

const fn legacy(
    id: &'static str,
    title: &'static str,
    explain: &'static str,
    script: fn(&mut Talk) -> Result<(), Finding>,
) -> Check {
    Check { speaks: Speaks::Legacy, ..check(id, title, SUBSCRIPTIONS, explain, script) }
}

/// Under which subscription a notification is sent.
fn subscription(notice: JsonRef<'_>) -> Option<JsonRef<'_>> {
    notice.get("params")?.get("_meta")?.get("io.modelcontextprotocol/subscriptionId")
}

fn is_of(notice: JsonRef<'_>, id: &str) -> bool {
    subscription(notice).is_some_and(|found| found.as_bytes() == id.as_bytes())
}

fn is_acknowledgement(notice: JsonRef<'_>) -> bool {
    let method = notice.get("method").and_then(JsonRef::str);
    method.is_some_and(|method| method.eq_str("notifications/subscriptions/acknowledged"))
}

/// Whether the server has anything to subscribe to.
fn declares_changes(talk: &Talk) -> bool {
    let facts = talk.facts();
    ["tools", "prompts", "resources"].iter().any(|it| facts.declares_part(it, "listChanged"))
        || facts.declares_part("resources", "subscribe")
}

/// What came of a subscription.
enum Opened {
    /// Its first message, which acknowledges it.
    Yes(RawJson),
    /// The server refuses it, and declares nothing that it would be for.
    NotHere,
}

/// Opens a subscription to what this filter says.
fn listen(talk: &mut Talk, id: &str, filter: &str) -> Result<Opened, Finding> {
    let line = talk.line(id, "subscriptions/listen", &format!(r#""notifications":{filter}"#));
    talk.say_line(&line);
    let expected = format!("an acknowledgement as the first message of the subscription {id}");
    match talk.notice(id, |notice| is_of(notice, id)) {
        Some(first) if is_acknowledgement(first.view()) => Ok(Opened::Yes(first)),
        Some(first) => Err(Finding::new(expected, shown(first.as_bytes()))),
        None => {
            let answer = talk.answer_to(id).map_err(|_| Finding::new(expected.clone(), "none"))?;
            if answer.code().is_some() && !declares_changes(talk) {
                return Ok(Opened::NotHere);
            }
            Err(Finding::new(expected, answer.text()))
        }
    }
}

fn not_here(talk: &mut Talk) -> Result<(), Finding> {
    talk.not_tried("the server declares nothing that changes, and refuses subscriptions")
}

/// Ends a subscription.
fn end(talk: &mut Talk, id: &str) {
    let params = format!(r#"{{"requestId":{id}}}"#);
    talk.say_line(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
}

/// All that there is to ask for.
fn everything() -> String {
    format!(
        r#"{{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["{NOWHERE}"]}}"#
    )
}

fn acknowledged(talk: &mut Talk, ids: &[&str]) -> Result<(), Finding> {
    for id in ids {
        if matches!(listen(talk, id, &everything())?, Opened::NotHere) {
            return not_here(talk);
        }
    }
    for id in ids {
        end(talk, id);
    }
    Ok(())
}

fn subset(talk: &mut Talk) -> Result<(), Finding> {
    let filter = format!(r#"{{"toolsListChanged":true,"resourceSubscriptions":["{NOWHERE}"]}}"#);
    let Opened::Yes(first) = listen(talk, "7003", &filter)? else { return not_here(talk) };
    end(talk, "7003");
    let honoured = first.view().get("params").and_then(|params| params.get("notifications"));
    let asked = |name: &str, value: JsonRef<'_>| match name {
        "toolsListChanged" => value.kind() == Kind::Bool,
        "resourceSubscriptions" => {
            value.kind() == Kind::Array
                && value.elements().all(|uri| uri.str().is_some_and(|uri| uri.eq_str(NOWHERE)))
        }
        // Said to be off, and what an extension adds of its own, is nothing that was not asked for.
        "promptsListChanged" | "resourcesListChanged" => value.as_bool() == Some(false),
        _ => true,
    };
    let kept = honoured
        .filter(|it| it.kind() == Kind::Object)
        .is_some_and(|honoured| honoured.members().all(|(name, value)| asked(&name.decode(), value)));
    if kept {
        return Ok(());
    }
    Err(Finding::new("a part of the filter as notifications", shown(first.as_bytes())))
}

fn nothing_else(talk: &mut Talk) -> Result<(), Finding> {
    if matches!(listen(talk, "7004", "{}")?, Opened::NotHere) {
        return not_here(talk);
    }
    for method in talk.facts().lists() {
        talk.request(method, "")?;
    }
    talk.settle()?;
    end(talk, "7004");
    let meant = |notice: &&RawJson| is_of(notice.view(), "7004");
    // A server may end it by itself, which is no notification of a change.
    let is_change = |notice: &&RawJson| {
        let method = notice.view().get("method").and_then(JsonRef::str);
        !method.is_some_and(|method| method.eq_str("notifications/cancelled"))
    };
    match talk.notices().iter().filter(meant).find(is_change) {
        None => Ok(()),
        Some(notice) => Err(Finding::new("nothing where nothing was asked for", shown(notice.as_bytes()))),
    }
}

fn without_filter(talk: &mut Talk) -> Result<(), Finding> {
    let line = talk.line("7005", "subscriptions/listen", "");
    talk.say_line(&line);
    let answer = talk.answer_before_next("7005")?;
    match answer.as_ref().and_then(Answer::code) {
        Some(-32602) => return Ok(()),
        Some(_) if !declares_changes(talk) => return not_here(talk),
        Some(_) | None => end(talk, "7005"),
    }
    Err(Finding::new("the error -32602", answer.map_or("no answer".into(), |answer| answer.text())))
}

fn others_served(talk: &mut Talk) -> Result<(), Finding> {
    if matches!(listen(talk, "7006", &everything())?, Opened::NotHere) {
        return not_here(talk);
    }
    let served = talk.request(talk.harmless(), "").and_then(|_| {
        talk.facts().lists().into_iter().try_for_each(|method| talk.request(method, "").map(|_| ()))
    });
    end(talk, "7006");
    served
}

fn cancelled(talk: &mut Talk) -> Result<(), Finding> {
    if matches!(listen(talk, "7007", &everything())?, Opened::NotHere) {
        return not_here(talk);
    }
    end(talk, "7007");
    // What was under way when the cancellation came may still come.
    talk.request(talk.harmless(), "")?;
    talk.notices();
    talk.settle()?;
    if let Some(late) = talk.notices().iter().find(|notice| is_of(notice.view(), "7007")) {
        return Err(Finding::new("nothing of what was cancelled", shown(late.as_bytes())));
    }
    let answer = |stray: &&RawJson| stray.view().get("id").is_some_and(|id| id.as_bytes() == b"7007");
    match talk.strays().iter().find(answer) {
        None => Ok(()),
        Some(answer) => Err(Finding::new("no answer to what was cancelled", shown(answer.as_bytes()))),
    }
}

/// Whether resources can be subscribed to by requests of their own.
fn has_subscribe(talk: &Talk) -> bool {
    talk.facts().declares_part("resources", "subscribe")
}

const NO_SUBSCRIBE: &str = "the server does not declare resources.subscribe";

fn subscribe(talk: &mut Talk) -> Result<(), Finding> {
    if !has_subscribe(talk) {
        return talk.not_tried(NO_SUBSCRIBE);
    }
    let uri = format!(r#""uri":"{NOWHERE}""#);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = talk.request(method, &uri)?;
        if answer.code() == Some(-32601) {
            return Err(Finding::new(format!("{method}, which is declared"), answer.text()));
        }
    }
    Ok(())
}

fn unsubscribe_unknown(talk: &mut Talk) -> Result<(), Finding> {
    if !has_subscribe(talk) {
        return talk.not_tried(NO_SUBSCRIBE);
    }
    let uri = r#""uri":"file:///sanswire/never-subscribed""#;
    let id = talk.ask("resources/unsubscribe", uri);
    match talk.answer_before_next(&id)? {
        Some(_) => Ok(()),
        None => Err(Finding::new("an answer to resources/unsubscribe", "none")),
    }
}
