//! Requests as they come: who may come, which answers they take, how much they bring.
//!
//! What is wrong with a head is looked for in this order: its host (400, 403), its origin (403), its path (404), its
//! method (405; a browser that asks what a page may do has its answer before), what its body is (415), which answers it takes (406), who asks (401), how long its body is (413),
//! whether there is room (503).

use alloc::boxed::Box;
use alloc::string::String;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::http::endpoint::answer::Refused;
use crate::http::endpoint::asked::{self, Accepts, Belongs, Once};
use crate::http::endpoint::body::Incoming;
use crate::http::endpoint::exchange::{ALONE, Asked, Exchange, State};
use crate::http::endpoint::{Effect, Endpoint, Phase};
use crate::http::fields::Fields;
use crate::http::head::{HttpHandle, RequestHead, Verb};
use crate::mcp::Era;
use crate::server::Principal;
use crate::server::state::same;
use crate::time::Instant;

impl Endpoint {
    /// The head of a request. `length`: the bytes of its body, where they are known; 0: it has none. What is not welcome is
    /// answered at once; for the rest [`Effect::TakeBody`] asks for the body, or a stream is begun.
    pub fn handle_head(
        &mut self,
        exchange: HttpHandle,
        head: RequestHead,
        length: Option<u64>,
        now: Instant,
    ) {
        let now = self.clock.advance(now);
        let n = exchange.number();
        if self.exchanges.contains_key(&n) {
            return;
        }
        self.note_page(n, &head);
        if let Err(refused) = self.addressed(&head) {
            return self.refuse_head(n, &head, refused);
        }
        if self.is_preflight(n, &head) {
            return self.answer_preflight(n, &head);
        }
        let (principal, accepts) = match self.welcome(&head, length) {
            Ok(welcome) => welcome,
            Err(refused) => return self.refuse_head(n, &head, refused),
        };
        match head.verb {
            Verb::Get => self.get(n, &head, principal, now),
            Verb::Delete => self.delete(n, &head, &principal, now),
            Verb::Post | Verb::Other(_) => {
                let head_bytes = bytes_of(&head);
                self.reading += head_bytes;
                let length = length.and_then(|length| usize::try_from(length).ok());
                let asked = Box::new(Asked { head, body: Incoming::default(), length, head_bytes });
                self.exchanges.insert(
                    n,
                    Exchange {
                        state: State::Reading(asked),
                        accepts,
                        principal,
                        session: ALONE,
                        opens: false,
                        quiet: now,
                        timer: None,
                        pushes: false,
                        queued: 0,
                    },
                );
                self.effects.push(Effect::TakeBody { exchange });
            }
        }
    }

    /// A head that is not welcome. Its value is kept for the log where a setting decides.
    fn refuse_head(&mut self, n: u64, head: &RequestHead, refused: Refused) {
        if let Some(setting) = refused.setting {
            let value = head.fields.get(if setting == "hosts" { "Host" } else { "Origin" });
            let value = value.or((setting == "hosts").then_some(head.target.as_bytes())).unwrap_or_default();
            // A user in front of a host is nobody's business.
            let value = value.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
            let shown = value.iter().take(256).filter(|byte| matches!(byte, 0x20..=0x7e));
            self.note_refused(setting, shown.map(|byte| char::from(*byte)).collect());
        }
        let bodiless = matches!(&head.verb, Verb::Other(verb) if **verb == *"HEAD");
        self.refuse(n, refused, bodiless);
    }

    /// Whether a request is meant for here, and may come from where it does.
    fn addressed(&self, head: &RequestHead) -> Result<(), Refused> {
        let (fields, config) = (&head.fields, &self.config);
        let (authority, path) = split(&head.target);
        match Once::of(fields, "Host") {
            Once::Value(host)
                if config.hosts.welcome_host(host)
                    && authority.is_none_or(|host| config.hosts.welcome_host(host)) => {}
            Once::Value(_) => {
                return Err(Refused::by_setting("hosts", "the field Host names no host that is served"));
            }
            Once::Absent | Once::Bad => return Err(Refused::new(400, "one field Host is needed")),
        }
        match Once::of(fields, "Origin") {
            Once::Absent => {}
            Once::Value(origin) if config.origins.welcome_origin(origin) => {}
            Once::Value(_) | Once::Bad => {
                return Err(Refused::by_setting(
                    "origins",
                    "the field Origin names no origin that is welcome",
                ));
            }
        }
        if path != config.path {
            return Err(Refused::new(404, "there is nothing here; the endpoint has another path"));
        }
        Ok(())
    }

