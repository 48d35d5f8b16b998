//! What is shown while something takes its time: on a terminal only, and only once it takes longer than a moment.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use sanswire::client::Progress;
use sanswire::host::{Event, Warning};
use sanswire_std::host::HostObserver;

use crate::output::escape;
use crate::signals;

/// What passes within this time is not worth a spinner.
const MOMENT: Duration = Duration::from_millis(300);
const TICK: Duration = Duration::from_millis(100);

/// What is shown at present, to be put aside while a question is asked.
static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);

#[derive(Clone)]
enum Shown {
    One(ProgressBar),
    Many(MultiProgress),
}

/// A wait in progress; dropping it takes everything off the screen.
pub(crate) struct Wait {
    bar: Option<ProgressBar>,
    over: Option<Sender<()>>,
    shower: Option<JoinHandle<()>>,
}

impl Wait {
    /// Begins to wait for `what`. Shows nothing where `show` is false, and inside of another wait.
    pub(crate) fn begin(show: bool, what: &str) -> Self {
        let mut slot = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !show || slot.is_some() {
            return Self { bar: None, over: None, shower: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {msg} {elapsed}"));
        bar.set_message(escape::line(what).into_owned());
        *slot = Some(Shown::One(bar.clone()));
        drop(slot);
        let (over, wait) = channel::<()>();
        let shown = bar.clone();
        let shower = std::thread::Builder::new().name("spinner".into()).spawn(move || {
            if wait.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar: Some(bar), over: Some(over), shower: shower.ok() }
    }

    /// The server says how far it is.
    pub(crate) fn progress(&self, progress: &Progress) {
        let Some(bar) = &self.bar else { return };
        if let Some(message) = &progress.message {
            let message: String = message.chars().take(60).collect();
            bar.set_message(escape::line(&message).into_owned());
        }
        match progress.total.filter(|total| *total > 0.0 && total.is_finite()) {
            Some(total) => {
                // In thousandths: what is reported need not be whole numbers.
                let done = (progress.progress / total).clamp(0.0, 1.0) * 1000.0;
                if bar.length().is_none() {
                    bar.set_style(style("{spinner} [{bar:30}] {percent}% {msg} {elapsed}"));
                    bar.set_length(1000);
                }
                bar.set_position(done as u64);
            }
            None => bar.set_style(style(&format!("{{spinner}} {} {{msg}} {{elapsed}}", progress.progress))),
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(shower) = self.shower.take() {
            let _ = shower.join();
        }
        if let Some(bar) = self.bar.take() {
            SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
            bar.finish_and_clear();
        }
    }
}

/// A line for each of several servers that start, until each was tried; dropping it takes everything off the screen.
pub(crate) struct Waits {
    bars: Option<MultiProgress>,
    lines: BTreeMap<String, ProgressBar>,
}

impl Waits {
    /// Begins to wait for these servers. Shows nothing where `show` is false, and inside of another wait.
    pub(crate) fn begin<'a>(show: bool, servers: impl Iterator<Item = &'a str>) -> Self {
        let mut slot = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !show || slot.is_some() {
            return Self { bars: None, lines: BTreeMap::new() };
        }
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        *slot = Some(Shown::Many(bars.clone()));
        drop(slot);
        let line = |server: &str| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(style("{spinner} {prefix} {msg} {elapsed}"));
            bar.set_prefix(escape::line(server).into_owned());
            bar.set_message("connecting");
            bar.enable_steady_tick(TICK);
            (server.to_owned(), bar)
        };
        let lines = servers.map(line).collect();
        Self { bars: Some(bars), lines }
    }

    /// Who changes the lines.
    pub(crate) fn observer(&self) -> impl HostObserver + 'static {
        Lines(self.lines.clone())
    }
}

struct Lines(BTreeMap<String, ProgressBar>);

impl HostObserver for Lines {
    fn event(&self, event: &Event) {
        let (server, mark, said) = match event {
            Event::Connected { server, tools, .. } => (server, "✓", format!("connected, {tools} tools")),
            Event::Warning(Warning::ServerFailed { server, error }) => {
                (server, "✗", format!("failed: {error}"))
            }
            _ => return,
        };
        let Some(line) = self.0.get(&**server) else { return };
        line.set_style(style(&format!("{mark} {{prefix}} {{wide_msg}}")));
        line.abandon_with_message(escape::line(&said).into_owned());
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        let Some(bars) = self.bars.take() else { return };
        SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.lines.values().for_each(ProgressBar::finish_and_clear);
        let _ = bars.clear();
    }
}

/// Does something on the terminal that nothing may be drawn over.
/// One after the other.
pub(crate) fn aside<T>(ask: impl FnOnce() -> T) -> T {
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    signals::asking(true);
    let said = match shown {
        Some(Shown::One(bar)) => bar.suspend(ask),
        Some(Shown::Many(bars)) => bars.suspend(ask),
        None => ask(),
    };
    signals::asking(false);
    said
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
