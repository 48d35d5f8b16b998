//! What passes between a client over HTTP and its runtime, written down and read again. Heads tell the values of fields that
//! are known to hold no secrets; of every other field they tell its name and a length.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use sanswire::http::client::{Effect, End, Kind, Target};
use sanswire::http::h1::Fault;
use sanswire::http::{Fields, HttpHandle, ResponseHead, Url};
use sanswire::jsonrpc::{JsonRef, ObjectWriter, RawJson};

use super::blot::BLOT;
use super::pen::{self, Flaw, Pen};
use crate::secrets::Secrets;

/// Fields whose values are told, in lower case; in them, too, secrets are blotted.
const TOLD: [&str; 16] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "host",
    "keep-alive",
    "location",
    "mcp-method",
    "mcp-protocol-version",
    "retry-after",
    "server",
    "transfer-encoding",
    "www-authenticate",
];

/// So many texts of faults, each of so many bytes, are kept: more than there are.
const MAX_FAULTS: usize = 64;
const MAX_FAULT_BYTES: usize = 128;

fn stars(len: usize) -> String {
    char::from(BLOT).to_string().repeat(len)
}

/// Blots what stands in the query of an address; the names in it stay.
pub(super) fn blot_query(address: &mut [u8]) {
    let Some(at) = address.iter().position(|byte| *byte == b'?') else { return };
    let query = address.get_mut(at + 1..).unwrap_or_default();
    let end = query.iter().position(|byte| *byte == b'#').unwrap_or(query.len());
    for part in query.get_mut(..end).unwrap_or_default().split_mut(|byte| *byte == b'&') {
        let value = part.iter().position(|byte| *byte == b'=').map_or(0, |at| at + 1);
        part.get_mut(value..).unwrap_or_default().fill(BLOT);
    }
}

