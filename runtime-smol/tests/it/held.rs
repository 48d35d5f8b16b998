//! A server whose handlers hold something, for tests that look whether any of it is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures_lite::future::yield_now;
use sanswire_smol::{Schema, Server, Tool};

/// What is held, counted.
struct Held(Arc<AtomicUsize>);

impl Held {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Each handler that waits holds one of these until its end, and the server's tools keep the count.
pub(crate) fn server(held: &Arc<AtomicUsize>) -> Server {
    let (naps, asks, fails) = (Arc::clone(held), Arc::clone(held), Arc::clone(held));
    Server::builder("s", "1")
        .tool("echo", Tool::new("Gives back").string("text", "What"), |(), call| async move {
            call.argument::<String>("text")
        })
        .tool("nap", Tool::new("Takes its time, and tells"), move |(), call| {
            let held = Held::new(&naps);
            async move {
                yield_now().await;
                call.progress(1.0, None, None);
                Timer::after(Duration::from_millis(1)).await;
                drop(held);
                Ok("awake")
            }
        })
        .tool("ask", Tool::new("Asks"), move |(), call| {
            let held = Held::new(&asks);
            async move {
                let form = Schema::object().optional("said", Schema::string());
                let said = call.elicit("k", "what?", &form).await?;
                drop(held);
                Ok(format!("{said:?}"))
            }
        })
        .tool("fail", Tool::new("Breaks down"), move |(), _| {
            let held = Held::new(&fails);
            async move {
                yield_now().await;
                assert_eq!(held.0.load(Ordering::SeqCst), usize::MAX, "as it was asked to");
                Ok("")
            }
        })
        .config(|config| config.limits.drain = Duration::from_millis(50))
        .build()
        .unwrap()
}
