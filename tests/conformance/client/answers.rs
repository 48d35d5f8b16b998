//! What is answered when a server asks.

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::form::{FieldKind, Form};
use sanswire::mcp::types::input::{InputAnswer, InputKind, InputRequest};
use sanswire_std::Responder;

/// Hands every form in as it was shown: with its defaults. A yes or no that has none is a yes.
pub(crate) struct Filler;

impl Responder for Filler {
    fn respond(&self, request: &InputRequest) -> InputAnswer {
        let params = request.params.as_ref().filter(|_| request.kind == InputKind::ElicitForm);
        let Some(Ok(form)) = params.map(|params| Form::read(params.view())) else {
            return InputAnswer::Decline;
        };
        InputAnswer::accept(Some(&RawJson::object(|w| {
            for field in &form.fields {
                match &field.default {
                    Some(default) => w.raw(&field.name, default.view()),
                    None if field.kind == FieldKind::Boolean => w.bool(&field.name, true),
                    None => continue,
                };
            }
        })))
    }
}
