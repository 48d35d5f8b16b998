use serde_json::{Value, json};

use super::{FORMATS, Unread, lines};

fn item(id: u64, name: &str, inner: Value) -> Value {
    json!({ "id": id, "crate_id": 0, "name": name, "visibility": "public", "attrs": [], "inner": inner })
}

fn nothing() -> Value {
    json!({ "params": [], "where_predicates": [] })
}

/// `mod inner { pub struct Thing(private, pub u8); impl Thing { pub fn put(&mut self, all: Option<&[u8]>) -> Self } }`, which is
/// private, and `pub mod deep { pub use inner::Thing; }` and `pub use inner::Thing;` before it.
fn document() -> Value {
    let bytes = json!({ "borrowed_ref": { "lifetime": null, "is_mutable": false, "type": { "slice": { "primitive": "u8" } } } });
    let maybe = json!({ "resolved_path": { "path": "Option", "id": 90,
        "args": { "angle_bracketed": { "args": [{ "type": bytes }], "constraints": [] } } } });
    let this =
        json!({ "borrowed_ref": { "lifetime": null, "is_mutable": true, "type": { "generic": "Self" } } });
    let thing = json!({ "resolved_path": { "path": "Thing", "id": 4, "args": null } });
    let put = json!({ "function": { "sig": { "inputs": [["self", this], ["all", maybe]], "output": thing },
        "generics": nothing(), "header": { "is_const": false, "is_unsafe": false, "is_async": false }, "has_body": true } });
    let imp = |of: Value, items: Value, blanket: Value| {
        json!({ "impl": { "generics": nothing(), "trait": of, "for": thing, "items": items,
            "is_negative": false, "is_synthetic": false, "blanket_impl": blanket } })
    };
    let clone = json!({ "path": "$crate::clone::Clone", "id": 91, "args": null });
    let everybody = json!({ "generic": "T" });
    let used = json!({ "use": { "source": "inner::Thing", "name": "Thing", "id": 4, "is_glob": false } });
    json!({
        "format_version": FORMATS.end(), "root": 1,
        "paths": {
            "90": { "crate_id": 2, "path": ["core", "option", "Option"] },
            "91": { "crate_id": 2, "path": ["core", "clone", "Clone"] },
        },
        "index": {
            "1": item(1, "it", json!({ "module": { "items": [2, 3] } })),
            "2": item(2, "deep", json!({ "module": { "items": [5] } })),
            "3": item(3, "", used.clone()),
            "4": item(4, "Thing", json!({ "struct": { "kind": { "tuple": [null, 9] }, "generics": nothing(), "impls": [6, 7, 8] } })),
            "5": item(5, "", used),
            "6": item(6, "", imp(Value::Null, json!([10]), Value::Null)),
            "7": item(7, "", imp(clone.clone(), json!([]), Value::Null)),
            "8": item(8, "", imp(clone, json!([]), everybody)),
            "9": item(9, "1", json!({ "struct_field": { "primitive": "u8" } })),
            "10": item(10, "put", put),
        },
    })
}

#[test]
fn each_item_is_told_once_under_its_shortest_path() {
    let told = lines(&document()).unwrap();
    let expected = [
        "impl Clone for Thing",
        "struct Thing(_, u8)",
        "fn Thing::put(&mut self, all: Option<&[u8]>) -> Thing",
        "mod deep",
        "use deep::Thing = Thing",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_is_not_known_is_refused_and_not_left_out() {
    let mut document = document();
    document["index"]["9"]["inner"]["struct_field"] = json!({ "riddle": 1 });
    assert!(matches!(lines(&document), Err(Unread::Unknown(what)) if what.contains("riddle")));
    document["format_version"] = json!(FORMATS.end() + 1);
    assert_eq!(lines(&document), Err(Unread::Format(FORMATS.end() + 1)));
}
