//! Clients that are recorded, and what they did done again.

use std::io::Write;
use std::sync::{Arc, Mutex};

use sanswire_smol::Client;
use sanswire_smol::recording::{Recording, Secrets, replay};
use sanswire_smol::sanswire::mcp::Method;

use crate::common::{Env, begin, child, no_options, tool, trials};

trials! {
    each: what_a_client_did_is_the_same_again;
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
