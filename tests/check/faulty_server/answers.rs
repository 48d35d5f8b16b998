//! Answers: how they are written.

use serde_json::json;

use crate::{Answer, Request, Server, ids, modern};

/// Says it.
pub(crate) fn answer(server: &Server, request: &Request<'_>, answer: Answer) {
    let opens = matches!(request.method, "initialize" | "server/discover");
    let mut version = r#""jsonrpc":"2.0","#;
    let body = match answer {
        Answer::Later => return,
        Answer::Result(_) if server.fault("results-that-are-null") && !opens => r#""result":null"#.into(),
        Answer::Result(mut result) => {
            if request.modern {
                modern::complete(server, request, &mut result);
            }
            let pretty = server.fault("indented") && request.method == "tools/list";
            let result =
                if pretty { serde_json::to_string_pretty(&result) } else { serde_json::to_string(&result) };
            let error = if server.fault("results-with-errors") { r#""error":null,"# } else { "" };
            format!(r#"{error}"result":{}"#, result.unwrap_or_default())
        }
        Answer::Error(refusal) => {
            if server.fault("errors-without-a-version") {
                version = "";
            }
            let mut error = json!({"code": refusal.code, "message": refusal.message});
            if !refusal.data.is_null() {
                error["data"] = refusal.data;
            }
            if server.fault("codes-in-strings") {
                error["code"] = json!(refusal.code.to_string());
            }
            if server.fault("errors-without-a-message") {
                error.as_object_mut().map(|error| error.remove("message"));
            }
            format!(r#""error":{error}"#)
        }
    };
    for _ in 0..ids::times(server, &request.id) {
        server.out.line(&format!(r#"{{{version}"id":{},{body}}}"#, request.id));
    }
}
