//! A program that has tokio of its own and talks MCP over tokio's sockets: clients and servers on the core alone, one task a
//! connection, one task a call that is served.
//!
//! It takes no arguments and needs no network: both ends are here, on the loopback address. It fails if anything that it
//! shows does not hold.

mod client;
mod server;
mod wire;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use sanswire::client::Outcome;
use sanswire::error::CloseReason;
use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::call_result::CallToolResult;
use sanswire::server::{self as served, Catalog, Reply};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use client::Client;
use server::Handler;

type Failure = Box<dyn Error + Send + Sync>;

const CLIENTS: usize = 8;
const CALLS: usize = 50;
/// Whatever goes wrong, the program ends.
const PATIENCE: Duration = Duration::from_secs(60);

// Take real randomness where it matters that nobody can guess.
const SEED: [u8; 32] = [0; 32];

const TOOLS: [&str; 2] = [
    r#"{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}"#,
    r#"{"name":"hang","inputSchema":{"type":"object"}}"#,
];

/// What a call that hangs tells of itself.
#[derive(Default)]
struct Hung {
    begun: Notify,
    dropped: Notify,
}

struct Dropped(Arc<Hung>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    tokio::time::timeout(PATIENCE, run()).await?
}

async fn run() -> Result<(), Failure> {
    let mut catalog = Catalog::default();
    for tool in TOOLS {
        catalog.tool(&RawJson::parse_str(tool)?)?;
    }
    let (catalog, hung) = (Arc::new(catalog), Arc::new(Hung::default()));
    let handler: Handler = Arc::new({
        let hung = hung.clone();
        move |call| {
            let hung = hung.clone();
            Box::pin(async move {
                if call.name == "hang" {
                    let _dropped = Dropped(hung.clone());
                    hung.begun.notify_one();
                    std::future::pending::<()>().await;
                }
                let text = call.arguments.view().get("text").and_then(|text| text.str());
                text.map_or(Reply::tool_error("text must be a string"), |text| Reply::text(&text.decode()))
            })
        }
    });

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let listening = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        for _ in 0..CLIENTS {
            let (stream, _) = listener.accept().await?;
            let config = served::Config::new("tokio-server", "1");
            connections.spawn(server::serve(stream, config, catalog.clone(), handler.clone(), SEED));
        }
        let mut ends = Vec::new();
        while let Some(end) = connections.join_next().await {
            ends.push(end??);
        }
        Ok::<_, Failure>(ends)
    });

    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let stream = TcpStream::connect(address).await?;
        let config = sanswire::client::Config::new("tokio-client", "1");
        let (client, connection) = Client::spawn(stream, config, SEED)?;
        let hung = hung.clone();
        clients.spawn(async move {
            if number == 0 {
                give_up(&client, &hung).await?;
            }
            call_at_once(&client, number).await?;
            // The last clone: the connection ends.
            drop(client);
            Ok::<_, Failure>(connection.await?)
        });
    }
    while let Some(ended) = clients.join_next().await {
        check(ended?? == CloseReason::Local, "a connection did not end as its client wanted")?;
    }
    let ends = listening.await??;
    check(
        ends == vec![served::CloseReason::Eof; CLIENTS],
        "a served connection did not end with its client",
    )?;
    println!("{CLIENTS} connections, {CALLS} calls at once on each, one call given up and aborted");
    Ok(())
}

/// A task for each call, all over one connection.
async fn call_at_once(client: &Client, number: usize) -> Result<(), Failure> {
    let mut calls = JoinSet::new();
    for call in 0..CALLS {
        let client = client.clone();
        calls.spawn(async move {
            let text = format!("client {number}, call {call}");
            let arguments = RawJson::object(|w| {
                w.string("text", &text);
            });
            match client.call_tool("echo", Some(&arguments)).await? {
                Outcome::Complete(result) => {
                    check(CallToolResult::new(result).text() == text, "a call got another one's answer")
                }
                other => Err(other.to_string().into()),
            }
        });
    }
    while let Some(done) = calls.join_next().await {
        done??;
    }
    Ok(())
}

/// A call that is dropped on this side is dropped on the other.
async fn give_up(client: &Client, hung: &Hung) -> Result<(), Failure> {
    tokio::select! {
        outcome = client.call_tool("hang", None) => Err(outcome?.to_string().into()),
        () = hung.begun.notified() => Ok::<_, Failure>(()),
    }?;
    hung.dropped.notified().await;
    Ok(())
}

fn check(holds: bool, otherwise: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}
