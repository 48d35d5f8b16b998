//! Systems with nothing but std.

mod process;

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout};

pub use process::{Child, Exiting, bind_to_parent};

/// Our ends of a child's pipes. They block.
#[derive(Debug)]
pub struct ChildEnds {
    /// What the child reads is written here.
    pub stdin: ChildStdin,
    /// What the child writes is read here.
    pub stdout: ChildStdout,
    /// Its stderr, if that is ours.
    pub stderr: Option<ChildStderr>,
}

/// Takes our ends of a child's pipes.
///
/// # Errors
/// The child was started without pipes.
pub fn child_ends(child: &mut std::process::Child) -> io::Result<ChildEnds> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the child has no pipes"));
    };
    Ok(ChildEnds { stdin, stdout, stderr: child.stderr.take() })
}

/// Opens a log to append to, and creates it, folders and all. What is no regular file is refused.
pub(crate) fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Looked at before it is opened, which might wait for somebody.
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
        }
        _ => File::options().append(true).create(true).open(path),
    }
}

/// Bytes that nobody can guess.
///
/// # Errors
/// None here; the other side's can be.
pub fn random() -> io::Result<[u8; 32]> {
    Ok(crate::os::random_by_std())
}
