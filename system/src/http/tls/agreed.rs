//! Who is spoken with, and what was agreed on.

use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ProtocolVersion};

use crate::http::{DialFault, Secured, TlsFault};

/// The name that the certificate of this host has to be for.
///
/// # Errors
/// It is neither a name nor an address.
pub fn server_name(host: &str) -> Result<ServerName<'static>, DialFault> {
    ServerName::try_from(host.strip_suffix('.').unwrap_or(host).to_owned())
        .map_err(|_| DialFault::Tls(TlsFault::Host))
}

/// What a negotiation came to, which took so long. `shown`: a certificate of ours was at hand to be shown.
#[must_use]
pub fn agreed(tls: &ClientConnection, shown: bool, took: Duration) -> Secured {
    let version = match tls.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
        Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
        _ => "TLS",
    };
    let suite = tls.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite())).unwrap_or_default();
    Secured::new(version, suite, shown, took)
}
