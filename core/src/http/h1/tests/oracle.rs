//! Heads are read as another parser reads them.

use proptest::prelude::*;

use super::*;
use crate::http::fields::trimmed;
use crate::http::h1::parse::{self, Asked};
use crate::http::h1::scan::HeadScan;

/// A head whose first line is one of these or noise, with fields that are mostly fine, and a byte that may be changed.
fn head(first: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        4 => prop::sample::select(first).prop_map(|line| line.as_bytes().to_vec()),
        1 => "[ -~]{0,30}".prop_map(String::into_bytes),
    ];
    let field = prop_oneof![
        6 => "[!#-'*+.0-9A-Z^-z|~-]{1,9}:[ \t]{0,2}[ -~\t]{0,20}",
        1 => "[A-Za-z]{1,9}: [\u{80}-\u{2ff}]{1,5}",
        1 => "[ -~]{1,20}",
    ];
    let fields = prop::collection::vec(field, 0..6);
    let change = prop::option::of((any::<prop::sample::Index>(), any::<u8>()));
    (first, fields, change).prop_map(|(first, fields, change)| {
        let mut head = first;
        head.extend_from_slice(b"\r\nHost: h\r\n");
        for field in fields {
            head.extend_from_slice(field.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        if let Some((at, byte)) = change {
            let at = at.index(head.len());
            head[at] = byte;
        }
        head.extend_from_slice(b"\r\n");
        head
    })
}

/// What is refused for the line that it stands in, rather than for what it says.
fn is_of_a_line(fault: Fault) -> bool {
    let head = ["the first line is malformed", "a field's name is no token", "the status is malformed"];
    matches!(fault, Fault::Version) || matches!(fault, Fault::Head(how) if head.contains(&how))
}

fn same_fields(ours: &Fields, theirs: &[httparse::Header<'_>]) -> bool {
    let theirs = theirs.iter().map(|field| (field.name.as_bytes(), trimmed(field.value)));
    ours.raw().eq(theirs)
}

const REQUESTS: &[&str] = &[
    "GET / HTTP/1.1",
    "POST /a?b=c HTTP/1.0",
    "brew /pot HTTP/1.1",
    "GET http://h/a HTTP/1.1",
    "GET / HTTP/1.2",
    "GET /",
    "GET  / HTTP/1.1",
    "GET / HTTP/1.1 ",
];
const ANSWERS: &[&str] = &[
    "HTTP/1.1 200 OK",
    "HTTP/1.0 404 Not Found",
    "HTTP/1.1 200",
    "HTTP/1.1 200 ",
    "HTTP/1.1  200 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/2.0 200 OK",
];

proptest! {
    #[test]
    fn requests_are_read_as_another_parser_reads_them(head in head(REQUESTS)) {
        let limits = Limits::default();
        let ours = parse::request(&mut HeadScan::default(), &head, &limits);
        let mut room = [httparse::EMPTY_HEADER; 16];
        let mut theirs = httparse::Request::new(&mut room);
        let read = theirs.parse(&head);
        match ours {
            Ok(Some((ours, len))) => {
                prop_assert_eq!(read, Ok(httparse::Status::Complete(len)));
                prop_assert_eq!(Some(ours.head.verb.as_str()), theirs.method);
                prop_assert!(theirs.path.is_some_and(|path| path.ends_with(&*ours.head.target)));
                prop_assert_eq!(Some(u8::from(!ours.old)), theirs.version);
                prop_assert!(same_fields(&ours.head.fields, theirs.headers));
            }
            Ok(None) => prop_assert!(!matches!(read, Ok(httparse::Status::Complete(len)) if len == head.len())),
            Err(refusal) if is_of_a_line(refusal.fault) => prop_assert!(read.is_err(), "{refusal:?} {read:?}"),
            Err(_) => {}
        }
    }

    #[test]
    fn answers_are_read_as_another_parser_reads_them(head in head(ANSWERS)) {
        let limits = Limits::default();
        let ours = parse::answer(&mut HeadScan::default(), &head, Asked::Other, &limits);
        let mut room = [httparse::EMPTY_HEADER; 16];
        let mut theirs = httparse::Response::new(&mut room);
        let read = theirs.parse(&head);
        match ours {
            Ok(Some((ours, len))) => {
                prop_assert_eq!(read, Ok(httparse::Status::Complete(len)));
                prop_assert_eq!(Some(ours.head.status), theirs.code);
                prop_assert!(same_fields(&ours.head.fields, theirs.headers));
            }
            Ok(None) => prop_assert!(!matches!(read, Ok(httparse::Status::Complete(len)) if len == head.len())),
            Err(fault) if is_of_a_line(fault) => prop_assert!(read.is_err(), "{fault:?} {read:?}"),
            Err(_) => {}
        }
    }
}
