//! What a tap sees of a server on the web, beside the messages.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sanswire_std::sanswire::client::Start;
use sanswire_std::sanswire::http::client::Kind;
use sanswire_std::sanswire::http::{ResponseHead, Verb};
use sanswire_std::sanswire::mcp::Revision;
use sanswire_std::{
    Client, ConnectError, Direction, HttpOptions, HttpTarget, Proxy, Reached, Server, Tap, Tool,
};

use crate::common::{options, tool, trials};

trials!(a_tap_sees_how_a_server_is_reached_and_what_it_answers, a_tap_sees_an_answer_that_ends_all);

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Tap for Seen {
    fn message(&self, direction: Direction, _: Duration, _: &[u8]) {
        self.add(format!("{direction:?}"));
    }

    fn reached(&self, at: Duration, how: &Reached) {
        assert!(how.tls.is_none() && how.proxy.is_none() && at >= how.named);
        self.add(format!("reached {}", how.address));
    }

    fn answered(&self, _: Duration, request: &Verb, head: &ResponseHead) {
        self.add(format!("{} {}", request.as_str(), head.status));
    }
}

/// A server that listens: where, and what ends it.
fn served(options: HttpOptions) -> (String, impl FnOnce()) {
    let echo = Tool::new("Gives text back").string("text", "What to give back");
    let server = Server::builder("seen", "1")
        .tool("echo", echo, |(), call| call.argument::<String>("text"))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stopper = server.stopper();
    let serving = std::thread::spawn(move || server.serve_http(listener, options).unwrap());
    let end = move || {
        stopper.stop();
        serving.join().unwrap();
    };
    (address.to_string(), end)
}

fn target(address: &str) -> HttpTarget {
    let mut target = HttpTarget::new(&format!("http://{address}/mcp")).unwrap();
    target.proxy = Proxy::Direct;
    target
}

fn a_tap_sees_how_a_server_is_reached_and_what_it_answers() {
    let (address, end) = served(HttpOptions::default());
    let seen = Arc::new(Seen::default());
    let mut options = options();
    options.config.start = Start::Pinned(Revision::NEWEST_MODERN);
    options.tap = Some(Arc::clone(&seen) as Arc<dyn Tap>);
    let client = Client::connect_http(&target(&address), options).unwrap();
    assert_eq!(client.http_kind(), Some(Kind::Streamable));
    assert_eq!(tool(&client, "echo", r#"{"text":"a"}"#), "a");
    client.close();
    end();
    let all = seen.all();
    let begin = [format!("reached {address}"), "Sent".into(), "POST 200".into(), "Received".into()];
    assert_eq!(all.get(..4), Some(&begin[..]), "{all:?}");
    assert_eq!(all.get(all.len() - 3..), Some(&begin[1..]), "{all:?}");
}

fn a_tap_sees_an_answer_that_ends_all() {
    let mut only = HttpOptions::default();
    only.path = "/elsewhere".into();
    let (address, end) = served(only);
    let seen = Arc::new(Seen::default());
    let mut options = options();
    options.tap = Some(Arc::clone(&seen) as Arc<dyn Tap>);
    let error = Client::connect_http(&target(&address).kind(Kind::Streamable), options).unwrap_err();
    assert!(matches!(error, ConnectError::Closed { .. }), "{error}");
    end();
    let all = seen.all();
    assert!(all.contains(&"POST 404".to_owned()), "{all:?}");
}
