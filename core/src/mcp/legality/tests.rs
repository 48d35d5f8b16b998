use alloc::vec::Vec;

use super::*;

/// The methods that the unions of one published schema name.
struct Schema {
    revision: Revision,
    client_requests: &'static [&'static str],
    client_notifications: &'static [&'static str],
    server_requests: &'static [&'static str],
    server_notifications: &'static [&'static str],
    input_requests: &'static [&'static str],
}

const SCHEMAS: &[Schema] = &[
    Schema {
        revision: Revision::V2024_11_05,
        client_requests: &[
            "initialize",
            "ping",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "logging/setLevel",
            "completion/complete",
        ],
        client_notifications: &[
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/progress",
            "notifications/roots/list_changed",
        ],
        server_requests: &["ping", "sampling/createMessage", "roots/list"],
        server_notifications: &[
            "notifications/cancelled",
            "notifications/progress",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/prompts/list_changed",
            "notifications/tools/list_changed",
            "notifications/message",
        ],
        input_requests: &[],
    },
    Schema {
        revision: Revision::V2025_03_26,
        client_requests: &[
            "initialize",
            "ping",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "logging/setLevel",
            "completion/complete",
        ],
        client_notifications: &[
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/progress",
            "notifications/roots/list_changed",
        ],
        server_requests: &["ping", "sampling/createMessage", "roots/list"],
        server_notifications: &[
            "notifications/cancelled",
            "notifications/progress",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/prompts/list_changed",
            "notifications/tools/list_changed",
            "notifications/message",
        ],
        input_requests: &[],
    },
    Schema {
        revision: Revision::V2025_06_18,
        client_requests: &[
            "initialize",
            "ping",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "logging/setLevel",
            "completion/complete",
        ],
        client_notifications: &[
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/progress",
            "notifications/roots/list_changed",
        ],
        server_requests: &["ping", "sampling/createMessage", "roots/list", "elicitation/create"],
        server_notifications: &[
            "notifications/cancelled",
            "notifications/progress",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/prompts/list_changed",
            "notifications/tools/list_changed",
            "notifications/message",
        ],
        input_requests: &[],
    },
    Schema {
        revision: Revision::V2025_11_25,
        client_requests: &[
            "initialize",
            "ping",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "tasks/get",
            "tasks/result",
            "tasks/cancel",
            "tasks/list",
            "logging/setLevel",
            "completion/complete",
        ],
        client_notifications: &[
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/progress",
            "notifications/tasks/status",
            "notifications/roots/list_changed",
        ],
        server_requests: &[
            "ping",
            "tasks/get",
            "tasks/result",
            "tasks/cancel",
            "tasks/list",
            "sampling/createMessage",
            "roots/list",
            "elicitation/create",
        ],
        server_notifications: &[
            "notifications/cancelled",
            "notifications/progress",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/prompts/list_changed",
            "notifications/tools/list_changed",
            "notifications/tasks/status",
            "notifications/message",
            "notifications/elicitation/complete",
        ],
        input_requests: &[],
    },
    Schema {
        revision: Revision::V2026_07_28,
        client_requests: &[
            "server/discover",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "subscriptions/listen",
            "prompts/list",
            "prompts/get",
            "tools/list",
            "tools/call",
            "completion/complete",
        ],
        client_notifications: &["notifications/cancelled"],
        server_requests: &[],
        server_notifications: &[
            "notifications/cancelled",
            "notifications/progress",
            "notifications/resources/list_changed",
            "notifications/subscriptions/acknowledged",
            "notifications/resources/updated",
            "notifications/prompts/list_changed",
            "notifications/tools/list_changed",
            "notifications/message",
        ],
        input_requests: &["sampling/createMessage", "roots/list", "elicitation/create"],
    },
];

