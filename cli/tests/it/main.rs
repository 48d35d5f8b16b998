//! The binary itself, run as its users run it, in homes of its own.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "in a test nothing may be missing")]

mod add;
mod add_asks;
mod approvals;
mod arguments;
mod check;
mod configuration;
mod demo;
mod doctor;
mod exit_codes;
mod fixture;
mod guide;
mod home;
mod http;
mod http_demo;
mod http_elsewhere;
mod http_refused;
mod http_secrets;
mod http_tls;
mod import;
mod ladder;
mod lists;
mod output;
mod plain_secrets;
mod policy;
mod pty;
mod readme;
mod record;
mod reports;
mod secrets;
mod servers;
mod signals;
mod strangers;
mod trust;
mod web;
mod web_words;
