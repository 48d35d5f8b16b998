//! How a run of the client ended.

use std::process::ExitStatus;
use std::time::Duration;

use super::Stage;
use crate::finding::Finding;

/// How a run of the client ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// How it exited, if it did in time.
    pub(crate) exit: Option<ExitStatus>,
    /// What it was given.
    pub(crate) patience: Duration,
}

impl Ending {
    /// The client has exited by itself.
    pub(crate) fn in_time(self) -> Result<ExitStatus, Finding> {
        self.exit.ok_or_else(|| {
            let expected = format!("a client that exits within {:.0} s", self.patience.as_secs_f32());
            Finding::new(expected, "one that runs on")
        })
    }

    /// The client has exited, and says by its status that something went wrong.
    pub(crate) fn fails(self) -> Result<(), Finding> {
        let status = self.in_time()?;
        if status.success() { Err(Finding::new("an exit status other than 0", status)) } else { Ok(()) }
    }
}

impl Stage {
    /// The client has done all that it does with a server that is as it should be, and exited as it does then.
    pub(crate) fn as_usual(&self, ending: Ending) -> Result<(), Finding> {
        let Some(usual) = self.usual() else { return Ok(()) };
        let did = |method: &String| self.messages.iter().any(|it| it.is(method));
        if let Some(missing) = usual.methods.iter().find(|method| !did(method)) {
            let got = ending.exit.map_or_else(
                || format!("a client that runs on without, for {:.0} s", ending.patience.as_secs_f32()),
                |status| format!("a client that exits without: {status}"),
            );
            return Err(Finding::new(format!("a client that goes on, and says {missing}"), got));
        }
        let status = ending.in_time()?;
        if status == usual.status {
            return Ok(());
        }
        Err(Finding::new(format!("the exit of always, {}", usual.status), status))
    }
}
