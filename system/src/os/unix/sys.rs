//! What a child does between fork and exec. The only unsafe code of this crate.
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "code can only be run between fork and exec by an unsafe call")
)]

use std::process::Command;

/// Puts the child into a process group of its own and, on Linux, lets the kernel kill it when the thread that
/// spawns it ends, however that happens. So spawn it from a thread that lives as long as the child should.
pub fn bind_to_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
        let parent = getpid();
        // SAFETY: the closure runs in the child of a possibly threaded process, where only async-signal-safe
        // code is allowed. It makes two plain system calls, takes no lock and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                // A parent that ended before that call sends no signal any more.
                if getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
            });
        }
    }
}
