//! Golden rule 5: whatever a peer and an application do, a connection holds no more bytes than its limits say. A
//! binary of its own, since it counts every allocation of the process; one scenario at a time.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test picks out what it looks for")]

mod amplified;
mod counting;
mod counts;
mod fleet;
mod floods;
mod full;
mod host;
mod http_client;
mod http_endpoint;
mod http_h1;
mod http_pool;
// What a system's own calls ask for differs.
#[cfg(target_os = "linux")]
mod runtimes;
mod served;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn main() {
    let scenarios: &[(&str, fn())] = &[
        ("a_line_without_an_end", floods::a_line_without_an_end),
        ("lines_as_long_as_allowed", floods::lines_as_long_as_allowed),
        ("small_notifications_that_nobody_takes", floods::small_notifications_that_nobody_takes),
        ("the_smallest_lines_that_tell_something", floods::the_smallest_lines_that_tell_something),
        ("requests_that_nobody_reads", floods::requests_that_nobody_reads),
        ("big_requests_that_nobody_answers", floods::big_requests_that_nobody_answers),
        ("small_requests_that_nobody_answers", floods::small_requests_that_nobody_answers),
        ("pings_to_an_application_that_cannot_write", floods::pings_to_an_application_that_cannot_write),
        ("requests_of_the_servers_with_long_ids", floods::requests_of_the_servers_with_long_ids),
        ("requests_with_long_names", floods::requests_with_long_names),
        ("requests_of_methods_with_long_names", floods::requests_of_methods_with_long_names),
        ("batches_as_long_as_allowed", floods::batches_as_long_as_allowed),
        ("progress_texts_that_are_cut_short", amplified::progress_texts_that_are_cut_short),
        ("messages_that_fill_half_of_their_buffer", amplified::messages_that_fill_half_of_their_buffer),
        (
            "served_messages_that_fill_half_of_their_buffer",
            amplified::served_messages_that_fill_half_of_their_buffer,
        ),
        ("errors_in_escapes", amplified::errors_in_escapes),
        ("names_in_escapes", amplified::names_in_escapes),
        ("introductions", amplified::introductions),
        ("refusals", amplified::refusals),
        ("many_questions_at_once", amplified::many_questions_at_once),
        ("every_part_at_once", full::every_part_at_once),
        ("random_runs", floods::random_runs),
        ("served_requests_that_nobody_answers", served::served_requests_that_nobody_answers),
        ("served_events_that_nobody_takes", served::served_events_that_nobody_takes),
        ("served_answers_that_nobody_reads", served::served_answers_that_nobody_reads),
        ("served_batches_as_long_as_allowed", served::served_batches_as_long_as_allowed),
        ("served_subscriptions", served::served_subscriptions),
        ("served_messages_of_many_small_texts", served::served_messages_of_many_small_texts),
        ("served_every_part_at_once", full::served_every_part_at_once),
        ("served_random_runs", served::served_random_runs),
        ("host_listings_as_long_as_allowed", host::host_listings_as_long_as_allowed),
        ("host_calls_with_all_that_they_may_hold", host::host_calls_with_all_that_they_may_hold),
        ("host_grants_as_long_as_allowed", host::host_grants_as_long_as_allowed),
        ("http_heads_as_long_as_allowed", http_h1::http_heads_as_long_as_allowed),
        ("http_heads_of_answers", http_h1::http_heads_of_answers),
        ("http_bodies_that_nobody_takes", http_h1::http_bodies_that_nobody_takes),
        ("http_bodies_of_other_things", http_h1::http_bodies_of_other_things),
        ("http_answers_that_nobody_reads", http_h1::http_answers_that_nobody_reads),
        ("http_random_runs", http_h1::http_random_runs),
        ("client_answers_that_never_end", http_client::client_answers_that_never_end),
        ("client_events_that_nobody_takes", http_client::client_events_that_nobody_takes),
        ("client_requests_that_nobody_answers", http_client::client_requests_that_nobody_answers),
        ("client_methods_with_long_names", http_client::client_methods_with_long_names),
        ("client_streams_that_break_off", http_client::client_streams_that_break_off),
        ("client_redirects", http_client::client_redirects),
        ("client_refusals_for_their_heads", http_client::client_refusals_for_their_heads),
        ("client_listings_of_many_branches", http_client::client_listings_of_many_branches),
        ("client_answers_whose_rest_never_comes", http_client::client_answers_whose_rest_never_comes),
        ("client_of_the_oldest_transport", http_client::client_of_the_oldest_transport),
        ("pool_requests_that_leave_slowly", http_pool::pool_requests_that_leave_slowly),
        ("pool_requests_that_wait", http_pool::pool_requests_that_wait),
        ("pool_calls_that_are_given_up", http_pool::pool_calls_that_are_given_up),
        ("pool_answers_that_never_end", http_pool::pool_answers_that_never_end),
        ("endpoint_bodies_as_long_as_allowed", http_endpoint::endpoint_bodies_as_long_as_allowed),
        ("endpoint_requests_that_nobody_answers", http_endpoint::endpoint_requests_that_nobody_answers),
        ("endpoint_events_that_nobody_takes", http_endpoint::endpoint_events_that_nobody_takes),
        ("endpoint_watched_resources", http_endpoint::endpoint_watched_resources),
        (
            "endpoint_sessions_that_keep_as_much_as_they_may",
            http_endpoint::endpoint_sessions_that_keep_as_much_as_they_may,
        ),
        ("endpoint_batches_as_long_as_allowed", http_endpoint::endpoint_batches_as_long_as_allowed),
        ("a_call_of_a_client", counts::a_call_of_a_client),
        ("a_call_of_a_server", counts::a_call_of_a_server),
        #[cfg(target_os = "linux")]
        ("a_call_of_a_client_on_threads", runtimes::a_call_of_a_client_on_threads),
        #[cfg(target_os = "linux")]
        ("a_call_of_a_server_on_threads", runtimes::a_call_of_a_server_on_threads),
        #[cfg(target_os = "linux")]
        ("a_call_of_an_async_client", runtimes::a_call_of_an_async_client),
        #[cfg(target_os = "linux")]
        ("a_call_of_an_async_server", runtimes::a_call_of_an_async_server),
        ("fleet_notifications_that_nobody_takes", fleet::fleet_notifications_that_nobody_takes),
        ("fleet_results_that_nobody_takes", fleet::fleet_results_that_nobody_takes),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, scenario) in scenarios.iter().copied() {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            scenario();
            report(name);
        }
    }
}

/// A line of the table: what was held at the most by the machine that came nearest to its bound.
#[expect(clippy::print_stderr, reason = "a test binary without a harness says itself what it did")]
fn report(name: &str) {
    let (most, limit) = counting::nearest();
    if limit == 0 {
        return eprintln!("{name:<48} ok");
    }
    let kib = |bytes: usize| bytes / counting::KIB;
    let part = most * 1000 / limit;
    eprintln!("{name:<48} {:>8} KiB of {:>8} KiB {:>3}.{} %", kib(most), kib(limit), part / 10, part % 10);
}
