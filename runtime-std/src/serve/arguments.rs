//! Single arguments of a call.

use sanswire::jsonrpc::{Misfit, RawJson};
use serde::de::DeserializeOwned;

use crate::serve::call::Call;
use crate::serve::reply::ToolError;

impl Call<'_> {
    /// One argument of a tool or prompt. Where it may be left out, read an `Option`.
    ///
    /// # Errors
    /// It is missing or does not fit: pass it up, and the model is told.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, ToolError> {
        let null = RawJson::null();
        let given = self.arguments().and_then(|arguments| arguments.get(name));
        given.unwrap_or_else(|| null.view()).read().map_err(|misfit| match given {
            Some(_) => unfit(misfit.in_member(name)),
            None => ToolError::Arguments(format!("the arguments do not fit: {name} is missing")),
        })
    }
}

pub(super) fn unfit(misfit: Misfit) -> ToolError {
    ToolError::Arguments(format!("the arguments do not fit: {misfit}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

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
        let arguments = RawJson::parse_str(text).expect(text);
        arguments.view().read().map_err(|misfit| misfit.to_string())
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
