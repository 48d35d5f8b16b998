//! `requestState` that only its maker can write (2026-07-28).
//!
//! A server that asks for input keeps nothing between the rounds of a call: what it has to remember goes to the client
//! and comes back. The client may read it, and may send back whatever it likes. A [`Seal`] makes a text of it that is
//! refused unless it was made with the same key, for the same principal, method and arguments, and is not too old. It
//! is not encrypted. That it is used once only is for the application to see to.
//!
//! Spec: MCP 2026-07-28, multi-round requests, "Request State"; RFC 2104; RFC 4648, section 5.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sha2::{Digest, Sha256};

use crate::jsonrpc::{ErrorObject, RawJson, write_members};
use crate::mcp::{Method, codes};
use crate::server::event::Principal;

/// The longest sealed text that is looked at.
pub const MAX_STATE_BYTES: usize = 64 * 1024;

const VERSION: u8 = 1;
const TAG: usize = 32;
const HEAD: usize = 9;

/// The key that state is sealed with. Keep it secret; give all processes behind one address the same.
#[derive(Clone)]
pub struct Seal {
    key: [u8; 32],
}

/// What a sealed state holds for: whoever asked, and what for.
#[derive(Clone, Debug)]
pub struct Binding {
    digest: [u8; 32],
}

/// Why a state was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StateFault {
    /// It is no sealed state at all.
    Malformed,
    /// It was not made with this key, or for another principal, method or other arguments.
    Forged,
    /// Its time is over.
    Expired,
}

impl StateFault {
    /// The error to answer with. Says nothing of the reason that would help a forger.
    #[must_use]
    pub fn to_error(self) -> ErrorObject {
        let message = match self {
            Self::Malformed | Self::Forged => "requestState is not valid for this request",
            Self::Expired => "requestState has expired; start again",
        };
        ErrorObject::new(codes::INVALID_PARAMS, message)
    }
}

impl fmt::Display for StateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "it is no sealed state",
            Self::Forged => "it was sealed with another key, or for another request",
            Self::Expired => "its time is over",
        })
    }
}

impl core::error::Error for StateFault {}

impl Binding {
    /// The binding of a request: its principal, its method and what it asks for, whatever the order of the members. What
    /// a later round adds (`inputResponses`, `requestState`) and `_meta` do not count.
    #[must_use]
    pub fn new(principal: &Principal, method: &Method, params: &RawJson) -> Self {
        let mut text = Vec::with_capacity(params.len());
        let later = ["_meta", "inputResponses", "requestState"];
        let members = params.view().members().map(|(name, value)| (name.decode(), value));
        write_members(&mut text, members.filter(|(name, _)| !later.contains(&name.as_ref())).collect());
        let mut hash = Sha256::new();
        // Lengths in front keep one field from running into the next.
        let named = [u8::from(principal.name().is_some())];
        for field in
            [&named[..], principal.name().unwrap_or_default().as_bytes(), method.as_str().as_bytes(), &text]
        {
            hash.update((field.len() as u64).to_be_bytes());
            hash.update(field);
        }
        Self { digest: hash.finalize().into() }
    }
}

impl Seal {
    /// Seals with this key.
    #[must_use]
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Makes a state of `payload`, to be taken back until `expires_at`, in seconds of the wall clock. One allocation
    /// and a copy; four thirds of the payload's length and 55 bytes.
    #[must_use]
    pub fn seal(&self, binding: &Binding, payload: &[u8], expires_at: u64) -> String {
        let mut bytes = Vec::with_capacity(HEAD + payload.len() + TAG);
        bytes.push(VERSION);
        bytes.extend_from_slice(&expires_at.to_be_bytes());
        bytes.extend_from_slice(payload);
        let tag = self.tag(binding, &bytes);
        bytes.extend_from_slice(&tag);
        base64(&bytes)
    }

    /// How long the state of a payload of `len` bytes is.
    pub(crate) const fn sealed_len(len: usize) -> usize {
        (HEAD + len + TAG).saturating_mul(4).div_ceil(3)
    }

    /// Takes a state back: the payload. `now` is in seconds of the wall clock.
    ///
    /// # Errors
    /// Why it is refused; answer with [`StateFault::to_error`].
    pub fn open(&self, binding: &Binding, state: &str, now: u64) -> Result<Vec<u8>, StateFault> {
        if state.len() > MAX_STATE_BYTES {
            return Err(StateFault::Malformed);
        }
        let mut bytes = from_base64(state).ok_or(StateFault::Malformed)?;
        let body = bytes.len().checked_sub(TAG).filter(|body| *body >= HEAD).ok_or(StateFault::Malformed)?;
        let tag = bytes.split_off(body);
        if bytes.first() != Some(&VERSION) {
            return Err(StateFault::Malformed);
        }
        if !same(&tag, &self.tag(binding, &bytes)) {
            return Err(StateFault::Forged);
        }
        let expires_at = bytes.get(1..HEAD).and_then(|at| at.try_into().ok()).map_or(0, u64::from_be_bytes);
        if now >= expires_at {
            return Err(StateFault::Expired);
        }
        Ok(bytes.split_off(HEAD))
    }

