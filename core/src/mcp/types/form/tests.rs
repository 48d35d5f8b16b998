use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

fn form(properties: &str, required: &str) -> Form {
    let params = format!(
        r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{properties},"required":{required}}}}}"#
    );
    Form::read(json(&params).view()).expect(properties)
}

fn field(property: &str) -> Field {
    form(&format!(r#"{{"f":{property}}}"#), "null").fields.remove(0)
}

fn choice(value: &str, title: Option<&str>) -> Choice {
    Choice { value: value.into(), title: title.map(Into::into) }
}

#[test]
fn a_field_is_what_its_schema_says() {
    let plain = FieldKind::Text { min_length: None, max_length: None, format: None };
    let colours = || vec![choice("#F00", Some("Red")), choice("#0F0", Some("Green"))];
    let table = [
        (r#"{"type":"string"}"#, plain.clone()),
        (r#"{"type":"string","format":"hostname","minLength":-1,"maxLength":null}"#, plain),
        (
            r#"{"type":"string","minLength":3,"maxLength":50,"format":"email"}"#,
            FieldKind::Text { min_length: Some(3), max_length: Some(50), format: Some(Format::Email) },
        ),
        (
            r#"{"type":"number","minimum":0,"maximum":1.5}"#,
            FieldKind::Number { integer: false, minimum: Some(0.0), maximum: Some(1.5) },
        ),
        (r#"{"type":"integer"}"#, FieldKind::Number { integer: true, minimum: None, maximum: None }),
        (r#"{"type":"boolean"}"#, FieldKind::Boolean),
        (
            r#"{"type":"string","enum":["a","b"]}"#,
            FieldKind::Choice(vec![choice("a", None), choice("b", None)]),
        ),
        (
            r#"{"type":"string","enum":["a","b"],"enumNames":["A"]}"#,
            FieldKind::Choice(vec![choice("a", Some("A")), choice("b", None)]),
        ),
        (
            r##"{"type":"string","oneOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"}]}"##,
            FieldKind::Choice(colours()),
        ),
        (
            r#"{"type":"array","items":{"type":"string","enum":["a"]},"minItems":1,"maxItems":2}"#,
            FieldKind::Choices { options: vec![choice("a", None)], min_items: Some(1), max_items: Some(2) },
        ),
        (
            r##"{"type":"array","items":{"anyOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"}]}}"##,
            FieldKind::Choices { options: colours(), min_items: None, max_items: None },
        ),
        (r#"{"type":"object"}"#, FieldKind::Unsupported),
        (r#"{"type":"array","items":{"type":"string"}}"#, FieldKind::Unsupported),
        (r#"{"type":"array"}"#, FieldKind::Unsupported),
        (r#"{"type":"string","enum":[]}"#, FieldKind::Unsupported),
        (r#"{"type":"string","enum":["a",1]}"#, FieldKind::Unsupported),
        (r#"{"type":"string","oneOf":[{"title":"no const"}]}"#, FieldKind::Unsupported),
        (r#"{}"#, FieldKind::Unsupported),
        ("true", FieldKind::Unsupported),
    ];
    for (property, expected) in table {
        assert_eq!(field(property).kind, expected, "{property}");
    }
    let options = |n: usize| format!(r#"{{"enum":[{}]}}"#, vec![r#""a""#; n].join(","));
    assert!(matches!(field(&options(MAX_OPTIONS)).kind, FieldKind::Choice(_)));
    assert_eq!(field(&options(MAX_OPTIONS + 1)).kind, FieldKind::Unsupported);
}

#[test]
fn a_default_is_offered_only_if_it_fits_its_own_field() {
    let table = [
        (r#"{"type":"string","default":"a"}"#, Some(r#""a""#)),
        (r#"{"type":"string","default":5}"#, None),
        (r#"{"type":"string","maxLength":1,"default":"ab"}"#, None),
        (r#"{"type":"boolean","default":false}"#, Some("false")),
        (r#"{"type":"boolean","default":null}"#, None),
        (r#"{"type":"string","enum":["a"],"default":"b"}"#, None),
        (r#"{"type":"array","items":{"enum":["a","b"]},"default":["b"]}"#, Some(r#"["b"]"#)),
    ];
    for (property, expected) in table {
        assert_eq!(field(property).default.as_ref().map(RawJson::as_str), expected, "{property}");
    }
}

#[test]
fn fields_keep_their_order_and_say_whether_they_are_required() {
    let form = form(
        r#"{"b":{"type":"string","title":"B","description":"d"},"a":{"type":"boolean","title":null},"b":{}}"#,
        r#"["a","ghost",5]"#,
    );
    let seen: Vec<_> = form.fields.iter().map(|field| (field.label(), field.required)).collect();
    assert_eq!(seen, [("B", false), ("a", true), ("ghost", true)]);
}

#[test]
fn a_form_needs_a_schema_with_properties() {
    let table = [
        (r#"{"message":"m"}"#, Flaw::Missing("requestedSchema")),
        (r#"{"requestedSchema":null}"#, Flaw::Missing("requestedSchema")),
        (r#"{"requestedSchema":[]}"#, Flaw::WrongKind { member: "requestedSchema", found: Kind::Array }),
        (r#"{"requestedSchema":{}}"#, Flaw::Missing("properties")),
        (
            r#"{"requestedSchema":{"properties":5}}"#,
            Flaw::WrongKind { member: "properties", found: Kind::Number },
        ),
    ];
    for (params, flaw) in table {
        assert_eq!(Form::read(json(params).view()), Err(FormFault::Flaw(flaw)), "{params}");
    }
    let many = (0..=MAX_FIELDS).map(|n| format!(r#""{n}":{{}}"#)).collect::<Vec<_>>().join(",");
    let params = format!(r#"{{"requestedSchema":{{"properties":{{{many}}}}}}}"#);
    assert_eq!(Form::read(json(&params).view()), Err(FormFault::TooManyFields));
}

#[test]
fn p_377_an_answer_is_checked_against_the_form() {
    // P-377
    let form = form(
        r#"{"name":{"type":"string","minLength":2,"maxLength":3},"mail":{"type":"string","format":"email"},
        "age":{"type":"integer","minimum":1,"maximum":9},"share":{"type":"number"},"ok":{"type":"boolean"},
        "one":{"type":"string","enum":["a","b"]},"many":{"type":"array","items":{"enum":["x","y"]},"minItems":1,
        "maxItems":2}}"#,
        r#"["name"]"#,
    );
    let table = [
        (r#"{"name":"ab"}"#, None),
        (r#"{"name":"\u00e9\ud83d\ude00b"}"#, None),
        (
            r#"{"name":"abc","mail":"a@b.example","age":9,"share":0.5,"ok":false,"one":"\u0061","many":["y","x"]}"#,
            None,
        ),
        (r#"{"name":"ab","age":3.0}"#, None),
        (r#"{"name":"ab","extra":["a"],"more":1}"#, None),
        ("{}", Some("name: it has to be filled in")),
        ("[]", Some("it must be an object")),
        (r#"{"name":null}"#, Some("name: it must be text")),
        (r#"{"name":"a"}"#, Some("name: it must have 2 characters or more")),
        (r#"{"name":"abcd"}"#, Some("name: it must have 3 characters or fewer")),
        (r#"{"name":"ab","mail":"nobody"}"#, Some("mail: it must be an e-mail address")),
        (r#"{"name":"ab","age":"5"}"#, Some("age: it must be a number")),
        (r#"{"name":"ab","age":2.5}"#, Some("age: it must be a whole number")),
        (r#"{"name":"ab","age":0}"#, Some("age: it must be 1 or more")),
        (r#"{"name":"ab","age":1e1}"#, Some("age: it must be 9 or less")),
        (r#"{"name":"ab","ok":"true"}"#, Some("ok: it must be true or false")),
        (r#"{"name":"ab","one":"c"}"#, Some("one: it must be one of the options")),
        (r#"{"name":"ab","one":["a"]}"#, Some("one: it must be text")),
        (r#"{"name":"ab","many":"x"}"#, Some("many: it must be a list")),
        (r#"{"name":"ab","many":[1]}"#, Some("many: it must be a list of texts")),
        (r#"{"name":"ab","many":["z"]}"#, Some("many: it must be one of the options")),
        (r#"{"name":"ab","many":[]}"#, Some("many: choose 1 or more")),
        (r#"{"name":"ab","many":["x","y","x"]}"#, Some("many: choose 2 or fewer")),
        (
            r#"{"name":"ab","extra":{"deep":1}}"#,
            Some("extra: it must be text, a number, true, false or a list of texts"),
        ),
    ];
    for (answer, fault) in table {
        let found =
            form.check(json(answer).view()).err().and_then(|faults| faults.first().map(ToString::to_string));
        assert_eq!(found.as_deref(), fault, "{answer}");
    }
    let many = format!(r#"{{"f":[{}]}}"#, vec![r#""x""#; MAX_OPTIONS + 1].join(","));
    let open = self::form(r#"{"f":{"type":"array","items":{"enum":["x"]}}}"#, "[]");
    let faults = open.check(json(&many).view()).expect_err("too many");
    assert_eq!(faults.first().map(|fault| fault.flaw), Some(AnswerFlaw::MoreThan(MAX_OPTIONS as u64)));
    let all = form.check(json(r#"{"mail":"x","ok":1}"#).view()).expect_err("three faults");
    assert_eq!(all.iter().map(|fault| fault.field.as_str()).collect::<Vec<_>>(), ["name", "mail", "ok"]);
}

#[test]
fn formats_are_those_of_their_standards() {
    let table: &[(Format, &[&str], &[&str])] = &[
        (
            Format::Email,
            &["a@b", "a.b+c@d.example", "é@ü.example"],
            &["", "a", "@b", "a@", "a b@c", "a@.b", "a@b."],
        ),
        (
            Format::Uri,
            &["https://a.example/?q=1#x", "urn:x:y", "mailto:a@b", "a+b-c.d:x"],
            &["", "a", "://x", "1a:x", "a:", "https://a b", "a:é", "/path", "a:<b>"],
        ),
        (
            Format::Date,
            &["2026-07-28", "2024-02-29", "2000-02-29", "0000-01-01"],
            &[
                "",
                "2026-7-28",
                "2023-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-04-31",
                "2026-01-00",
                "2026-01-01-",
                "+026-01-01",
            ],
        ),
        (
            Format::DateTime,
            &[
                "2026-07-28T12:00:00Z",
                "2026-07-28t23:59:60.123z",
                "2026-07-28T00:00:00+05:30",
                "2026-07-28T00:00:00-00:00",
            ],
            &[
                "",
                "2026-07-28",
                "2026-07-28T12:00Z",
                "2026-07-28T12:00:00",
                "2026-07-28T24:00:00Z",
                "2026-07-28T12:00:00.Z",
                "2026-07-28T12:00:00+5:30",
                "2026-07-28T12:00:00ZZ",
                "2026-02-30T12:00:00Z",
                "2026-07-28 12:00:00Z",
            ],
        ),
    ];
    for (format, good, bad) in table {
        for text in *good {
            assert!(format.fits(text), "{format:?} {text}");
        }
        for text in *bad {
            assert!(!format.fits(text), "{format:?} {text}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_format_panic(text in "\\PC{0,40}|[0-9TZ:.+-]{0,30}") {
        for format in [Format::Email, Format::Uri, Format::Date, Format::DateTime] {
            let _ = format.fits(&text);
        }
    }

    /// Whole numbers of any size are whole, others are not.
    #[test]
    fn a_whole_number_is_one_however_it_is_written(n in any::<i64>(), small in -1000i32..1000) {
        let field = field(r#"{"type":"integer"}"#);
        let fits = |text: &str| field.check(json(text).view()).is_ok();
        let [plain, whole, broken] = [format!("{n}"), format!("{small}.0"), format!("{small}.5")];
        prop_assert!(fits(&plain) && fits(&whole) && !fits(&broken));
    }
}
