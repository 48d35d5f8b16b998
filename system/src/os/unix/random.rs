//! Random bytes.

use std::io;

/// Bytes that nobody can guess, of the system's own generator.
///
/// # Errors
/// The system's own.
#[cfg(target_os = "linux")]
pub fn random() -> io::Result<[u8; 32]> {
    use rustix::rand::{GetRandomFlags, getrandom};
    let mut bytes = [0; 32];
    let mut filled = 0;
    // So few come at once, but for a signal before the generator is seeded.
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        filled += rustix::io::retry_on_intr(|| getrandom(&mut *room, GetRandomFlags::empty()))?;
    }
    Ok(bytes)
}

/// Bytes that nobody can guess, of the system's own generator.
///
/// # Errors
/// The system's own.
#[cfg(not(target_os = "linux"))]
pub fn random() -> io::Result<[u8; 32]> {
    use std::io::Read as _;
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
