//! Values of numbers that are known to be well formed.

/// A plain integer without sign that fits.
pub(super) fn unsigned(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    if digits.len() < 20 {
        // Nineteen digits always fit.
        for b in digits {
            let digit = b.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        return Some(value);
    }
    for b in digits {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A plain integer that fits.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    match text.split_first() {
        Some((b'-', digits)) => 0i64.checked_sub_unsigned(unsigned(digits)?),
        _ => i64::try_from(unsigned(text)?).ok(),
    }
}
