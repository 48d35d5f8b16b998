//! Where a server is, and what it is told with every request.

use core::time::Duration;

use crate::http::fields::{FieldFault, Fields};
use crate::http::url::Url;

/// Where a server is, and what it is told with every request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Target {
    /// The endpoint.
    pub url: Url,
    fields: Fields,
    /// Which of the two HTTP transports it speaks.
    pub kind: Kind,
    /// How many redirects (307, 308) are followed, within the origin only.
    pub max_redirects: u8,
    /// The longest pause before a stream that ended is opened again, whatever the server asks for (`retry`).
    pub max_retry: Duration,
    /// The shortest one, whatever the server asks for; it counts where the two cross. It doubles each time that the stream
    /// was opened again and brought no message.
    pub min_retry: Duration,
}

/// Which HTTP transport a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Streamable HTTP; the older one if the server turns out to know nothing newer.
    #[default]
    Auto,
    /// Streamable HTTP (2025-03-26 and later), nothing else.
    Streamable,
    /// HTTP with SSE (2024-11-05), nothing else.
    Sse,
}

/// Fields that the transport sets itself, in lower case.
const RESERVED: [&str; 18] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Target {
    /// A server at `url`, with the defaults.
    #[must_use]
    pub const fn new(url: Url) -> Self {
        Self {
            url,
            fields: Fields::new(),
            kind: Kind::Auto,
            max_redirects: 5,
            max_retry: Duration::from_secs(60),
            min_retry: Duration::from_millis(100),
        }
    }

    /// Adds a field that goes with every request to the endpoint's origin, and nowhere else: `Authorization`, say.
    ///
    /// # Errors
    /// The name is no token or one that the transport sets itself; the value holds a control character.
    pub fn add_field(&mut self, name: &str, value: &[u8]) -> Result<(), FieldFault> {
        if is_reserved(name) {
            return Err(FieldFault::Reserved);
        }
        self.fields.push(name, value)
    }

    /// The fields that were added.
    #[must_use]
    pub const fn fields(&self) -> &Fields {
        &self.fields
    }
}

/// Whether the transport sets this field itself: it frames the message, or mirrors what is in it.
fn is_reserved(name: &str) -> bool {
    let param = name.get(.."mcp-param-".len()).is_some_and(|start| start.eq_ignore_ascii_case("mcp-param-"));
    param || RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved))
}

#[cfg(test)]
mod tests {
    use super::*;

    // H-152: what the transport sets itself is refused; authorization is not.
    #[test]
    fn fields_of_the_transport_are_refused() {
        let mut target = Target::new(Url::parse("http://x/mcp").unwrap());
        for name in RESERVED.into_iter().chain(["Content-Type", "MCP-Session-Id", "Mcp-Param-Region", "HOST"])
        {
            assert_eq!(target.add_field(name, b"x"), Err(FieldFault::Reserved), "{name}");
        }
        assert_eq!(target.add_field("X-Y", b"a\r\nHost: z"), Err(FieldFault::Value));
        target.add_field("Authorization", b"Bearer t").unwrap();
        target.add_field("Mcp-Param", b"x").unwrap();
        assert_eq!(target.fields().len(), 2);
    }
}
