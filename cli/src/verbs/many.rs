//! The same with several servers at once. One that is dead or slow takes nothing from the others.

use std::sync::{Mutex, PoisonError};

use sanswire::jsonrpc::{JsonRef, ObjectWriter, RawJson};

use crate::context::Context;
use crate::failure::Failure;
use crate::json::object;
use crate::options::Reach;
use crate::output::{json_document, report};
use crate::server::Server;
use crate::session::Session;
use crate::target::select;
use crate::wait::Wait;

/// How many servers are started at the same time.
const AT_ONCE: usize = 8;

/// What came of each server, in order.
pub(super) struct Answers<T> {
    pub(super) of: Vec<(String, T)>,
    pub(super) failures: Vec<Failure>,
    /// Exactly one server was asked for.
    pub(super) single: bool,
}

/// Starts the servers that are meant and asks each.
pub(super) fn ask<T: Send>(
    context: &Context,
    names: &[String],
    reach: &Reach,
    work: impl Fn(&Session<'_>) -> Result<T, Failure> + Sync,
) -> Result<Answers<T>, Failure> {
    let (servers, single) = select(context, names, reach)?;
    let mut answers = Answers { of: Vec::new(), failures: Vec::new(), single };
    let one = |(name, server): (String, Result<Server, Failure>)| {
        let answer = server.and_then(|server| Session::open(context, &server)).and_then(|mut session| {
            let answer = work(&session);
            session.close();
            answer
        });
        (name, answer)
    };
    let many = servers.len() > 1;
    let _wait = Wait::begin(context.animated && many, &format!("asking {} servers", servers.len()));
    for (name, answer) in beside(servers, one) {
        match answer {
            Ok(answer) => answers.of.push((name, answer)),
            Err(failure) => answers.failures.push(failure.of(&name)),
        }
    }
    Ok(answers)
}

/// Does the same with everything, a few at a time; the results stand in the order of the things.
pub(super) fn beside<A: Send, B: Send>(things: Vec<A>, work: impl Fn(A) -> B + Sync) -> Vec<B> {
    let mut done: Vec<Option<B>> = things.iter().map(|_| None).collect();
    let threads = things.len().min(AT_ONCE);
    let queue = Mutex::new(things.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        let worker = || std::iter::from_fn(next).map(|(n, thing)| (n, work(thing))).collect::<Vec<_>>();
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for (n, result) in workers.into_iter().filter_map(|worker| worker.join().ok()).flatten() {
            if let Some(place) = done.get_mut(n) {
                *place = Some(result);
            }
        }
    });
    done.into_iter().flatten().collect()
}

impl<T> Answers<T> {
    /// Reports the failures; gives the exit status.
    pub(super) fn finish(self, context: &Context) -> u8 {
        for failure in &self.failures {
            report(failure, context.common.json, context.common.quiet);
        }
        self.failures.first().map_or(0, |failure| failure.status)
    }

    /// Prints JSON: of the one server that was asked for, or by name.
    pub(super) fn print_json(&self, json: impl Fn(&T) -> RawJson) -> Result<(), Failure> {
        if self.single {
            return match self.of.first() {
                Some((_, answer)) => json_document(&json(answer)),
                None => Ok(()),
            };
        }
        json_document(&object(|w: &mut ObjectWriter<'_>| {
            for (name, answer) in &self.of {
                w.raw(name, json(answer).view());
            }
        }))
    }
}

/// The elements of all pages that are `shown`, as they were sent, under one name.
pub(super) fn merged(pages: &[RawJson], name: &str, shown: impl Fn(JsonRef<'_>) -> bool) -> RawJson {
    object(|w| {
        w.array(name, |w| {
            for page in pages {
                for item in page.view().get(name).into_iter().flat_map(JsonRef::elements) {
                    if shown(item) {
                        w.raw(item);
                    }
                }
            }
        });
    })
}
