//! Tests of the async client against real processes, sockets and streams, on several executors. The servers are this
//! program itself, started with `--child` or `--serve`, or threads of it (see `server`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that unwraps fails, which is what it is for"
)]

mod asks;
mod besieged;
mod calls;
mod child;
mod closing;
mod common;
mod executors;
mod governed;
mod held;
mod host_calls;
mod host_common;
mod host_http;
mod host_reconnect;
mod host_servers;
mod host_soak;
mod host_steps;
// The server is the same for hosts of all runtimes.
#[path = "../../../runtime-std/tests/it/hosted.rs"]
mod hosted;
mod http;
mod http_besieged;
mod http_descriptors;
mod http_dial;
mod http_hostile;
mod http_peer;
// The scripted server is the same for clients of all runtimes.
#[expect(dead_code, reason = "each runtime's tests use another part of it")]
#[path = "../../../runtime-std/tests/it/http_script.rs"]
mod http_script;
mod http_steps;
#[cfg(feature = "tls")]
mod http_tls;
#[cfg(feature = "tls")]
mod http_tls_hostile;
mod http_wakes;
mod leading;
mod listening;
mod parting;
mod places;
mod processes;
mod recording;
mod serve_http;
mod serve_http_ends;
mod serve_http_refusals;
mod serve_http_steps;
mod server;
mod server_steps;
mod serving;
mod stdio;
mod steps;
// The servers under TLS are the same for clients of all runtimes.
#[cfg(feature = "tls")]
#[path = "../../../runtime-std/tests/it/tls_front.rs"]
mod tls_front;
mod wakers;
mod watching;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--child") => {
            server::serve_stdio(&arguments.collect::<Vec<_>>());
            ExitCode::SUCCESS
        }
        Some("--serve") => {
            stdio::serve(&arguments.collect::<Vec<_>>());
            ExitCode::SUCCESS
        }
        Some("--few-descriptors") => {
            listening::serve_with_few_descriptors(&arguments.next().unwrap());
            ExitCode::SUCCESS
        }
        Some("--few-descriptors-http") => {
            http_descriptors::serve(&arguments.next().unwrap());
            ExitCode::SUCCESS
        }
        Some("--parent") => {
            processes::hang();
            ExitCode::SUCCESS
        }
        _ => {
            let mut arguments = libtest_mimic::Arguments::from_args();
            // Most of them wait, few of them work.
            arguments.test_threads = arguments.test_threads.or(Some(4));
            let trials = [
                asks::trials(),
                besieged::trials(),
                calls::trials(),
                closing::trials(),
                host_calls::trials(),
                host_http::trials(),
                host_reconnect::trials(),
                host_servers::trials(),
                host_soak::trials(),
                host_steps::trials(),
                executors::trials(),
                governed::trials(),
                http::trials(),
                http_besieged::trials(),
                http_besieged::more_trials(),
                http_descriptors::trials(),
                http_dial::trials(),
                http_hostile::trials(),
                http_steps::trials(),
                #[cfg(feature = "tls")]
                http_tls::trials(),
                #[cfg(feature = "tls")]
                http_tls_hostile::trials(),
                http_wakes::trials(),
                leading::trials(),
                listening::trials(),
                parting::trials(),
                places::trials(),
                processes::trials(),
                recording::trials(),
                server_steps::trials(),
                serve_http::trials(),
                serve_http_ends::trials(),
                serve_http_refusals::trials(),
                serve_http_steps::trials(),
                serving::trials(),
                steps::trials(),
                stdio::trials(),
                wakers::trials(),
                watching::trials(),
            ];
            libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
        }
    }
}
