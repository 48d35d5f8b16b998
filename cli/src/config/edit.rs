//! Changes of a configuration file's text: a member goes in or out, and every other byte stays as it is, comments,
//! order and odd spacing included.

use std::ops::Range;

/// A file that is no object from its first value on, or ends in the middle of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// One member of an object, by the places in the text.
#[derive(Clone, Debug)]
struct Member {
    /// As it is written, without the quotes.
    name: Range<usize>,
    /// From its opening quote to the end of the value.
    whole: Range<usize>,
    value: Range<usize>,
    /// Where the comma behind it stands.
    comma: Option<usize>,
}

/// An object, by the places of its braces, and its members.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

impl Object {
    fn read(text: &str, open: usize) -> Result<Self, Unreadable> {
        let bytes = text.as_bytes();
        if bytes.get(open) != Some(&b'{') {
            return Err(Unreadable);
        }
        let mut members: Vec<Member> = Vec::new();
        let mut at = skip(bytes, open + 1)?;
        while bytes.get(at) != Some(&b'}') {
            if bytes.get(at) != Some(&b'"') {
                return Err(Unreadable);
            }
            let name_end = string_end(bytes, at)?;
            let colon = skip(bytes, name_end)?;
            if bytes.get(colon) != Some(&b':') {
                return Err(Unreadable);
            }
            let value = skip(bytes, colon + 1)?;
            let end = value_end(bytes, value)?;
            let next = skip(bytes, end)?;
            let comma = (bytes.get(next) == Some(&b',')).then_some(next);
            members.push(Member { name: at + 1..name_end - 1, whole: at..end, value: value..end, comma });
            at = match comma {
                Some(comma) => skip(bytes, comma + 1)?,
                None if bytes.get(next) == Some(&b'}') => next,
                None => return Err(Unreadable),
            };
        }
        Ok(Self { open, close: at, members })
    }

    /// The outermost object of a file.
    fn root(text: &str) -> Result<Self, Unreadable> {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self::read(text, skip(text.as_bytes(), start)?)
    }

    /// The object at the end of a path. Where a name stands twice the first counts, as everywhere.
    fn at(text: &str, path: &[&str]) -> Result<Self, Unreadable> {
        let mut object = Self::root(text)?;
        for name in path {
            let member = object.named(text, name).next().ok_or(Unreadable)?;
            object = Self::read(text, member.value.start)?;
        }
        Ok(object)
    }

    fn named<'a>(&'a self, text: &'a str, name: &'a str) -> impl Iterator<Item = &'a Member> {
        self.members.iter().filter(move |member| decoded(text, &member.name).as_deref() == Some(name))
    }
}

/// Puts a member at the end of the object at `path`. `value` is JSON, on lines of two spaces a level.
pub(crate) fn insert(text: &str, path: &[&str], name: &str, value: &str) -> Result<String, Unreadable> {
    let object = Object::at(text, path)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let base = indentation(text, object.open);
    let unit = unit(text)?;
    let Some(last) = object.members.last() else {
        let inner = format!("{base}{unit}");
        let member = member_text(name, value, &inner, &unit, newline);
        let (at, tail) = place_in_empty(text, &object, &format!("{newline}{base}"));
        return Ok(spliced(text, &[(at..at, format!("{newline}{inner}{member}{tail}"))]));
    };
    let own_line = starts_line(text, last.whole.start);
    let behind = last.comma.map_or(last.whole.end, |comma| comma + 1);
    // A comment behind the last member belongs to it.
    let at = end_of_line_comment(text, behind).filter(|_| own_line).unwrap_or(behind);
    let inner = if own_line { indentation(text, last.whole.start) } else { base };
    let mut added = if own_line { format!("{newline}{inner}") } else { " ".into() };
    added.push_str(&member_text(name, value, &inner, &unit, newline));
    let mut edits = Vec::new();
    match last.comma {
        // Who ends the last member with a comma wants it behind the new one as well.
        Some(_) => added.push(','),
        None => edits.push((last.whole.end..last.whole.end, ",".to_owned())),
    }
    edits.push((at..at, added));
    Ok(spliced(text, &edits))
}

