//! A server that a client started: what a check of a client is written in.

mod end;
mod launch;
mod message;
mod ordinary;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use sanswire::jsonrpc::{Kind, RawJson};
use sanswire::mcp::Revision;

use crate::client_plan::ClientPlan;
use crate::finding::Finding;
use crate::process::{Heard, Process};
use crate::relay::{COMPLAINT, EXIT, End, OUTPUT, OUTPUT_END, write_frame};
use crate::transcript::{From, Transcript};
use crate::usual::Usual;
use launch::{Door, Event, Told};

pub(crate) use end::Ending;
pub(crate) use message::{Line, Message};
pub(crate) use ordinary::{CAPABILITIES, TOOL, opening, quoted};

/// Nobody's messages are deeper.
const DEPTH: u16 = 512;
/// How often it is looked whether the client is still there.
const LOOK: Duration = Duration::from_millis(10);
/// How long the last words of a client may be on their way.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The longest that an answer of the client's may take.
const MOST_ANSWER: Duration = Duration::from_secs(4);

/// A piece of what is said, and how long nothing more is said behind it.
pub(crate) type Piece = (Vec<u8>, Duration);

/// What a server does when its input ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    Exit,
    ExitAfter(Duration),
    /// It stays until it is told to leave by a signal.
    ExitOnSignal,
    /// It stays whatever it is told.
    Stay,
}

/// A start of the server.
#[derive(Debug)]
pub(crate) struct Launch {
    relay: End,
    pub(crate) input_ended: Option<Instant>,
    pub(crate) signals: Vec<(u8, Instant)>,
    pub(crate) gone: Option<Instant>,
    /// It was told to exit.
    pub(crate) dismissed: bool,
    exit_at: Option<Instant>,
}

/// One run of the client, and the server that it started, in one revision.
#[derive(Debug)]
pub struct Stage {
    client: Option<Process>,
    door: Door,
    transcript: Transcript,
    revision: Revision,
    usual: Option<Usual>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) lines: Vec<Line>,
    pub(crate) messages: Vec<Message>,
    /// What was said and not yet looked at.
    queue: VecDeque<Message>,
    pub(crate) started: Instant,
    patience: Duration,
    answer_time: Duration,
    pub(crate) at_end: AtEnd,
    /// How a line is written.
    write: Option<fn(&str) -> Vec<Piece>>,
    exit: Option<(std::process::ExitStatus, Instant)>,
    not_tried: Option<String>,
    stopped: bool,
}

impl Stage {
    /// Starts the client.
    pub(crate) fn start(
        plan: &ClientPlan,
        revision: Revision,
        usual: Option<Usual>,
    ) -> std::io::Result<Self> {
        let door = Door::new()?;
        let command = plan.command_for(&door.address(), door.folder())?;
        let mut client = Process::start(&command)?;
        client.end_input();
        let patience = usual.as_ref().map_or(plan.start, |usual| usual.took * 4 + plan.patience);
        Ok(Self {
            client: Some(client),
            door,
            transcript: Transcript::new(),
            revision,
            usual,
            launches: Vec::new(),
            lines: Vec::new(),
            messages: Vec::new(),
            queue: VecDeque::new(),
            started: Instant::now(),
            patience,
            answer_time: plan.patience.min(MOST_ANSWER),
            at_end: AtEnd::Exit,
            write: None,
            exit: None,
            not_tried: None,
            stopped: false,
        })
    }

    /// Plays the server until the client has exited, or its time is over. `take` gets each message first, and says whether
    /// it has dealt with it.
    pub(crate) fn play(&mut self, mut take: impl FnMut(&mut Self, &Message) -> bool) -> Ending {
        let until = self.started + self.patience;
        self.stopped = false;
        while let Some(message) = self.next(until) {
            if !take(self, &message) {
                self.answer(&message);
            }
            if self.stopped {
                break;
            }
        }
        let exit = self.exit;
        // What it leaves behind has its time to end as well.
        let until = Instant::now() + LAST_WORDS;
        while exit.is_some() && self.launches.iter().any(|it| it.gone.is_none()) && self.pump(until) {}
        Ending { exit: exit.map(|(status, _)| status), patience: self.patience }
    }

