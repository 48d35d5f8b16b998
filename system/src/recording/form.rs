//! Where one message ends and the next begins in what a stream brings, and where its secrets are.

use std::ops::Range;

use sanswire::jsonrpc::{MAX_DEPTH, RawJson};

use super::blot::{blot, blot_torn};
use super::http::blot_query;
use crate::secrets::Secrets;

/// The form of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A message a line.
    Lines,
    /// Events, each up to an empty line.
    Events,
    /// One message, to the end.
    Whole,
}

impl Form {
    /// Takes what belongs to the message that is open. How much that is.
    pub(super) fn take(self, open: &mut Vec<u8>, rest: &[u8]) -> usize {
        let len = match self {
            Self::Whole => rest.len(),
            Self::Lines | Self::Events => {
                rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(rest.len(), |at| at + 1)
            }
        };
        open.extend_from_slice(rest.get(..len).unwrap_or_default());
        len
    }

    /// Whether that is all of the message.
    pub(super) fn is_whole(self, open: &[u8]) -> bool {
        match self {
            Self::Lines => open.ends_with(b"\n"),
            Self::Events => [&b"\n\n"[..], b"\r\r", b"\n\r\n"].iter().any(|end| open.ends_with(end)),
            Self::Whole => false,
        }
    }

    /// Blots the secrets of a message; nothing of it moves. `whole`: all of it is there.
    pub(super) fn blot(self, message: &mut [u8], secrets: &Secrets, whole: bool) {
        match self {
            Self::Lines => {
                blot(message, secrets, whole);
            }
            Self::Events => blot_events(message, secrets, whole),
            Self::Whole => blot_content(message, secrets, whole),
        }
    }
}

/// Whether this was to be JSON.
fn is_structure(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The content of an answer.
fn blot_content(content: &mut [u8], secrets: &Secrets, whole: bool) {
    if is_structure(content) && RawJson::from_slice(content, MAX_DEPTH).is_err() {
        blot_torn(content, secrets);
    } else {
        blot(content, secrets, whole);
    }
}

/// Events of a stream: the data of each is looked at as the one text that it is. Data that is no JSON is an address.
fn blot_events(events: &mut [u8], secrets: &Secrets, whole: bool) {
    let mut data: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < events.len() {
        let rest = events.get(at..).unwrap_or_default();
        let len = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = rest.get(..len).unwrap_or_default();
        let end = at + len;
        // CR LF ends one line, not two.
        let next = if rest.get(len..).unwrap_or_default().starts_with(b"\r\n") { end + 2 } else { end + 1 };
        if line.is_empty() {
            blot_data(events, &data, secrets, true);
            data.clear();
        } else if line.starts_with(b"data:") {
            data.push(at + b"data:".len()..end);
        } else {
            let whole = whole || end < events.len();
            blot(events.get_mut(at..end).unwrap_or_default(), secrets, whole);
        }
        at = next;
    }
    blot_data(events, &data, secrets, whole);
}

fn blot_data(events: &mut [u8], data: &[Range<usize>], secrets: &Secrets, whole: bool) {
    let parts = data.iter().map(|range| events.get(range.clone()).unwrap_or_default());
    let mut text = parts.collect::<Vec<_>>().join(&b'\n');
    blot_content(&mut text, secrets, whole);
    if !is_structure(&text) {
        blot_query(&mut text);
    }
    let mut at = 0;
    for range in data {
        let len = range.len();
        let (to, from) = (events.get_mut(range.clone()), text.get(at..at + len));
        if let (Some(to), Some(from)) = (to, from) {
            to.copy_from_slice(from);
        }
        at += len + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blotted(form: Form, text: &str, whole: bool) -> String {
        let mut bytes = text.as_bytes().to_vec();
        form.blot(&mut bytes, &Secrets::new(["hunter2".to_owned()]), whole);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn b_99_events_are_blotted_by_their_data_and_keep_their_shape() {
        for (text, want) in [
            ("data: {\"password\":\"x y\"}\n\n", "data: {\"password\":\"***\"}\n\n"),
            (
                "data: {\"password\":\r\ndata:\"x y\"}\r\n\r\n",
                "data: {\"password\":\r\ndata:\"***\"}\r\n\r\n",
            ),
            ("id: hunter2\nevent: message\n\n", "id: *******\nevent: message\n\n"),
            (
                "event: endpoint\ndata: /messages?sessionId=abc&x\n\n",
                "event: endpoint\ndata: /messages?sessionId=***&*\n\n",
            ),
            (": hunter2\ndata: hunter2\n\n", ": *******\ndata: *******\n\n"),
        ] {
            assert_eq!(blotted(Form::Events, text, true), want);
        }
        assert_eq!(blotted(Form::Events, "data: {\"password\":\"x", false), "data: {\"password\":\"*");
        assert_eq!(blotted(Form::Events, "data: a\nid: hunt", false), "data: a\nid: ****");
    }

    #[test]
    fn b_99_content_that_was_cut_is_blotted_to_its_end() {
        assert_eq!(
            blotted(Form::Whole, "{\"password\":\"x y\",\"a\":1}", true),
            "{\"password\":\"***\",\"a\":1}"
        );
        assert_eq!(blotted(Form::Whole, "{\"password\":\"x y", false), "{\"password\":\"***");
        assert_eq!(blotted(Form::Whole, "no such page, hunter2", true), "no such page, *******");
    }

    #[test]
    fn messages_end_where_they_do() {
        for (form, text, ends) in [
            (Form::Lines, "a\nb", &[2][..]),
            (Form::Events, "a\nb\n\nc\r\n\r\nd", &[5, 10][..]),
            (Form::Whole, "a\n\nb", &[][..]),
        ] {
            let (mut open, mut rest, mut at, mut found) = (Vec::new(), text.as_bytes(), 0, Vec::new());
            while !rest.is_empty() {
                let len = form.take(&mut open, rest);
                (rest, at) = (&rest[len..], at + len);
                if form.is_whole(&open) {
                    open.clear();
                    found.push(at);
                }
            }
            assert_eq!(found, ends, "{form:?}");
        }
    }
}
