//! Answers: how they are written.

use serde_json::json;

use crate::{Answer, Request, Server, modern};

/// Says it.
pub(crate) fn answer(server: &Server, request: &Request<'_>, answer: Answer) {
    let body = match answer {
        Answer::Later => return,
        Answer::Result(mut result) => {
            if request.modern {
                modern::complete(server, request, &mut result);
            }
            let pretty = server.fault("indented") && request.method == "tools/list";
            let result =
                if pretty { serde_json::to_string_pretty(&result) } else { serde_json::to_string(&result) };
            format!(r#""result":{}"#, result.unwrap_or_default())
        }
        Answer::Error(refusal) => {
            let mut error = json!({"code": refusal.code, "message": refusal.message});
            if !refusal.data.is_null() {
                error["data"] = refusal.data;
            }
            format!(r#""error":{error}"#)
        }
    };
    server.out.line(&format!(r#"{{"jsonrpc":"2.0","id":{},{body}}}"#, request.id));
}