    fn welcome(&self, head: &RequestHead, length: Option<u64>) -> Result<(Principal, Accepts), Refused> {
        let (fields, config) = (&head.fields, &self.config);
        self.verb_allowed(head)?;
        if head.verb == Verb::Post && !asked::is_json(fields) {
            return Err(Refused::new(
                415,
                "the body must be of type application/json, in UTF-8, not encoded",
            ));
        }
        let accepts = Accepts::of(fields);
        match head.verb {
            Verb::Post if !accepts.json && !accepts.events => {
                return Err(Refused::new(406, "accept application/json and text/event-stream"));
            }
            Verb::Get if !accepts.events => return Err(Refused::new(406, "accept text/event-stream")),
            Verb::Get | Verb::Post | Verb::Delete | Verb::Other(_) => {}
        }
        let principal = self.principal(fields)?;
        let limit = self.server.limits.max_message_bytes as u64;
        if head.verb == Verb::Post && length.is_some_and(|length| length > limit) {
            return Err(Refused::new(413, "the body is too long"));
        }
        if !matches!(self.phase, Phase::Open) {
            return Err(Refused::new(503, "the server is shutting down"));
        }
        if self.exchanges.len() + self.away >= config.max_exchanges || self.is_full_of_answers() {
            return Err(Refused::new(503, "too many requests are open"));
        }
        // A head is kept until its body is whole, which its client may never let it be.
        if head.verb == Verb::Post && self.reading + bytes_of(head) > config.max_body_bytes {
            return Err(Refused::new(503, "too many bodies are being read"));
        }
        Ok((principal, accepts))
    }

    /// GET and DELETE are for sessions.
    ///
    /// Spec: MCP 2026-07-28 basic/transports, "Backward Compatibility"; 2025-11-25 basic/transports.
    fn verb_allowed(&self, head: &RequestHead) -> Result<(), Refused> {
        let legacy = self.server.newest(Era::Legacy).is_some();
        let of_session = || {
            let belongs = Belongs::by(&head.fields);
            legacy && !belongs.is_modern() && belongs.session != Once::Absent
        };
        match head.verb {
            Verb::Post => Ok(()),
            Verb::Get | Verb::Delete if of_session() => Ok(()),
            Verb::Get | Verb::Delete | Verb::Other(_) => {
                let allow = if legacy { "POST, GET, DELETE" } else { "POST" };
                let why = "only POST is for everybody; GET and DELETE are for sessions";
                Err(Refused { field: Some(("Allow", allow)), ..Refused::new(405, why) })
            }
        }
    }

    /// Who asks. All tokens are compared, and each in constant time.
    ///
    /// Spec: RFC 6750, sections 2.1 and 3.
    fn principal(&self, fields: &Fields) -> Result<Principal, Refused> {
        if self.config.tokens.is_empty() {
            return Ok(Principal::anonymous());
        }
        let challenge = |challenge| Refused {
            field: Some(("WWW-Authenticate", challenge)),
            ..Refused::new(401, "a bearer token is needed")
        };
        let token = asked::bearer(fields).ok_or_else(|| challenge("Bearer realm=\"mcp\""))?;
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let found = self.config.tokens.iter().fold(None, |found, known| {
            let is_it = same(&hash, &known.hash);
            if is_it { Some(known) } else { found }
        });
        let found = found.ok_or_else(|| challenge("Bearer realm=\"mcp\", error=\"invalid_token\""))?;
        Ok(found.principal.clone())
    }

    /// A piece of its body.
    pub fn handle_body(&mut self, exchange: HttpHandle, piece: Bytes, now: Instant) {
        self.clock.advance(now);
        let n = exchange.number();
        let limit = self.server.limits.max_message_bytes;
        let Some(Exchange { state: State::Reading(asked), .. }) = self.exchanges.get_mut(&n) else { return };
        let refused = if asked.body.len() + piece.len() > limit {
            Refused::new(413, "the body is too long")
        } else if self.reading + piece.len() > self.config.max_body_bytes {
            Refused::new(503, "too many bodies are being read")
        } else {
            self.reading += piece.len();
            let length = asked.length;
            return asked.body.push(piece, length);
        };
        self.refuse(n, refused, false);
    }

    /// The end of its body: it is looked at now.
    pub fn handle_body_end(&mut self, exchange: HttpHandle, now: Instant) {
        let now = self.clock.advance(now);
        let n = exchange.number();
        let Some(exchange) = self.exchanges.get_mut(&n) else { return };
        if !matches!(exchange.state, State::Reading(_)) {
            return;
        }
        if let State::Reading(asked) = core::mem::replace(&mut exchange.state, State::Waiting(None)) {
            self.reading -= asked.head_bytes + asked.body.len();
            self.arm(n, now);
            self.post(n, *asked, now);
        }
    }
}

/// Bytes of memory that a head holds.
fn bytes_of(head: &RequestHead) -> usize {
    head.target.len() + head.fields.retained_bytes()
}

/// The authority of a target, if it has one, and its path.
///
/// Spec: RFC 9112, section 3.2.
fn split(target: &str) -> (Option<&str>, &str) {
    let end = target.bytes().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(target.len());
    let target = target.get(..end).unwrap_or_default();
    if target.starts_with('/') {
        return (None, target);
    }
    let web = |scheme: &str| scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    match target.split_once("://") {
        Some((scheme, rest)) if web(scheme) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (Some(authority), if path.is_empty() { "/" } else { path })
        }
        _ => (None, target),
    }
}

/// What was refused by a setting, for whoever has to find out why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The setting: `hosts` or `origins`.
    pub setting: &'static str,
    /// The first value that was refused since the last report, up to 256 bytes of visible ASCII. Of a stranger's choice.
    pub value: String,
    /// How many were refused since then.
    pub count: u64,
}