/// An address without its query's values and what stands before an `@`.
fn address(text: &str, pen: Pen<'_>) -> String {
    let mut bytes = pen.name(text).into_bytes();
    blot_query(&mut bytes);
    let user = bytes.windows(2).position(|two| two == b"//").map(|at| at + 2);
    if let Some(user) = user {
        let rest = bytes.get_mut(user..).unwrap_or_default();
        let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
        let at = rest.get(..end).unwrap_or_default().iter().rposition(|byte| *byte == b'@');
        rest.get_mut(..at.unwrap_or(0)).unwrap_or_default().fill(BLOT);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write_fields(w: &mut ObjectWriter<'_>, pen: Pen<'_>, fields: &Fields, tells: impl Fn(&str) -> bool) {
    w.array("fields", |w| {
        for (name, value) in fields.iter() {
            let lower = name.to_ascii_lowercase();
            w.object(|w| {
                w.string("name", &pen.name(name));
                match std::str::from_utf8(value) {
                    Ok(text) if tells(&lower) && lower == "location" => {
                        w.string("value", &address(text, pen));
                    }
                    Ok(text) if tells(&lower) => pen.text(w, "value", text),
                    _ => {
                        w.string("value", &stars(value.len()));
                    }
                }
            });
        }
    });
}

fn is_told(name: &str) -> bool {
    TOLD.contains(&name)
}

fn each_field(object: JsonRef<'_>, mut take: impl FnMut(&str, &[u8]) -> bool) -> Result<(), Flaw> {
    for field in pen::needed(object, "fields")?.elements() {
        let value = pen::text(field, "value")?;
        if !take(&pen::text(field, "name")?, value.as_bytes()) {
            return Err("fields");
        }
    }
    Ok(())
}

pub(super) fn write_head(w: &mut ObjectWriter<'_>, pen: Pen<'_>, head: &ResponseHead) {
    w.u64("status", head.status.into());
    write_fields(w, pen, &head.fields, is_told);
}

pub(super) fn read_head(object: JsonRef<'_>) -> Result<ResponseHead, Flaw> {
    let status = pen::number(object, "status")?.try_into().map_err(|_| "status")?;
    let mut head = ResponseHead::new(status);
    each_field(object, |name, value| head.fields.push(name, value).is_ok())?;
    Ok(head)
}

/// Whether everything of this target can be written down so that it means the same.
pub(super) fn is_complete(target: &Target, secrets: &Secrets) -> bool {
    let written = RawJson::object(|w| write_target(w, Pen(Some(secrets)), target));
    read_target(written.view()).is_ok_and(|read| read.url.authority() == target.url.authority())
}

/// The secrets, and with them the values of the fields that go with every request: a server may say them again.
pub(super) fn with_fields(secrets: &Secrets, target: &Target) -> Secrets {
    let mut values = Vec::new();
    for (_, value) in target.fields().iter() {
        let Ok(value) = std::str::from_utf8(value) else { continue };
        values.extend(value.split_once(' ').map(|(_, behind)| behind.trim().to_owned()));
        values.push(value.to_owned());
    }
    // What is shorter stands everywhere.
    values.retain(|value| value.len() >= MIN_SECRET);
    secrets.with(values)
}

/// From how many bytes on the value of a field is looked for elsewhere.
const MIN_SECRET: usize = 6;

pub(super) fn write_target(w: &mut ObjectWriter<'_>, pen: Pen<'_>, target: &Target) {
    w.string("url", &address(target.url.as_str(), pen));
    write_fields(w, pen, target.fields(), |_| false);
    w.string("kind", kind_name(target.kind)).u64("max_redirects", target.max_redirects.into());
    pen::write_nanos(w, "max_retry", target.max_retry);
    pen::write_nanos(w, "min_retry", target.min_retry);
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Auto => "auto",
        Kind::Streamable => "streamable",
        Kind::Sse => "sse",
    }
}

pub(super) fn read_target(object: JsonRef<'_>) -> Result<Target, Flaw> {
    let mut target = Target::new(Url::parse(&pen::text(object, "url")?).map_err(|_| "url")?);
    each_field(object, |name, value| target.add_field(name, value).is_ok())?;
    let kind = pen::text(object, "kind")?;
    let kinds = [Kind::Auto, Kind::Streamable, Kind::Sse];
    target.kind = kinds.into_iter().find(|known| kind_name(*known) == kind).ok_or("kind")?;
    target.max_redirects = pen::number(object, "max_redirects")?.try_into().map_err(|_| "max_redirects")?;
    target.max_retry = pen::nanos(object, "max_retry")?;
    target.min_retry = pen::nanos(object, "min_retry")?;
    Ok(target)
}

/// An effect as an object.
pub(super) fn written(effect: &Effect, pen: Pen<'_>) -> RawJson {
    RawJson::object(|w| match effect {
        Effect::Open { exchange, to, head, body, partition, urgent } => {
            w.string("kind", "open").u64("exchange", exchange.number()).string("to", &to.to_string());
            w.string("verb", head.verb.as_str()).string("target", &address(&head.target, pen));
            write_fields(w, pen, &head.fields, is_told);
            match RawJson::from_slice(body, sanswire::jsonrpc::MAX_DEPTH) {
                Ok(body) => pen.raw(w, "body", body.view()),
                Err(_) => {
                    w.u64("bytes", body.len() as u64);
                }
            }
            w.u64("partition", partition.0.into()).bool("urgent", *urgent);
        }
        Effect::Close { exchange } => {
            w.string("kind", "close").u64("exchange", exchange.number());
        }
        _ => {
            w.string("kind", "another");
        }
    })
}

pub(super) fn write_end(w: &mut ObjectWriter<'_>, end: &End) {
    let how = match end {
        End::Whole => "whole",
        End::Unreachable => "unreachable",
        End::Faulty(fault) => {
            let (name, text) = fault_name(fault);
            w.string("text", text);
            name
        }
        _ => "broken",
    };
    w.string("how", how);
}

pub(super) fn read_end(object: JsonRef<'_>) -> Result<End, Flaw> {
    let text = || kept(&pen::text(object, "text")?).ok_or("text");
    Ok(match pen::text(object, "how")?.as_str() {
        "whole" => End::Whole,
        "unreachable" => End::Unreachable,
        "broken" => End::Broken,
        "head" => End::Faulty(Fault::Head(text()?)),
        "framing" => End::Faulty(Fault::Framing(text()?)),
        name => {
            let known = [
                Fault::HeadTooLong,
                Fault::TooManyFields,
                Fault::Truncated,
                Fault::Slow,
                Fault::Unasked,
                Fault::Version,
            ];
            End::Faulty(known.into_iter().find(|fault| fault_name(fault).0 == name).ok_or("how")?)
        }
    })
}

const fn fault_name(fault: &Fault) -> (&'static str, &'static str) {
    match fault {
        Fault::HeadTooLong => ("head_too_long", ""),
        Fault::TooManyFields => ("too_many_fields", ""),
        Fault::Head(text) => ("head", text),
        Fault::Framing(text) => ("framing", text),
        Fault::Truncated => ("truncated", ""),
        Fault::Slow => ("slow", ""),
        Fault::Unasked => ("unasked", ""),
        _ => ("version", ""),
    }
}

/// A fault's text, for as long as the program runs: they are texts of the program's own, and few.
fn kept(text: &str) -> Option<&'static str> {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return Some(known);
    }
    if kept.len() >= MAX_FAULTS || text.len() > MAX_FAULT_BYTES {
        return None;
    }
    let leaked: &'static str = Box::leak(text.into());
    kept.insert(leaked);
    Some(leaked)
}