    fn tag(&self, binding: &Binding, body: &[u8]) -> [u8; TAG] {
        hmac(&self.key, &[b"state", &binding.digest, body])
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

/// HMAC-SHA-256 of the joined parts.
///
/// Spec: RFC 2104.
pub(crate) fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; 64];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        block
    };
    let mut inner = Sha256::new();
    inner.update(pad(0x36));
    for part in parts {
        inner.update(part);
    }
    let mut outer = Sha256::new();
    outer.update(pad(0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// Takes as long whatever differs.
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
    one.len() == other.len() && core::hint::black_box(differs) == 0
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().enumerate().fold(0u32, |word, (n, byte)| word | u32::from(*byte) << (16 - 8 * n));
        for n in 0..=chunk.len() {
            let index = (word >> (18 - 6 * n)) & 63;
            out.push(ALPHABET.get(index as usize).copied().map_or('A', char::from));
        }
    }
    out
}

/// Only what [`base64`] writes: one text for one value.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut word = 0u32;
        for (n, byte) in chunk.iter().enumerate() {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => return None,
            };
            word |= u32::from(value) << (18 - 6 * n);
        }
        let len = chunk.len().checked_sub(1).filter(|len| *len > 0)?;
        let [_, bytes @ ..] = word.to_be_bytes();
        if bytes.iter().skip(len).any(|byte| *byte != 0) {
            return None;
        }
        out.extend_from_slice(bytes.get(..len)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn params(text: &str) -> RawJson {
        RawJson::parse_str(text).expect(text)
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| alloc::format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_tag_is_the_standards() {
        // RFC 4231, case 1 and 2, keys filled with zeros as the standard does.
        let key = |text: &[u8]| {
            let mut key = [0; 32];
            key[..text.len()].copy_from_slice(text);
            key
        };
        assert_eq!(
            hex(&hmac(&key(&[0x0b; 20]), &[b"Hi ", b"There"])),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            hex(&hmac(&key(b"Jefe"), &[b"what do ya want ", b"for nothing?"])),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn a_state_holds_for_its_request_and_its_time_only() {
        // P-314, P-315, P-316
        let seal = Seal::new([7; 32]);
        let method = Method::ToolsCall;
        let ann = Principal::named("ann");
        let binding = Binding::new(&ann, &method, &params(r#"{"name":"t","arguments":{"a":1,"b":2}}"#));
        let state = seal.seal(&binding, b"step 2", 1000);
        assert_eq!(seal.open(&binding, &state, 999), Ok(b"step 2".to_vec()));
        assert_eq!(seal.open(&binding, &state, 1000), Err(StateFault::Expired));
        let same =
            r#"{"requestState":"x","_meta":{},"inputResponses":{},"arguments":{"b":2,"a":1},"name":"t"}"#;
        let same = Binding::new(&ann, &method, &params(same));
        assert_eq!(seal.open(&same, &state, 0), Ok(b"step 2".to_vec()), "the same request, later");
        let other = |principal, method, text| Binding::new(principal, method, &params(text));
        let args = r#"{"name":"t","arguments":{"a":1,"b":2}}"#;
        for binding in [
            other(&Principal::named("bob"), &method, args),
            other(&Principal::anonymous(), &method, args),
            other(&ann, &Method::PromptsGet, args),
            other(&ann, &method, r#"{"name":"t","arguments":{"a":1,"b":3}}"#),
            other(&ann, &method, r#"{"name":"u","arguments":{"a":1,"b":2}}"#),
        ] {
            assert_eq!(seal.open(&binding, &state, 0), Err(StateFault::Forged));
        }
        assert_eq!(Seal::new([8; 32]).open(&binding, &state, 0), Err(StateFault::Forged));
        let named_nobody = Binding::new(&Principal::named(""), &method, &params(args));
        let nobody = Binding::new(&Principal::anonymous(), &method, &params(args));
        assert_ne!(named_nobody.digest, nobody.digest);
    }

    proptest! {
        #[test]
        fn what_was_changed_is_refused(payload in prop::collection::vec(any::<u8>(), 0..40), at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let seal = Seal::new([7; 32]);
            let binding = Binding::new(&Principal::anonymous(), &Method::ToolsCall, &RawJson::empty_object());
            let state = seal.seal(&binding, &payload, 10);
            prop_assert_eq!(state.len(), Seal::sealed_len(payload.len()));
            prop_assert_eq!(seal.open(&binding, &state, 9), Ok(payload));
            let mut bytes = state.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Ok(bent) = String::from_utf8(bytes) && bent != state {
                prop_assert!(seal.open(&binding, &bent, 9).is_err());
            }
            prop_assert!(seal.open(&binding, &state[..at], 9).is_err());
        }

        #[test]
        fn base64_comes_back_and_has_one_text(bytes in prop::collection::vec(any::<u8>(), 0..50), junk in "[A-Za-z0-9_=+-]{0,20}") {
            prop_assert_eq!(from_base64(&base64(&bytes)), Some(bytes));
            if let Some(read) = from_base64(&junk) {
                prop_assert_eq!(base64(&read), junk);
            }
        }
    }
}
