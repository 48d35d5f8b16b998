//! Calls of tools: those that the plan allows, made once in a connection and shared by the checks that are about them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Answer, Lists, Talk};
use crate::finding::Finding;
use crate::transcript::From;

/// The most tools that are called because they change nothing.
const MOST: usize = 20;

/// A call that was made.
#[derive(Debug)]
pub(crate) struct Called {
    asked: String,
    /// The tool as it is listed; null if it is not.
    pub(crate) tool: Value,
    pub(crate) name: String,
    pub(crate) answer: Answer,
    /// The result; null where there is none, or it is no result yet.
    pub(crate) result: Value,
}

/// A call that may be made.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    pub(crate) name: String,
    /// The tool as it is listed; null if it is not.
    pub(crate) tool: Value,
    /// An object, as JSON.
    pub(crate) arguments: String,
}

impl Allowed {
    /// The members of its parameters, without the braces.
    pub(crate) fn members(&self) -> String {
        format!(r#""name":{},"arguments":{}"#, Value::from(self.name.as_str()), self.arguments)
    }
}

impl Talk {
    /// The calls that are allowed, made now or before in this connection. Where there are none it is noted why, and nothing
    /// comes back.
    pub(crate) fn calls(&mut self) -> Result<Option<Arc<Vec<Called>>>, Finding> {
        if let Some(known) = self.calls.clone() {
            self.transcript.push(From::Event, b"called before in this connection:");
            for call in known.iter() {
                self.transcript.push(From::Check, call.asked.as_bytes());
                self.transcript.push(From::Server, call.answer.bytes());
            }
            return Ok(Some(known));
        }
        let Some(calls) = self.allowed()? else { return Ok(None) };
        let mut made = Vec::new();
        for Allowed { name, tool, arguments } in calls {
            made.push(self.call(name, tool, &arguments)?);
        }
        let made = Arc::new(made);
        self.calls = Some(Arc::clone(&made));
        Ok(Some(made))
    }

    /// The calls that are allowed. Where there are none it is noted why, and nothing comes back.
    pub(crate) fn allowed(&mut self) -> Result<Option<Vec<Allowed>>, Finding> {
        let (asked, read_only) = (self.plan.calls.clone(), self.plan.read_only_calls);
        if asked.is_empty() && !read_only {
            self.not_tried("no call is allowed: --call NAME, or --read-only-calls")?;
            return Ok(None);
        }
        let list = self.list(Lists::Tools)?;
        let named =
            |name: &str| list.entries().find(|tool| tool["name"] == name).cloned().unwrap_or_default();
        let mut calls = Vec::new();
        for call in &asked {
            calls.push(Allowed {
                name: call.name.clone(),
                tool: named(&call.name),
                arguments: call.arguments.to_compact().as_str().to_owned(),
            });
        }
        for tool in list.entries().filter(|_| read_only).filter(|tool| only_reads(tool)).take(MOST) {
            if let (Some(name), Some(arguments)) = (tool["name"].as_str(), arguments(&tool["inputSchema"])) {
                let (name, arguments) = (name.to_owned(), arguments.to_string());
                calls.push(Allowed { name, tool: tool.clone(), arguments });
            }
        }
        if calls.is_empty() {
            self.not_tried(
                "no tool says that it changes nothing and needs no argument: --call NAME calls another",
            )?;
            return Ok(None);
        }
        Ok(Some(calls))
    }

    /// What may be asked for that is work for the server: what it lists, and the calls that are allowed. Methods, and the
    /// members of their parameters.
    pub(crate) fn work(&mut self) -> Result<Vec<(&'static str, String)>, Finding> {
        let mut work: Vec<_> = self.facts().lists().into_iter().map(|list| (list, String::new())).collect();
        if self.facts().declares("tools") && (!self.plan.calls.is_empty() || self.plan.read_only_calls) {
            let calls = self.allowed()?;
            // That there are none is no reason to try nothing here.
            self.take_not_tried();
            work.extend(calls.into_iter().flatten().map(|call| ("tools/call", call.members())));
        }
        Ok(work)
    }

    /// Whether tools may be called that say that they change nothing.
    pub(crate) const fn may_call_what_only_reads(&self) -> bool {
        self.plan.read_only_calls
    }

    /// Calls a tool that may be called. `arguments`: an object, as JSON.
    pub(crate) fn call(&mut self, name: String, tool: Value, arguments: &str) -> Result<Called, Finding> {
        let members = format!(r#""name":{},"arguments":{arguments}"#, Value::from(name.as_str()));
        let id = self.id().to_string();
        let asked = self.line(&id, "tools/call", &members);
        self.say_line(&asked);
        let answer = self.answer_to(&id)?;
        let result = answer.value().filter(|result| result["resultType"] != "input_required");
        Ok(Called { asked, tool, name, answer, result: result.unwrap_or_default() })
    }
}

/// Whether it says of itself that it changes nothing.
pub(crate) fn only_reads(tool: &Value) -> bool {
    tool["annotations"]["readOnlyHint"] == true
}

/// Arguments for a tool that needs none, or says itself what they may be: a default, a choice, an example, and no for a
/// boolean. None where one would have to be invented.
fn arguments(schema: &Value) -> Option<Value> {
    let mut members = Map::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let of = &schema["properties"][name];
        let first = |keyword: &str| of[keyword].as_array().and_then(|all| all.first()).cloned();
        let said = of.get("default").or_else(|| of.get("const")).cloned();
        let value = said.or_else(|| first("enum")).or_else(|| first("examples"));
        let value = value.or_else(|| (of["type"] == "boolean").then_some(Value::Bool(false)))?;
        members.insert(name.to_owned(), value);
    }
    Some(Value::Object(members))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_not_invented() {
        let of = |schema: Value| arguments(&schema);
        assert_eq!(of(json!({"type": "object"})), Some(json!({})));
        assert_eq!(of(json!({"properties": {"a": {"type": "string"}}})), Some(json!({})), "it is not needed");
        assert_eq!(of(json!({"properties": {"a": {"type": "string"}}, "required": ["a"]})), None);
        assert_eq!(
            of(
                json!({"properties": {"a": {"default": 1}, "b": {"enum": ["x", "y"]}, "c": {"type": "boolean"},
                "d": {"examples": [[]]}}, "required": ["a", "b", "c", "d"]})
            ),
            Some(json!({"a": 1, "b": "x", "c": false, "d": []}))
        );
    }
}
