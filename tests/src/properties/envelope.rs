//! The envelope and the reader against serde_json.

use bytes::Bytes;
use sanswire::jsonrpc::{
    self, FaultKind, JsonFaultKind, JsonRef, Kind, MAX_DEPTH, Message, Part, RawJson, RequestId,
};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// Reads `data` as JSON and as a message, and compares all that can be seen with what serde_json sees.
///
/// Not compared: the depth limit (serde_json's differs), and values that serde_json's `Value` refuses though the
/// grammar allows them (half of a surrogate pair, numbers beyond the range).
///
/// # Panics
/// If a rule is broken.
pub fn check_envelope(data: &[u8]) {
    raw_json_accepts_what_the_grammar_allows(data);
    if let (Ok(raw), Ok(value)) = (parse_raw(data), serde_json::from_slice::<Value>(data)) {
        assert_same(raw.view(), &value);
        assert_same(raw.view(), &raw.view().read().expect("what serde_json reads as any value"));
        misfits_have_a_place(raw.view());
        depth_is_counted(data, depth(&value));
    }
    let read = jsonrpc::parse(Bytes::copy_from_slice(data), MAX_DEPTH);
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    match &read {
        Ok(message) => {
            assert!(grammar_allows(text), "a message that is no JSON");
            writing_and_reading_gives_the_same(message);
        }
        Err(fault) => {
            assert!(fault.offset <= data.len(), "{fault:?}");
            assert!(fault.has_id || fault.id.is_none(), "{fault:?}");
        }
    }
    if let Ok(members) = serde_json::from_slice::<Members>(text)
        && !matches!(&read, Err(fault) if fault.kind == FaultKind::TooDeep)
        && let Some(expected) = expected(&members.0)
    {
        assert_eq!(outcome_of(&read), expected, "{read:?}");
    }
    batches_agree(data);
}

/// Reading into a type that may not fit names a place, and never what stands there.
fn misfits_have_a_place(view: JsonRef<'_>) {
    type Odd = BTreeMap<String, Vec<(u8, Option<Result<char, String>>)>>;
    if let Err(misfit) = view.read::<Odd>() {
        assert!(misfit.path().is_empty() == (view.kind() != Kind::Object), "{misfit}");
    }
}

fn parse_raw(data: &[u8]) -> Result<RawJson, jsonrpc::JsonFault> {
    RawJson::parse(Bytes::copy_from_slice(data), MAX_DEPTH)
}

/// serde_json follows the grammar when it skips a value, but neither checks UTF-8 then nor counts levels.
fn grammar_allows(data: &[u8]) -> bool {
    std::str::from_utf8(data).is_ok() && serde_json::from_slice::<IgnoredAny>(data).is_ok()
}

fn raw_json_accepts_what_the_grammar_allows(data: &[u8]) {
    match parse_raw(data) {
        Ok(raw) => {
            assert!(grammar_allows(data));
            assert!(std::str::from_utf8(raw.as_bytes()).is_ok());
            assert_eq!(raw.as_bytes(), data.trim_ascii());
        }
        Err(fault) if fault.kind == JsonFaultKind::TooDeep => {}
        Err(fault) => {
            assert!(!grammar_allows(data), "{fault}");
            assert!(fault.offset <= data.len());
        }
    }
}

