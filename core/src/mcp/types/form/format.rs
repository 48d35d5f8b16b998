//! What the text of a field has to look like.

use core::fmt;

/// The formats that a form may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An e-mail address. Only its outline is checked.
    Email,
    /// An absolute URI, RFC 3986. Only its scheme and its characters are checked.
    Uri,
    /// A day: RFC 3339, `full-date`.
    Date,
    /// A point in time: RFC 3339, `date-time`.
    DateTime,
}

impl Format {
    /// The format of that name. What is unknown asks for nothing.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// Whether a text looks like that.
    #[must_use]
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Email => "an e-mail address",
            Self::Uri => "an address such as https://example.com/",
            Self::Date => "a day such as 2026-07-28",
            Self::DateTime => "a time such as 2026-07-28T12:00:00Z",
        })
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let odd = |c: char| c.is_whitespace() || c.is_control();
    !local.is_empty()
        && !domain.is_empty()
        && !text.contains(odd)
        && !domain.starts_with('.')
        && !domain.ends_with('.')
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let allowed = |byte: u8| matches!(byte, b'!'..=b'~') && !br#""<>\^`{|}"#.contains(&byte);
    scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !rest.is_empty()
        && rest.bytes().all(allowed)
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) = (
        parts.next().and_then(|text| digits(text, 4)),
        parts.next().and_then(|text| digits(text, 2)),
        parts.next().and_then(|text| digits(text, 2)),
        parts.next(),
    ) else {
        return false;
    };
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=last).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let (clock, zone_fits) = match time.find(['Z', 'z', '+', '-']) {
        None => return false,
        Some(at) => {
            let (clock, zone) = time.split_at(at);
            let fits = match zone.strip_prefix(['+', '-']) {
                Some(offset) => is_clock(offset, &[23, 59]),
                None => zone.len() == 1,
            };
            (clock, fits)
        }
    };
    let whole = match clock.split_once('.') {
        Some((_, fraction)) if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) => {
            return false;
        }
        Some((whole, _)) => whole,
        None => clock,
    };
    // A leap second is the sixtieth.
    is_date(date) && is_clock(whole, &[23, 59, 60]) && zone_fits
}

/// Two digits for each of the greatest values, with colons between.
fn is_clock(text: &str, greatest: &[u32]) -> bool {
    let parts = || text.split(':');
    parts().count() == greatest.len()
        && parts().zip(greatest).all(|(part, max)| digits(part, 2).is_some_and(|value| value <= *max))
}

fn digits(text: &str, len: usize) -> Option<u32> {
    let plain = text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
