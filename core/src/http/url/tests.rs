use proptest::prelude::*;

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).expect(text)
}

#[test]
fn an_address_is_taken_apart() {
    let table = [
        ("http://example.com", "http://example.com", "example.com", "/"),
        ("HTTPS://Example.COM:443/mcp", "https://example.com", "example.com", "/mcp"),
        (
            "https://example.com:8443/mcp?a=b&c=%20#frag",
            "https://example.com:8443",
            "example.com:8443",
            "/mcp?a=b&c=%20",
        ),
        ("http://127.0.0.1:80/", "http://127.0.0.1", "127.0.0.1", "/"),
        ("http://[0:0::1]:8080?q", "http://[::1]:8080", "[::1]:8080", "/?q"),
        ("http://localhost./x//y/../z", "http://localhost.", "localhost.", "/x//y/../z"),
        ("http://my_host-1/%7Euser;v=1/@a:b", "http://my_host-1", "my_host-1", "/%7Euser;v=1/@a:b"),
    ];
    for (text, origin, host, target) in table {
        let read = url(text);
        assert_eq!(read.authority().to_string(), origin, "{text}");
        assert_eq!(read.authority().host_field(), host, "{text}");
        assert_eq!(read.target(), target, "{text}");
        assert_eq!(read.as_str(), text.split('#').next().unwrap());
    }
    assert_eq!(url("http://x"), url("http://x:80/"), "the same request");
    assert_eq!(url("http://x").as_str(), "http://x", "what was written is shown");
    assert_eq!(format!("{:?}", url("http://x/a?token=secret")), "http://x/a?…");
}

#[test]
fn what_is_no_address_is_refused() {
    let long = format!("http://x/{}", "a".repeat(MAX_URL));
    let label = format!("http://{}", "a".repeat(64));
    let table = [
        ("", UrlFault::Scheme),
        ("example.com", UrlFault::Scheme),
        ("ftp://x", UrlFault::Scheme),
        ("http:/x", UrlFault::Scheme),
        (" http://x", UrlFault::Scheme),
        ("http://", UrlFault::Host),
        ("http:///mcp", UrlFault::Host),
        ("http://a..b", UrlFault::Host),
        ("http://.", UrlFault::Host),
        ("http://ä", UrlFault::Host),
        ("http://a b", UrlFault::Host),
        ("http://a%41", UrlFault::Host),
        ("http://127.1", UrlFault::Host),
        ("http://0x7f.0x1", UrlFault::Host),
        ("http://1.2.3.256", UrlFault::Host),
        ("http://[::1", UrlFault::Host),
        ("http://[::1]x", UrlFault::Host),
        ("http://[fe80::1%25eth0]", UrlFault::Host),
        ("http://::1", UrlFault::Host),
        (&label, UrlFault::Host),
        ("http://x:", UrlFault::Port),
        ("http://x:0", UrlFault::Port),
        ("http://x:65536", UrlFault::Port),
        ("http://x:+80", UrlFault::Port),
        ("http://x:8 0", UrlFault::Port),
        ("http://user@x", UrlFault::UserInfo),
        ("http://user:secret@x/", UrlFault::UserInfo),
        ("http://x/a b", UrlFault::Character),
        ("http://x/\r\nHost: y", UrlFault::Character),
        ("http://x/ä", UrlFault::Character),
        ("http://x/%4", UrlFault::Character),
        ("http://x/%zz", UrlFault::Character),
        ("http://x/[a]", UrlFault::Character),
        ("http://x/\\y", UrlFault::Character),
        ("http://x/#a b", UrlFault::Character),
        (&long, UrlFault::Length),
    ];
    for (text, fault) in table {
        assert_eq!(Url::parse(text), Err(fault), "{text:?}");
    }
}

#[test]
fn a_reference_is_seen_from_the_address() {
    // RFC 3986, section 5.4, with a scheme that we read.
    let table = [
        ("https://g", "https://g"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("a/b:c", "http://a/b/c/a/b:c"),
    ];
    let base = url("http://a/b/c/d;p?q");
    for (reference, expected) in table {
        assert_eq!(base.join(reference), Ok(url(expected)), "{reference}");
    }
    assert_eq!(url("http://[::1]:8080").join("mcp"), Ok(url("http://[::1]:8080/mcp")));
    for (reference, fault) in [
        ("javascript:alert(1)", UrlFault::Scheme),
        ("g:h", UrlFault::Scheme),
        ("//user@g", UrlFault::UserInfo),
        ("a b", UrlFault::Character),
        ("/\\g", UrlFault::Character),
        ("//", UrlFault::Host),
    ] {
        assert_eq!(base.join(reference), Err(fault), "{reference}");
    }
}

proptest! {
    #[test]
    fn nothing_breaks_the_reader(text in any::<String>(), near in "https?://[a-z0-9.:@\\[\\]/?#%{} -]{0,24}") {
        let base = url("http://a/b/c?d");
        for text in [text, near] {
            let _ = base.join(&text);
            if let Ok(read) = Url::parse(&text) {
                prop_assert!(read.target().starts_with('/'));
                prop_assert!(read.target().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(Url::parse(&format!("{}{}", read.authority(), read.target())), Ok(read));
            }
        }
    }

    #[test]
    fn a_reference_without_an_origin_stays_within_it(reference in "[a-z./?]{0,16}") {
        prop_assume!(!reference.starts_with("//"));
        let base = url("https://host:8443/b/c");
        let joined = base.join(&reference).unwrap();
        prop_assert_eq!(joined.authority(), base.authority());
    }
}
