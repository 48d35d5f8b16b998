//! Files of JSON, as people write them: comments and trailing commas are allowed. Those of TOML are read as JSON.

use std::io::{self, Read as _};
use std::path::Path;

use sanswire::jsonrpc::{Kind, MAX_DEPTH, RawJson};

use super::toml;

/// The longest configuration file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file's content and its SHA-256 in hex.
#[derive(Debug)]
pub(super) struct File {
    pub(super) value: RawJson,
    pub(super) hash: String,
}

/// Reads a file; `None` if there is none. The error is a sentence that names it. One that was `named` by the user
/// may be a pipe.
pub(super) fn read(path: &Path, named: bool) -> Result<Option<File>, String> {
    let shown = path.display();
    let bytes = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(format!("{shown} is a folder, not a file")),
        // A device may have no end, a pipe no beginning.
        Ok(found) if !found.is_file() && !named => return Err(format!("{shown} is no file")),
        Ok(_) => contents(path).map_err(|error| format!("{shown} cannot be read: {error}"))?,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("{shown} has more than {MAX_BYTES} bytes; that is no configuration"));
    }
    let hash = crate::state::hex_hash(&[&bytes]);
    let text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8 text"))?;
    Ok(Some(File { value: parse(&text, path)?, hash }))
}

/// What a text says that stands, or is to stand, in the file at `path`. The error is a sentence that names the place.
pub(super) fn parse(text: &str, path: &Path) -> Result<RawJson, String> {
    let shown = path.display();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        // Claude Code and others make empty files: no servers.
        return Ok(RawJson::empty_object());
    }
    let position = |text: &str, offset: usize| {
        let before = text.as_bytes().get(..offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("{shown}:{line}:{column}")
    };
    if path.extension().is_some_and(|extension| extension == "toml") {
        return toml::to_json(text)
            .map_err(|(offset, why)| format!("{}: not TOML: {why}", position(text, offset)));
    }
    let mut text = text.to_owned();
    json_strip_comments::strip(&mut text).map_err(|_| format!("{shown}: a slash that begins no comment"))?;
    let text = text.trim_start_matches('\u{feff}');
    let value = RawJson::from_slice(text.as_bytes(), MAX_DEPTH)
        .map_err(|fault| format!("{}: not JSON: {fault}", position(text, fault.offset)))?;
    match value.view().kind() {
        Kind::Object => Ok(value),
        other => Err(format!("{shown} is {other}, not an object")),
    }
}

/// What is in the file, or the beginning of it where that is too long already.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
