//! What a tap is told of an exchange: the message that was sent, and those that came.

use bytes::Bytes;
use sanswire::client::Config;
use sanswire::frame::{Frame, SseDecoder, SseItem};
use sanswire::http::{ResponseHead, Verb};
use sanswire_system::Direction;
use sanswire_system::clock::Clock;
use sanswire_system::tap::{MAX_LINE, News, TapQueue};

/// What of an answer was not told yet.
#[derive(Default)]
pub(super) enum Told {
    /// It holds no message.
    #[default]
    Nothing,
    /// One message, which is all of it.
    Whole(Vec<u8>),
    Stream(Box<SseDecoder>),
}

/// A message that leaves.
pub(super) fn sent(body: &[u8], tap: &TapQueue, clock: Clock) {
    if !body.is_empty() {
        tell(Direction::Sent, body, tap, clock);
    }
}

/// An answer begins.
pub(super) fn answered(request: Option<Verb>, head: &ResponseHead, tap: &TapQueue, clock: Clock) {
    let request = request.unwrap_or(Verb::Post);
    tap.push_news(clock.elapsed(), News::Answered(Box::new((request, head.clone()))));
}

/// Whether an answer is a stream of events.
pub(super) fn is_stream(head: &ResponseHead) -> bool {
    is_of_type(head, "text/event-stream")
}

fn is_of_type(head: &ResponseHead, wanted: &str) -> bool {
    let of_type = |value: &str| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(wanted)
    };
    head.fields.text("content-type").is_some_and(of_type)
}

impl Told {
    pub(super) fn of(head: &ResponseHead, config: &Config) -> Self {
        if is_stream(head) {
            Self::Stream(Box::new(SseDecoder::new(config.limits.max_message_bytes)))
        } else if is_of_type(head, "application/json") {
            Self::Whole(Vec::new())
        } else {
            Self::Nothing
        }
    }

    pub(super) fn feed(&mut self, piece: &Bytes, tap: &TapQueue, clock: Clock) {
        match self {
            Self::Nothing => {}
            Self::Whole(message) => {
                let room = MAX_LINE.saturating_sub(message.len());
                message.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
            }
            Self::Stream(events) => {
                events.feed(piece);
                while let Some(item) = events.poll() {
                    if let SseItem::Event { data: Frame::Message(message), .. } = item {
                        tell(Direction::Received, &message, tap, clock);
                    }
                }
            }
        }
    }

    pub(super) fn finish(&mut self, tap: &TapQueue, clock: Clock) {
        if let Self::Whole(message) = std::mem::take(self)
            && !message.is_empty()
        {
            tell(Direction::Received, &message, tap, clock);
        }
    }
}

/// Over HTTP a message may have several lines. They are joined: between two tokens a blank is as good as a line's end,
/// and within one there is none.
fn tell(direction: Direction, message: &[u8], tap: &TapQueue, clock: Clock) {
    let message = message.get(..message.len().min(MAX_LINE)).unwrap_or_default().trim_ascii();
    if message.contains(&b'\n') || message.contains(&b'\r') {
        let one_line = message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte });
        tap.push(direction, clock.elapsed(), &one_line.collect::<Vec<_>>());
    } else {
        tap.push(direction, clock.elapsed(), message);
    }
}
