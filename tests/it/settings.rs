//! The page of settings names every one, with the default that the code has.

use std::time::Duration;

use sanswire::client::ServerRequests;
use sanswire::host::catalog::{Exposure, ExposureMode, Naming};
use sanswire::host::link::ReconnectSettings;
use sanswire::host::policy::Policy;
use sanswire::host::results::{Marker, ResultCap};
use sanswire::host::{CallTimeouts, HostConfig, Instructions, Refresh, RefreshMode, Replay, ServerConfig};
use sanswire::limits::Limits;

const PAGE: &str = include_str!("../../docs/settings.md");

/// The last cells of the rows of a number.
fn defaults(number: &str) -> Vec<&'static str> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix('|')?.trim_end().strip_suffix('|'));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter(|cells| cells.first() == Some(&number)).map(|cells| *cells.last().unwrap()).collect()
}

#[test]
fn every_setting_stands_on_the_page() {
    for n in 1..=30 {
        let number = format!("C-{n:02}");
        assert!(!defaults(&number).is_empty(), "{number} is missing");
    }
}

#[test]
fn the_page_says_what_the_code_does() {
    let says = |number: &str, n: usize, text: &str| {
        let found = defaults(number);
        assert!(found[n].starts_with(text), "{number}: the page says {found:?}, the code {text:?}");
    };
    let grouped = |n: usize| {
        let digits = n.to_string();
        let mut text = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        text
    };
    let seconds = |time: Duration| format!("{} s", time.as_secs());
    let host = HostConfig::default();
    says("C-01", 0, &format!("{} bytes", grouped(Limits::default().max_message_bytes)));
    says("C-01", 1, &grouped(ResultCap::default().max_result_bytes));
    says("C-01", 2, &format!("`{}`", Marker::default().as_str()));
    says("C-02", 0, &format!("`{}`", ServerConfig::default().trust_annotations));
    says("C-02", 1, &format!("`{}`", Policy::default().never_trust_annotations));
    assert_eq!(Refresh::default().mode, RefreshMode::Staged);
    says("C-03", 0, &format!("`{}`", RefreshMode::default().as_str()));
    assert_eq!(Refresh::default().poll, None);
    says("C-03", 1, "never");
    says("C-04", 0, &format!("`{:?}`", Replay::default()));
    says("C-06", 0, &ReconnectSettings::default().max_attempts.to_string());
    assert!(ReconnectSettings::default().backoff.is_zero());
    says("C-06", 1, "none");
    says("C-07", 0, &format!("`{:?}`", ServerRequests::default()));
    assert!(!Instructions::default().expose);
    says("C-08", 0, "not shown");
    says("C-10", 0, &format!("`{}`", Naming::default().hash_ambiguous));
    says("C-14", 0, &format!("`{}`", host.policy.plan_mode_honours_grants));
    says("C-15", 0, &format!("`{}`", ExposureMode::default().as_str()));
    assert!(defaults("C-15")[0].contains(&grouped(Exposure::default().eager_bytes)));
    says("C-23", 1, &format!("`{}`", ServerConfig::default().enabled));
    says("C-26", 0, &seconds(ServerConfig::default().connect_timeout()));
    says("C-26", 1, &seconds(CallTimeouts::default().default));
    assert!(ServerConfig::default().sub_agents.is_empty());
    says("C-30", 0, "none");
}
