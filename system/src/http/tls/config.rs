//! Who is trusted, and what is shown.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::http::{PemFault, TlsFault};
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// Whom a client trusts and what it shows: the files, read when the first connection needs them.
#[derive(Debug, Default)]
pub struct Trust {
    authorities: Option<PathBuf>,
    client: Option<(PathBuf, PathBuf)>,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Trust {
    /// `authorities`: certificates of those who are trusted besides the system's. `client`: the chain and the key that are
    /// shown. All are PEM files.
    #[must_use]
    pub fn new(authorities: Option<PathBuf>, client: Option<(PathBuf, PathBuf)>) -> Self {
        Self { authorities, client, config: OnceLock::new() }
    }

    /// What they come to, if that is known: nothing is read.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<ClientConfig>> {
        self.config.get()
    }

    /// What these files come to: settings that agree on HTTP/1.1. Read once, which blocks for some milliseconds; what fails
    /// is tried again the next time.
    ///
    /// # Errors
    /// A file that cannot be used, or nobody to trust.
    pub fn config(&self) -> Result<&Arc<ClientConfig>, TlsFault> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = self.read()?;
        Ok(self.config.get_or_init(|| config))
    }

    fn read(&self) -> Result<Arc<ClientConfig>, TlsFault> {
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsFault::Other(error.to_string()))?
            .with_root_certificates(self.authorities()?);
        let mut config = match &self.client {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let certificates = certificates(chain)?;
                let bad = |fault| TlsFault::File { path: key.clone(), fault };
                let private =
                    PrivateKeyDer::from_pem_file(key).map_err(|error| bad(judge(error, "private key")))?;
                builder.with_client_auth_cert(certificates, private).map_err(|error| match error {
                    rustls::Error::InconsistentKeys(_) => TlsFault::Key { path: key.clone() },
                    rustls::Error::InvalidCertificate(_) => {
                        TlsFault::File { path: chain.clone(), fault: PemFault::Malformed }
                    }
                    _ => bad(PemFault::Malformed),
                })?
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    fn authorities(&self) -> Result<Arc<RootCertStore>, TlsFault> {
        let system = system();
        let Some(path) = &self.authorities else {
            return if system.is_empty() { Err(TlsFault::NoAuthorities) } else { Ok(Arc::clone(system)) };
        };
        let mut all = RootCertStore::clone(system);
        let (taken, _) = all.add_parsable_certificates(certificates(path)?);
        if taken == 0 {
            return Err(TlsFault::File { path: path.clone(), fault: PemFault::Malformed });
        }
        Ok(Arc::new(all))
    }
}

/// The authorities that this system trusts. Read once by a process: it takes some milliseconds.
fn system() -> &'static Arc<RootCertStore> {
    static SYSTEM: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    SYSTEM.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFault> {
    let bad = |fault| TlsFault::File { path: path.into(), fault };
    let read = |error| bad(judge(error, "certificate"));
    let all =
        CertificateDer::pem_file_iter(path).map_err(read)?.collect::<Result<Vec<_>, _>>().map_err(read)?;
    if all.is_empty() { Err(bad(PemFault::Missing("certificate"))) } else { Ok(all) }
}

/// Never the content, part of which may be a key.
fn judge(error: PemError, kind: &'static str) -> PemFault {
    match error {
        PemError::Io(error) => PemFault::Read(error),
        PemError::NoItemsFound => PemFault::Missing(kind),
        _ => PemFault::Malformed,
    }
}
