//! Why a server cannot be reached, in words that say what to do.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use sanswire::http::h1;

use crate::http::proxy::ProxyAddressFault;
use crate::stderr::escaped;

/// Why a server cannot be reached. `Display` says what happened and what to do. Holds no secrets.
#[derive(Debug)]
#[non_exhaustive]
pub enum DialFault {
    /// It is not wanted any more.
    Cancelled,
    /// The host's name has no address, or nobody could be asked for one.
    Name {
        /// The host.
        host: Box<str>,
        /// The system's reason.
        source: io::Error,
    },
    /// None of the host's addresses took a connection.
    Connect {
        /// The address that was tried last.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The connection was there, and broke before it could be used.
    Broken {
        /// What went on.
        during: DialStep,
        /// The system's reason.
        source: io::Error,
    },
    /// It took too long.
    TimedOut {
        /// What went on.
        during: DialStep,
        /// How long all of it might have taken.
        limit: Duration,
    },
    /// An address that does not belong to the public network, of a server that may have no other.
    NotPublic {
        /// The address.
        address: IpAddr,
    },
    /// The proxy itself cannot be reached.
    ProxyUnreached {
        /// Where the proxy should be: host and port.
        proxy: Box<str>,
        /// Why not.
        fault: Box<Self>,
    },
    /// The proxy did not open a way to the server.
    Proxy {
        /// Where the proxy is: host and port.
        proxy: Box<str>,
        /// What it did.
        fault: ProxyFault,
    },
    /// The proxy that was named is no usable one.
    ProxySetting {
        /// The environment variable that names it.
        variable: &'static str,
        /// What is wrong with its value.
        fault: ProxyAddressFault,
    },
    /// A server that may have public addresses only, and a proxy, which would look them up itself.
    GuardedProxy,
    /// TLS failed, or cannot be had.
    Tls(TlsFault),
    /// The system has no threads, descriptors or memory left.
    System(io::Error),
}

/// The steps to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DialStep {
    /// A name was looked up.
    Name,
    /// Addresses were called.
    Connect,
    /// The proxy was asked for a tunnel.
    Proxy,
    /// TLS was negotiated.
    Tls,
}

impl DialStep {
    /// All of them, in the order in which they are taken.
    pub(super) const ALL: [Self; 4] = [Self::Name, Self::Connect, Self::Proxy, Self::Tls];
}

/// What a proxy did instead of opening a tunnel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProxyFault {
    /// It wants a name and a password (407): none was given, or not the right one.
    Authorization {
        /// Whether one was given.
        given: bool,
    },
    /// It answered something else than yes: the status.
    Refused(u16),
    /// What it said is no HTTP.
    NotHttp(h1::Fault),
    /// It ended the connection.
    Ended,
    /// It said something behind its answer, before anybody had asked the server anything.
    Unasked,
}

/// Why there is no TLS.
#[derive(Debug)]
#[non_exhaustive]
pub enum TlsFault {
    /// This program was built without TLS.
    Unsupported,
    /// A file with certificates or a key cannot be used.
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it. Never its content.
        fault: PemFault,
    },
    /// The key does not belong to the certificate.
    Key {
        /// The key's file.
        path: PathBuf,
    },
    /// No certificates of authorities were found on this system, and none were named.
    NoAuthorities,
    /// The host is neither a name nor an address that a certificate can be for.
    Host,
    /// The server's certificate is not accepted.
    Certificate(CertificateFault),
    /// The server wants to see a certificate of this client, or another than it saw.
    ClientCertificate {
        /// Whether it was shown one.
        shown: bool,
    },
    /// What the server said is no TLS.
    NotTls,
    /// The two have no version or method in common.
    Incompatible(String),
    /// The server gave up with this alert.
    Alert(String),
    /// Anything else.
    Other(String),
}

