use super::*;
use alloc::format;
use alloc::string::ToString;

#[test]
fn names_of_methods_are_equal_by_their_text_however_long_they_are() {
    // Up to 38 bytes are kept inside.
    for len in [0, 1, 37, 38, 39, 600] {
        let text = "x".repeat(len);
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{text}"}}"#);
        let Ok(Message::Notification { method, .. }) = read(&line) else { panic!("{line}") };
        assert_eq!((method.as_str(), method.as_bytes()), (&*text, text.as_bytes()));
        assert_eq!((method.to_string(), format!("{method:?}")), (text.clone(), format!("{text:?}")));
        let (same, other) = (MethodText::from(&*text), MethodText::from(&*format!("{text}y")));
        assert!(method == same && method != other);
        assert!(method == *text && method != *"tools/call");
        assert_eq!(method, text.as_str());
        assert_ne!(method, "tools/call");
    }
}