fn depth(value: &Value) -> u16 {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        // Of members that stand twice only the last is here, so the text may be deeper.
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn depth_is_counted(data: &[u8], depth: u16) {
    if depth > 0 {
        let shallow = RawJson::parse(Bytes::copy_from_slice(data), depth - 1);
        assert_eq!(shallow.map_err(|fault| fault.kind), Err(JsonFaultKind::TooDeep));
    }
}

/// Walks a value with the reader beside what serde_json made of it.
fn assert_same(view: JsonRef<'_>, value: &Value) {
    match value {
        Value::Null => assert_eq!(view.kind(), Kind::Null),
        Value::Bool(expected) => assert_eq!(view.as_bool(), Some(*expected)),
        Value::Number(expected) => {
            assert_eq!(view.kind(), Kind::Number);
            if let Some(expected) = expected.as_u64() {
                assert_eq!(view.as_u64(), Some(expected));
            }
            if let Some(expected) = expected.as_i64() {
                assert_eq!(view.as_i64(), Some(expected));
            }
            let written = std::str::from_utf8(view.as_bytes()).ok().and_then(|text| text.parse::<f64>().ok());
            assert_eq!(view.as_f64(), written.filter(|number| number.is_finite()));
        }
        Value::String(expected) => assert_text(view, expected),
        Value::Array(expected) => {
            assert_eq!(view.kind(), Kind::Array);
            assert_eq!(view.elements().count(), expected.len());
            view.elements().zip(expected).for_each(|(view, value)| assert_same(view, value));
        }
        Value::Object(expected) => {
            assert_eq!(view.kind(), Kind::Object);
            for (name, value) in expected {
                let last = view.members().filter(|(found, _)| found.eq_str(name)).last();
                assert_same(last.unwrap_or_else(|| panic!("no member {name:?}")).1, value);
                assert!(view.get(name).is_some());
            }
            for (name, _) in view.members() {
                assert!(expected.contains_key(&*name.decode()));
            }
        }
    }
}

fn assert_text(view: JsonRef<'_>, expected: &str) {
    let Some(text) = view.str() else { panic!("{view:?} is no string") };
    assert_eq!(text.decode(), expected);
    assert!(text.eq_str(expected));
    assert!(!text.eq_str(&format!("{expected}x")));
    let mut appended = String::from("in front: ");
    text.decode_into(&mut appended);
    assert_eq!(appended.strip_prefix("in front: "), Some(expected));
    let mut written = Vec::new();
    jsonrpc::write_string(&mut written, expected);
    assert!(!written.iter().any(|b| *b < 0x20));
    assert_eq!(serde_json::from_slice::<String>(&written).ok().as_deref(), Some(expected));
}

/// An object's members in order, those that stand twice too.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// How a line is classified; written down here a second time, from the rules and not from the code.
#[derive(Debug, PartialEq)]
enum Outcome {
    Request(String),
    Notification(String),
    Result,
    Error,
    Fault(&'static str),
}

fn outcome_of(read: &Result<Message, jsonrpc::Fault>) -> Outcome {
    match read {
        Ok(Message::Request { method, .. }) => Outcome::Request(method.to_string()),
        Ok(Message::Notification { method, .. }) => Outcome::Notification(method.to_string()),
        Ok(Message::Result { .. }) => Outcome::Result,
        Ok(Message::Error { .. }) => Outcome::Error,
        Err(fault) => Outcome::Fault(match fault.kind {
            FaultKind::DuplicateMember(_) => "twice",
            FaultKind::MissingVersion | FaultKind::WrongVersion => "version",
            FaultKind::BadId(_) => "id",
            FaultKind::MethodNotString(_) => "method",
            FaultKind::MethodWithResult(_) => "both a call and an answer",
            FaultKind::ParamsNotStructured(_) => "params",
            FaultKind::BothResultAndError => "both",
            FaultKind::NoMethodResultOrError => "neither",
            FaultKind::ResultWithoutId => "no id",
            FaultKind::ErrorMalformed(_) => "error",
            _ => "not JSON",
        }),
    }
}

/// Nothing where serde_json cannot read a member's name, since it refuses half of a surrogate pair.
fn expected(members: &[(String, Box<RawValue>)]) -> Option<Outcome> {
    let error = members.iter().find(|(name, _)| name == Part::Error.name());
    let error = error.map(|(_, text)| error_is_good(text.get()));
    if error == Some(None) { None } else { Some(classify(members, error == Some(Some(true)))) }
}

fn classify(members: &[(String, Box<RawValue>)], error_is_good: bool) -> Outcome {
    let all = |part: Part| {
        members.iter().filter(move |(name, _)| name == part.name()).map(|(_, value)| value.get())
    };
    let get = |part| all(part).next();
    let parts = [Part::Jsonrpc, Part::Id, Part::Method, Part::Params, Part::Result, Part::Error];
    if parts.into_iter().any(|part| all(part).count() > 1) {
        return Outcome::Fault("twice");
    }
    if get(Part::Jsonrpc).and_then(|text| serde_json::from_str::<String>(text).ok()).as_deref() != Some("2.0")
    {
        return Outcome::Fault("version");
    }
    let is_answer = get(Part::Method).is_none() && get(Part::Error).is_some();
    let id = match get(Part::Id) {
        Some("null") if is_answer => None,
        Some(text) if id_is_good(text) => Some(text),
        Some(_) => return Outcome::Fault("id"),
        None => None,
    };
    match (get(Part::Method), get(Part::Result), get(Part::Error)) {
        (Some(method), result, error) => {
            let Some(method) = text_of(method) else { return Outcome::Fault("method") };
            if result.is_some() || error.is_some() {
                return Outcome::Fault("both a call and an answer");
            }
            match get(Part::Params) {
                None | Some("null") => {}
                Some(text) if text.starts_with('{') => {}
                Some(_) => return Outcome::Fault("params"),
            }
            if id.is_some() { Outcome::Request(method) } else { Outcome::Notification(method) }
        }
        (None, Some(_), Some(_)) => Outcome::Fault("both"),
        (None, Some(_), None) if id.is_none() => Outcome::Fault("no id"),
        (None, Some(_), None) => Outcome::Result,
        (None, None, Some(_)) if error_is_good => Outcome::Error,
        (None, None, Some(_)) => Outcome::Fault("error"),
        (None, None, None) => Outcome::Fault("neither"),
    }
}

/// The text of a string literal, half surrogate pairs replaced, or `None` if it is no string.
fn text_of(literal: &str) -> Option<String> {
    if !literal.starts_with('"') {
        return None;
    }
    serde_json::from_str(literal).ok().or_else(|| {
        // serde_json refuses half a pair; what it becomes is checked by vectors beside the code.
        Some(parse_raw(literal.as_bytes()).ok()?.view().str()?.decode().into_owned())
    })
}

fn id_is_good(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    text.len() <= jsonrpc::MAX_ID_BYTES && (is_integer || serde_json::from_str::<String>(text).is_ok())
}

fn error_is_good(text: &str) -> Option<bool> {
    if !text.starts_with('{') {
        return Some(false);
    }
    let Members(members) = serde_json::from_str(text).ok()?;
    let get = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| value.get());
    let code = get("code").is_some_and(|code| code.parse::<i64>().is_ok());
    Some(code && get("message").is_some_and(|message| message.starts_with('"')))
}

fn writing_and_reading_gives_the_same(message: &Message) {
    let mut line = Vec::new();
    match message {
        Message::Request { id, method, params } => {
            jsonrpc::write_request(&mut line, id, method.as_str(), |slot| {
                if let Some(params) = params {
                    slot.raw(params.view());
                }
            });
        }
        Message::Notification { method, params } => {
            jsonrpc::write_notification(&mut line, method.as_str(), |slot| {
                if let Some(params) = params {
                    slot.raw(params.view());
                }
            });
        }
        Message::Result { id, result } => jsonrpc::write_raw_result(&mut line, id, result.view()),
        Message::Error { id, error } => {
            let data = error.data.as_ref().map(RawJson::view);
            jsonrpc::write_error(&mut line, id.as_ref(), error.code, &error.message, data);
        }
    }
    assert!(!line.iter().any(|b| matches!(b, b'\n' | b'\r')), "a line break in a line");
    let again = jsonrpc::parse(Bytes::from(line), MAX_DEPTH);
    let Ok(again) = again else { panic!("{again:?}") };
    assert_eq!(again.id(), message.id());
    assert_eq!(again.method(), message.method());
    match (payload(message), payload(&again)) {
        (Some(before), Some(after)) => {
            let kept: Vec<u8> =
                before.as_bytes().iter().copied().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
            assert_eq!(after.as_bytes(), kept);
        }
        (before, after) => assert_eq!(before, after),
    }
    if let Some(id) = message.id() {
        let mut text = Vec::new();
        id.write_json(&mut text);
        let text = RawJson::from_slice(&text, 1);
        assert_eq!(text.ok().and_then(|text| RequestId::parse(text.view()).ok()).as_ref(), Some(id));
    }
}

fn payload(message: &Message) -> Option<&RawJson> {
    match message {
        Message::Request { params, .. } | Message::Notification { params, .. } => params.as_ref(),
        Message::Result { result, .. } => Some(result),
        Message::Error { error, .. } => error.data.as_ref(),
    }
}

fn batches_agree(data: &[u8]) {
    let Ok(batch) = jsonrpc::parse_batch(Bytes::copy_from_slice(data), MAX_DEPTH) else { return };
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let Ok(elements) = serde_json::from_slice::<Vec<Box<RawValue>>>(text) else { return };
    let read: Vec<_> = batch.collect();
    assert_eq!(read.len(), elements.len());
    for (read, element) in read.iter().zip(&elements) {
        let alone = jsonrpc::parse(Bytes::copy_from_slice(element.get().as_bytes()), MAX_DEPTH - 1);
        assert_eq!(outcome_of(read), outcome_of(&alone));
        if let (Ok(read), Ok(alone)) = (read, &alone) {
            assert_eq!(read, alone);
        }
    }
}