/// What is wrong with a PEM file.
#[derive(Debug)]
#[non_exhaustive]
pub enum PemFault {
    /// It cannot be read.
    Read(io::Error),
    /// It holds nothing of the kind that is wanted: the kind.
    Missing(&'static str),
    /// It is malformed, or of a kind that is not known.
    Malformed,
}

/// Why a server's certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateFault {
    /// It is no longer valid.
    Expired,
    /// It is not valid yet.
    NotYetValid,
    /// Nobody who is trusted stands behind it: a private authority, or it was signed by its own key.
    UnknownIssuer,
    /// Who is trusted has the name of its issuer, and another key.
    OtherKey,
    /// It is an authority's, and stands for a server all the same.
    Authority,
    /// It is for others.
    WrongName {
        /// For whom, as many as can be shown.
        names: Vec<String>,
    },
    /// It was revoked.
    Revoked,
    /// It is not for servers.
    Purpose,
    /// Anything else: malformed, badly signed.
    Other(String),
}

impl fmt::Display for DialFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("it is not wanted any more"),
            Self::Name { host, source } => write!(
                f,
                "no address is known for {} ({source}); check the spelling, and that this computer is online",
                escaped(host)
            ),
            Self::Connect { address, source } => {
                write!(f, "nobody answers at {address} ({source}); check the address, and that the server runs")
            }
            Self::Broken { during, source } => {
                write!(f, "the connection broke while {during} ({source}); try again, or ask whoever runs the server")
            }
            Self::TimedOut { during, limit } => write!(
                f,
                "it took longer than {limit:?}, the last of it while {during}; check the address and the network, or \
                 raise the limit"
            ),
            Self::NotPublic { address } => write!(
                f,
                "its address {address} does not belong to the public network, and this server may have no other; \
                 allow private addresses for it if it is yours"
            ),
            Self::ProxyUnreached { proxy, fault } => {
                write!(f, "the proxy {} cannot be reached: {fault}", escaped(proxy))
            }
            Self::Proxy { proxy, fault } => write!(f, "the proxy {} {fault}", escaped(proxy)),
            Self::ProxySetting { variable, fault } => {
                write!(f, "the proxy in {variable} cannot be used: {fault}; correct or unset it")
            }
            Self::GuardedProxy => f.write_str(
                "it may have public addresses only, which cannot be checked behind a proxy; leave out one of the two",
            ),
            Self::Tls(fault) => fault.fmt(f),
            Self::System(source) => {
                write!(f, "the system could not provide what a connection needs ({source}); close some")
            }
        }
    }
}

impl DialFault {
    /// What went wrong on the way to a proxy. What is wrong here, or with what was named, is no matter of the proxy.
    #[must_use]
    pub fn on_the_way_to(self, proxy: String) -> Self {
        match self {
            Self::Name { .. } | Self::Connect { .. } | Self::Broken { .. } | Self::TimedOut { .. } => {}
            Self::Tls(
                TlsFault::Unsupported
                | TlsFault::File { .. }
                | TlsFault::Key { .. }
                | TlsFault::NoAuthorities,
            ) => return self,
            Self::Tls(_) => {}
            _ => return self,
        }
        Self::ProxyUnreached { proxy: proxy.into(), fault: Box::new(self) }
    }
}

impl std::error::Error for DialFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Name { source, .. }
            | Self::Connect { source, .. }
            | Self::Broken { source, .. }
            | Self::System(source) => Some(source),
            Self::Tls(fault) => Some(fault),
            Self::ProxyUnreached { fault, .. } => Some(fault),
            _ => None,
        }
    }
}

impl fmt::Display for DialStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "its name was looked up",
            Self::Connect => "its addresses were called",
            Self::Proxy => "the proxy was asked for a way to it",
            Self::Tls => "TLS was negotiated",
        })
    }
}

