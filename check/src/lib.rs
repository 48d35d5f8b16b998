//! What a server or a client of the Model Context Protocol does over standard input and output, against the specification,
//! rule by rule. A check plays the other end: it may say any bytes at any moment, and knows what has to come back.
//!
//! [`Check`]s are data: what one is about, where the specification says so, how much it weighs, in which revisions, and
//! what it does. [`run`] starts the program as often as they need, one process for many checks where one cannot spoil the
//! next, and gives a [`Report`]. Nothing is called that could change something: tools are called only where the
//! [`Plan`] names one, or lets those be called that say that they change nothing.
//!
//! ```no_run
//! use sanswire_check::{Command, Plan, run};
//!
//! let report = run(&Plan::new(Command::new("my-server")));
//! println!("{report}");
//! std::process::exit(i32::from(report.status()));
//! ```
//!
//! A client is checked by [`run_client`]: its command line gets a server to start, which is a [`relay`] to the check.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod check;
mod client;
mod client_plan;
mod facts;
mod finding;
mod plan;
mod process;
mod relay;
mod report;
mod run;
mod run_client;
mod schema;
mod server;
mod stage;
mod talk;
mod transcript;
mod usual;

pub use check::{Check, Company, Role, Script, Source, Speaks, Strength};
pub use client::all as clients;
pub use client_plan::ClientPlan;
pub use finding::Finding;
pub use plan::{Call, Plan};
pub use relay::relay;
pub use report::{Accepted, Baseline, BaselineError, Format, Found, Report, Result, Text, Unspoken, Verdict};
pub use run::run;
pub use run_client::run_client;
pub use sanswire_system::Command;
pub use server::all;
pub use stage::Stage;
pub use talk::Talk;
pub use transcript::{Entry, From, Transcript};
