//! Servers behind https: a real one, with TLS in front of it that is made of the same library.

use std::net::SocketAddr;

use sanswire_std::sanswire::client::Outcome;
use sanswire_std::{CertificateFault, Client, DialFault, HttpTarget, TlsFault};

use crate::common::{options, outcome, trials};
use crate::http_dial::{echoes, target, unreachable};
use crate::http_peer::Site;
use crate::tls_front::{before, pem, without_length};

trials!(
    a_call_under_tls,
    big_messages_under_tls,
    certificates_that_are_not_accepted,
    a_server_that_wants_to_see_a_certificate,
    an_answer_that_is_cut_short_is_none,
);

fn trusting(address: SocketAddr) -> HttpTarget {
    let mut target = target(&format!("https://localhost:{}/mcp", address.port()));
    target.ca_file = Some(pem("ca.pem"));
    target
}

fn a_call_under_tls() {
    let site = Site::start(&[]);
    let address = before(site.address, "server.pem", false);
    for host in ["localhost", "127.0.0.1"] {
        let mut target = target(&format!("https://{host}:{}/mcp", address.port()));
        target.ca_file = Some(pem("ca.pem"));
        let client = Client::connect_http(&target, options()).unwrap();
        for _ in 0..20 {
            echoes(&client);
        }
        client.close();
    }
    site.stop();
}

fn big_messages_under_tls() {
    let site = Site::start(&[]);
    let client =
        Client::connect_http(&trusting(before(site.address, "server.pem", false)), options()).unwrap();
    let text = "x".repeat(2_000_000);
    for _ in 0..2 {
        let outcome = outcome(&client, "echo", &format!(r#"{{"text":"{text}"}}"#));
        let Outcome::Complete(result) = outcome else { panic!("{outcome:?}") };
        assert!(result.as_str().contains(&text));
    }
    client.close();
    site.stop();
}

fn certificates_that_are_not_accepted() {
    let site = Site::start(&[]);
    for (certificate, expected, word) in [
        ("expired.pem", CertificateFault::Expired, "its certificate has expired"),
        ("self.pem", CertificateFault::UnknownIssuer, "ca_file"),
    ] {
        let (fault, text) = unreachable(&trusting(before(site.address, certificate, false)));
        let DialFault::Tls(TlsFault::Certificate(fault)) = fault else { panic!("{fault:?}") };
        assert_eq!(fault, expected);
        assert!(text.contains(word), "{text}");
    }
    // It speaks no TLS itself.
    let (fault, text) = unreachable(&target(&format!("https://{}/mcp", site.address)));
    assert!(matches!(fault, DialFault::Tls(TlsFault::NotTls)), "{fault:?}");
    assert!(text.contains("use an address with http"), "{text}");
    site.stop();
}

fn a_server_that_wants_to_see_a_certificate() {
    let site = Site::start(&[]);
    let mut target = trusting(before(site.address, "server.pem", true));
    // It says so after the negotiation.
    let (fault, text) = unreachable(&target);
    assert!(matches!(fault, DialFault::Tls(TlsFault::ClientCertificate { shown: false })), "{fault:?}");
    assert!(text.contains("name one, with its key"), "{text}");
    target.client_certificate = Some((pem("client.pem"), pem("client.key")));
    let client = Client::connect_http(&target, options()).unwrap();
    echoes(&client);
    client.close();
    site.stop();
}

fn an_answer_that_is_cut_short_is_none() {
    for says in [true, false] {
        let client = Client::connect_http(&trusting(without_length(says)), options()).unwrap();
        let outcome = outcome(&client, "any", "{}");
        assert_eq!(matches!(outcome, Outcome::Complete(_)), says, "{outcome:?}");
        assert_eq!(matches!(outcome, Outcome::Lost { maybe_ran: true }), !says, "{outcome:?}");
        client.close();
    }
}
