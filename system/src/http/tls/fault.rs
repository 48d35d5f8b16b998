//! What went wrong with TLS, in our words.

use std::io;

use crate::http::{CertificateFault, TlsFault};
use rustls::{AlertDescription, CertificateError, Error};

/// So many of the names of a certificate are shown.
const NAMES: usize = 4;

/// The fault of TLS that a fault of reading or writing hides.
#[must_use]
pub fn of_tls(error: &io::Error) -> Option<&Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Why there is no TLS, or no more of it. `shown`: there is a certificate of ours.
#[must_use]
pub fn judge(error: &Error, shown: bool) -> TlsFault {
    use AlertDescription as Alert;
    match error {
        Error::InvalidCertificate(error) => TlsFault::Certificate(certificate(error)),
        Error::AlertReceived(
            Alert::CertificateRequired
            | Alert::NoCertificate
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => TlsFault::ClientCertificate { shown },
        Error::AlertReceived(
            alert @ (Alert::ProtocolVersion | Alert::InsufficientSecurity | Alert::NoApplicationProtocol),
        ) => TlsFault::Incompatible(format!("{alert:?}")),
        Error::AlertReceived(alert) => TlsFault::Alert(format!("{alert:?}")),
        Error::PeerIncompatible(why) => TlsFault::Incompatible(format!("{why:?}")),
        Error::NoApplicationProtocol => TlsFault::Incompatible("no HTTP/1.1".into()),
        Error::InvalidMessage(_) => TlsFault::NotTls,
        other => TlsFault::Other(other.to_string()),
    }
}

fn certificate(error: &CertificateError) -> CertificateFault {
    use CertificateError as Is;
    match error {
        Is::Expired | Is::ExpiredContext { .. } => CertificateFault::Expired,
        Is::NotValidYet | Is::NotValidYetContext { .. } => CertificateFault::NotYetValid,
        Is::UnknownIssuer => CertificateFault::UnknownIssuer,
        Is::NotValidForName => CertificateFault::WrongName { names: Vec::new() },
        Is::NotValidForNameContext { presented, .. } => CertificateFault::WrongName {
            names: presented.iter().take(NAMES).map(|name| bare(name)).collect(),
        },
        Is::BadSignature => CertificateFault::OtherKey,
        Is::Revoked => CertificateFault::Revoked,
        Is::InvalidPurpose | Is::InvalidPurposeContext { .. } => CertificateFault::Purpose,
        other => match format!("{other:?}") {
            // The library's own word, which it hands through as anything.
            word if word.contains("CaUsedAsEndEntity") => CertificateFault::Authority,
            word => CertificateFault::Other(word),
        },
    }
}

/// A name as it stands in `DnsName("a.example")`.
fn bare(presented: &str) -> String {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(presented);
    inner.trim_matches('"').chars().take(100).collect()
}
