//! What it costs to read and write messages, beside serde_json.
//!
//! `decode_bench time` prints MB/s of every parser on every message; `decode_bench one PARSER MESSAGE N` runs one
//! of them N times, to be counted by callgrind; `decode_bench list` names them all.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for a terminal")]

use bytes::Bytes;
use sanswire::frame::{Frame, LineDecoder};
use sanswire::jsonrpc::{self, ArrayWriter, Message, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

/// The members of an envelope as serde's derive reads them, borrowed and raw.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only the reading counts")]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: &'a str,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ResultText {
    result: Content,
}
#[derive(Deserialize)]
struct Content {
    content: Vec<Block>,
}
#[derive(Deserialize)]
struct Block {
    text: String,
}

const MESSAGES: &[&str] =
    &["request", "result-1K", "tools-64K", "text-1M", "text-16M", "prose-1M", "base64-1M", "cjk-1M"];
const DECODERS: &[&str] =
    &["envelope", "line", "text", "serde-envelope", "serde-text", "serde-value", "utf8"];
const ENCODERS: &[&str] = &["write", "serde-write"];

/// Text of about `len` bytes.
fn text(kind: &str, len: usize) -> String {
    let line = match kind {
        // A line break every 64 bytes, as source code and logs have them.
        "code" => "let answer = ask(&mut session, 42, Duration::from_millis(250))?;\n",
        "prose" => {
            "It was said of the old harbour that \"nobody ever left it twice\", and those who tried found the \
             tide against them; the boats lay still, the gulls did not, and what the sea had taken in the \
             autumn it brought back, piece by piece, in the spring of the following year.\n"
        }
        "base64" => "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz",
        _ => "語言模型透過工具取得資料，並在回答之前確認每一項內容都是正確的。",
    };
    let mut out = String::with_capacity(len + line.len());
    while out.len() < len {
        out.push_str(line);
    }
    let mut end = len;
    while !out.is_char_boundary(end) {
        end -= 1;
    }
    out.truncate(end);
    out
}

fn result_of(text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(
        r#"{{"jsonrpc":"2.0","id":17,"result":{{"content":[{{"type":"text","text":{text}}}],"isError":false}}}}"#
    )
}

fn listing() -> String {
    let mut tools = String::new();
    for i in 0..110 {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(
            tools,
            r#"{comma}{{"name":"search_notes_{i}","title":"Search in notes {i}","description":"Looks for words in the notes of a notebook and gives back the lines that hold them, newest first, with a few lines around each. Cheap; call it before opening whole notes.","inputSchema":{{"type":"object","properties":{{"words":{{"type":"string","description":"What to look for"}},"notebook":{{"type":"string","description":"Which notebook","default":"all"}},"limit":{{"type":"integer","minimum":1,"maximum":500}}}},"required":["words"],"additionalProperties":false}},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}}"#
        );
    }
    format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{tools}]}}}}"#)
}

fn message(name: &str) -> Option<String> {
    Some(match name {
        "request" => r#"{"jsonrpc":"2.0","id":1234,"method":"tools/call","params":{"name":"echo","arguments":{"text":"what a small call looks like","loud":false,"n":3}}}"#.into(),
        "result-1K" => result_of(&text("code", 900)),
        "tools-64K" => listing(),
        "text-1M" => result_of(&text("code", 1 << 20)),
        "text-16M" => result_of(&text("code", 16 << 20)),
        "prose-1M" => result_of(&text("prose", 1 << 20)),
        "base64-1M" => result_of(&text("base64", 1 << 20)),
        "cjk-1M" => result_of(&text("cjk", 1 << 20)),
        _ => return None,
    })
}

/// One way to read or to write, made ready once and run many times.
enum Job {
    Read(Bytes),
    Lines(Vec<u8>, LineDecoder),
    Text(Bytes),
    SerdeEnvelope(Bytes),
    SerdeText(Bytes),
    SerdeValue(Bytes),
    Utf8(Bytes),
    Write(Message, String, Vec<u8>),
    SerdeWrite(serde_json::Value, Vec<u8>),
}

impl Job {
    fn new(parser: &str, message: &str) -> Option<Self> {
        let frame: Bytes = message.to_owned().into();
        // Shared once, so that taking another view costs no allocation.
        let _shared = frame.clone();
        Some(match parser {
            "envelope" => Self::Read(frame),
            "line" => {
                let mut line = message.as_bytes().to_vec();
                line.push(b'\n');
                Self::Lines(line, LineDecoder::new(64 << 20))
            }
            "text" => Self::Text(frame),
            "serde-envelope" => Self::SerdeEnvelope(frame),
            "serde-text" => Self::SerdeText(frame),
            "serde-value" => Self::SerdeValue(frame),
            "utf8" => Self::Utf8(frame),
            "write" => {
                let parsed = jsonrpc::parse(frame, 128).ok()?;
                let text = match &parsed {
                    Message::Result { result, .. } => first_text(result.view()).unwrap_or_default(),
                    Message::Request { .. } | Message::Notification { .. } | Message::Error { .. } => {
                        String::new()
                    }
                };
                Self::Write(parsed, text, Vec::new())
            }
            "serde-write" => Self::SerdeWrite(serde_json::from_str(message).ok()?, Vec::new()),
            _ => return None,
        })
    }