/// Each cell of revision × sender × method is what the schema says. P-021, P-307.
#[test]
fn every_cell_agrees_with_the_schema() {
    let mut cells = 0;
    for schema in SCHEMAS {
        for method in Method::KNOWN {
            let name = method.as_str();
            let (client, server) = if method.is_notification() {
                (schema.client_notifications.contains(&name), schema.server_notifications.contains(&name))
            } else {
                (schema.client_requests.contains(&name), schema.server_requests.contains(&name))
            };
            let revision = schema.revision;
            assert_eq!(legal(revision, Sender::Client, method), client, "{revision} client {name}");
            assert_eq!(legal(revision, Sender::Server, method), server, "{revision} server {name}");
            let embedded = schema.input_requests.contains(&name);
            assert_eq!(embeddable(revision, method), embedded, "{revision} embedded {name}");
            cells += 3;
        }
    }
    assert_eq!(cells, Revision::ALL.len() * Method::KNOWN.len() * 3);
}

#[test]
fn every_method_of_a_schema_has_a_name_here() {
    for schema in SCHEMAS {
        let unions = [
            schema.client_requests,
            schema.client_notifications,
            schema.server_requests,
            schema.server_notifications,
            schema.input_requests,
        ];
        for name in unions.concat() {
            assert!(Method::KNOWN.contains(&Method::from_name(name)), "{}: {name}", schema.revision);
        }
    }
}

#[test]
fn every_known_method_is_legal_somewhere() {
    for method in Method::KNOWN {
        let somewhere = Revision::ALL.into_iter().any(|revision| {
            legal(revision, Sender::Client, method) || legal(revision, Sender::Server, method)
        });
        assert!(somewhere, "{method}");
    }
}

#[test]
fn p_021_a_modern_server_originates_no_request() {
    // P-021
    let requests = Method::KNOWN.iter().filter(|method| !method.is_notification());
    let legal_ones: Vec<_> =
        requests.filter(|method| legal(Revision::V2026_07_28, Sender::Server, method)).collect();
    assert!(legal_ones.is_empty(), "{legal_ones:?}");
}

#[test]
fn a_name_outside_the_table_is_not_legal() {
    let other = Method::from_name("com.example/do");
    for revision in Revision::ALL {
        for sender in [Sender::Client, Sender::Server] {
            assert!(!legal(revision, sender, &other));
            assert_eq!(channel(revision, sender, &other), None);
        }
        assert!(!embeddable(revision, &other));
    }
}

#[test]
fn a_channel_exists_exactly_where_a_message_is_legal() {
    for revision in Revision::ALL {
        for sender in [Sender::Client, Sender::Server] {
            for method in Method::KNOWN {
                let channel = channel(revision, sender, method);
                assert_eq!(
                    channel.is_some(),
                    legal(revision, sender, method),
                    "{revision} {sender:?} {method}"
                );
                if revision != Revision::V2026_07_28 {
                    assert!(channel.is_none_or(|channel| channel == Channel::Any), "{revision} {method}");
                }
            }
        }
    }
}

/// Progress and log messages do not travel on listen streams; changes do nowhere else.
#[test]
fn modern_notifications_are_bound_to_their_streams() {
    let modern = Revision::V2026_07_28;
    let table = [
        (Sender::Client, Method::Cancelled, Channel::SharedStream),
        (Sender::Server, Method::Cancelled, Channel::EndOfListen),
        (Sender::Server, Method::Progress, Channel::RequestStream),
        (Sender::Server, Method::LogMessage, Channel::RequestStream),
        (Sender::Server, Method::ToolsListChanged, Channel::ListenStream),
        (Sender::Server, Method::PromptsListChanged, Channel::ListenStream),
        (Sender::Server, Method::ResourcesListChanged, Channel::ListenStream),
        (Sender::Server, Method::ResourcesUpdated, Channel::ListenStream),
        (Sender::Server, Method::SubscriptionsAcknowledged, Channel::ListenStream),
    ];
    for (sender, method, expected) in &table {
        assert_eq!(channel(modern, *sender, method), Some(*expected), "{sender:?} {method}");
    }
    for method in Method::KNOWN.iter().filter(|method| !method.is_notification()) {
        let channel = channel(modern, Sender::Client, method);
        assert!(channel.is_none_or(|channel| channel == Channel::Any), "{method}");
    }
    let bound = Method::KNOWN
        .iter()
        .filter(|method| method.is_notification() && legal(modern, Sender::Server, method));
    assert_eq!(bound.count() + 1, table.len(), "every modern notification of a server is in the table above");
}
