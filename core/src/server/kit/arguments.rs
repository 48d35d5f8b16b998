//! The arguments of tools and prompts, read into an author's own types.

use alloc::format;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::jsonrpc::{JsonRef, Misfit};
use crate::server::kit::reply::ToolError;

/// All arguments of a tool or prompt. A unit takes any.
///
/// # Errors
/// They do not fit: [`ToolError::Arguments`] names the first of them, and what is expected there.
pub fn arguments<'a, A: Deserialize<'a>>(arguments: JsonRef<'a>) -> Result<A, ToolError> {
    arguments.read().map_err(unfit)
}

/// One argument of a tool or prompt. `arguments`: all of them, if there are any. Where it may be left out, read an
/// `Option`.
///
/// # Errors
/// It is missing or does not fit: [`ToolError::Arguments`].
pub fn argument<T: DeserializeOwned>(arguments: Option<JsonRef<'_>>, name: &str) -> Result<T, ToolError> {
    let given = arguments.and_then(|arguments| arguments.get(name));
    given.unwrap_or(JsonRef::trusted(b"null")).read().map_err(|misfit| match given {
        Some(_) => unfit(misfit.in_member(name)),
        None => ToolError::Arguments(format!("the arguments do not fit: {name} is missing")),
    })
}

fn unfit(misfit: Misfit) -> ToolError {
    ToolError::Arguments(format!("the arguments do not fit: {misfit}"))
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::string::String;
    use core::fmt::Debug;

    use super::*;
    use crate::jsonrpc::RawJson;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Search {
        what: String,
        #[serde(default)]
        at_most: u8,
        order: Option<Order>,
        within: Area,
        #[serde(flatten)]
        others: BTreeMap<String, f64>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        Name,
        Size,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Area {
        Box { from: (f64, f64), to: (f64, f64) },
        Place { name: String },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        a: Either,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }

    fn read<T: DeserializeOwned + Debug>(text: &str) -> Result<T, String> {
        let sent = RawJson::parse_str(text).expect(text);
        arguments(sent.view()).map_err(|error| match error {
            ToolError::Arguments(said) => said.replace("the arguments do not fit: ", ""),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn types_derive_whatever_serde_can() {
        let text = r#"{"what":"x","atMost":5,"order":"size","within":{"kind":"box","from":[0,1.5],"to":[2,3]},"z":1}"#;
        let expected = Search {
            what: "x".into(),
            at_most: 5,
            order: Some(Order::Size),
            within: Area::Box { from: (0.0, 1.5), to: (2.0, 3.0) },
            others: BTreeMap::from([("z".into(), 1.0)]),
        };
        assert_eq!(read(text), Ok(expected));
        let text = r#"{"what":"x","within":{"name":"n","kind":"place"}}"#;
        assert_eq!(read::<Search>(text).map(|search| search.at_most), Ok(0));
        assert_eq!(read(r#"{"a":5}"#), Ok(Strict { a: Either::Number(5) }));
        assert_eq!(read(r#"{"a":"5"}"#), Ok(Strict { a: Either::Text("5".into()) }));
        for (text, said) in [
            (r#"{"within":{"kind":"place","name":"n"}}"#, "what is missing"),
            (r#"{"what":"x","atMost":256}"#, "atMost must be an integer from 0 to 255"),
            (r#"{"what":"x","order":"age"}"#, "order must be one of name, size"),
            (r#"{"what":"x","within":{"kind":"sea"}}"#, "within.kind must be one of box, place"),
            (r#"{"what":"x","within":{"kind":"box","from":[0]}}"#, "within must be a tuple of size 2"),
        ] {
            assert_eq!(read::<Search>(text), Err(said.into()), "{text}");
        }
        assert_eq!(read::<Strict>(r#"{"a":1,"b":2}"#), Err("b is not known; there is a".into()));
    }
}
