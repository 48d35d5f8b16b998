//! Content blocks and resources, for people.

use sanswire::jsonrpc::JsonRef;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::mcp::types::content::{Content, ContentBlock};
use sanswire::mcp::types::resource::{Body, ResourceContents};

use super::save::decoded_len;
use super::{Folder, escape, json_text, peer_text};
use crate::failure::Failure;

/// What is printed, as it grows.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// What was saved where.
    pub(crate) saved: Vec<String>,
    /// The first thing that could not be saved. It takes nothing from the rest.
    pub(crate) failed: Option<Failure>,
}

impl Shown {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// A tool's result: its content, or its structured content where that is all there is.
    pub(crate) fn result(result: &CallToolResult, folder: Option<&Folder>) -> Self {
        let mut this = Self::default();
        let mut empty = true;
        for block in result.content() {
            empty = false;
            this.block(&block, folder);
        }
        if let Some(structured) = result.structured_content().filter(|_| empty) {
            this.line(&json_text(structured));
        }
        this
    }

    /// One block.
    pub(crate) fn block(&mut self, block: &ContentBlock<'_>, folder: Option<&Folder>) {
        match block.content() {
            Content::Text(text) => self.line(&peer_text(&text.decode())),
            Content::Image(media) => {
                self.media("image", media.mime_type.decode(), media.data.decode(), folder);
            }
            Content::Audio(media) => {
                self.media("audio", media.mime_type.decode(), media.data.decode(), folder);
            }
            Content::Resource(contents) => self.contents(&contents, folder),
            Content::ResourceLink(link) => {
                let (uri, name) = (link.uri.decode(), link.name.decode());
                self.line(&format!("[resource {}: {}]", escape::line(&name), escape::line(&uri)));
            }
            Content::Unknown { kind, flaw } => {
                let kind = kind.map(|kind| kind.decode().into_owned()).unwrap_or_default();
                let what = match flaw {
                    Some(flaw) => format!("[unusable block {}: {flaw}]", escape::line(&kind)),
                    None => format!("[block of unknown type {}]", escape::line(&kind)),
                };
                self.line(&what);
                self.line(&json_text(block.raw()));
            }
            _ => self.line(&json_text(block.raw())),
        }
    }

    /// What reading a resource gave.
    pub(crate) fn contents(&mut self, contents: &ResourceContents<'_>, folder: Option<&Folder>) {
        match contents.body() {
            Body::Text(text) => self.line(&peer_text(&text.decode())),
            Body::Blob(blob) => {
                let media_type = contents.mime_type().map(|kind| kind.decode()).unwrap_or_default();
                self.media("resource", media_type, blob.decode(), folder);
            }
        }
    }

    /// Something that cannot be read, as it is.
    pub(crate) fn raw(&mut self, why: &str, raw: JsonRef<'_>) {
        self.line(&format!("[unusable: {why}]"));
        self.line(&json_text(raw));
    }

    fn media(
        &mut self,
        what: &str,
        media_type: std::borrow::Cow<'_, str>,
        data: std::borrow::Cow<'_, str>,
        folder: Option<&Folder>,
    ) {
        let kind = escape::line(&media_type);
        match folder {
            Some(folder) => match folder.save(&data, &media_type) {
                Ok((path, bytes)) => {
                    let path = path.display();
                    self.saved.push(path.to_string());
                    self.line(&format!("[{what} {kind}, {bytes} bytes, saved as {path}]"));
                }
                Err(failure) => {
                    self.line(&format!("[{what} {kind}, not saved: {}]", failure.message));
                    self.failed.get_or_insert(failure);
                }
            },
            None => {
                let bytes = decoded_len(&data);
                self.line(&format!("[{what} {kind}, {bytes} bytes; --out DIR saves it]"));
            }
        }
    }
}
