//! Whole exchanges between the two machines.

use super::*;

#[test]
fn one_exchange_after_the_other() {
    let mut client = Client::new(Limits::default(), NOW);
    let mut server = Server::new(Limits::default(), NOW);
    for n in 0..3 {
        assert!(client.is_idle());
        client.request(&ask("POST"), whole("question"), NOW).unwrap();
        assert!(!client.is_idle());
        give(&mut server, &sent(&mut client), NOW);
        let events = server_events(&mut server);
        let [ServerEvent::Head { head, length: Some(8) }] = &*events else { panic!("{n}: {events:?}") };
        assert_eq!((head.verb.as_str(), &*head.target), ("POST", "/mcp"));
        assert_eq!(head.fields.text("Host"), Some("h:1"));
        server.take_body(NOW);
        let expected = [ServerEvent::Body(Bytes::from_static(b"question")), ServerEvent::BodyEnd];
        assert_eq!(server_events(&mut server), expected);
        if n == 1 {
            server.respond(&status(200), Body::Stream, NOW).unwrap();
            server.send(Bytes::from_static(b"ans"), NOW).unwrap();
            assert_eq!(server_events(&mut server), []);
            give(&mut client, &sent(&mut server), NOW);
            server.send(Bytes::from_static(b"wer"), NOW).unwrap();
            server.end(NOW);
        } else {
            server.respond(&status(200), whole("answer"), NOW).unwrap();
        }
        give(&mut client, &sent(&mut server), NOW);
        assert_eq!(server_events(&mut server), [ServerEvent::Done]);
        let events = client_events(&mut client);
        let [ClientEvent::Sent, ClientEvent::Head(head), ClientEvent::Body(body), ClientEvent::End] =
            &*events
        else {
            panic!("{n}: {events:?}")
        };
        assert_eq!((head.status, &**body), (200, &b"answer"[..]));
    }
}
