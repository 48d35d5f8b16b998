//! Whole numbers, as JSON Schema sees them: `5.0` and `5e0` are five.

use crate::jsonrpc::JsonRef;

/// Beyond this an `f64` is not sure of its last digit.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value of a number without a fraction.
///
/// Source: JSON Schema 2020-12 core, section 4.2.3.
pub(super) fn whole(value: JsonRef<'_>) -> Option<i128> {
    if let Some(whole) = value.as_u64() {
        return Some(whole.into());
    }
    if let Some(whole) = value.as_i64() {
        return Some(whole.into());
    }
    let float = value.as_f64().filter(|float| float.abs() <= EXACT)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is small enough")]
    let whole = float as i64;
    #[expect(clippy::cast_precision_loss, reason = "it is small enough")]
    let same = whole as f64 == float;
    same.then_some(whole.into())
}
