use std::fs;

use super::files::tests::Place;
use super::*;

fn state(place: &Place) -> State {
    State::at(Some(place.0.clone()), false)
}

fn told(state: &State) -> Vec<String> {
    state.told.lock().unwrap().clone()
}

#[test]
fn what_earlier_versions_wrote_is_still_read() {
    let place = Place::new();
    for (path, text) in [("trust/one", "/work/.mcp.json\n"), ("verdicts/two", "legacy\n")] {
        let path = place.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let state = state(&place);
    assert!(state.is_trusted("one", "/work/.mcp.json"));
    assert_eq!(state.verdict("two", |name| name == "legacy").as_deref(), Some("legacy"));
    assert_eq!(told(&state), [""; 0]);
}

#[test]
fn a_file_that_makes_no_sense_counts_as_lost_and_is_told_of_once() {
    // H-243
    let place = Place::new();
    let known = |name: &str| name == "modern";
    let file = "/work/.sanswire.json";
    for bytes in 0..file.len() {
        let one = state(&place);
        one.trust("key", file).unwrap();
        one.set_verdict("key", "modern");
        assert!(one.is_trusted("key", file) && one.verdict("key", known).is_some());
        fs::write(place.0.join("trust/key"), file.get(..bytes).unwrap()).unwrap();
        fs::write(place.0.join("verdicts/key"), [0xff, 0, b'm']).unwrap();
        for _ in 0..3 {
            assert!(!one.is_trusted("key", file), "{bytes}");
            assert_eq!(one.verdict("key", known), None);
        }
        assert_eq!(told(&one).len(), 2, "{:?}", told(&one));
        assert!(told(&one)[0].contains("trust/key makes no sense"));
        let next = state(&place);
        assert!(!next.is_trusted("key", file) && told(&next).is_empty());
    }
}

#[test]
fn without_a_folder_nothing_is_remembered_and_nothing_fails() {
    let none = State::at(None, false);
    assert!(none.trust("key", "file").is_err() && !none.is_trusted("key", "file"));
    none.set_verdict("key", "modern");
    let place = Place::new();
    fs::write(place.0.join("state"), "").unwrap();
    let file = State::at(Some(place.0.join("state")), false);
    assert!(file.trust("key", "file").is_err());
    assert!(told(&file)[0].contains("nothing is remembered"));
}
