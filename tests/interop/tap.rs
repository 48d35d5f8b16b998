//! What passed between a client and the demo server, taken down on the way.
//!
//! Clients start their server themselves, so this program is put in between: started with [`FLAG`], it starts the
//! server, hands on what either side writes, and keeps a record of it in a folder, a file for each start.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use libtest_mimic::Failed;
use serde_json::Value;

/// `FLAG FOLDER PROGRAM ARGUMENTS...`, instead of the arguments of a test.
pub(crate) const FLAG: &str = "--tap";

/// How a line of a record begins; [`INPUT_ENDED`] stands alone, the others are followed by a line or a status.
const FROM_CLIENT: u8 = b'>';
const FROM_SERVER: u8 = b'<';
const INPUT_ENDED: u8 = b'.';
const SERVER_ENDED: u8 = b'=';

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    Client(Value),
    Server(Value),
    /// The client closed the server's input.
    InputEnded,
    /// The server ended, with this status.
    ServerEnded(i32),
}

/// Runs the server in between, until it ends.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    match pass_on(words) {
        Ok(status) => ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX)),
        Err(error) => {
            // A closed stderr is no reason to panic.
            let _ = writeln!(io::stderr(), "tap: {error}");
            ExitCode::from(u8::MAX)
        }
    }
}

fn pass_on(words: &[OsString]) -> io::Result<i32> {
    let [folder, program, arguments @ ..] = words else {
        return Err(io::Error::other(format!("{FLAG} FOLDER PROGRAM ARGUMENTS...")));
    };
    let record = Arc::new(Record(Mutex::new(create(Path::new(folder))?)));
    let mut server =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::Error::other("a pipe is missing"));
    };
    let record_of_input = Arc::clone(&record);
    // Never joined: once the server has ended, nobody needs what the client still writes.
    thread::spawn(move || {
        // Whether it failed is seen in the record, which then lacks the end of the input.
        let _ = hand_on(io::stdin(), &mut input, FROM_CLIENT, &record_of_input)
            .and_then(|()| record_of_input.add(&[INPUT_ENDED]));
    });
    hand_on(output, &mut io::stdout(), FROM_SERVER, &record)?;
    let status = server.wait()?.code().unwrap_or(i32::from(u8::MAX));
    record.add(format!("{}{status}", char::from(SERVER_ENDED)).as_bytes())?;
    Ok(status)
}

/// Each line goes into the record first: what one side wrote after it saw something stands below it.
fn hand_on(from: impl Read, to: &mut impl Write, mark: u8, record: &Record) -> io::Result<()> {
    let mut from = BufReader::new(from);
    loop {
        let mut line = vec![mark];
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        record.add(line.strip_suffix(b"\n").unwrap_or(&line))?;
        to.write_all(line.get(1..).unwrap_or_default())?;
        to.flush()?;
    }
}

struct Record(Mutex<File>);

impl Record {
    fn add(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&[line, b"\n"].concat())
    }
}

/// The first file that is not there yet: clients may start a server twice, to try how it speaks.
fn create(folder: &Path) -> io::Result<File> {
    let mut number = 0;
    loop {
        match File::create_new(record_path(folder, number)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            file => return file,
        }
    }
}

fn record_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number}.record"))
}

/// The records in `folder`, in the order of their starts.
pub(crate) fn records(folder: &Path) -> Result<Vec<Vec<Entry>>, Failed> {
    let paths = (0..).map(|number| record_path(folder, number)).take_while(|path| path.exists());
    paths
        .map(|path| {
            fs::read(path)?.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(entry).collect()
        })
        .collect()
}

/// A line that is no JSON is a fault of whoever wrote it.
fn entry(line: &[u8]) -> Result<Entry, Failed> {
    let (mark, rest) = line.split_first().ok_or("an empty line in a record")?;
    let message = || {
        serde_json::from_slice(rest).map_err(|error| format!("{error}: {:?}", String::from_utf8_lossy(line)))
    };
    Ok(match *mark {
        FROM_CLIENT => Entry::Client(message()?),
        FROM_SERVER => Entry::Server(message()?),
        INPUT_ENDED => Entry::InputEnded,
        SERVER_ENDED => Entry::ServerEnded(String::from_utf8_lossy(rest).parse()?),
        _ => return Err(format!("not of a record: {:?}", String::from_utf8_lossy(line)).into()),
    })
}
