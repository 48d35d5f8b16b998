//! Files of JSON, as people write them: comments and trailing commas are allowed.

use std::io;
use std::path::Path;

use sanswire::jsonrpc::{Kind, MAX_DEPTH, RawJson};

/// The longest configuration file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file's content and its SHA-256 in hex.
#[derive(Debug)]
pub(super) struct File {
    pub(super) value: RawJson,
    pub(super) hash: String,
}

/// Reads a file; `None` if there is none. The error is a sentence that names it.
pub(super) fn read(path: &Path) -> Result<Option<File>, String> {
    let shown = path.display();
    let bytes = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(format!("{shown} is a folder, not a file")),
        Ok(found) if found.len() > MAX_BYTES => {
            return Err(format!("{shown} has {} bytes; that is no configuration", found.len()));
        }
        Ok(_) => std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    let hash = crate::state::hex_hash(&[&bytes]);
    let mut text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8 text"))?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        // Claude Code and others make empty files: no servers.
        return Ok(Some(File { value: RawJson::empty_object(), hash }));
    }
    json_strip_comments::strip(&mut text).map_err(|_| format!("{shown}: a slash that begins no comment"))?;
    let text = text.trim_start_matches('\u{feff}');
    let value = RawJson::from_slice(text.as_bytes(), MAX_DEPTH).map_err(|fault| {
        let before = text.as_bytes().get(..fault.offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("{shown}:{line}:{column}: not JSON: {fault}")
    })?;
    match value.view().kind() {
        Kind::Object => Ok(Some(File { value, hash })),
        other => Err(format!("{shown} is {other}, not an object")),
    }
}
