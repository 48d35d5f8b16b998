//! A connection that is being made.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use sanswire_system::http::Attempt;
use sanswire_system::{DialFault, DialStep};

use crate::http::dial::Made;
use crate::http::wire::Ear;
use crate::signals::{self, bell};

type Making = Pin<Box<dyn Future<Output = Result<Made, DialFault>> + Send>>;

/// A connection that is being made. Dropped, it is not wanted any more.
pub(super) struct Dial {
    making: Making,
    attempt: Arc<Attempt>,
    ear: Arc<Ear>,
    bell: Waker,
}

impl Dial {
    pub(super) fn new(ear: Arc<Ear>, attempt: Arc<Attempt>, making: Making) -> Self {
        let bell = bell(&ear, signals::READ);
        Self { making, attempt, ear, bell }
    }

    /// Which step it is at.
    pub(super) fn step(&self) -> DialStep {
        self.attempt.step()
    }

    /// Whether it can go on.
    pub(super) fn rang(&self) -> bool {
        self.ear.take() != 0
    }

    pub(super) fn poll(&mut self) -> Poll<Result<Made, DialFault>> {
        self.making.as_mut().poll(&mut Context::from_waker(&self.bell))
    }

    /// What hears the connection from now on.
    pub(super) fn into_ear(self) -> Arc<Ear> {
        self.ear
    }
}
