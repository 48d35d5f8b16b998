//! The client's parts, each alone. Whole conversations are in the `tests` crate.

mod encode;
mod era;
mod input;
mod listing;
mod notify;
mod outcome;
mod requests;
mod waiting;