    fn run(&mut self) {
        match self {
            Self::Read(frame) => {
                black_box(jsonrpc::parse(black_box(frame.clone()), 128).is_ok());
            }
            Self::Lines(line, decoder) => {
                let mut rest: &[u8] = line;
                while !rest.is_empty() {
                    let buffer = decoder.read_buffer();
                    let room = (buffer.capacity() - buffer.len()).min(rest.len());
                    let (now, later) = rest.split_at(room);
                    buffer.extend_from_slice(now);
                    rest = later;
                    decoder.handle_read();
                    while let Some(frame) = decoder.poll_frame() {
                        if let Frame::Message(frame) = frame {
                            match jsonrpc::parse(frame, 128) {
                                Ok(Message::Result { result, .. }) => decoder.recycle(result.into_frame()),
                                other => drop(black_box(other)),
                            }
                        }
                    }
                }
            }
            Self::Text(frame) => {
                if let Ok(Message::Result { result, .. }) = jsonrpc::parse(black_box(frame.clone()), 128) {
                    black_box(first_text(result.view()));
                }
            }
            Self::SerdeEnvelope(frame) => {
                black_box(serde_json::from_slice::<Envelope<'_>>(black_box(frame)).is_ok());
            }
            Self::SerdeText(frame) => {
                if let Ok(read) = serde_json::from_slice::<ResultText>(black_box(frame)) {
                    black_box(read.result.content.first().map(|block| block.text.len()));
                }
            }
            Self::SerdeValue(frame) => {
                drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(frame))));
            }
            Self::Utf8(frame) => {
                black_box(std::str::from_utf8(black_box(frame)).is_ok());
            }
            Self::Write(message, text, out) => {
                out.clear();
                write_message(black_box(message), text, out);
                black_box(out.len());
            }
            Self::SerdeWrite(value, out) => {
                out.clear();
                let _ = serde_json::to_writer(&mut *out, black_box(value));
                black_box(out.len());
            }
        }
    }
}

fn first_text(result: jsonrpc::JsonRef<'_>) -> Option<String> {
    Some(result.get("content")?.elements().next()?.get("text")?.str()?.decode().into_owned())
}

/// A result with one text is written from that text, anything else from its raw payload.
fn write_message(message: &Message, text: &str, out: &mut Vec<u8>) {
    match message {
        Message::Request { id, method, params } => {
            jsonrpc::write_request(out, id, method.as_str(), |slot| {
                if let Some(params) = params {
                    slot.spliced(Some(params.view()), |meta| {
                        meta.u64("progressToken", 7);
                    });
                }
            });
        }
        Message::Result { id, .. } if !text.is_empty() => {
            let content = |list: &mut ArrayWriter<'_>| {
                list.object(|block| {
                    block.string("type", "text").string("text", text);
                });
            };
            jsonrpc::write_result(out, id, |result| {
                result.array("content", content).bool("isError", false);
            });
        }
        Message::Result { id, result } => jsonrpc::write_raw_result(out, id, result.view()),
        Message::Notification { .. } | Message::Error { .. } => {
            jsonrpc::write_error(out, Some(&RequestId::from(1i64)), -32603, "not measured", None);
        }
    }
    jsonrpc::finish_line(out);
}

fn measure(parser: &str, message: &str) -> f64 {
    let Some(mut job) = Job::new(parser, message) else { return 0.0 };
    let rounds = ((32 << 20) / message.len()).clamp(1, 100_000);
    (0..=rounds / 10).for_each(|_| job.run());
    let mut seconds: Vec<f64> = (0..5)
        .map(|_| {
            let begin = Instant::now();
            (0..rounds).for_each(|_| job.run());
            begin.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    (message.len() * rounds) as f64 / seconds[2] / 1e6
}

fn time(messages: &[(&str, String)]) {
    print!("| MB/s, median of 5 |");
    messages.iter().for_each(|(name, _)| print!(" {name} |"));
    println!("\n|{}", "---|".repeat(messages.len() + 1));
    for parser in DECODERS.iter().chain(ENCODERS) {
        print!("| {parser} |");
        for (_, message) in messages {
            print!(" {:.0} |", measure(parser, message));
        }
        println!();
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["time"] => {
            let messages: Vec<_> = MESSAGES.iter().filter_map(|name| Some((*name, message(name)?))).collect();
            time(&messages);
        }
        ["one", parser, name, rounds] => {
            let rounds: u64 = rounds.parse().unwrap_or(1);
            match message(name).and_then(|message| Some((message.len(), Job::new(parser, &message)?))) {
                Some((len, mut job)) => {
                    (0..rounds).for_each(|_| job.run());
                    println!("{parser} {name}: {rounds} x {len} bytes");
                }
                None => eprintln!("no such parser or message; see `list`"),
            }
        }
        ["list"] => {
            println!("parsers: {} {}", DECODERS.join(" "), ENCODERS.join(" "));
            println!("messages: {}", MESSAGES.join(" "));
        }
        _ => eprintln!("decode_bench time | one PARSER MESSAGE N | list"),
    }
}
