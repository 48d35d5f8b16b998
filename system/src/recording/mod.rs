//! What a client's machine was given and what it did, written down and replayed.
//!
//! A machine that is given the same inputs at the same instants does the same, to the byte. So a file that holds the inputs of
//! one is all that is needed to see again what it did, on another computer, without the server, the network or the clock;
//! and beside the inputs the file holds the outputs, so that a machine that does something else is found out.
//!
//! ```
//! use sanswire::client::Config;
//! use sanswire::{Instant, Machine as _};
//! use sanswire_system::recording::{RecordedLine, Recording, Secrets, replay};
//! # #[derive(Clone, Default)]
//! # struct Kept(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
//! # impl std::io::Write for Kept {
//! #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> { self.0.lock().unwrap().write(bytes) }
//! #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
//! # }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = Kept::default();
//! let recording = Recording::new(file.clone(), Recording::MAX_BYTES)?;
//! let recorder = recording.recorder("weather", Secrets::new([String::from("hunter2")]));
//! let config = Config::new("example", "1.0");
//! let mut client = RecordedLine::new(config, [0; 32], Instant::ZERO, Some(&recorder))?;
//! let first = client.transmit().len();
//! client.handle_written(first, Instant::from_millis(1));
//! let came = b"Welcome to weather! My token is hunter2.\n";
//! assert_eq!(client.handle_input(came, Instant::from_millis(2)), came.len());
//! client.handle_eof(Instant::from_millis(3));
//! while client.poll_event().is_some() {}
//!
//! let text = file.0.lock().unwrap().clone();
//! assert!(!String::from_utf8(text.clone())?.contains("hunter2"));
//! let replayed = replay(text.as_slice())?;
//! assert_eq!((replayed.inputs, replayed.difference), (4, None));
//! # Ok(())
//! # }
//! ```
//!
//! A client of a runtime is recorded where its options have a recorder (`ConnectOptions::recorder`).
//!
//! **Secrets** are blotted out as they are recorded: values that are known ([`Secrets`]), what stands under a member whose name
//! says that it is secret, and what looks like a token. Every byte of one becomes a star (outside of strings every digit
//! another), so that messages keep their lengths; and since a replay is given what is in the file, what it does has stars where
//! the recorded outputs have them. What a secret decides cannot be replayed then: [`Difference::blotted`] says that it
//! may be so. Everything else that a server and a user said stands in the file.
//!
//! **Versions.** A recording is replayed by the version that made it, and by no other ([`ReplayError::OtherVersion`]): what
//! machines do may change between two, and then a difference would mean nothing.
//!
//! **The file** is lines of JSON. The first says what it is. Of those that follow, with `c` for the connection, one with `in`
//! is an input (`n` its number, `at` its instant in microseconds, `then` what the machine waited for after it) and one with
//! `event` an event that was taken. Bytes are `text`, or `base64` where they are none. `end` is the end of a connection.
//!
//! **Over HTTP** the machine is [`http::Client`](sanswire::http::Client): its inputs are what was `sent`, each `head`, piece of a
//! `body` and `ended` exchange, and time; `effect` is a request that was made or given up. A client is recorded with its
//! [`RecordedPool`]; what its connections alone see and decide is not. Heads tell the values of a few fields, and the names of
//! the others; in queries and before an `@` addresses have stars.

mod blot;
mod calls;
mod compare;
mod config;
mod connection;
mod error;
mod event;
mod file;
mod form;
mod http;
mod lines;
mod log;
mod names;
mod pen;
mod player;
mod pool;
mod replay;

pub use crate::secrets::Secrets;
pub use connection::RecordedLine;
pub use error::ReplayError;
pub use file::{Recorder, Recording, RecordingStop};
pub use pool::RecordedPool;
pub use replay::{Difference, Replayed, is_recording, replay};

#[cfg(test)]
mod tests;
