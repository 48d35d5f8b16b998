//! Bytes as hexadecimal digits in lower case.

/// Two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that digits stand for. `None` if they are none, or in upper case.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn digits_are_two_a_byte_in_lower_case() {
        assert_eq!(hex(&[0, 0xaf, 9]), "00af09");
        for wrong in ["0", "0g", "AF", "é"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        }
    }
}
