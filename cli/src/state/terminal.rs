//! Which terminal session this is.

use super::hex_hash;

/// A name for the session that this process belongs to: one window, one login. `None`: there is nothing that tells it
/// from a later one.
///
/// The number of a session comes again once it is over. When its leader began, and since which start of the machine
/// that is counted, tells them apart.
#[cfg(target_os = "linux")]
pub(crate) fn terminal_session() -> Option<String> {
    let leader = leader(&std::fs::read_to_string("/proc/self/stat").ok()?)?;
    let began = began(&std::fs::read_to_string(format!("/proc/{leader}/stat")).ok()?)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(hex_hash(&[&leader.to_le_bytes(), &began.to_le_bytes(), boot.as_bytes()]))
}

/// The leader of a process's session, unless it lives where this process cannot see it: outside its container. The
/// system says 0 then, which is no process, and which `rustix` does not expect of `getsid`.
#[cfg(target_os = "linux")]
fn leader(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(3)?.parse().ok().filter(|leader| *leader != 0)
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
    use super::{began, leader, terminal_session};

    #[test]
    fn a_session_has_the_same_name_every_time() {
        let stat = std::fs::read_to_string("/proc/self/stat").expect("this process");
        let name = terminal_session();
        assert_eq!(name.is_some(), leader(&stat).is_some());
        assert_eq!(terminal_session(), name);
        assert_eq!(leader("17 (a) b) S 1 17 16 0"), Some(16));
        assert_eq!(leader("17 (a) b) S 0 17 0 0"), None);
        let fields = (1..40).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(began(&format!("17 (a) b) {fields}\n")), Some(20));
        assert_eq!(began("17 (a) S 1"), None);
    }
}
