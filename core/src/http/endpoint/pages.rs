//! Pages of a browser: what they have to be told before they may ask, and with every answer.
//!
//! Only pages of origins that are listed by name ([`EndpointConfig::origins`]) are told anything: what is welcome
//! unasked (loopback) may be asked by any program, but a page that may read what it is answered is somebody's choice.
//! Cookies mean nothing here, so credentials of the browser's own are not allowed for; a page shows itself by a token.
//!
//! Spec: Fetch, section 3.2, "HTTP extensions" (the CORS protocol).
//!
//! [`EndpointConfig::origins`]: crate::http::endpoint::EndpointConfig::origins

use alloc::boxed::Box;
use alloc::string::String;

use crate::http::endpoint::Endpoint;
use crate::http::endpoint::asked::{LAST_EVENT, METHOD, NAME, Once, SESSION, VERSION};
use crate::http::h1::Body;
use crate::http::head::{RequestHead, ResponseHead, Verb};
use crate::mcp::mirror::PARAM_PREFIX;

/// How long a browser may take for granted what it was told before it asked, in seconds.
const MAX_AGE: &str = "600";
/// So many fields may be asked for at once.
const MAX_FIELDS: usize = 100;

/// The fields that a request has a use for, beside those of a tool's arguments.
const FIELDS: [&str; 8] =
    ["Accept", "Authorization", "Content-Type", LAST_EVENT, METHOD, NAME, VERSION, SESSION];

impl Endpoint {
    /// Takes down which page asks, if one does that is to be answered as such.
    pub(super) fn note_page(&mut self, n: u64, head: &RequestHead) {
        if let Once::Value(origin) = Once::of(&head.fields, "Origin")
            && origin != "null"
            && self.config.origins.lists_origin(origin)
        {
            self.pages.insert(n, origin.into());
        }
    }

    /// Whether a browser asks what such a page may ask.
    pub(super) fn is_preflight(&self, n: u64, head: &RequestHead) -> bool {
        let asks = || head.fields.get("Access-Control-Request-Method").is_some();
        self.pages.contains_key(&n)
            && matches!(&head.verb, Verb::Other(verb) if **verb == *"OPTIONS")
            && asks()
    }

    /// Says what such a page may ask. Who asks is not looked at: a browser shows no token here.
    pub(super) fn answer_preflight(&mut self, n: u64, asked: &RequestHead) {
        let mut head = ResponseHead::new(204);
        head.fields.add("Access-Control-Allow-Methods", "POST, GET, DELETE");
        head.fields.add("Access-Control-Allow-Headers", &allowed(asked));
        head.fields.add("Access-Control-Max-Age", MAX_AGE);
        self.answer_whole(n, head, Body::Empty);
    }

    /// Lets the page that asked read the answer, the fields of it that mean something included.
    pub(super) fn open_to_page(&mut self, n: u64, head: &mut ResponseHead) {
        let Some(origin) = self.pages.remove(&n) else { return };
        head.fields.add("Access-Control-Allow-Origin", &origin);
        head.fields.add("Vary", "Origin");
        head.fields.add("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After");
    }
}

/// By exchange, the origin of the page that asked, until it is answered.
pub(super) type Pages = alloc::collections::BTreeMap<u64, Box<str>>;

/// The fields that were asked for and that a request has a use for.
fn allowed(asked: &RequestHead) -> String {
    let mut all = String::new();
    let fields = asked.fields.all("Access-Control-Request-Headers");
    let names = fields.flat_map(|value| value.split(|byte| *byte == b',')).take(MAX_FIELDS);
    for name in names.filter_map(|name| core::str::from_utf8(name.trim_ascii()).ok()) {
        let known = FIELDS.iter().any(|known| known.eq_ignore_ascii_case(name));
        let argument = name.split_at_checked(PARAM_PREFIX.len()).is_some_and(|(prefix, rest)| {
            prefix.eq_ignore_ascii_case(PARAM_PREFIX)
                && !rest.is_empty()
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        });
        if known || argument {
            if !all.is_empty() {
                all.push_str(", ");
            }
            all.push_str(name);
        }
    }
    all
}