/// Where the first member of an object goes, behind what comments there are, and what follows it there.
fn place_in_empty(text: &str, object: &Object, end_of_line: &str) -> (usize, String) {
    let inside = text.get(object.open + 1..object.close).unwrap_or_default();
    let bare = inside.trim_end_matches([' ', '\t']);
    if bare.ends_with('\n') {
        // The brace that closes it has its line already.
        let line = object.open + 1 + bare.len();
        (line - newline_len(text, line), String::new())
    } else if bare.is_empty() {
        (object.open + 1, end_of_line.to_owned())
    } else {
        (object.close, end_of_line.to_owned())
    }
}

/// Takes every member of that name out of the object at `path`. The text is as it was if there is none.
pub(crate) fn remove(text: &str, path: &[&str], name: &str) -> Result<String, Unreadable> {
    let object = Object::at(text, path)?;
    let goes = |member: &Member| decoded(text, &member.name).as_deref() == Some(name);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut kept: Option<&Member> = None;
    let mut pending: Option<&Member> = None;
    for member in &object.members {
        if !goes(member) {
            kept = Some(member);
            pending = None;
            continue;
        }
        let range = removed(text, member);
        let comma = member.comma.filter(|comma| !range.contains(comma));
        edits.push((range, String::new()));
        // Where a comment stands before the comma, the comment stays.
        edits.extend(comma.map(|comma| (comma..comma + 1, String::new())));
        pending = Some(member);
    }
    // The last one is gone, and had no comma: that of the one before it goes as well.
    if let (Some(last), Some(comma)) = (pending, kept.and_then(|kept| kept.comma))
        && last.comma.is_none()
    {
        let at = edits.iter().position(|(range, _)| range.start > comma).unwrap_or(edits.len());
        edits.insert(at, (comma..comma + 1, String::new()));
    }
    Ok(spliced(text, &edits))
}

/// Replaces the value of every member of that name in the object at `path`. False: there is none.
pub(crate) fn replace(
    text: &str,
    path: &[&str],
    name: &str,
    value: &str,
) -> Result<(String, bool), Unreadable> {
    let object = Object::at(text, path)?;
    let edits: Vec<_> =
        object.named(text, name).map(|member| (member.value.clone(), value.to_owned())).collect();
    Ok((spliced(text, &edits), !edits.is_empty()))
}

/// What of the text goes with a member: its line, if it has one for itself; else it and the blanks before it.
fn removed(text: &str, member: &Member) -> Range<usize> {
    let bytes = text.as_bytes();
    // A comment between the value and the comma stays.
    let end = match member.comma {
        Some(comma) if text.get(member.whole.end..comma).is_some_and(|between| between.trim().is_empty()) => {
            comma + 1
        }
        _ => member.whole.end,
    };
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let after = end + bytes.get(end..).unwrap_or_default().iter().take_while(|byte| blank(byte)).count();
    let before = member.whole.start
        - bytes
            .get(..member.whole.start)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|byte| blank(byte))
            .count();
    let line_ends = matches!(bytes.get(after), Some(b'\n' | b'\r'));
    match (starts_line(text, member.whole.start), line_ends) {
        // The line break before it goes, that behind it stays.
        (true, true) => before - newline_len(text, before)..after,
        (true, false) if bytes.get(after) == Some(&b'}') => before..end,
        (true, false) => member.whole.start..after,
        (false, _) => before..end,
    }
}

