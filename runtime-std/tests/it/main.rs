//! Tests of the blocking client and the served half against real processes and sockets. The servers are this program
//! itself, started with `--child` (see `child`) and `--served` (see `served`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that unwraps fails, which is what it is for"
)]

mod asks;
mod besieged;
mod child;
mod closing;
mod closures;
mod common;
mod definitions;
mod ends;
mod errors;
mod flow;
mod governed;
mod halts;
mod host_calls;
mod host_common;
mod host_reconnect;
mod host_servers;
mod host_soak;
mod hosted;
mod hostile;
mod http_besieged;
mod http_both;
mod http_client;
mod http_descriptors;
mod http_dial;
mod http_hosts;
mod http_peer;
mod http_script;
mod http_seen;
mod http_serving;
mod http_stops;
#[cfg(feature = "tls")]
mod http_tls;
mod input;
mod listening;
mod parent;
mod peer;
mod processes;
mod recording;
mod served;
mod serving;
mod sharing;
mod soak;
mod sockets;
mod states;
mod stderr_log;
mod stopping;
#[cfg(feature = "tls")]
mod tls_front;
mod wrapped;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--child") => {
            child::serve(&arguments.collect::<Vec<_>>());
            ExitCode::SUCCESS
        }
        Some("--served") => served::serve(&arguments.collect::<Vec<_>>()),
        Some("--few-descriptors") => {
            http_descriptors::serve(&arguments.next().unwrap());
            ExitCode::SUCCESS
        }
        Some("--http-client") => {
            http_dial::run(&arguments.collect::<Vec<_>>());
            ExitCode::SUCCESS
        }
        Some("--parent") => {
            parent::run(&arguments.collect::<Vec<_>>());
            ExitCode::SUCCESS
        }
        _ => {
            let mut arguments = libtest_mimic::Arguments::from_args();
            // Most of them wait, few of them work.
            arguments.test_threads = arguments.test_threads.or(Some(4));
            let trials = [
                asks::trials(),
                besieged::trials(),
                closing::trials(),
                closures::trials(),
                definitions::trials(),
                ends::trials(),
                errors::trials(),
                flow::trials(),
                governed::trials(),
                halts::trials(),
                host_calls::trials(),
                host_reconnect::trials(),
                host_servers::trials(),
                host_soak::trials(),
                hostile::trials(),
                http_besieged::trials(),
                http_seen::trials(),
                http_descriptors::trials(),
                http_dial::trials(),
                http_serving::trials(),
                http_stops::trials(),
                http_both::trials(),
                http_client::trials(),
                #[cfg(feature = "tls")]
                http_tls::trials(),
                http_hosts::trials(),
                input::trials(),
                listening::trials(),
                processes::trials(),
                recording::trials(),
                serving::trials(),
                sharing::trials(),
                soak::trials(),
                sockets::trials(),
                states::trials(),
                stderr_log::trials(),
                stopping::trials(),
                wrapped::trials(),
            ];
            libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
        }
    }
}
