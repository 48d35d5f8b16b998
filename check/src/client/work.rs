//! What clients do once they are opened, and what is done to them then.

use crate::finding::Finding;
use crate::stage::{Message, Stage};

/// Whether it is a request that a client makes once it is opened.
pub(super) fn is_work(message: &Message) -> bool {
    message.is_request() && !["initialize", "server/discover", "ping"].iter().any(|method| message.is(method))
}

/// Does something when the client asks for something the first time after the opening: `act` says whether it has answered.
/// After that the client has to go on as usual.
pub(super) fn at_work(
    stage: &mut Stage,
    mut act: impl FnMut(&mut Stage, &Message) -> Result<bool, Finding>,
) -> Result<(), Finding> {
    on_first(stage, is_work, "the client asks for nothing once it is opened", &mut act)
}

/// Does something at the first message that is so.
pub(super) fn on_first(
    stage: &mut Stage,
    is: impl Fn(&Message) -> bool,
    without: &str,
    mut act: impl FnMut(&mut Stage, &Message) -> Result<bool, Finding>,
) -> Result<(), Finding> {
    let mut done = None;
    let ending = stage.play(|stage, message| {
        if done.is_some() || !is(message) {
            return false;
        }
        let acted = act(stage, message);
        if acted.is_err() {
            stage.stop();
        }
        let answered = *acted.as_ref().unwrap_or(&true);
        done = Some(acted);
        answered
    });
    match done {
        Some(Err(finding)) => Err(finding),
        Some(Ok(_)) => stage.as_usual(ending),
        // It may be kept from it by what the stage does beside that.
        None => stage.as_usual(ending).and_then(|()| stage.not_tried(without)),
    }
}

/// The client goes on as usual, whatever this stage has changed.
pub(super) fn goes_on(stage: &mut Stage) -> Result<(), Finding> {
    let ending = stage.play(|_, _| false);
    stage.as_usual(ending)
}
