use super::*;
use crate::jsonrpc::envelope::known_member;
use alloc::format;
use alloc::string::String;
use alloc::vec;

#[test]
fn each_kind_of_message_is_told_by_its_members() {
    let Ok(Message::Request { id, method, params }) =
        read(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}"#)
    else {
        panic!("a request")
    };
    assert_eq!((id, method.as_str()), (RequestId::from(7i64), "tools/call"));
    assert_eq!(params, Some(json(r#"{"name":"x"}"#)));

    let Ok(Message::Notification { method, params }) =
        read(r#"{"method":"notifications/progress","jsonrpc":"2.0"}"#)
    else {
        panic!("a notification")
    };
    assert_eq!((method.as_str(), params), ("notifications/progress", None));

    let Ok(Message::Result { id, result }) = read(r#"{"result":{"a":[1]},"jsonrpc":"2.0","id":"x"}"#) else {
        panic!("a result")
    };
    assert_eq!((id, result), (RequestId::from("x"), json(r#"{"a":[1]}"#)));

    let Ok(Message::Error { id, error }) =
        read(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no \u0041","data":[2],"more":1}}"#)
    else {
        panic!("an error")
    };
    assert_eq!(id, Some(RequestId::from(7i64)));
    let expected = ErrorObject { code: -32601, message: "no A".into(), data: Some(json("[2]")) };
    assert_eq!(error, expected);
}

#[test]
fn each_fault_has_its_name() {
    use FaultKind::*;
    let twice = |part| DuplicateMember(part);
    let table = [
        // P-001
        (r#"{"id":1,"method":"a"}"#, MissingVersion),
        ("{}", MissingVersion),
        ("{ } ", MissingVersion),
        (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, WrongVersion),
        (r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#, WrongVersion),
        (r#"{"jsonrpc":null,"id":1,"method":"a"}"#, WrongVersion),
        // P-003, P-004
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, BadId(IdFault::Null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, BadId(IdFault::Fractional)),
        (r#"{"jsonrpc":"2.0","id":1e3,"method":"a"}"#, BadId(IdFault::Fractional)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, BadId(IdFault::NotStringOrInteger(Kind::Object))),
        (r#"{"jsonrpc":"2.0","id":[],"method":"a"}"#, BadId(IdFault::NotStringOrInteger(Kind::Array))),
        (r#"{"jsonrpc":"2.0","id":true,"result":{}}"#, BadId(IdFault::NotStringOrInteger(Kind::Bool))),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, BadId(IdFault::Null)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a","error":{}}"#, BadId(IdFault::Null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":""}}"#, BadId(IdFault::Fractional)),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"a"}"#, BadId(IdFault::LoneSurrogate)),
        (r#"{"jsonrpc":"2.0","result":{}}"#, ResultWithoutId),
        // P-009
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#, BothResultAndError),
        (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#, BothResultAndError),
        (r#"{"jsonrpc":"2.0","id":1}"#, NoMethodResultOrError),
        (r#"{"jsonrpc":"2.0"}"#, NoMethodResultOrError),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, NoMethodResultOrError),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, MethodWithResult(Part::Result)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","error":null}"#, MethodWithResult(Part::Error)),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, MethodNotString(Kind::Null)),
        (r#"{"jsonrpc":"2.0","id":1,"method":5,"result":{}}"#, MethodNotString(Kind::Number)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#, ParamsNotStructured(Kind::Array)),
        (r#"{"jsonrpc":"2.0","method":"a","params":"x"}"#, ParamsNotStructured(Kind::String)),
        // P-010
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, ErrorMalformed(ErrorFlaw::NotAnObject(Kind::Null))),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, ErrorMalformed(ErrorFlaw::NoCode)),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#,
            ErrorMalformed(ErrorFlaw::CodeNotInteger),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}"#,
            ErrorMalformed(ErrorFlaw::CodeNotInteger),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, ErrorMalformed(ErrorFlaw::NoMessage)),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}"#,
            ErrorMalformed(ErrorFlaw::MessageNotString(Kind::Null)),
        ),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#, twice(Part::Jsonrpc)),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#, twice(Part::Id)),
        (r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"a"}"#, twice(Part::Id)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, twice(Part::Method)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null,"params":{}}"#, twice(Part::Params)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"r\u0065sult":{}}"#, twice(Part::Result)),
        (r#"{"jsonrpc":"2.0","id":1,"error":0,"error":0}"#, twice(Part::Error)),
        ("42", NotAnObject(Kind::Number)),
        (r#""{}""#, NotAnObject(Kind::String)),
        (" null ", NotAnObject(Kind::Null)),
        ("[]", Batch),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, Batch),
    ];
    for (text, expected) in table {
        assert_eq!(fault(text).kind, expected, "{text}");
    }
}

#[test]
fn a_message_with_a_bad_id_is_never_a_notification() {
    // P-012
    for id in
        ["null", "1.5", "1e400", "{}", "[1]", "true", r#""\udc00""#, &format!("\"{}\"", "x".repeat(600))]
    {
        for name in ["id", "\\u0069d", "i\\u0064"] {
            for text in [
                format!(r#"{{"jsonrpc":"2.0","{name}":{id},"method":"a"}}"#),
                format!(r#"{{"method":"a","{name}":{id},"jsonrpc":"2.0"}}"#),
            ] {
                let fault = fault(&text);
                assert!(matches!(fault.kind, FaultKind::BadId(_)), "{text}: {fault:?}");
                assert!(fault.has_id && fault.has_method && fault.id.is_none());
            }
        }
    }
}

#[test]
fn a_fault_keeps_the_id_and_says_whether_it_was_a_call() {
    let bad_params = fault(r#"{"jsonrpc":"2.0","id":"q","method":"a","params":3}"#);
    assert_eq!((bad_params.id, bad_params.has_method, bad_params.has_id), (Some("q".into()), true, true));
    assert_eq!(bad_params.offset, 48);

    let bad_answer = fault(r#"{"jsonrpc":"2.0","id":4,"error":{}}"#);
    assert_eq!((bad_answer.id, bad_answer.has_method), (Some(4i64.into()), false));

    let broken_note = fault(r#"{"jsonrpc":"2.0","method":"a","params":[]}"#);
    assert_eq!((broken_note.id, broken_note.has_method, broken_note.has_id), (None, true, false));

    let breaks_off = fault(r#"{"jsonrpc":"2.0","id":4,"method":"a","params":{"x":"#);
    assert_eq!((breaks_off.id, breaks_off.has_method), (Some(4i64.into()), true));
    assert!(matches!(breaks_off.kind, FaultKind::NotJson(_)));

    let two_ids = fault(r#"{"method":"a","method":"b","id":1,"id":2,"jsonrpc":"2.0"}"#);
    assert_eq!((two_ids.kind, two_ids.id), (FaultKind::DuplicateMember(Part::Method), None));
    let one_id = fault(r#"{"method":"a","method":"b","id":1,"jsonrpc":"2.0"}"#);
    assert_eq!((one_id.kind, one_id.id), (FaultKind::DuplicateMember(Part::Method), Some(1i64.into())));

    for (text, kind, offset) in [
        (r#"{"jsonrpc":"2.0","method":"a\x"}"#, JsonFaultKind::BadEscape, 28),
        ("{\"method\":\"a\tb\"}", JsonFaultKind::ControlInString, 12),
        (r#"{"jsonrpc":"2.0","method":"a"} {}"#, JsonFaultKind::TrailingBytes, 31),
        (r#"{"jsonrpc":"2.0","id":01}"#, JsonFaultKind::BadNumber, 23),
        (r#"{"jsonrpc":"2.0" "id":1}"#, JsonFaultKind::UnexpectedByte, 17),
    ] {
        assert_eq!(fault(text).kind, FaultKind::NotJson(JsonFault { kind, offset }), "{text}");
        assert_eq!(fault(text).offset, offset, "{text}");
    }
}

#[test]
fn escaped_names_of_members_count_as_what_they_mean() {
    let text = r#"{"\u006asonrpc":"2\u002e0","i\u0064":3,"\u006d\u0065\u0074\u0068\u006f\u0064":"a\/b","p\u0061rams":{}}"#;
    let Ok(Message::Request { id, method, params }) = read(text) else { panic!("a request") };
    assert_eq!((id, method.as_str()), (3i64.into(), "a/b"));
    assert!(params.is_some());
}

#[test]
fn a_method_is_unescaped_whatever_else_is() {
    for (text, name) in [
        (r#"{"jsonrpc":"2.0","method":"a\/\u0062"}"#, "a/b"),
        (r#"{"jsonrpc":"2.0","method":"a/b","other":"\n"}"#, "a/b"),
    ] {
        assert_eq!(read(text).unwrap().method(), Some(name));
    }
}

#[test]
fn members_are_known_by_their_whole_name_and_told_at_a_glance_as_everybody_writes_them() {
    let names = [
        ("jsonrpc", Part::Jsonrpc),
        ("id", Part::Id),
        ("method", Part::Method),
        ("params", Part::Params),
        ("result", Part::Result),
    ];
    for (name, part) in names {
        let line = format!(r#"{{ "{name}":0 }}  "#);
        assert_eq!(known_member(line.as_bytes(), 2), Some((part, name.len() + 5)), "{line}");
        for other in
            [format!(r#"{{ "{name}" :0}}"#), format!(r#"{{ "{name}\":":0}}"#), format!(r#"{{ "{name}s":0}}"#)]
        {
            assert_eq!(known_member(other.as_bytes(), 2), None, "{other}");
        }
    }
    for name in
        ["", "i", "xx", "idx", "jsonrpcs", "jsonrp", "methods", "xarams", "\u{e9}", "Result", "errors"]
    {
        let text = format!(r#"{{"jsonrpc":"2.0","{name}":{{}},"id":1,"{name}":0,"method":"a"}}"#);
        assert!(matches!(read(&text), Ok(Message::Request { params: None, .. })), "{text}");
    }
}

#[test]
fn members_of_nested_objects_do_not_count() {
    let text =
        r#"{"x":{"id":9,"method":"b"},"y":[{"result":1}],"jsonrpc":"2.0","id":1,"result":{"error":{}}}"#;
    assert!(matches!(read(text), Ok(Message::Result { id, .. }) if id == 1i64.into()));
}

#[test]
fn text_that_is_not_utf_8_is_refused_wherever_it_stands() {
    // P-002
    for bytes in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"] {
        let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"a","unread":["#.to_vec();
        line.push(b'"');
        line.extend_from_slice(bytes);
        line.extend_from_slice(b"\"]}");
        let fault = parse(Bytes::from(line), MAX_DEPTH).unwrap_err();
        assert_eq!((fault.kind, fault.offset), (FaultKind::NotUtf8, 48));
    }
}

#[test]
fn nesting_is_bounded_by_the_given_depth_and_by_128() {
    let nested = |levels: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"a","x":{}1{}}}"#,
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        )
    };
    let read = |levels, max| parse(Bytes::from(nested(levels)), max).map_err(|fault| fault.kind);
    for (levels, max) in [(1, 1), (4, 4), (64, 64), (128, 128), (128, u16::MAX)] {
        assert!(read(levels, max).is_ok(), "{levels} of {max}");
    }
    for (levels, max) in [(1, 0), (2, 1), (5, 4), (129, 128), (129, u16::MAX), (5000, u16::MAX)] {
        assert_eq!(read(levels, max), Err(FaultKind::TooDeep), "{levels} of {max}");
    }
    let objects = format!("{}1{}", r#"{"a":"#.repeat(128), "}".repeat(128));
    assert!(RawJson::parse(objects.into(), 128).is_ok());
    let mixed = format!("{}1{}", r#"{"a":["#.repeat(64), "]}".repeat(64));
    assert!(RawJson::parse(mixed.clone().into(), 128).is_ok());
    assert!(RawJson::parse(mixed.replacen("]}", "}]", 1).into(), 128).is_err());
}

#[test]
fn a_payload_shares_the_frame_and_a_part_of_it_shares_it_too() {
    let frame = Bytes::from(String::from(r#"{"jsonrpc":"2.0","id":1,"result":{"a":["deep",2]}}"#));
    let begin = frame.as_ptr().addr();
    let Ok(Message::Result { result, .. }) = parse(frame, 128) else { panic!("a result") };
    assert_eq!(result.as_bytes().as_ptr().addr(), begin + 33);
    assert_eq!((result.len(), result.retained_len()), (16, 50));
    let deep = result.view().get("a").unwrap().elements().next().unwrap();
    let part = result.slice_of(deep).unwrap();
    assert_eq!((part.as_bytes(), part.retained_len()), (&b"\"deep\""[..], 50));
    assert_eq!(part.slice_of(result.view()), None);
    assert_eq!(part.slice_of(json("\"deep\"").view()), None);
    assert_eq!(part.to_compact(), part);
    assert_eq!(part.to_compact().retained_len(), 6);
    assert_eq!(format!("{result:?} {deep:?}"), "RawJson(16 bytes) JsonRef(String, 6 bytes)");
}

#[test]
fn b_01_a_byte_order_mark_in_front_is_passed_over() {
    let with_mark = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    assert_eq!(read(with_mark).unwrap().method(), Some("ping"));
    assert!(matches!(fault("not a message").kind, FaultKind::NotJson(_)));
    assert!(matches!(fault("\u{feff}\u{feff}{}").kind, FaultKind::NotJson(_)));
}

#[test]
fn b_05_line_separators_of_unicode_are_text_like_any_other() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\\u000be";
    let line = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"t":"{text}"}}}}"#);
    let Ok(Message::Result { result, .. }) = read(&line) else { panic!("a result") };
    let decoded = result.view().get("t").unwrap().str().unwrap().decode();
    assert_eq!(decoded, "a\u{2028}b\u{2029}c\u{85}d\u{b}e");
}

#[test]
fn b_15_an_error_may_have_no_id_or_null() {
    for id in ["", r#""id":null,"#] {
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"what?"}}}}"#);
        let Ok(Message::Error { id, error }) = read(&text) else { panic!("{text}") };
        assert_eq!((id, error), (None, ErrorObject::new(-32700, "what?")));
    }
}

#[test]
fn b_19_a_batch_is_one_fault_and_is_read_element_by_element_where_it_is_allowed() {
    // P-014
    let text = r#" [ {"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[1]}} , 5,[], {"jsonrpc":"2.0","method":"b"}]"#;
    assert_eq!(fault(text).kind, FaultKind::Batch);
    let read = |text: &str| parse_batch(Bytes::copy_from_slice(text.as_bytes()), 128);
    let all: Vec<_> = read(text).unwrap().collect();
    assert_eq!(all.len(), 4);
    assert_eq!(all[0].as_ref().unwrap().id(), Some(&1i64.into()));
    assert!(
        matches!(&all[0], Ok(Message::Request { params: Some(params), .. }) if *params == json(r#"{"x":[1]}"#))
    );
    assert_eq!(all[1].as_ref().unwrap_err().kind, FaultKind::NotAnObject(Kind::Number));
    assert_eq!(all[2].as_ref().unwrap_err().kind, FaultKind::NotAnObject(Kind::Array));
    assert_eq!(all[2].as_ref().unwrap_err().offset, text.find("[],").unwrap());
    assert_eq!(all[3].as_ref().unwrap().method(), Some("b"));
    assert_eq!(read(" [ ] ").unwrap_err().kind, FaultKind::EmptyBatch);
    assert_eq!(read("{}").unwrap_err().kind, FaultKind::NotAnObject(Kind::Object));
    assert!(matches!(read("[1").unwrap_err().kind, FaultKind::NotJson(_)));
}

#[test]
fn b_21_params_of_null_count_as_absent() {
    let read = |text: &str| match read(text) {
        Ok(Message::Request { params, .. } | Message::Notification { params, .. }) => params,
        other => panic!("{other:?}"),
    };
    assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#), None);
    assert_eq!(read(r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#), None);
}

#[test]
fn b_23_a_result_of_any_kind_is_passed_on() {
    for text in ["[]", "null", "[1,2]", "\"x\"", "-0.5e-3", "true", "{}"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#);
        assert!(matches!(read(&line), Ok(Message::Result { result, .. }) if result == json(text)), "{text}");
    }
}

#[test]
fn white_space_may_stand_wherever_json_lets_it() {
    let tight = [
        "{",
        "\"jsonrpc\"",
        ":",
        "\"2.0\"",
        ",",
        "\"id\"",
        ":",
        "1",
        ",",
        "\"method\"",
        ":",
        "\"a\"",
        ",",
        "\"params\"",
        ":",
        "{",
        "\"x\"",
        ":",
        "[",
        "1",
        ",",
        "{",
        "}",
        ",",
        "[",
        "]",
        "]",
        "}",
        "}",
    ];
    let mut loose = vec![tight.concat()];
    for space in [" ", "\t", "\r", "\n", " \r\n\t "] {
        loose.push(format!("{space}{}{space}", tight.join(space)));
    }
    for text in loose {
        let Ok(Message::Request { params, .. }) = read(&text) else { panic!("{text:?}") };
        assert_eq!(params.unwrap().view().get("x").unwrap().elements().count(), 3);
    }
}

#[test]
fn error_data_of_null_is_none() {
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"data":null,"message":"m","code":5}}"#;
    assert!(matches!(read(text), Ok(Message::Error { error, .. }) if error == ErrorObject::new(5, "m")));
}

#[test]
fn a_batch_says_how_many_are_left_and_where_a_fault_stands() {
    for front in ["", "\u{feff}", " \n", "\u{feff} "] {
        let text = alloc::format!(r#"{front}[{{"jsonrpc":"2.0","method":"a"}} , {{"id":{{}}}},7 ]"#);
        let mut batch = parse_batch(Bytes::from(text.clone()), MAX_DEPTH).unwrap();
        assert_eq!(batch.left(), 3);
        assert!(batch.next().unwrap().is_ok());
        assert_eq!(batch.left(), 2);
        assert!(batch.next().unwrap().is_err());
        assert_eq!(batch.left(), 1);
        let fault = batch.next().unwrap().unwrap_err();
        assert_eq!(
            (fault.kind, fault.offset),
            (FaultKind::NotAnObject(Kind::Number), text.find('7').unwrap())
        );
        assert_eq!((batch.left(), batch.next().is_none()), (0, true));

        for (broken, at) in [("[1,x]", 3), ("[]", 0), ("{}", 0)] {
            let fault = parse_batch(Bytes::from(alloc::format!("{front}{broken}")), MAX_DEPTH).unwrap_err();
            assert_eq!(fault.offset, front.len() + at, "{front:?} {broken}");
        }
    }
}
