use super::*;
use alloc::string::ToString;
use proptest::prelude::*;

#[test]
fn messages_are_written_as_the_standard_spells_them() {
    let request = written(|out| {
        write_request(out, &1i64.into(), "tools/call", |params| {
            params.object(|p| {
                p.string("name", "x").object("arguments", |a| {
                    a.u64("n", 3)
                        .bool("b", false)
                        .null("z")
                        .f64("f", 1.5)
                        .f64("w", -2.0)
                        .f64("far", 1e300)
                        .f64("inf", f64::INFINITY)
                        .i64("i", -4);
                });
            });
        });
    });
    let expected = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":3,"b":false,"z":null,"f":1.5,"w":-2,"far":1e300,"inf":null,"i":-4}}}"#;
    assert_eq!(request, expected);

    let note = written(|out| {
        write_notification(out, "a\"b", |_| {});
        finish_line(out);
    });
    assert_eq!(note, "{\"jsonrpc\":\"2.0\",\"method\":\"a\\\"b\"}\n");

    let result = written(|out| {
        write_result(out, &"x".into(), |result| {
            result.array("l", |list| {
                list.string("s").u64(1).i64(-1).raw(json("[ ]").view()).object(|_| {}).array(|_| {});
            });
            result.array_of_strings("names", ["a", "b"]).id("token", &"t".into());
        });
    });
    let expected =
        r#"{"jsonrpc":"2.0","id":"x","result":{"l":["s",1,-1,[ ],{},[]],"names":["a","b"],"token":"t"}}"#;
    assert_eq!(result, expected);
}

#[test]
fn parameters_are_written_in_each_way_or_left_out() {
    let of = |params: &dyn Fn(&mut ParamsWriter<'_>)| {
        let request = written(|out| write_request(out, &1i64.into(), "m", params));
        let head = r#"{"jsonrpc":"2.0","id":1,"method":"m""#;
        alloc::string::String::from(request.strip_prefix(head).unwrap().strip_suffix('}').unwrap())
    };
    let ready = json("{\n\"a\":[1]}");
    assert_eq!(of(&|_| {}), "");
    assert_eq!(of(&|params| params.raw(ready.view())), r#","params":{"a":[1]}"#);
    assert_eq!(of(&|params| params.object(|_| {})), r#","params":{}"#);
    let meta = |meta: &mut ObjectWriter<'_>| {
        meta.bool("m", true);
    };
    assert_eq!(of(&|params| params.spliced(None, meta)), r#","params":{"_meta":{"m":true}}"#);
    let both = r#"{"_meta":{"m":true},"a":[1]}"#;
    assert_eq!(of(&|params| params.spliced(Some(ready.view()), meta)), alloc::format!(r#","params":{both}"#));
    let inside = RawJson::object(|object| {
        object.spliced("p", Some(ready.view()), meta);
    });
    assert_eq!(inside.as_str(), alloc::format!(r#"{{"p":{both}}}"#));
}

#[test]
fn an_object_goes_on_where_its_first_members_end() {
    let mut out = Vec::from(*b"{");
    for (name, value) in [("a", 1), ("b", 2)] {
        ObjectWriter::resume(&mut out).u64(name, value);
    }
    ObjectWriter::resume(&mut out).end();
    assert_eq!(out, br#"{"a":1,"b":2}"#);
}

#[test]
fn a_number_is_written_as_an_integer_as_far_as_a_float_is_sure_of_it() {
    let text = |value: f64| {
        let object = RawJson::object(|object| {
            object.f64("n", value);
        });
        object.as_str().to_string()
    };
    assert_eq!(text(9_007_199_254_740_992.0), r#"{"n":9007199254740992}"#);
    assert_eq!(text(-9_007_199_254_740_992.0), r#"{"n":-9007199254740992}"#);
    assert_eq!(text(9_007_199_254_740_994.0), r#"{"n":9007199254740994.0}"#);
    assert_eq!((text(-0.5), text(-0.0)), (r#"{"n":-0.5}"#.into(), r#"{"n":0}"#.into()));
    assert_eq!((text(f64::NAN), text(f64::NEG_INFINITY)), (r#"{"n":null}"#.into(), r#"{"n":null}"#.into()));
}

#[test]
fn an_error_has_the_id_of_its_request_or_none() {
    // P-008
    let with = written(|out| write_error(out, Some(&7i64.into()), -32602, "no", Some(json("{}").view())));
    assert_eq!(with, r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no","data":{}}}"#);
    let without = written(|out| write_error(out, None, -32700, "no", None));
    assert_eq!(without, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#);
}

#[test]
fn meta_is_put_in_front_of_the_members_of_params() {
    let splice = |params: Option<&str>| {
        let params = params.map(json);
        written(|out| {
            splice_meta(out, params.as_ref().map(RawJson::view), |meta| {
                meta.u64("progressToken", 1);
            });
        })
    };
    assert_eq!(splice(None), r#"{"_meta":{"progressToken":1}}"#);
    assert_eq!(splice(Some("{}")), r#"{"_meta":{"progressToken":1}}"#);
    assert_eq!(splice(Some("{ \n }")), r#"{"_meta":{"progressToken":1}}"#);
    assert_eq!(splice(Some("{ \"a\": 1 }")), r#"{"_meta":{"progressToken":1},"a": 1}"#);
}

#[test]
fn a_raw_value_loses_its_line_breaks_and_nothing_else() {
    // P-115
    let pretty = json("{\r\n  \"a\": [\n    1,\r 2\n  ],\n  \"b\": \"x\\ny\"\n}");
    let line = written(|out| write_raw_result(out, &1i64.into(), pretty.view()));
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{  \"a\": [    1, 2  ],  \"b\": \"x\\ny\"}}");
}

#[test]
fn each_character_is_escaped_as_the_standard_says_wherever_it_stands() {
    for code in 0..=127u8 {
        for before in [0, 7, 8, 31, 32, 45] {
            let text = alloc::format!("{}{}yz", "x".repeat(before), char::from(code));
            // By other code than ours, which spells them the same way.
            assert_eq!(written(|out| write_string(out, &text)), serde_json::to_string(&text).unwrap());
        }
    }
}

#[test]
fn numbers_of_every_length_are_written_in_full() {
    let powers = (0..20).map(|power| 10u64.pow(power));
    for number in
        powers.flat_map(|power| [power - 1, power, power + 1, power.saturating_mul(3)]).chain(0..1200)
    {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.u64("n", number);
        object.end();
        assert_eq!(out, alloc::format!("{{\"n\":{number}}}").into_bytes());
    }
}

proptest! {
    #[test]
    fn any_text_comes_back_and_no_control_leaves(text in any::<alloc::string::String>(), long in "[ -~\\n\"]{0,200}") {
        // P-115
        for text in [text, long] {
            let out = written(|out| write_string(out, &text));
            prop_assert!(!out.bytes().any(|b| b < 0x20));
            let raw = json(&out);
            prop_assert_eq!(raw.view().str().unwrap().decode(), text);
        }
    }

    #[test]
    fn any_number_comes_back(int in any::<i64>(), natural in any::<u64>(), float in any::<f64>()) {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.i64("i", int).u64("u", natural).f64("f", float);
        object.end();
        let raw = RawJson::from_slice(&out, 1).unwrap();
        prop_assert_eq!(raw.view().get("i").unwrap().as_i64(), Some(int));
        prop_assert_eq!(raw.view().get("u").unwrap().as_u64(), Some(natural));
        prop_assert_eq!(raw.view().get("f").unwrap().as_f64(), float.is_finite().then_some(float));
    }
}
