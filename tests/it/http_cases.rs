//! Cases from public reports on HTTP and event streams, to the byte: on the machines with every cut of what the peer
//! sends, and over sockets of the loopback. The rows are those of [`sanswire_tests::http_cases`].

mod client_machines;
mod client_sockets;
mod server_machines;
mod server_sockets;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use sanswire_tests::http_cases::{answers, requests};
use sanswire_tests::seed::{Rng, each_seed};

/// A module for each way to replay a case, with a test for each case.
macro_rules! cases {
    ($([$replay:path] $way:ident: $($case:literal $name:ident),+;)+) => {
        $(mod $way {
            $(#[test]
            fn $name() {
                $replay($case);
            })+

            pub(super) const NAMED: &[&str] = &[$($case),+];
        })+
    };
}

cases! {
    [crate::http_cases::client_machines::replay] client_with_every_cut:
        "b_31" b_31_discover_refused_in_many_ways,
        "b_65" b_65_notification_answered_200_null,
        "b_67" b_67_sse_crlf,
        "b_69" b_69_sse_multi_line_data,
        "b_71" b_71_sse_empty_priming_event,
        "b_73" b_73_sse_closed_without_reply,
        "b_75" b_75_session_404_not_renewed,
        "b_77" b_77_get_stream_refused,
        "b_79" b_79_content_type_charset,
        "b_81" b_81_redirect_308,
        "b_83" b_83_compressed_json_body,
        "b_85" b_85_first_event_is_not_the_reply,
        "b_89" b_89_unauthorized_without_challenge;
    [crate::http_cases::client_sockets::replay] client_over_sockets:
        "b_31" b_31_discover_refused_in_many_ways,
        "b_65" b_65_notification_answered_200_null,
        "b_67" b_67_sse_crlf,
        "b_69" b_69_sse_multi_line_data,
        "b_71" b_71_sse_empty_priming_event,
        "b_73" b_73_sse_closed_without_reply,
        "b_75" b_75_session_404_not_renewed,
        "b_77" b_77_get_stream_refused,
        "b_79" b_79_content_type_charset,
        "b_81" b_81_redirect_308,
        "b_83" b_83_compressed_json_body,
        "b_85" b_85_first_event_is_not_the_reply,
        "b_89" b_89_unauthorized_without_challenge;
    [crate::http_cases::server_machines::replay] server_with_every_cut:
        "b_79" b_79_content_type_charset,
        "b_87" b_87_host_check_behind_proxy;
    [crate::http_cases::server_sockets::replay] server_over_sockets:
        "b_79" b_79_content_type_charset,
        "b_87" b_87_host_check_behind_proxy;
}

#[test]
fn no_case_is_left_out() {
    let set = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
    let answers: BTreeSet<_> = answers().iter().map(|row| row.case).collect();
    let requests: BTreeSet<_> = requests().iter().map(|row| row.case).collect();
    assert_eq!((&set(client_with_every_cut::NAMED), &set(client_over_sockets::NAMED)), (&answers, &answers));
    assert_eq!(
        (&set(server_with_every_cut::NAMED), &set(server_over_sockets::NAMED)),
        (&requests, &requests)
    );
}

/// Where to cut bytes of this length in two: everywhere, or where it is long everywhere in its head and here and there
/// behind it.
fn every_cut(len: usize) -> Vec<usize> {
    let step = if len > 4096 { len / 16 } else { 1 };
    (1..len.min(512)).chain((512..len).step_by(step)).collect()
}

/// Every way to cut them that is tried: not, byte by byte, and in two at every place.
fn every_split(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut ways = vec![vec![bytes]];
    if (1..=4096).contains(&bytes.len()) {
        ways.push(bytes.chunks(1).collect());
    }
    ways.extend(every_cut(bytes.len()).into_iter().map(|at| {
        let (one, two) = bytes.split_at(at);
        vec![one, two]
    }));
    ways
}

/// Some ways to cut them, for runs that are dear: not, byte by byte, and in two or three pieces by seeds.
fn some_splits(bytes: &[u8], run: impl Fn(&[&[u8]])) {
    run(&[bytes]);
    if bytes.len() < 2 {
        return;
    }
    if bytes.len() <= 4096 {
        run(&bytes.chunks(1).collect::<Vec<_>>());
    }
    each_seed(2, |seed| {
        let mut rng = Rng::new(seed);
        let mut cut = || 1 + rng.below(bytes.len() - 1);
        let (first, last) = (cut(), cut());
        let (one, rest) = bytes.split_at(first.min(last));
        let (two, three) = rest.split_at(first.abs_diff(last));
        let pieces = [one, two, three];
        run(&pieces.into_iter().filter(|piece| !piece.is_empty()).collect::<Vec<_>>());
    });
}

/// Writes bytes in pieces of these lengths, each of which is likely to be read before the next comes. Whether they could
/// be written.
fn write_pieces(stream: &mut TcpStream, mut bytes: &[u8], lens: &[usize]) -> bool {
    for len in lens {
        let (piece, rest) = bytes.split_at(*len);
        bytes = rest;
        if stream.write_all(piece).is_err() {
            return false;
        }
        match lens.len() {
            1 => {}
            2 | 3 => std::thread::sleep(Duration::from_millis(1)),
            _ => std::thread::yield_now(),
        }
    }
    true
}
