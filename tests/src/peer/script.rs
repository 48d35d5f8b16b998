//! A server that follows a script, step by step.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::Out;

/// Steps that a server goes through. A step that expects something waits for it; whatever else comes meanwhile
/// is recorded and left alone.
#[derive(Debug, Default)]
pub struct Script {
    steps: VecDeque<Step>,
    ids: Vec<(&'static str, Value)>,
}

#[derive(Debug)]
enum Step {
    Expect(&'static str, &'static str),
    Send(String),
    Raw(Vec<u8>),
    Wait(Duration),
    Close,
}

impl Script {
    /// An empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for a message of this method. `name` stands for its id from then on.
    #[must_use]
    pub fn expect(mut self, method: &'static str, name: &'static str) -> Self {
        self.steps.push_back(Step::Expect(method, name));
        self
    }

    /// Sends a line; `"$name"` in it becomes the id that was called so.
    #[must_use]
    pub fn send(mut self, line: &str) -> Self {
        self.steps.push_back(Step::Send(line.to_owned()));
        self
    }

    /// Sends these bytes and nothing with them.
    #[must_use]
    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push_back(Step::Raw(bytes.into()));
        self
    }

    /// Lets time pass.
    #[must_use]
    pub fn wait(mut self, time: Duration) -> Self {
        self.steps.push_back(Step::Wait(time));
        self
    }

    /// Ends the output.
    #[must_use]
    pub fn close(mut self) -> Self {
        self.steps.push_back(Step::Close);
        self
    }

    pub(super) fn message(&mut self, message: &Value, out: &mut Out<'_>) {
        if let Some(Step::Expect(method, name)) = self.steps.front()
            && message["method"] == *method
        {
            self.ids.push((name, message["id"].clone()));
            self.steps.pop_front();
            self.advance(out);
        }
    }

    /// Does everything up to the next step that waits for something.
    pub(super) fn advance(&mut self, out: &mut Out<'_>) {
        let mut later = Duration::ZERO;
        while let Some(step) = self.steps.pop_front() {
            match step {
                Step::Expect(..) => return self.steps.push_front(step),
                Step::Send(mut line) => {
                    for (name, id) in &self.ids {
                        line = line.replace(&format!("\"${name}\""), &id.to_string());
                    }
                    line.push('\n');
                    out.after(later).raw(line);
                }
                Step::Raw(bytes) => out.after(later).raw(bytes),
                Step::Wait(time) => later += time,
                Step::Close => out.after(later).close(),
            }
        }
    }
}
