use super::*;

const SCHEMA: &str = r##"{"type":"object","properties":{
 "text":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},"on":{"type":"boolean"},
 "none":{"type":"null"},"list":{"type":"array"},"map":{"type":"object"},"free":{},
 "either":{"type":["string","integer"]},"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
 "level":{"enum":[1,2]},"ref":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##;

fn build_with(words: &[&str], all: Option<&str>, schema: &str) -> Result<(String, Vec<String>), Failure> {
    let schema = RawJson::parse_str(schema).unwrap();
    let words = words.iter().map(|word| Argument::read(word)).collect::<Result<Vec<_>, _>>()?;
    let mut warnings = Vec::new();
    let all = all.map(read_all).transpose()?;
    let built = build(words, all, Some(schema.view()), "s/t", &mut |warning| warnings.push(warning))?;
    Ok((built.as_str().to_owned(), warnings))
}

fn one(word: &str) -> Result<String, String> {
    build_with(&[word], None, SCHEMA).map(|built| built.0).map_err(|failure| failure.message.clone())
}

#[test]
fn a_value_has_the_type_that_the_schema_gives_it() {
    for (word, built) in [
        ("text=1", r#"{"text":"1"}"#),
        ("text=true", r#"{"text":"true"}"#),
        ("text=null", r#"{"text":"null"}"#),
        ("text=a=b", r#"{"text":"a=b"}"#),
        ("text=", r#"{"text":""}"#),
        ("text= sp\"ace\n", r#"{"text":" sp\"ace\n"}"#),
        ("count=1", r#"{"count":1}"#),
        ("count=-12345678901234567890", r#"{"count":-12345678901234567890}"#),
        ("ratio=1", r#"{"ratio":1}"#),
        ("ratio=1.50", r#"{"ratio":1.50}"#),
        ("on=true", r#"{"on":true}"#),
        ("none=null", r#"{"none":null}"#),
        ("list=[1, \"a\"]", r#"{"list":[1, "a"]}"#),
        ("map={\"a\":1}", r#"{"map":{"a":1}}"#),
        ("free=1", r#"{"free":"1"}"#),
        ("either=1", r#"{"either":"1"}"#),
        ("maybe=1", r#"{"maybe":1}"#),
        ("maybe=null", r#"{"maybe":null}"#),
        ("level=2", r#"{"level":2}"#),
        ("ref=7", r#"{"ref":7}"#),
        ("free:=1", r#"{"free":1}"#),
        ("free:=null", r#"{"free":null}"#),
        ("maybe:=null", r#"{"maybe":null}"#),
        ("unknown:=null", r#"{"unknown":null}"#),
        ("text:=1", r#"{"text":1}"#),
        ("text:=\"1\"", r#"{"text":"1"}"#),
    ] {
        assert_eq!(one(word).as_deref(), Ok(built), "{word}");
    }
}

#[test]
fn a_value_that_cannot_have_its_type_is_refused() {
    for (word, says) in [
        ("count=1.5", "count must be integer"),
        ("count=one", "count must be integer"),
        ("count=\"1\"", "count must be integer"),
        ("on=yes", "on must be boolean"),
        ("on=1", "on must be boolean"),
        ("list=a", "list must be array"),
        ("map=[]", "map must be object"),
        ("count:=null", "count must be integer; null is not"),
        ("text:=null", "text must be string; null is not"),
        ("free:=a", "free is not JSON"),
        ("nothing", "is no argument"),
        ("=1", "is no argument"),
        (":=1", "is no argument"),
    ] {
        let said = one(word).unwrap_err();
        assert!(said.contains(says), "{word}: {said}");
    }
}

#[test]
fn args_come_first_and_words_win() {
    let built = build_with(&["count=2"], Some(r#"{"count":1,"text":"x"}"#), SCHEMA).unwrap().0;
    assert_eq!(built, r#"{"count":2,"text":"x"}"#);
    let exact = r#"{ "count" : 1.0 }"#;
    assert_eq!(build_with(&[], Some(exact), SCHEMA).unwrap().0, exact);
    for wrong in ["[1]", "{", "1", r#"{"a":1,"a":2}"#] {
        assert!(build_with(&[], Some(wrong), SCHEMA).is_err(), "{wrong}");
    }
    assert!(build_with(&["count=1", "count=2"], None, SCHEMA).is_err());
}

#[test]
fn unknown_names_fail_where_the_schema_is_closed_and_warn_where_it_is_open() {
    let closed =
        r#"{"type":"object","properties":{"timezone":{"type":"string"}},"additionalProperties":false}"#;
    let failure = build_with(&["timezon=x"], None, closed).unwrap_err();
    assert_eq!(failure.hint.as_deref(), Some("did you mean timezone?"));
    let open = r#"{"type":"object","properties":{"timezone":{"type":"string"}}}"#;
    let (built, warnings) = build_with(&["timezon=1"], None, open).unwrap();
    assert_eq!((built.as_str(), warnings.len()), (r#"{"timezon":"1"}"#, 1));
    let anything = r#"{"type":"object"}"#;
    assert_eq!(build_with(&["x=1"], None, anything).unwrap(), (r#"{"x":"1"}"#.to_owned(), vec![]));
    let typed = r#"{"type":"object","additionalProperties":{"type":"integer"}}"#;
    assert_eq!(build_with(&["x=1"], None, typed).unwrap(), (r#"{"x":1}"#.to_owned(), vec![]));
}

#[test]
fn what_is_missing_is_named() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{}},"required":["a","b","c"]}"#;
    let failure = build_with(&["b=1"], None, schema).unwrap_err();
    assert_eq!(failure.message, "s/t needs a (number), c");
}

#[test]
fn of_thousands_of_arguments_some_are_told() {
    let many = |one: &dyn Fn(usize) -> String| (0..2_000).map(one).collect::<Vec<_>>().join(",");
    let properties = many(&|n| format!(r#""a{n}":{{"type":"number"}}"#));
    let required = many(&|n| format!(r#""a{n}""#));
    let schema = format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
    );
    let failure = build_with(&["b=1"], None, &schema).unwrap_err();
    assert!(failure.message.contains("s/t needs a0 (number), a1 (number), "), "{}", failure.message.len());
    assert!(failure.message.ends_with(", a49 (number), and 1950 more"), "{}", failure.message.len());
    assert!(failure.hint.as_ref().is_some_and(|hint| hint.ends_with(", a49, and 1950 more")));
    let schema = RawJson::parse_str(&schema).unwrap();
    let shown = signature(Some(schema.view()));
    assert!(shown.starts_with("a0: number, ") && shown.ends_with(", a49: number, and 1950 more"), "{shown}");
}

#[test]
fn a_signature_is_short() {
    let schema = RawJson::parse_str(
        r#"{"properties":{"a":{"type":"string"},"b":{"type":["integer","null"]},"c":{"enum":["x",1]},"d":{},"e":{"type":"array","items":{"type":"string"}}},"required":["a"]}"#,
    )
    .unwrap();
    assert_eq!(
        signature(Some(schema.view())),
        "a: string, b?: null | integer, c?: \"x\" | 1, d?: any, e?: string[]"
    );
}