impl fmt::Display for ProxyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authorization { given: false } => f.write_str(
                "wants a name and a password (407); put them into its address: http://name:password@host:port",
            ),
            Self::Authorization { given: true } => {
                f.write_str("does not accept the name and password in its address (407); correct them")
            }
            Self::Refused(status @ (403 | 405)) => write!(
                f,
                "does not allow a connection to that host and port ({status}); have it allowed there, or except the \
                 host with NO_PROXY"
            ),
            Self::Refused(status @ (502..=504)) => {
                write!(f, "cannot reach the server ({status}); check the server's address")
            }
            Self::Refused(status) => {
                write!(f, "refuses the connection (status {status}); check that it is a proxy for HTTP")
            }
            Self::NotHttp(fault) => write!(
                f,
                "gave an answer that is not HTTP as it should be ({fault}); check that it is a proxy for HTTP"
            ),
            Self::Ended => {
                f.write_str("ended the connection without an answer; check that it is a proxy for HTTP")
            }
            Self::Unasked => f.write_str("speaks where the server should; do not use it"),
        }
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str(
                "https needs TLS, which this program was built without; build it with the feature `tls`, or use an \
                 address with http",
            ),
            Self::File { path, fault } => {
                let path = escaped(&path.to_string_lossy());
                match fault {
                    PemFault::Read(source) => write!(f, "{path} cannot be read ({source}); correct the path"),
                    PemFault::Missing(kind) => {
                        write!(f, "there is no {kind} in {path}; it must be a PEM file with one")
                    }
                    PemFault::Malformed => write!(f, "{path} is no PEM file that can be understood; make it anew"),
                }
            }
            Self::Key { path } => write!(
                f,
                "the key in {} does not belong to the client's certificate; name the two that belong together",
                escaped(&path.to_string_lossy())
            ),
            Self::NoAuthorities => f.write_str(
                "there are no certificates of authorities on this system, so nobody can be trusted; install them \
                 (ca-certificates), or name a file with the server's authority",
            ),
            Self::Host => f.write_str("no certificate can be for such a host; use its name"),
            Self::Certificate(fault) => write!(f, "its certificate {fault}"),
            Self::ClientCertificate { shown: false } => {
                f.write_str("it wants to see a certificate of the client; name one, with its key")
            }
            Self::ClientCertificate { shown: true } => {
                f.write_str("it does not accept the client's certificate; name another one, with its key")
            }
            Self::NotTls => {
                f.write_str("what answers there does not speak TLS; check the port, or use an address with http")
            }
            Self::Incompatible(why) => {
                write!(f, "it speaks no TLS that this program knows (1.2 and 1.3: {why}); the server must be updated")
            }
            Self::Alert(alert) => {
                write!(f, "it ended the negotiation of TLS ({alert}); ask whoever runs the server")
            }
            Self::Other(why) => write!(f, "TLS failed ({why}); ask whoever runs the server"),
        }
    }
}

impl std::error::Error for TlsFault {}

impl fmt::Display for CertificateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("has expired; it must be renewed there, unless the clock here is wrong"),
            Self::NotYetValid => f.write_str("is not valid yet; check the clock here"),
            Self::UnknownIssuer => f.write_str(
                "was issued by nobody whom this system trusts: by a private authority, or by itself (self-signed); if \
                 that is as it should be, name the file of that authority's certificate (ca_file)",
            ),
            Self::OtherKey => f.write_str(
                "names an issuer whom this system trusts, but under another key: it was made anew, or by itself \
                 (self-signed); if that is as it should be, name the file of the issuer's present certificate (ca_file)",
            ),
            Self::Authority => f.write_str(
                "is that of an authority (CA:TRUE), which cannot stand for a server; it must be made anew there \
                 without that, or be issued by that authority",
            ),
            Self::WrongName { names } if names.is_empty() => {
                f.write_str("is not for this host; use the name that it is for")
            }
            Self::WrongName { names } => {
                f.write_str("is not for this host but for ")?;
                for (n, name) in names.iter().enumerate() {
                    write!(f, "{}{}", if n == 0 { "" } else { ", " }, escaped(name))?;
                }
                f.write_str("; use such a name")
            }
            Self::Revoked => f.write_str("was revoked; do not use this server"),
            Self::Purpose => f.write_str("is not for servers; another one must be installed there"),
            Self::Other(why) => {
                write!(f, "cannot be used ({}); another one must be installed there", escaped(why))
            }
        }
    }
}