pub(super) fn read_exchange(object: JsonRef<'_>) -> Result<HttpHandle, Flaw> {
    pen::number(object, "exchange").map(HttpHandle::numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_99_addresses_keep_their_shape_and_lose_what_may_be_secret() {
        for (text, want) in [
            ("https://h.example/mcp?key=abc&x", "https://h.example/mcp?key=***&*"),
            ("https://me:word@h.example/a#b", "https://*******@h.example/a#b"),
            ("/a/b?c=d#e=f", "/a/b?c=*#e=f"),
            ("//u@h/@", "//*@h/@"),
        ] {
            let address = address(text, Pen(None));
            assert_eq!(address, want);
            assert_eq!(address.len(), text.len());
        }
    }

    #[test]
    fn ends_come_back_whole() {
        for end in [
            End::Whole,
            End::Broken,
            End::Unreachable,
            End::Faulty(Fault::Head("a")),
            End::Faulty(Fault::Framing("b")),
            End::Faulty(Fault::HeadTooLong),
            End::Faulty(Fault::TooManyFields),
            End::Faulty(Fault::Truncated),
            End::Faulty(Fault::Slow),
            End::Faulty(Fault::Unasked),
            End::Faulty(Fault::Version),
        ] {
            let written = RawJson::object(|w| write_end(w, &end));
            assert_eq!(read_end(written.view()), Ok(end));
        }
        let long = format!(r#"{{"how":"head","text":"{}"}}"#, "x".repeat(MAX_FAULT_BYTES + 1));
        assert_eq!(read_end(RawJson::parse_str(&long).unwrap().view()), Err("text"));
    }

    #[test]
    fn a_target_comes_back_without_its_secrets() {
        let mut target = Target::new(Url::parse("https://h.example:8443/mcp?key=abc").unwrap());
        target.add_field("Authorization", b"Bearer hunter2").unwrap();
        target.kind = Kind::Streamable;
        target.max_redirects = 2;
        let written = RawJson::object(|w| write_target(w, Pen(None), &target));
        assert!(!written.as_str().contains("hunter2") && !written.as_str().contains("abc"));
        let read = read_target(written.view()).unwrap();
        assert_eq!(read.url.as_str(), "https://h.example:8443/mcp?key=***");
        assert_eq!(read.fields().text("authorization"), Some("**************"));
        assert_eq!((read.kind, read.max_redirects, read.max_retry), (target.kind, 2, target.max_retry));
        // An address that would be another one without its secret is not recorded.
        assert!(is_complete(&target, &Secrets::default()));
        assert!(!is_complete(&target, &Secrets::new(["h.example".to_owned()])));
    }
}
