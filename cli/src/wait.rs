//! What is shown while something takes its time: on a terminal only, and only once it takes longer than a moment.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sanswire::client::Progress;

use crate::output::escape;

/// What passes within this time is not worth a spinner.
const MOMENT: Duration = Duration::from_millis(300);
const TICK: Duration = Duration::from_millis(100);

/// The one that is shown at present, to be put aside while a question is asked.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

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
        *slot = Some(bar.clone());
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

/// Does something on the terminal that nothing may be drawn over.
/// One after the other.
pub(crate) fn aside<T>(ask: impl FnOnce() -> T) -> T {
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(ask),
        None => ask(),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
