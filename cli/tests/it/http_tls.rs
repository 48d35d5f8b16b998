//! Servers on the web under TLS.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::home::Home;
use crate::web::{legacy, read};

/// One of the certificates and keys that the library's own tests have.
fn pem(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../runtime-std/tests/pem").join(file)
}

/// A server that shows this certificate; where it is. It answers until the tests are over.
fn secured(certificate: &str, wants_client: bool) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = if wants_client {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(pem("ca.pem")).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from_pem_file(pem(certificate)).unwrap()];
    let key = PrivateKeyDer::from_pem_file(pem("server.key")).unwrap();
    let config = Arc::new(builder.with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            std::thread::spawn(move || {
                let mut stream = StreamOwned::new(tls, stream);
                let Some(asked) = read(&mut stream) else { return };
                let _ = stream.write_all(legacy(&asked, "safe").as_bytes());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            });
        }
    });
    url
}

#[test]
fn a_certificate_is_checked_and_authorities_can_be_named() {
    let home = Home::new();
    let url = secured("server.pem", false);
    let ca = pem("ca.pem").display().to_string();
    let words = ["call", "--yes", "t", "--era", "legacy", "--url", &url];
    assert_eq!(home.run(&[&words[..], &["--ca-file", &ca]].concat()).ok(), "safe\n");
    home.configure(&json!({"w": {"url": url, "ca_file": ca, "era": "legacy"}}).to_string());
    assert_eq!(home.run(&["call", "--yes", "w/t"]).ok(), "safe\n");
    let shown = home.run(&["doctor", "w"]).ok();
    assert!(
        shown.contains("  tls          TLS 1.3, TLS13_") && shown.contains("its certificate is accepted"),
        "{shown}"
    );
    let tls = &home.run(&["doctor", "w", "--json"]).json()["http"]["tls"];
    assert_eq!((&tls["version"], &tls["certificate_shown"]), (&"TLS 1.3".into(), &false.into()));
    // Nobody that this system trusts stands behind it.
    let ran = home.run(&[&words[..], &["--json"]].concat());
    let error = ran.error();
    assert_eq!((ran.status, &error["code"]), (4, &"tls".into()), "{error}");
    let ran = home.run(&["doctor", "--url", &url, "--json"]);
    assert_eq!((ran.status, &ran.json()["code"]), (4, &"tls".into()), "{ran:?}");
    for (certificate, says) in
        [("expired.pem", "expired"), ("future.pem", "not valid yet"), ("other.pem", "other")]
    {
        let ran = home.run(&["tools", "--ca-file", &ca, "--json", "--url", &secured(certificate, false)]);
        let error = ran.error();
        assert_eq!((ran.status, &error["code"]), (4, &"tls".into()), "{certificate}: {ran:?}");
        assert!(error["message"].as_str().unwrap().contains(says), "{certificate}: {error}");
    }
}

#[test]
fn a_certificate_of_ours_is_shown_where_it_is_wanted() {
    let home = Home::new();
    let url = secured("server.pem", true);
    let [ca, chain, key] = ["ca.pem", "client.pem", "client.key"].map(|file| pem(file).display().to_string());
    let words = ["tools", "--era", "legacy", "--url", &url, "--ca-file", &ca];
    let with = home.run(&[&words[..], &["--client-cert", &chain, "--client-key", &key]].concat());
    assert!(with.status == 0 && with.stdout.contains("t("), "{with:?}");
    let without = home.run(&words);
    assert!(without.status == 4 && without.stderr.contains("certificate"), "{without:?}");
    let ran = home.run(
        &[&words[..], &["--client-cert", &chain, "--client-key", &pem("server.key").display().to_string()]]
            .concat(),
    );
    assert!(ran.status == 1 && ran.stderr.contains("does not belong to"), "{ran:?}");
}