    /// The next message, if one comes by then and while the client is there.
    pub(crate) fn next(&mut self, until: Instant) -> Option<Message> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            if self.exit.is_some() {
                let until = Instant::now() + LAST_WORDS;
                while self.is_speaking() && self.queue.is_empty() && self.pump(until) {}
                return self.queue.pop_front();
            }
            if !self.pump(until) {
                return None;
            }
        }
    }

    /// The play ends behind this message: all is known.
    pub(crate) const fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether there is a start that may still have said something.
    fn is_speaking(&self) -> bool {
        self.launches.iter().any(|it| it.input_ended.is_none() && it.gone.is_none())
    }

    /// What comes within this time is kept for later.
    pub(crate) fn pause(&mut self, within: Duration) {
        let until = Instant::now() + within;
        while self.pump(until) {}
    }

    /// The answer to a request of ours, if it comes in time. What else comes meanwhile is kept for later.
    pub(crate) fn answer_of(&mut self, launch: usize, id: &str) -> Option<Message> {
        let until = Instant::now() + self.answer_time;
        let is = |it: &Message| it.is_answer() && it.launch == launch && it.id() == id;
        loop {
            if let Some(at) = self.queue.iter().position(is) {
                return self.queue.remove(at);
            }
            let gone =
                self.launches.get(launch).is_none_or(|it| it.gone.is_some() || it.input_ended.is_some());
            if gone || !self.pump(until) {
                return None;
            }
        }
    }

    /// Takes what happens next. False when time is over.
    fn pump(&mut self, until: Instant) -> bool {
        let now = Instant::now();
        self.listen_to_client();
        for launch in 0..self.launches.len() {
            if self.launches[launch].exit_at.is_some_and(|at| at <= now) {
                self.dismiss(launch, 0);
            }
        }
        let left = until.saturating_duration_since(now);
        match self.door.events.recv_timeout(left.min(LOOK)) {
            Ok(event) => self.hear(event),
            Err(_) => return !left.is_zero(),
        }
        true
    }

    fn hear(&mut self, event: Event) {
        let Event { launch, at, told } = event;
        match told {
            Told::Started(relay) => {
                self.transcript.push(From::Event, b"the server is started");
                // They come in order of their numbers, each before anything else of its own.
                self.launches.push(Launch {
                    relay,
                    input_ended: None,
                    signals: Vec::new(),
                    gone: None,
                    dismissed: false,
                    exit_at: None,
                });
            }
            Told::Line { bytes, ended } => self.hear_line(launch, bytes, ended),
            Told::InputEnd => {
                self.transcript.push(From::Event, b"the end of the server's input");
                self.launches[launch].input_ended = Some(at);
                match self.at_end {
                    AtEnd::Exit => self.dismiss(launch, 0),
                    AtEnd::ExitAfter(time) => self.launches[launch].exit_at = Some(at + time),
                    AtEnd::ExitOnSignal | AtEnd::Stay => {}
                }
            }
            Told::Signal(signal) => {
                self.transcript.push(From::Event, format!("the server gets signal {signal}").as_bytes());
                self.launches[launch].signals.push((signal, at));
                if self.at_end != AtEnd::Stay {
                    self.dismiss(launch, 0);
                }
            }
            Told::Gone => {
                self.transcript.push(From::Event, b"the server is no more");
                self.launches[launch].gone = Some(at);
            }
        }
    }

    fn hear_line(&mut self, launch: usize, bytes: Vec<u8>, ended: bool) {
        self.transcript.push(From::Client, &bytes);
        if let Ok(raw) = RawJson::from_slice(&bytes, DEPTH) {
            let view = raw.view();
            let all: Vec<_> = match view.kind() {
                Kind::Object => vec![raw.clone()],
                Kind::Array => view.elements().filter_map(|it| raw.slice_of(it)).collect(),
                Kind::Null | Kind::Bool | Kind::Number | Kind::String => Vec::new(),
            };
            for raw in all.into_iter().filter(|raw| raw.view().kind() == Kind::Object) {
                let message = Message::new(launch, raw);
                self.messages.push(message.clone());
                self.queue.push_back(message);
            }
        }
        self.lines.push(Line { bytes, ended });
    }

    /// Looks at what the client writes beside the conversation, and whether it has exited.
    fn listen_to_client(&mut self) {
        let Some(client) = &mut self.client else { return };
        while let Some(Heard::Line { bytes, .. }) = client.hear(Instant::now()) {
            self.transcript.push(From::Stdout, &bytes);
        }
        let said = client.complaints();
        for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.transcript.push(From::Stderr, line);
        }
        if self.exit.is_none()
            && let Some(status) = client.exit(Instant::now())
        {
            self.transcript.push(From::Event, format!("the client exits: {status}").as_bytes());
            self.exit = Some((status, Instant::now()));
        }
    }

    /// Says bytes, as they are.
    pub(crate) fn say(&mut self, launch: usize, bytes: &[u8]) {
        self.transcript.push(From::Check, bytes);
        if let Some(launch) = self.launches.get_mut(launch) {
            let _ = write_frame(&mut launch.relay, OUTPUT, bytes);
        }
    }

    /// Says a line, however this stage writes lines.
    pub(crate) fn say_line(&mut self, launch: usize, line: &str) {
        let Some(write) = self.write else { return self.say(launch, format!("{line}\n").as_bytes()) };
        for (bytes, pause) in write(line) {
            self.say(launch, &bytes);
            if !pause.is_zero() {
                self.pause(pause);
            }
        }
    }

    /// From here on lines are written so.
    pub(crate) fn write_as(&mut self, write: fn(&str) -> Vec<Piece>) {
        self.write = Some(write);
    }

    /// Writes to the server's standard error.
    pub(crate) fn complain(&mut self, launch: usize, text: &str) {
        self.transcript.push(From::Event, format!("{} bytes of standard error", text.len()).as_bytes());
        if let Some(launch) = self.launches.get_mut(launch) {
            let _ = write_frame(&mut launch.relay, COMPLAINT, text.as_bytes());
        }
    }

    /// Closes the server's output, and lets its process live.
    pub(crate) fn end_output(&mut self, launch: usize) {
        self.transcript.push(From::Event, b"the end of the server's output");
        if let Some(launch) = self.launches.get_mut(launch) {
            let _ = write_frame(&mut launch.relay, OUTPUT_END, &[]);
        }
    }

    /// Lets the server exit.
    pub(crate) fn dismiss(&mut self, launch: usize, status: u8) {
        let Some(launch) = self.launches.get_mut(launch) else { return };
        launch.exit_at = None;
        if !std::mem::replace(&mut launch.dismissed, true) {
            self.transcript.push(From::Event, format!("the server exits with {status}").as_bytes());
            let _ = write_frame(&mut launch.relay, EXIT, &[status]);
        }
    }

    /// Whether `initialize` was said on this start.
    pub(crate) fn is_opened(&self, launch: usize) -> bool {
        self.messages.iter().any(|it| it.launch == launch && it.is("initialize"))
    }

    /// From here on this is how the client usually does it.
    pub(crate) fn expect(&mut self, usual: Usual) {
        self.usual = Some(usual);
    }

    /// How the client does it with a server that is as it should be.
    pub(crate) const fn usual(&self) -> Option<&Usual> {
        self.usual.as_ref()
    }

    pub(crate) const fn revision(&self) -> Revision {
        self.revision
    }

    /// When the client exited.
    pub(crate) fn exited_at(&self) -> Option<Instant> {
        self.exit.map(|(_, at)| at)
    }

    /// There is nothing here that the check could try, and why: it is told as not tried, unless it finds something. The last
    /// word of a check.
    #[allow(clippy::unnecessary_wraps, reason = "what a check ends with")]
    pub(crate) fn not_tried(&mut self, why: impl Into<String>) -> Result<(), Finding> {
        self.not_tried = Some(why.into());
        Ok(())
    }

    /// Why the check that ran last had nothing to try.
    pub(crate) const fn take_not_tried(&mut self) -> Option<String> {
        self.not_tried.take()
    }

    pub(crate) fn transcript(&mut self) -> Transcript {
        self.listen_to_client();
        self.transcript.clone()
    }

    /// The client is let go: what it said stays.
    pub(crate) fn close(&mut self) {
        for launch in 0..self.launches.len() {
            self.dismiss(launch, 0);
        }
        self.client = None;
    }
}
