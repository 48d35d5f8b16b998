//! What a tap is told of a client over HTTP: the messages that were sent, and those that came.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use sanswire::frame::{Frame, SseDecoder, SseItem};
use sanswire::http::pool::Observer;
use sanswire::http::{HttpHandle, RequestHead, ResponseHead, Verb};

use crate::clock::Clock;
use crate::options::Direction;
use crate::tap::{MAX_LINE, News, TapQueue};

/// Finds the messages in the exchanges of a client, and queues them for its tap.
#[derive(Debug)]
pub struct Exchanges {
    queue: Arc<TapQueue>,
    clock: Clock,
    max_message_bytes: usize,
    open: BTreeMap<HttpHandle, (Verb, Told)>,
}

/// What of an answer was not told yet.
#[derive(Debug, Default)]
enum Told {
    /// It holds no message.
    #[default]
    Nothing,
    /// One message, which is all of it.
    Whole(Vec<u8>),
    Stream(Box<SseDecoder>),
}

impl Exchanges {
    /// Those of one client, which takes no longer messages than these.
    #[must_use]
    pub const fn new(queue: Arc<TapQueue>, clock: Clock, max_message_bytes: usize) -> Self {
        Self { queue, clock, max_message_bytes, open: BTreeMap::new() }
    }

    /// Over HTTP a message may have several lines. They are joined: between two tokens a blank is as good as a line's end,
    /// and within one there is none.
    fn tell(&self, direction: Direction, message: &[u8]) {
        let message = message.get(..message.len().min(MAX_LINE)).unwrap_or_default().trim_ascii();
        if message.contains(&b'\n') || message.contains(&b'\r') {
            let one_line =
                message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
            self.queue.push(direction, self.clock.elapsed(), &one_line.collect::<Vec<_>>());
        } else {
            self.queue.push(direction, self.clock.elapsed(), message);
        }
    }
}

impl Observer for Exchanges {
    fn request(&mut self, exchange: HttpHandle, head: &RequestHead, body: &Bytes) {
        self.open.insert(exchange, (head.verb.clone(), Told::Nothing));
        if !body.is_empty() {
            self.tell(Direction::Sent, body);
        }
    }

    fn answer(&mut self, exchange: HttpHandle, head: &ResponseHead) {
        let Some((verb, told)) = self.open.get_mut(&exchange) else { return };
        *told = if head.is_of_type("text/event-stream") {
            Told::Stream(Box::new(SseDecoder::new(self.max_message_bytes)))
        } else if head.is_of_type("application/json") {
            Told::Whole(Vec::new())
        } else {
            Told::Nothing
        };
        let news = News::Answered(Box::new((verb.clone(), head.clone())));
        self.queue.push_news(self.clock.elapsed(), news);
    }

    fn piece(&mut self, exchange: HttpHandle, piece: &Bytes) {
        let Some((_, told)) = self.open.get_mut(&exchange) else { return };
        match told {
            Told::Nothing => {}
            Told::Whole(message) => {
                let room = MAX_LINE.saturating_sub(message.len());
                message.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
            }
            Told::Stream(events) => {
                events.feed(piece);
                let items: Vec<_> = std::iter::from_fn(|| events.poll()).collect();
                for item in items {
                    if let SseItem::Event { data: Frame::Message(message), .. } = item {
                        self.tell(Direction::Received, &message);
                    }
                }
            }
        }
    }

    fn end(&mut self, exchange: HttpHandle, whole: bool) {
        if let Some((_, Told::Whole(message))) = self.open.remove(&exchange)
            && whole
            && !message.is_empty()
        {
            self.tell(Direction::Received, &message);
        }
    }
}