/// The text with these places replaced, which stand in order.
fn spliced(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (range, new) in edits {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(new);
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

fn member_text(name: &str, value: &str, indent: &str, unit: &str, newline: &str) -> String {
    let name = sanswire::jsonrpc::RawJson::serialize(name).map(|name| name.as_str().to_owned());
    let mut out = format!("{}: ", name.unwrap_or_default());
    for (n, line) in value.lines().enumerate() {
        if n > 0 {
            let level = (line.len() - line.trim_start_matches(' ').len()) / 2;
            out.push_str(newline);
            out.push_str(indent);
            out.extend(std::iter::repeat_n(unit, level));
        }
        out.push_str(if n > 0 { line.trim_start_matches(' ') } else { line });
    }
    out
}

/// What a level is indented by: as the first member of the file is, or two spaces.
fn unit(text: &str) -> Result<String, Unreadable> {
    let root = Object::root(text)?;
    let first = root.members.first().filter(|first| starts_line(text, first.whole.start));
    let found = first.map(|first| indentation(text, first.whole.start));
    Ok(found.filter(|found| !found.is_empty()).unwrap_or_else(|| "  ".into()))
}

/// The white space that the line of this place begins with.
fn indentation(text: &str, at: usize) -> String {
    let line = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let whole = line.trim_start_matches('\u{feff}');
    whole.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// Whether there is nothing but white space before it on its line, and a line before that.
fn starts_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// How long the line break before a place is.
fn newline_len(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    if before.ends_with("\r\n") { 2 } else { usize::from(before.ends_with('\n')) }
}

/// The end of the line from `at` on, if only blanks and comments stand there.
fn end_of_line_comment(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = at;
    let mut end = at;
    loop {
        match bytes.get(at)? {
            b' ' | b'\t' => at += 1,
            b'\n' | b'\r' => return Some(end),
            b'/' | b'#' => {
                let next = comment_end(bytes, at).ok()?;
                if text.get(at..next)?.contains('\n') {
                    return None;
                }
                (at, end) = (next, next);
            }
            _ => return None,
        }
    }
}

fn decoded(text: &str, name: &Range<usize>) -> Option<String> {
    let quoted = text.get(name.start.checked_sub(1)?..name.end + 1)?;
    let json = sanswire::jsonrpc::RawJson::parse_str(quoted).ok()?;
    Some(json.view().str()?.decode().into_owned())
}

/// The next place that is neither white space nor comment.
fn skip(bytes: &[u8], mut at: usize) -> Result<usize, Unreadable> {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'/' | b'#') => at = comment_end(bytes, at)?,
            Some(_) => return Ok(at),
            None => return Err(Unreadable),
        }
    }
}

/// The end of the comment that begins here: of one to the end of the line, the line break is no part.
fn comment_end(bytes: &[u8], at: usize) -> Result<usize, Unreadable> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(b"/*") {
        let end = rest.windows(2).skip(2).position(|pair| pair == b"*/").ok_or(Unreadable)?;
        return Ok(at + end + 4);
    }
    if rest.starts_with(b"//") || rest.starts_with(b"#") {
        let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = if line > 0 && rest.get(line - 1) == Some(&b'\r') { line - 1 } else { line };
        return Ok(at + line);
    }
    Err(Unreadable)
}

fn string_end(bytes: &[u8], at: usize) -> Result<usize, Unreadable> {
    let mut at = at + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return Err(Unreadable),
        }
    }
}

/// The end of the value that begins here.
fn value_end(bytes: &[u8], at: usize) -> Result<usize, Unreadable> {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{' | b'[') => {
            let mut depth = 0_usize;
            let mut at = at;
            loop {
                match bytes.get(at).ok_or(Unreadable)? {
                    b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
                    b'}' | b']' => {
                        (depth, at) = (depth - 1, at + 1);
                        if depth == 0 {
                            return Ok(at);
                        }
                    }
                    b'"' => at = string_end(bytes, at)?,
                    b'/' | b'#' => at = comment_end(bytes, at)?,
                    _ => at += 1,
                }
            }
        }
        Some(_) => {
            let rest = bytes.get(at..).unwrap_or_default();
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            let len = rest.iter().take_while(|byte| plain(byte)).count();
            if len == 0 { Err(Unreadable) } else { Ok(at + len) }
        }
        None => Err(Unreadable),
    }
}

#[cfg(test)]
mod tests;
