//! Whether two outputs are the same, and where they are not.

use super::blot::BLOT;

/// How much is shown around the first byte that differs.
const BEFORE: usize = 60;
const BEHIND: usize = 100;

/// The result of a comparison.
pub(super) enum Same {
    Yes,
    /// What stands around the first difference, fit to be shown.
    No {
        expected: String,
        got: String,
    },
}

/// Compares two outputs. What was blotted is the same whatever its length: in a text that was decoded it may be shorter than
/// it was in its message.
pub(super) fn compare(expected: &[u8], got: &[u8]) -> Same {
    if expected == got {
        return Same::Yes;
    }
    let (mut e, mut g) = (0, 0);
    loop {
        match (expected.get(e), got.get(g)) {
            (None, None) => return Same::Yes,
            (Some(&BLOT), Some(&BLOT)) => {
                e += blot_len(expected, e);
                g += blot_len(got, g);
            }
            (one, other) if one == other => {
                e += 1;
                g += 1;
            }
            _ => return Same::No { expected: around(expected, e), got: around(got, g) },
        }
    }
}

fn blot_len(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == BLOT).count()
}

fn around(text: &[u8], at: usize) -> String {
    let (start, end) = (at.saturating_sub(BEFORE), text.len().min(at + BEHIND));
    let part = String::from_utf8_lossy(text.get(start..end).unwrap_or_default());
    let (before, behind) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{}{behind}", sanswire::host::Mask::default().line(&part))
}
