//! Futures of a client over HTTP that are dropped at every point where they wait.

use std::sync::LazyLock;

use sanswire_smol::Client;
use sanswire_smol::sanswire::client::RequestOptions;
use sanswire_smol::sanswire::mcp::Method;

use crate::common::{block_on, eventually, options, raw, tool};
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};
use crate::steps::at_every_point;

pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
    type Test = (&'static str, fn());
    let tests: Vec<Test> = vec![
        ("connecting_over_http_may_be_given_up_at_any_point", connecting_may_be_given_up_at_any_point),
        ("a_call_over_http_may_be_given_up_at_any_point", a_call_may_be_given_up_at_any_point),
        ("a_stream_over_http_may_be_given_up_at_any_point", a_stream_may_be_given_up_at_any_point),
        ("closing_over_http_may_be_given_up_at_any_point", closing_may_be_given_up_at_any_point),
        #[cfg(feature = "tls")]
        ("connecting_under_tls_may_be_given_up_at_any_point", tls_may_be_given_up_at_any_point),
    ];
    tests.into_iter().map(|(name, test)| crate::common::trial(name.into(), test)).collect()
}

static NO_OPTIONS: LazyLock<RequestOptions> = LazyLock::new(RequestOptions::default);

fn answers(request: &Request, answer: &mut Answer<'_>) {
    match (&*request.verb, request.method()) {
        ("GET", _) => answer.status(405),
        _ if request.body.contains("slow") => {
            answer.stream();
            std::thread::sleep(std::time::Duration::from_millis(3));
            let reply = answer.reply(&says("slow"));
            answer.last_event(&reply);
        }
        _ => {
            // So that there is something to wait for.
            std::thread::sleep(std::time::Duration::from_millis(1));
            answer.result(&says("on"));
        }
    }
}

/// All that was opened is closed, but for the connections that the client keeps.
fn at_rest(peer: &Peer, kept: usize) {
    block_on(eventually("the connections are closed", || peer.ended() + kept >= peer.connections()));
}

fn connecting_may_be_given_up_at_any_point() {
    let peer = legacy(answers);
    at_every_point(|| Client::connect_http(&peer.target(), options()), || at_rest(&peer, 0));
    // Dropped, it is closed like any other: none is left, whoever was last.
    at_rest(&peer, 0);
}

fn a_call_may_be_given_up_at_any_point() {
    let peer = modern(answers);
    let client = block_on(Client::connect_http(&peer.target(), options())).unwrap();
    at_every_point(
        || client.call_tool("any", None, &NO_OPTIONS),
        || assert_eq!(block_on(tool(&client, "any", "{}")), "on"),
    );
    at_rest(&peer, 2);
    block_on(client.close());
    at_rest(&peer, 0);
}

fn a_stream_may_be_given_up_at_any_point() {
    let peer = modern(answers);
    let client = block_on(Client::connect_http(&peer.target(), options())).unwrap();
    let make = || client.call_with(Method::ToolsCall, Some(raw(r#"{"name":"slow"}"#)), &NO_OPTIONS, |_| ());
    at_every_point(make, || assert_eq!(block_on(tool(&client, "any", "{}")), "on"));
    block_on(client.close());
    at_rest(&peer, 0);
}

fn closing_may_be_given_up_at_any_point() {
    let peer = legacy(answers);
    let target = peer.target();
    let make = || async {
        let client = Client::connect_http(&target, options()).await.unwrap();
        client.close().await
    };
    at_every_point(make, || at_rest(&peer, 0));
}

#[cfg(feature = "tls")]
fn tls_may_be_given_up_at_any_point() {
    use crate::http_tls::{address_of, trusting};
    use crate::tls_front::before;
    let peer = legacy(answers);
    let target = trusting(before(address_of(&peer), "server.pem", false));
    at_every_point(|| Client::connect_http(&target, options()), || at_rest(&peer, 0));
    at_rest(&peer, 0);
}
