use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;

fn json(text: &str) -> RawJson {
    RawJson::parse_str(text).expect(text)
}

#[test]
fn prompts_and_their_arguments_are_read_one_by_one() {
    let page = prompts(&json(
        r#"{"prompts":[{"name":"review","title":"Review","description":"d","arguments":[
        {"name":"code","description":"The code","required":true},{"name":"style","required":null},{"title":"no"},5]},
        {"name":"plain","title":null,"arguments":null},{"name":"review"},{}],"nextCursor":""}"#,
    ));
    let [review, plain] = page.items.as_slice() else { panic!("two prompts: {page:?}") };
    assert_eq!((review.display_title().as_ref(), review.description().as_deref()), ("Review", Some("d")));
    let arguments: Vec<_> = review
        .arguments()
        .map(|argument| match argument {
            Ok(argument) => (argument.name.into_owned(), argument.required),
            Err(flaw) => (flaw.to_string(), false),
        })
        .collect();
    let expected = [
        ("code", true),
        ("style", false),
        ("it has no name", false),
        ("it is a number, not an object", false),
    ];
    assert_eq!(arguments, expected.map(|(name, required)| (name.to_string(), required)));
    assert_eq!((plain.display_title().as_ref(), plain.arguments().count()), ("plain", 0));
    assert_eq!(page.set_aside_total, 2);
    assert_eq!(page.next_cursor.as_deref(), Some(""));
}

#[test]
fn messages_say_who_speaks_and_hold_one_block_or_several() {
    let result = GetPromptResult::new(json(
        r#"{"description":"Code review","messages":[
        {"role":"user","content":{"type":"text","text":"a"}},
        {"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
        {"role":"system","content":{"type":"text","text":"d"}},{"role":null,"content":null},7]}"#,
    ));
    assert_eq!(result.description().as_deref(), Some("Code review"));
    let seen: Vec<_> = result
        .messages()
        .map(|message| {
            let texts: Vec<_> = message.content().filter_map(|block| block.text()).collect();
            (message.role(), texts.join("+"))
        })
        .collect();
    let expected =
        [(Some(Role::User), "a"), (Some(Role::Assistant), "b+c"), (None, "d"), (None, ""), (None, "")];
    assert_eq!(seen, expected.map(|(role, text)| (role, text.to_string())));
    for empty in ["{}", r#"{"messages":null}"#, "[]"] {
        assert_eq!(GetPromptResult::new(json(empty)).messages().count(), 0, "{empty}");
    }
}
