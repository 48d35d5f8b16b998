//! What the published schemas call valid, asked of a validator that is not ours.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use sanswire::mcp::Revision;
use sanswire_tests::schema::{definition, definitions, document};
use serde_json::{Value, json};

/// Where a type stands in the schema of a revision: its own definition, or the parameters of a request or notification,
/// which older revisions have no name for.
fn place(revision: Revision, name: &str) -> Option<String> {
    let root = definitions(revision);
    if definition(revision, name).is_some() {
        return Some(format!("#/{root}/{name}"));
    }
    let of = name.strip_suffix("Params")?;
    let message = definition(revision, of)?;
    message["properties"].get("params").map(|_| format!("#/{root}/{of}/properties/params"))
}

/// What is valid as this type in this revision; `None` if the revision has no such type. Formats are remarks.
pub(crate) fn validator(revision: Revision, name: &str) -> Option<Arc<Validator>> {
    type Known = Mutex<HashMap<(Revision, String), Option<Arc<Validator>>>>;
    static KNOWN: OnceLock<Known> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Known::default).lock().expect("nobody panics here");
    let build = || {
        let place = place(revision, name)?;
        let mut schema: Value = document(revision).clone();
        schema["$ref"] = json!(place);
        let built = jsonschema::options().should_validate_formats(false).build(&schema);
        Some(Arc::new(built.unwrap_or_else(|error| panic!("{revision} {name}: {error}"))))
    };
    known.entry((revision, name.to_owned())).or_insert_with(build).clone()
}

/// Whether `value` is valid as this type, which the revision has.
pub(crate) fn is_valid(revision: Revision, name: &str, value: &Value) -> bool {
    validator(revision, name).unwrap_or_else(|| panic!("{revision} has no {name}")).is_valid(value)
}

/// Fails if `value` is not valid, and says where.
pub(crate) fn assert_valid(revision: Revision, name: &str, value: &Value) {
    let validator = validator(revision, name).unwrap_or_else(|| panic!("{revision} has no {name}"));
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{revision} {name}: {value}\n{}", errors.join("\n"));
}
