//! Which terminal session this is.

use super::hex_hash;

/// A name for the session that this process belongs to: one window, one login. `None`: there is nothing that tells it
/// from a later one.
///
/// The number of a session comes again once it is over. When its leader began, and since which start of the machine
/// that is counted, tells them apart.
#[cfg(target_os = "linux")]
pub(crate) fn terminal_session() -> Option<String> {
    let leader = rustix::process::getsid(None).ok()?.as_raw_pid();
    let began = began(&std::fs::read_to_string(format!("/proc/{leader}/stat")).ok()?)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(hex_hash(&[&leader.to_le_bytes(), &began.to_le_bytes(), boot.as_bytes()]))
}

/// When a process began, in ticks since the machine did.
#[cfg(target_os = "linux")]
fn began(stat: &str) -> Option<u64> {
    // The name stands in parentheses, and may hold some itself. The time is the 20th field behind it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Elsewhere the time of the leader is not to be had without more. A grant ends after hours in any case.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn terminal_session() -> Option<String> {
    let leader = rustix::process::getsid(None).ok()?.as_raw_pid();
    Some(hex_hash(&[&leader.to_le_bytes()]))
}

#[cfg(not(unix))]
pub(crate) fn terminal_session() -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{began, terminal_session};

    #[test]
    fn a_session_has_the_same_name_every_time() {
        let name = terminal_session().expect("this process has a session");
        assert_eq!(terminal_session(), Some(name));
        let fields = (1..40).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(began(&format!("17 (a) b) {fields}\n")), Some(20));
        assert_eq!(began("17 (a) S 1"), None);
    }
}
