//! Clients that are recorded, and what they did done again.

use std::io::Write;
use std::sync::{Arc, Mutex};

use sanswire_smol::Client;
use sanswire_smol::recording::{Recording, Secrets, replay};
use sanswire_smol::sanswire::client::Outcome;
use sanswire_smol::sanswire::mcp::Method;

use crate::common::{Env, begin, child, no_options, raw, tool, trials};
use crate::http_script::{Answer, Peer, Request, legacy, modern, says};

trials! {
    each: what_a_client_did_is_the_same_again, a_client_over_http_is_the_same_again;
    once:
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn what_a_client_did_is_the_same_again(env: Env) {
    let kept = Kept::default();
    let recording = Recording::new(kept.clone(), Recording::MAX_BYTES).unwrap();
    let mut options = env.options();
    options.recorder = Some(recording.recorder("child", Secrets::new(["hunter2".to_owned()])));
    let client = Client::connect(&child(&[]), options).await.unwrap();
    assert_eq!(tool(&client, "echo", r#"{"text":"hunter2"}"#).await, "hunter2");
    client.list(Method::ToolsList, &no_options()).await.unwrap();
    assert_eq!(tool(&client, "big", r#"{"bytes":300000}"#).await.len(), 300_000);
    drop(begin(&client, "hold", "{}"));
    client.close().await;
    drop(client);
    let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    let replayed = replay(text.as_bytes()).unwrap();
    assert_eq!((replayed.connections, replayed.unfinished, replayed.difference), (1, 0, None));
    assert!(replayed.inputs > 5 && replayed.outputs > replayed.inputs);
    assert!(!text.contains("hunter2"));
}

fn says_what_is_asked(request: &Request, answer: &mut Answer<'_>) {
    match (&*request.verb, request.method()) {
        ("GET", _) => answer.status(405),
        (_, "tools/list") => {
            answer.result(r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#);
        }
        (_, "notifications/cancelled") => answer.status(202),
        _ if request.body.contains("hold") => answer.wait_for_the_end(),
        _ if request.body.contains("none") => answer.status(500),
        _ => {
            // An answer that comes in pieces, after a word before it.
            answer.stream();
            answer.event(
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}"#,
            );
            let said = answer.reply(&says("hunter2"));
            answer.last_event(&said);
        }
    }
}

async fn a_client_over_http_is_the_same_again(env: Env) {
    for of in [legacy as fn(fn(&Request, &mut Answer<'_>)) -> Peer, modern] {
        let peer = of(says_what_is_asked);
        let kept = Kept::default();
        let recording = Recording::new(kept.clone(), Recording::MAX_BYTES).unwrap();
        let mut options = env.options();
        options.recorder = Some(recording.recorder("web", Secrets::new(["hunter2".to_owned()])));
        let mut target = peer.target();
        target.target.add_field("Authorization", b"Bearer t0ken-of-mine").unwrap();
        let client = Client::connect_http(&target, options).await.unwrap();
        for _ in 0..5 {
            assert_eq!(tool(&client, "echo", r#"{"password":"open sesame"}"#).await, "hunter2");
        }
        client.list(Method::ToolsList, &no_options()).await.unwrap();
        let failed = client.call_tool("none", Some(&raw("{}")), &no_options()).await;
        assert!(!matches!(failed, Ok(Outcome::Complete(_))), "{failed:?}");
        drop(begin(&client, "hold", "{}"));
        client.close().await;
        drop(client);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let replayed = replay(text.as_bytes()).unwrap();
        assert_eq!((replayed.connections, replayed.unfinished, replayed.difference), (1, 0, None));
        assert!(replayed.inputs > 30 && replayed.outputs > replayed.inputs, "{}", replayed.inputs);
        for secret in ["hunter2", "t0ken-of-mine", "open sesame", "session-1"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}
