//! The socket between a relay and its check: in a folder that only this user may enter where the system has such sockets, and
//! over loopback with a secret of that start elsewhere.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sanswire_system::os::random;

#[cfg(unix)]
pub(crate) use unix::{End, Listener};

#[cfg(not(unix))]
pub(crate) use tcp::{End, Listener};

/// A folder that nobody else may enter. It goes with this.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sanswire-{}-{count}", secret()?));
        let mut folder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What nobody guesses.
fn secret() -> io::Result<String> {
    let random = random()?;
    Ok(random[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};

    use super::Folder;

    /// One end of the way between them.
    pub(crate) type End = UnixStream;

    /// Where relays come.
    #[derive(Debug)]
    pub(crate) struct Listener {
        listener: UnixListener,
        path: PathBuf,
        folder: Folder,
    }

    impl Listener {
        pub(crate) fn new() -> io::Result<Self> {
            let folder = Folder::new()?;
            let path = folder.path().join("relay");
            Ok(Self { listener: UnixListener::bind(&path)?, path, folder })
        }

        /// What a relay has to be told to find it.
        pub(crate) fn address(&self) -> OsString {
            self.path.clone().into()
        }

        /// A folder for what belongs to this start.
        pub(crate) fn folder(&self) -> &Path {
            self.folder.path()
        }

        pub(crate) fn accept(&self) -> io::Result<End> {
            Ok(self.listener.accept()?.0)
        }
    }

    pub(crate) fn connect(address: &OsStr) -> io::Result<End> {
        UnixStream::connect(Path::new(address))
    }
}

#[cfg(unix)]
pub(crate) use unix::connect;

#[cfg(not(unix))]
pub(crate) use tcp::connect;

#[cfg(not(unix))]
mod tcp {
    use std::ffi::{OsStr, OsString};
    use std::io::{self, Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::path::Path;
    use std::time::Duration;

    use super::{Folder, secret};

    /// One end of the way between them.
    pub(crate) type End = TcpStream;

    /// Where relays come.
    #[derive(Debug)]
    pub(crate) struct Listener {
        listener: TcpListener,
        secret: String,
        folder: Folder,
    }

    impl Listener {
        pub(crate) fn new() -> io::Result<Self> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            Ok(Self { listener, secret: secret()?, folder: Folder::new()? })
        }

        /// What a relay has to be told to find it: `PORT/SECRET`.
        pub(crate) fn address(&self) -> OsString {
            let port = self.listener.local_addr().map_or(0, |address| address.port());
            format!("{port}/{}", self.secret).into()
        }

        /// A folder for what belongs to this start.
        pub(crate) fn folder(&self) -> &Path {
            self.folder.path()
        }

        pub(crate) fn accept(&self) -> io::Result<End> {
            let mut end = self.listener.accept()?.0;
            end.set_read_timeout(Some(Duration::from_secs(5)))?;
            let mut said = vec![0; self.secret.len()];
            end.read_exact(&mut said)?;
            end.set_read_timeout(None)?;
            if said == self.secret.as_bytes() {
                Ok(end)
            } else {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "a stranger"))
            }
        }
    }

    pub(crate) fn connect(address: &OsStr) -> io::Result<End> {
        let unusable = || io::Error::new(io::ErrorKind::InvalidInput, "no address of a relay");
        let (port, secret) = address.to_str().and_then(|it| it.split_once('/')).ok_or_else(unusable)?;
        let port: u16 = port.parse().map_err(|_| unusable())?;
        let mut end = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        end.write_all(secret.as_bytes())?;
        Ok(end)
    }
}
