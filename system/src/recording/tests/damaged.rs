//! Files that are no recordings, or not whole ones.

use std::io::{self, Read as _};

use super::{ReplayError, recorded, replay, session};

#[test]
fn what_is_no_recording_is_refused_with_the_line() {
    let text = recorded(|recording| session(recording, usize::MAX));
    let head = text.lines().next().unwrap();
    let of = |text: &[u8]| replay(text).unwrap_err();
    assert_eq!(of(b""), ReplayError::Empty);
    assert_eq!(of(b"hello\n"), ReplayError::NoRecording);
    assert_eq!(of(b"{\"a\":1}\n"), ReplayError::NoRecording);
    assert_eq!(of(&[0x7f, b'E', b'L', b'F', 2, 1, 0, 0]), ReplayError::NoRecording);
    assert_eq!(of(b"{\"at\":0.1,\"direction\":\"sent\",\"server\":\"x\"}\n"), ReplayError::Trace);
    for unknown in [0, 3] {
        let other = text.replacen("\"format\":2", &format!("\"format\":{unknown}"), 1);
        assert!(
            matches!(of(other.as_bytes()), ReplayError::OtherVersion { format, .. } if format == unknown)
        );
    }
    let older = text.replacen("\"format\":2", "\"format\":1", 1);
    assert_eq!(replay(older.as_bytes()).unwrap().difference, None);
    let other = text.replacen(env!("CARGO_PKG_VERSION"), "9.9.9", 1);
    let told = of(other.as_bytes()).to_string();
    assert!(told.contains("9.9.9") && told.contains(env!("CARGO_PKG_VERSION")), "{told}");
    // Cut anywhere within a line, the last line is named; cut between two lines, there is no end.
    let lines = text.lines().count() as u64;
    assert_eq!(of(&text.as_bytes()[..text.len() - 1]), ReplayError::Broken { line: lines, cut: true });
    assert_eq!(of(&text.as_bytes()[..text.len() - 9]), ReplayError::Broken { line: lines, cut: true });
    assert_eq!(of(format!("{head}\nnonsense\n").as_bytes()), ReplayError::Broken { line: 2, cut: false });
    assert_eq!(
        of(format!("{head}\n{{\"c\":0,\"in\":\"eof\"}}\n").as_bytes()),
        ReplayError::Damaged { line: 2, what: "c" }
    );
    for (from, to, what) in [
        ("\"seed\":\"07", "\"seed\":\"x7", "seed"),
        ("\"max_in_flight\":1024", "\"max_in_flight\":0", "max_in_flight"),
        ("\"in\":\"written\"", "\"in\":\"wrote\"", "in"),
        ("\"n\":2,", "\"m\":2,", "n"),
    ] {
        let line = text.lines().position(|line| line.contains(from)).unwrap() as u64 + 1;
        assert_eq!(of(text.replacen(from, to, 1).as_bytes()), ReplayError::Damaged { line, what });
    }
}

#[test]
fn a_line_without_an_end_is_not_read_to_its_end() {
    let head = recorded(|_| {});
    let endless = head.as_bytes().chain(io::repeat(b'x'));
    assert_eq!(replay(io::BufReader::new(endless)).unwrap_err(), ReplayError::TooLong { line: 2 });
}

#[test]
fn nothing_in_a_file_makes_a_replay_panic() {
    let text = recorded(|recording| session(recording, usize::MAX));
    let bytes = text.as_bytes();
    for at in (0..bytes.len()).step_by(17) {
        let mut damaged = bytes.to_vec();
        damaged[at] = if damaged[at].is_ascii_digit() { b'9' } else { b'x' };
        let _ = replay(damaged.as_slice());
    }
}
