//! Reads of one end of a connection.

use std::os::fd::OwnedFd;

use rustix::buffer::Buffer;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use sanswire::limits::MAX_READ_BYTES;

use crate::os::Got;

/// What is known of the end that is read from.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// One read may bring more than [`MAX_READ_BYTES`]: then it has to be kept short by other means.
    deep: bool,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux makes a pipe deeper"))]
    pipe: bool,
    /// A socket that may be blocking, for others share it: each read says that it must not wait.
    shared: bool,
}

impl Input {
    /// A pipe.
    pub const PIPE: Self = Self { deep: false, pipe: true, shared: false };
    /// A socket that does not block.
    pub const SOCKET: Self = Self { deep: true, pipe: false, shared: false };
    pub(super) const FILE: Self = Self::SOCKET;
    pub(super) const SHARED_SOCKET: Self = Self { deep: true, pipe: false, shared: true };

    /// Makes a pipe hold 1 MiB, where the system allows it: big messages then cost few changes between the two
    /// processes.
    pub fn deepen(&mut self, fd: &OwnedFd) {
        #[cfg(target_os = "linux")]
        if self.pipe {
            self.pipe = false;
            self.deep = rustix::pipe::fcntl_setpipe_size(fd, 1024 * 1024).is_ok();
        }
        #[cfg(not(target_os = "linux"))]
        let _ = fd;
    }

    /// Appends one read to `buffer`, within its spare room.
    #[must_use]
    pub fn read(self, fd: &OwnedFd, buffer: &mut Vec<u8>) -> Got {
        let room = buffer.capacity() - buffer.len();
        if room == 0 {
            return Got::Nothing;
        }
        let most = room.min(MAX_READ_BYTES);
        let got = if room > MAX_READ_BYTES && self.deep {
            let len = buffer.len();
            buffer.resize(len + MAX_READ_BYTES, 0);
            let room = buffer.get_mut(len..).unwrap_or_default();
            let got = if self.shared { receive(fd, room) } else { read_into(fd, room) };
            buffer.truncate(len + got.unwrap_or(0));
            got
        } else if self.shared {
            receive(fd, rustix::buffer::spare_capacity(buffer))
        } else {
            read_spare(fd, buffer)
        };
        judge(got, most)
    }
}

fn read_spare(fd: &OwnedFd, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
    rustix::io::retry_on_intr(|| rustix::io::read(fd, rustix::buffer::spare_capacity(buffer)))
}

fn read_into(fd: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    rustix::io::retry_on_intr(|| rustix::io::read(fd, &mut *room))
}

fn receive(fd: &OwnedFd, room: impl Buffer<u8>) -> Result<usize, Errno> {
    rustix::net::recv(fd, room, RecvFlags::DONTWAIT).map(|(_, len)| len)
}

fn judge(got: Result<usize, Errno>, most: usize) -> Got {
    match got {
        Ok(0) => Got::End { broken: false },
        Ok(len) => Got::Bytes { len, full: len >= most },
        Err(Errno::AGAIN | Errno::INTR) => Got::Nothing,
        Err(_) => Got::End { broken: true },
    }
}

/// One read of a child's stderr, appended to `buffer`, within its spare room.
#[must_use]
pub fn read_stderr(fd: &OwnedFd, buffer: &mut Vec<u8>) -> Got {
    let room = buffer.capacity() - buffer.len();
    judge(read_spare(fd, buffer), room)
}

/// Takes what is there and drops it. Whether the end was reached.
#[must_use]
pub fn discard(fd: &OwnedFd) -> bool {
    let mut room = [0; 16 * 1024];
    loop {
        match judge(read_into(fd, &mut room), room.len()) {
            Got::Bytes { full: true, .. } => {}
            Got::Bytes { .. } | Got::Nothing => return false,
            Got::End { .. } => return true,
        }
    }
}
