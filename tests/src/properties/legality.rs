//! Who may send what, against the published schemas, by the table and by the machines.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use sanswire::client::Event as Told;
use sanswire::mcp::legality::{Sender, channel, embeddable, legal};
use sanswire::mcp::{Era, Method, Revision};
use sanswire::server::Event;
use sanswire::{Instant, Machine};
use serde_json::{Value, json};

use crate::linked::{Linked, client_config};
use crate::schema;
use crate::served::meta;
use crate::web::catalog;

/// The methods of one revision's unions.
struct Unions {
    client: BTreeSet<&'static str>,
    server: BTreeSet<&'static str>,
    input: BTreeSet<&'static str>,
}

fn unions(revision: Revision) -> &'static Unions {
    static ALL: OnceLock<Vec<Unions>> = OnceLock::new();
    let read = |revision: Revision| {
        let of = |unions: [&'static str; 2]| {
            unions.into_iter().flat_map(|union| schema::methods(revision, union)).collect::<BTreeSet<_>>()
        };
        Unions {
            client: of(["ClientRequest", "ClientNotification"]),
            server: of(["ServerRequest", "ServerNotification"]),
            input: of(["InputRequest", "InputRequest"]),
        }
    };
    let place = Revision::ALL.iter().position(|one| *one == revision).expect("one of all");
    &ALL.get_or_init(|| Revision::ALL.into_iter().map(read).collect())[place]
}

/// Takes a revision and a method from `data` (a byte that chooses a known one, or a name that follows), and looks what
/// the table says, and what a server and a client do with a message of that method.
///
/// # Panics
/// If that is not what the schema says.
pub fn check_legality(data: &[u8]) {
    let [revision, known, name @ ..] = data else { return };
    let revision = Revision::ALL[usize::from(*revision) % Revision::ALL.len()];
    let name = match Method::KNOWN.get(usize::from(*known)) {
        Some(method) => method.as_str().to_owned(),
        None => String::from_utf8_lossy(name).into_owned(),
    };
    let method = Method::from_name(&name);
    assert_eq!(method.as_str(), name);
    let unions = unions(revision);
    let by_client = unions.client.contains(&*name);
    let by_server = unions.server.contains(&*name);
    assert_eq!(legal(revision, Sender::Client, &method), by_client, "{revision} client {name}");
    assert_eq!(legal(revision, Sender::Server, &method), by_server, "{revision} server {name}");
    assert_eq!(embeddable(revision, &method), unions.input.contains(&*name), "{revision} inside {name}");
    assert_eq!(channel(revision, Sender::Client, &method).is_some(), by_client, "{revision} {name}");
    assert_eq!(channel(revision, Sender::Server, &method).is_some(), by_server, "{revision} {name}");
    if name.len() < 500 && method != Method::Initialize {
        a_server_takes(revision, &method, by_client);
        a_client_takes(revision, &method, by_server);
    }
}

/// What this is answered by, if it is.
fn answered(said: &[u8], id: u64) -> Option<Value> {
    let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut lines = lines.map(|line| serde_json::from_slice::<Value>(line).expect("a message"));
    lines.find(|line| line["id"] == id && line.get("method").is_none())
}

fn say(machine: &mut impl Machine, message: &Value, now: Instant) {
    let line = format!("{message}\n");
    let mut rest = line.as_bytes();
    while !rest.is_empty() && machine.wants_read() {
        let taken = machine.handle_input(rest, now);
        rest = &rest[taken..];
    }
}

fn written(machine: &mut impl Machine, now: Instant) -> Vec<u8> {
    let out = machine.transmit().to_vec();
    machine.handle_written(out.len(), now);
    out
}

fn a_server_takes(revision: Revision, method: &Method, legal: bool) {
    let mut linked = Linked::new(client_config(revision), catalog());
    let mut params = json!({});
    if revision.era() == Era::Modern {
        params["_meta"] = meta();
    }
    let mut message = json!({"jsonrpc": "2.0", "method": method.as_str(), "params": params});
    if !method.is_notification() {
        message["id"] = json!(900);
    }
    linked.server_events.clear();
    say(&mut linked.server, &message, linked.now);
    let said = written(&mut linked.server, linked.now);
    let mut reported = false;
    while let Some(event) = linked.server.poll_event() {
        reported |= matches!(event, Event::Request { .. });
        let passed = matches!(event, Event::Notification { .. });
        assert!(!passed || legal || matches!(method, Method::Other(_)), "{revision} {method} was passed on");
    }
    if method.is_notification() {
        assert!(said.is_empty(), "{revision} {method} was answered");
        return;
    }
    let answer = answered(&said, 900);
    let code = answer.as_ref().and_then(|answer| answer["error"]["code"].as_i64());
    let known = !matches!(method, Method::Other(_));
    assert!(
        reported != answer.is_some() || *method == Method::SubscriptionsListen,
        "{revision} {method} {answer:?}"
    );
    if known && !legal {
        assert!(!reported, "{revision} {method} was reported");
        assert_eq!(code, Some(-32601), "{revision} {method}");
    }
    // Tasks are left out altogether.
    if legal && !method.as_str().starts_with("tasks/") {
        assert_ne!(code, Some(-32601), "{revision} {method}");
    }
}

fn a_client_takes(revision: Revision, method: &Method, legal: bool) {
    let mut linked = Linked::new(client_config(revision), catalog());
    let mut message = json!({"jsonrpc": "2.0", "method": method.as_str(), "params": {"messages": [], "maxTokens": 1,
        "message": "m", "requestedSchema": {"type": "object", "properties": {}}}});
    if !method.is_notification() {
        message["id"] = json!(900);
    }
    say(&mut linked.client, &message, linked.now);
    let asked = written(&mut linked.client, linked.now);
    let (mut passed, mut taken) = (false, false);
    while let Some(event) = linked.client.poll_event() {
        passed |= matches!(event, Told::Notification { .. });
        taken |= matches!(event, Told::PeerRequest { .. });
    }
    if method.is_notification() {
        assert!(asked.is_empty(), "{revision} {method} was answered");
        assert!(!passed || legal || matches!(method, Method::Other(_)), "{revision} {method} was passed on");
        return;
    }
    let answer = answered(&asked, 900);
    assert!(!taken || (legal && answer.is_none()), "{revision} {method} was passed on");
    if revision.era() == Era::Modern {
        assert!(answer.is_none() && !taken, "a modern server asks nothing: {method}");
        return;
    }
    let code = answer.as_ref().and_then(|answer| answer["error"]["code"].as_i64());
    let tasks = method.as_str().starts_with("tasks/");
    assert_eq!(code == Some(-32601), !legal || tasks, "{revision} {method}: {answer:?}");
}
