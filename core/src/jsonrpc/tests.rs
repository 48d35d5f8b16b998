use super::*;
use bytes::Bytes;

fn read(text: &str) -> Result<Message, Fault> {
    parse(Bytes::copy_from_slice(text.as_bytes()), 128)
}

#[test]
fn a_request_is_read_whole() {
    let message = read(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}"#).unwrap();
    let Message::Request { id, method, params } = message else { panic!("{message:?}") };
    assert_eq!(id, RequestId::from(7i64));
    assert_eq!(method.as_str(), "tools/call");
    assert_eq!(params.unwrap().as_bytes(), br#"{"name":"x"}"#);
}
