//! What a model gets to see of a tool's result: one text within a bound, and the rest of it page by page.
//!
//! [`present`] does it all: the result becomes one text ([`flatten`]), is masked, and is cut ([`ResultCap`]); what was
//! cut away is kept for a while ([`Pages`]). The result itself is only looked at: its blocks and its structured content
//! stay with whoever called the tool, as they were sent.

mod cap;
mod flatten;
mod pages;

use alloc::string::String;

use crate::host::Mask;
use crate::mcp::types::call_result::CallToolResult;
use crate::server::Principal;
use crate::time::Instant;

pub use cap::{Capped, MAX_RESULT_CEILING, Marker, ResultCap};
pub use flatten::{EMPTY_ERROR, NO_CONTENT, flatten};
pub use pages::{Page, PageCounts, PageFault, PageHandle, PageLimits, Pages, TextPage};

/// The kind of the error that a result with `isError` is: the tool ran and failed, the connection did not.
pub const TOOL_ERROR_KIND: &str = "mcp_tool_error";

/// A result as a model gets to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Presented {
    /// The text. Of a result with `isError` this is the error's message.
    pub text: String,
    /// Whether the tool says that it failed: an error of the kind [`TOOL_ERROR_KIND`].
    pub is_error: bool,
    /// How many bytes of the whole text are shown so far, so where the rest begins; the marker of a cut text comes on
    /// top.
    pub shown: usize,
    /// The bytes of the whole text.
    pub total: usize,
    /// Where the rest can be had, if there is one and it was kept.
    pub rest: Option<PageHandle>,
}

/// Makes of a result what a model gets to see of it. `owner` is who may ask for the rest.
///
/// O(bytes of the result); the text of a result is never longer than the result itself.
pub fn present(
    result: &CallToolResult,
    cap: &ResultCap,
    mask: &Mask,
    pages: &mut Pages,
    owner: &Principal,
    now: Instant,
) -> Presented {
    let text = flatten(result);
    let text = if cap.mask { mask.text(&text) } else { text };
    present_text(text, result.is_error(), cap, pages, owner, now)
}

/// As [`present`], of a text that is masked already.
pub(super) fn present_text(
    text: String,
    is_error: bool,
    cap: &ResultCap,
    pages: &mut Pages,
    owner: &Principal,
    now: Instant,
) -> Presented {
    let Capped { text, shown, total, rest } = cap.cut(text);
    let rest = pages.keep(owner, rest, shown, now);
    Presented { text, is_error, shown, total, rest }
}

/// A page as a model gets to see it: within the bound of a result, with a marker behind it if it is not the last.
pub(super) fn present_page(handle: PageHandle, page: Page<'_>, cap: &ResultCap) -> Presented {
    let Page { text, offset, next, total } = page.within(cap.max_result_bytes.clamp(1, MAX_RESULT_CEILING));
    let shown = offset + text.len();
    let mut text = String::from(text);
    if next.is_some() {
        text.push_str(&cap.marker.text(shown, total));
    }
    Presented { text, is_error: false, shown, total, rest: next.map(|_| handle) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RawJson;

    fn result(text: &str) -> CallToolResult {
        CallToolResult::new(RawJson::parse_str(text).expect(text))
    }

    fn shown(result: &CallToolResult, cap: &ResultCap, pages: &mut Pages) -> Presented {
        present(result, cap, &Mask::new(["s3cr3t"]), pages, &Principal::anonymous(), Instant::ZERO)
    }

    #[test]
    fn a_failing_tool_is_an_error_of_its_own_kind_with_its_text_as_message() {
        // H-081, H-082
        let cap = ResultCap { max_result_bytes: 4, ..ResultCap::default() };
        let mut pages = Pages::new(PageLimits::default()).unwrap();
        let failed = result(r#"{"isError":true,"content":[{"type":"text","text":"no such file"}]}"#);
        let failed = shown(&failed, &cap, &mut pages);
        assert!(failed.is_error);
        assert_eq!(
            failed.text, "no s\n<truncated output shown=4 total=12>",
            "an error's text is bounded as well"
        );
        assert_eq!(TOOL_ERROR_KIND, "mcp_tool_error");
        let page = pages.page(&Principal::anonymous(), failed.rest.unwrap(), None, Instant::ZERO).unwrap();
        assert_eq!(page.text, "uch file");
    }

    #[test]
    fn text_is_masked_before_it_is_cut_unless_that_is_off() {
        // H-086
        let mut cap = ResultCap { max_result_bytes: 12, ..ResultCap::default() };
        let mut pages = Pages::new(PageLimits::default()).unwrap();
        let sent = result(r#"{"content":[{"type":"text","text":"\u001b]0;s3cr3t\u202e\tb\n"}]}"#);
        let masked = shown(&sent, &cap, &mut pages);
        assert_eq!(masked.text, "\\u{1b}]0;***\n<truncated output shown=12 total=23>");
        let page = pages.page(&Principal::anonymous(), masked.rest.unwrap(), None, Instant::ZERO).unwrap();
        assert_eq!(page.text, "\\u{202e}\tb\n");
        (cap.mask, cap.max_result_bytes) = (false, 100);
        let raw = shown(&sent, &cap, &mut pages);
        assert_eq!((raw.text.as_str(), raw.rest), ("\u{1b}]0;s3cr3t\u{202e}\tb\n", None));
    }

    #[test]
    fn blocks_and_structured_content_stay_as_they_were_sent() {
        // H-085
        let text = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png","x":1.0}],"structuredContent":[1.0]}"#;
        let sent = result(text);
        let mut pages = Pages::new(PageLimits::default()).unwrap();
        let cap = ResultCap { max_result_bytes: 1, ..ResultCap::default() };
        assert_eq!(shown(&sent, &cap, &mut pages).shown, 1);
        assert_eq!(sent.raw().as_str(), text);
        assert_eq!(sent.structured_content().unwrap().as_bytes(), b"[1.0]");
        assert_eq!(sent.content().count(), 1);
    }
}
