//! Servers over HTTP that meet what they should not, and everything at once.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use async_io::{Async, Timer};
use sanswire_smol::{HttpOptions, Server, Tool};

use crate::common::trials;
use crate::http_peer::{Wire, call, with};

trials! {
    each: ;
    once: what_has_come_counts_before_a_connection_gives_way
}

fn server() -> Server {
    Server::builder("besieged", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .build()
        .unwrap()
}

/// Connects at once: nothing else happens here meanwhile.
fn come(address: SocketAddr) -> Wire {
    Wire::of(Async::new(TcpStream::connect(address).unwrap()).unwrap())
}

async fn what_has_come_counts_before_a_connection_gives_way() {
    let server = server();
    server.set_max_connections(1);
    let mut options = HttpOptions::default();
    options.yields_after = Duration::from_millis(50);
    with(&server, options, async |address| {
        let mut wire = Wire::connect(address).await;
        // The longer one comes in several reads.
        for len in [1, 300_000] {
            wire.echoes(0).await;
            Timer::after(Duration::from_millis(100)).await;
            let text = "x".repeat(len);
            wire.send(&call(1, "echo", &format!(r#"{{"text":"{text}"}}"#))).await;
            let mut late = come(address);
            assert_eq!(wire.answer().await.said(), (1, text));
            assert_eq!(late.answer().await.status, 503);
        }
    })
    .await;
}
