//! What faults and errors say of themselves, and what of an error is kept.

use super::*;
use alloc::format;
use alloc::string::{String, ToString};

#[test]
fn a_fault_of_a_line_is_told_in_words_and_without_what_stood_there() {
    let table = [
        ("\"secret", "not JSON: the text ends too early at byte 7"),
        ("[secret]", "not JSON: unexpected byte at byte 1"),
        ("\"a\tsecret\"", "not JSON: control character in a string at byte 2"),
        (r#""\secret""#, "not JSON: bad escape in a string at byte 1"),
        ("-secret", "not JSON: malformed number at byte 1"),
        ("{} secret", "not JSON: something follows the value at byte 3"),
        ("[\"secret\"]", "a batch"),
        ("\"secret\"", "a string instead of an object"),
        ("true", "a boolean instead of an object"),
        (r#"{"id":"secret","method":"a"}"#, "`jsonrpc` is missing"),
        (r#"{"jsonrpc":"secret","id":1,"method":"a"}"#, "`jsonrpc` is not \"2.0\""),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0"}"#, "`jsonrpc` stands twice"),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, "`id` stands twice"),
        (r#"{"jsonrpc":"2.0","method":"secret","method":"b"}"#, "`method` stands twice"),
        (r#"{"jsonrpc":"2.0","method":"a","params":{},"params":{}}"#, "`params` stands twice"),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#, "`result` stands twice"),
        (r#"{"jsonrpc":"2.0","id":1,"error":1,"error":2}"#, "`error` stands twice"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "bad `id`: null"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, "bad `id`: a number with a fraction or an exponent"),
        (r#"{"jsonrpc":"2.0","id":["secret"],"method":"a"}"#, "bad `id`: an array"),
        (r#"{"jsonrpc":"2.0","id":"secret\ud800","method":"a"}"#, "bad `id`: half of a surrogate pair"),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "`method` is null, not a string"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","error":1}"#, "`method` beside `error`"),
        (r#"{"jsonrpc":"2.0","method":"a","params":5}"#, "`params` is a number, not an object"),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":1}"#, "both `result` and `error`"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "none of `method`, `result` and `error`"),
        (r#"{"jsonrpc":"2.0","result":"secret"}"#, "`result` without `id`"),
        (r#"{"jsonrpc":"2.0","id":1,"error":[]}"#, "malformed `error`: an array instead of an object"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "malformed `error`: `code` is missing"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"secret"}}"#, "malformed `error`: `code` is no integer"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, "malformed `error`: `message` is missing"),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":{}}}"#,
            "malformed `error`: `message` is an object",
        ),
    ];
    for (text, said) in table {
        let fault = fault(text);
        assert_eq!(fault.to_string(), said, "{text}");
        assert_eq!(fault.kind.to_string(), said, "{text}");
    }
    let bytes = parse(Bytes::from_static(b"\"\xff\""), MAX_DEPTH).unwrap_err();
    assert_eq!(bytes.to_string(), "not UTF-8");
    assert_eq!(parse(Bytes::from_static(b"[[1]]"), 1).unwrap_err().to_string(), "nested too deeply");
    assert_eq!(parse_batch(Bytes::from_static(b"[]"), 1).unwrap_err().to_string(), "an empty batch");
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"a"}}"#, "x".repeat(600));
    assert_eq!(fault(&long).to_string(), "bad `id`: longer than 512 bytes");
    let deep = RawJson::parse(Bytes::from_static(b"[[1]]"), 1).unwrap_err();
    assert_eq!(deep.to_string(), "nested too deeply at byte 1");
    let bytes = RawJson::parse(Bytes::from_static(b"\"\xff\""), 1).unwrap_err();
    assert_eq!(bytes.to_string(), "not UTF-8 at byte 1");
}

#[test]
fn of_an_error_that_is_kept_for_long_no_more_than_four_kibibytes_stay() {
    let kept = |message: String, data: Option<RawJson>| ErrorObject { code: 7, message, data }.bounded();
    assert_eq!(kept("m".repeat(4096), None), ErrorObject::new(7, "m".repeat(4096)));
    assert_eq!(kept("m".repeat(4097), None), ErrorObject::new(7, "m".repeat(4096)));
    let whole = kept(format!("m{}", "é".repeat(3000)), None);
    assert_eq!(whole.message.len(), 4095, "no character is cut in two");

    let text = |len: usize| Some(json(&format!("\"{}\"", "d".repeat(len - 2))));
    assert_eq!(kept("m".into(), text(4096)).data, text(4096));
    assert_eq!(kept("m".into(), text(4097)).data, None);
    let frame = json(r#"{"data":[1],"more":"of it"}"#);
    let part = frame.slice_of(frame.view().get("data").unwrap());
    assert_eq!(kept("m".into(), part).data.unwrap().retained_len(), 3, "and no frame around them");
}
