use std::fs;

use sanswire::host::Mask;
use sanswire::host::catalog::{Definition, DefinitionLimits};
use sanswire::mcp::types::page::ListItem as _;
use sanswire::mcp::types::tool::Tool;

use super::super::files::tests::Place;
use super::*;

fn state(place: &Place) -> State {
    State::at(Some(place.0.clone()), false)
}

fn pin(name: &str) -> Option<Pin> {
    let text = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let tool = Tool::read(RawJson::parse_str(&text).unwrap()).unwrap();
    let limits = DefinitionLimits::default();
    Some(Definition::of("a", &tool, &limits, &Mask::default()).unwrap().pin())
}

fn key(server: &str, name: &str) -> ToolKey {
    ToolKey::new("identity", Provenance::new(server, name))
}

const ONE: DefinitionHash = DefinitionHash([1; 32]);
const TWO: DefinitionHash = DefinitionHash([2; 32]);

fn session(name: &str) -> Option<Scope> {
    Some(Scope::Session(name.into()))
}

#[test]
fn a_grant_is_for_one_tool_of_what_runs_there_as_it_is_defined() {
    // H-060, H-067, H-068, C-12
    let place = Place::new();
    let state = state(&place);
    let at = key("a", "b");
    assert_eq!(state.holds(&at, ONE, None), Held::No);
    state.allow(&at, pin("b"), ONE, None).unwrap();
    assert_eq!(state.holds(&at, ONE, Some("here")), Held::No, "once is once");
    state.allow(&at, pin("b"), ONE, session("here")).unwrap();
    assert_eq!(state.holds(&at, ONE, Some("here")), Held::Yes);
    assert_eq!(state.holds(&at, ONE, Some("there")), Held::No);
    assert_eq!(state.holds(&at, ONE, None), Held::No);
    state.allow(&at, pin("b"), ONE, Some(Scope::Always)).unwrap();
    assert_eq!(state.holds(&at, ONE, None), Held::Yes);
    for other in [key("a", "c"), key("ab", ""), key("", "ab"), ToolKey::new("other", at.tool.clone())] {
        assert_eq!(state.holds(&other, ONE, Some("here")), Held::No);
    }
    // Otherwise defined, it is lost for good, also when it changes back.
    assert_eq!(state.holds(&at, TWO, None), Held::Lost);
    assert_eq!(state.holds(&at, ONE, Some("here")), Held::Lost);
    assert_eq!(state.grants(), []);
    state.allow(&at, pin("b"), TWO, session("here")).unwrap();
    assert_eq!(state.holds(&at, TWO, Some("here")), Held::Yes);
    assert_eq!(state.holds(&at, TWO, None), Held::No, "what was said of the other definition is over");
}

#[test]
fn a_session_ends_and_there_are_not_too_many() {
    let place = Place::new();
    let state = state(&place);
    let at = key("a", "b");
    for n in 0..MAX_SESSIONS + 4 {
        state.allow(&at, pin("b"), ONE, session(&n.to_string())).unwrap();
    }
    assert_eq!(state.grants()[0].sessions.len(), MAX_SESSIONS);
    assert_eq!(state.holds(&at, ONE, Some("0")), Held::No);
    assert_eq!(state.holds(&at, ONE, Some("19")), Held::Yes);
    let path = place.0.join("grants").join(&at.file);
    let over = fs::read_to_string(&path).unwrap().replace(r#""19":1"#, r#""19":0.1,"x":1"#);
    fs::write(&path, over).unwrap();
    assert_eq!(state.holds(&at, ONE, Some("18")), Held::No, "no number of seconds");
    state.allow(&at, pin("b"), ONE, session("19")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let (before, after) = text.split_once(r#""19":"#).unwrap();
    let past = after.replacen(|c: char| c.is_ascii_digit(), "", 9);
    fs::write(&path, format!("{before}\"19\":{past}")).unwrap();
    assert_eq!(state.holds(&at, ONE, Some("19")), Held::No, "it is over");
    assert_eq!(state.grants(), []);
}

#[test]
fn a_torn_grant_allows_nothing_and_is_told_of_once() {
    // H-243
    let place = Place::new();
    let at = key("a", "b");
    let path = place.0.join("grants").join(&at.file);
    let whole = {
        state(&place).allow(&at, pin("b"), ONE, Some(Scope::Always)).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    for bytes in 0..whole.len() - 1 {
        fs::write(&path, whole.get(..bytes).unwrap()).unwrap();
        let state = state(&place);
        assert_eq!(state.holds(&at, ONE, None), Held::No, "{bytes}");
        assert_eq!(state.holds(&at, ONE, None), Held::No);
        assert_eq!(state.told.lock().unwrap().len(), 1);
        assert!(!path.exists());
    }
    for wrong in ["{}", "[]", &whole.replace("\"b\"", "\"c\""), &whole.replace("01", "0g"), "\u{0}"] {
        fs::write(&path, wrong).unwrap();
        assert_eq!(state(&place).holds(&at, ONE, None), Held::No, "{wrong}");
    }
}

#[test]
fn a_definition_is_kept_as_it_was_and_takes_its_grant_along() {
    // H-243
    let place = Place::new();
    let state = state(&place);
    let at = key("a", "b");
    assert_eq!(state.pin(&at), None);
    state.allow(&at, pin("b"), ONE, Some(Scope::Always)).unwrap();
    assert_eq!(state.pin(&at), pin("b"));
    assert!(!pin("b").unwrap().lines().is_empty());
    // Of one that could not be kept nothing older is left.
    state.allow(&at, None, TWO, None).unwrap();
    assert_eq!(state.pin(&at), None);
    state.allow(&at, pin("b"), ONE, Some(Scope::Always)).unwrap();
    // As old as can be, it is the one that goes.
    let old = fs::File::options().write(true).open(place.0.join("definitions").join(&at.file)).unwrap();
    old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    for n in 0..DEFINITIONS.max_files - 1 {
        fs::write(place.0.join("definitions").join(format!("{n}")), "").unwrap();
    }
    assert_eq!(state.holds(&at, ONE, None), Held::Yes);
    state.allow(&key("a", "new"), pin("new"), ONE, None).unwrap();
    assert_eq!(state.pin(&at), None);
    assert_eq!(state.holds(&at, ONE, None), Held::No);
}

#[test]
fn what_was_allowed_can_be_taken_back() {
    let place = Place::new();
    let state = state(&place);
    for (identity, server, name) in [("1", "a", "b"), ("2", "a", "b"), ("1", "a", "c")] {
        let at = ToolKey::new(identity, Provenance::new(server, name));
        state.allow(&at, pin(name), ONE, Some(Scope::Always)).unwrap();
    }
    let names = |state: &State| -> Vec<String> {
        state.grants().iter().map(|grant| grant.tool.to_string()).collect()
    };
    assert_eq!(names(&state), ["a/b", "a/b", "a/c"]);
    assert_eq!(state.revoke("a/x").unwrap(), 0);
    assert_eq!(state.revoke("a/b").unwrap(), 2);
    assert_eq!(names(&state), ["a/c"]);
}
