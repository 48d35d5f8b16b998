//! `--out DIR`: binary content as files.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Endings by media type.
const ENDINGS: [(&str, &str); 31] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/tiff", "tiff"),
    ("image/x-icon", "ico"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("audio/aac", "aac"),
    ("audio/mp4", "m4a"),
    ("audio/webm", "weba"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("application/xml", "xml"),
    ("application/wasm", "wasm"),
    ("text/plain", "txt"),
    ("text/html", "html"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/markdown", "md"),
];

/// How many names are tried before giving up.
const TRIES: u32 = 10_000;

/// The folder that files are saved in, never outside of it and never over one that is there.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    stem: String,
}

impl Folder {
    /// Uses, and if need be makes, the folder. Files are named after `stem`, of which only what is harmless in a
    /// name is kept.
    pub(crate) fn open(path: &Path, stem: &str) -> Result<Self, Failure> {
        fs::create_dir_all(path)
            .map_err(|error| Failure::usage(format!("{} cannot be made: {error}", path.display())))?;
        Ok(Self { path: path.into(), stem: harmless(stem) })
    }

    /// Decodes and saves; says under which name, and how many bytes.
    pub(crate) fn save(&self, base64: &str, media_type: &str) -> Result<(PathBuf, usize), Failure> {
        let bytes = decode(base64).ok_or_else(|| {
            Failure::new(crate::failure::status::OTHER, "bad_base64", "binary content is not in Base64")
        })?;
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let ending = ENDINGS.iter().find(|(known, _)| *known == essence).map_or("bin", |(_, ending)| ending);
        for n in 1..=TRIES {
            let number = if n == 1 { String::new() } else { format!("-{n}") };
            let path = self.path.join(format!("{}{number}.{ending}", self.stem));
            let file = fs::OpenOptions::new().write(true).create_new(true).open(&path);
            let written = file.and_then(|mut file| {
                file.write_all(&bytes).inspect_err(|_| {
                    // Half a file is worse than none.
                    let _ = fs::remove_file(&path);
                })
            });
            match written {
                Ok(()) => return Ok((path, bytes.len())),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Failure::usage(format!("{} cannot be written: {error}", path.display())));
                }
            }
        }
        Err(Failure::usage(format!("{} is full of files of that name", self.path.display())))
    }
}

fn harmless(stem: &str) -> String {
    let kept: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(64)
        .collect();
    let kept = kept.trim_matches(['.', '-']);
    if kept.is_empty() { "content".into() } else { kept.into() }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let spaces = |c: char| c.is_ascii_whitespace();
    let text = if text.contains(spaces) { Cow::Owned(text.replace(spaces, "")) } else { Cow::Borrowed(text) };
    sanswire::base64::decode(text.as_bytes())
}

/// How many bytes Base64 stands for.
pub(super) fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::{decode, decoded_len, harmless};

    #[test]
    fn names_stay_inside_the_folder() {
        for (given, kept) in [
            ("../../etc/passwd", "etc-passwd"),
            ("..", "content"),
            (".hidden", "hidden"),
            ("a/b\\c:d", "a-b-c-d"),
            ("nul\0", "nul"),
            ("読む", "content"),
        ] {
            assert_eq!(harmless(given), kept);
        }
        assert_eq!(harmless(&"x".repeat(500)).len(), 64);
    }

    #[test]
    fn base64_is_taken_with_and_without_padding_and_breaks() {
        for text in ["aGk=", "aGk", "aG\nk="] {
            assert_eq!(decode(text).as_deref(), Some(b"hi".as_slice()), "{text}");
        }
        assert_eq!(decode("a$"), None);
        assert_eq!(decoded_len("aGk="), 2);
    }
}
