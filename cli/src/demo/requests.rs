//! Requests by method.

use std::sync::Arc;

use sanswire::jsonrpc::{JsonRef, Kind, ObjectWriter, RawJson, RequestId};
use sanswire::mcp::legality::{Sender, legal};
use sanswire::mcp::{Method, Revision, codes, meta};

use super::exchange::{Caller, Exchange};
use super::{NAME, Server, Session, VERSION, catalog, tools};
use crate::json::{member, object, text};

/// Answers a request, or begins to.
pub(super) fn take(server: &Arc<Server>, id: RequestId, method: &str, params: Option<RawJson>) {
    let params = params.unwrap_or_else(RawJson::empty_object);
    let session = server.session();
    let said = member(params.view(), meta::META);
    let version = said.and_then(|said| text(said, meta::PROTOCOL_VERSION));
    let capabilities = said.and_then(|said| member(said, meta::CLIENT_CAPABILITIES));
    let (caller, elicitation) = match version {
        Some(_) => (Caller::Modern, capabilities.is_some_and(takes_forms)),
        None => (Caller::Legacy, session.elicitation),
    };
    let declared = capabilities.is_some();
    let call = Exchange { server: Arc::clone(server), id, caller, params, elicitation };
    let method = Method::from_name(method);
    let revision = match version {
        Some(version) if version != Revision::NEWEST_MODERN.as_str() => {
            let data = object(|w| {
                w.array_of_strings("supported", [Revision::NEWEST_MODERN.as_str()])
                    .string("requested", &version);
            });
            let message = "this version is not spoken here";
            return call.error(codes::UNSUPPORTED_VERSION, message, Some(data.view()));
        }
        Some(_) if !declared => {
            return call.error(codes::INVALID_PARAMS, "_meta lacks the client's capabilities", None);
        }
        Some(_) => Revision::NEWEST_MODERN,
        None if method == Method::Initialize => return initialize(&call),
        None if method == Method::ServerDiscover => {
            return call.error(codes::INVALID_PARAMS, "_meta lacks the protocol version", None);
        }
        None => match session.revision {
            Some(revision) => revision,
            None if method == Method::Ping => Revision::NEWEST_LEGACY,
            None => {
                let message = "initialize first, or say in _meta which version this request is in";
                return call.error(codes::INVALID_REQUEST, message, None);
            }
        },
    };
    if !legal(revision, Sender::Client, &method) {
        return call.error(codes::METHOD_NOT_FOUND, "no such method", None);
    }
    dispatch(call, &method);
}

fn dispatch(call: Exchange, method: &Method) {
    match method {
        Method::ServerDiscover => discover(&call),
        Method::Ping
        | Method::LoggingSetLevel
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe => {
            call.result(|_| {});
        }
        Method::ToolsList => list(&call, "tools", catalog::TOOLS),
        Method::ResourcesList => list(&call, "resources", catalog::RESOURCES),
        Method::ResourcesTemplatesList => list(&call, "resourceTemplates", catalog::TEMPLATES),
        Method::PromptsList => list(&call, "prompts", catalog::PROMPTS),
        Method::ToolsCall => tools::call(call),
        Method::ResourcesRead => read(&call),
        Method::PromptsGet => prompt(&call),
        Method::CompletionComplete => complete(&call),
        Method::SubscriptionsListen => listen(&call),
        _ => call.error(codes::METHOD_NOT_FOUND, "no such method", None),
    }
}

fn takes_forms(capabilities: JsonRef<'_>) -> bool {
    // An empty declaration means forms, as in the revision that brought them.
    member(capabilities, "elicitation")
        .is_some_and(|ways| member(ways, "form").is_some() || ways.members().next().is_none())
}

fn initialize(call: &Exchange) {
    let params = call.params.view();
    let asked = text(params, "protocolVersion").unwrap_or_default();
    let revision = Revision::from_date(&asked)
        .filter(|revision| revision.era() == sanswire::mcp::Era::Legacy)
        .unwrap_or(Revision::NEWEST_LEGACY);
    let elicitation = member(params, "capabilities").is_some_and(takes_forms);
    call.server.set_session(Session { revision: Some(revision), elicitation });
    call.result(|w| {
        w.string("protocolVersion", revision.as_str());
        w.object("serverInfo", |w| {
            w.string("name", NAME).string("version", VERSION);
        });
        introduce(w, true);
    });
}

fn discover(call: &Exchange) {
    call.cacheable(|w| {
        w.array_of_strings("supportedVersions", [Revision::NEWEST_MODERN.as_str()]);
        introduce(w, false);
    });
}

fn introduce(w: &mut ObjectWriter<'_>, legacy: bool) {
    w.object("capabilities", |w| {
        w.object("tools", |_| {});
        w.object("resources", |w| {
            w.bool("subscribe", legacy);
        });
        w.object("prompts", |_| {}).object("completions", |_| {});
    });
    w.string("instructions", "A server to try things out with. Nothing here changes anything.");
}

fn list(call: &Exchange, name: &str, items: &'static str) {
    if call.text("cursor").is_some() {
        return call.error(codes::INVALID_PARAMS, "there is one page only", None);
    }
    let items = RawJson::from_static(items).unwrap_or_else(|_| RawJson::null());
    call.cacheable(|w| {
        w.raw(name, items.view());
    });
}

fn read(call: &Exchange) {
    let uri = call.text("uri").unwrap_or_default();
    let (kind, name, content) = match uri.as_str() {
        "demo://readme" => ("text/markdown", "text", catalog::README.to_owned()),
        "demo://disc.png" => ("image/png", "blob", catalog::DISC_PNG.to_owned()),
        _ => match uri.strip_prefix("demo://greeting/").filter(|name| !name.is_empty()) {
            Some(name) => ("text/plain", "text", format!("Hello, {name}!")),
            None => {
                let data = object(|w| {
                    w.string("uri", &uri);
                });
                let code = match call.caller {
                    Caller::Legacy => codes::RESOURCE_NOT_FOUND,
                    Caller::Modern => codes::INVALID_PARAMS,
                };
                return call.error(code, "no such resource", Some(data.view()));
            }
        },
    };
    call.cacheable(|w| {
        w.array("contents", |w| {
            w.object(|w| {
                w.string("uri", &uri).string("mimeType", kind).string(name, &content);
            });
        });
    });
}

fn prompt(call: &Exchange) {
    let params = call.params.view();
    let argument = |name| member(params, "arguments").and_then(|arguments| text(arguments, name));
    if call.text("name").as_deref() != Some("greet") {
        return call.error(codes::INVALID_PARAMS, "no such prompt", None);
    }
    let Some(name) = argument("name") else {
        return call.error(codes::INVALID_PARAMS, "the argument name is missing", None);
    };
    let tone = argument("tone").unwrap_or_else(|| "friendly".into());
    call.result(|w| {
        w.string("description", "Asks a model to greet somebody.");
        w.array("messages", |w| {
            w.object(|w| {
                w.string("role", "user").object("content", |w| {
                    w.string("type", "text")
                        .string("text", &format!("Write a {tone} greeting for {name}, one sentence long."));
                });
            });
        });
    });
}

fn complete(call: &Exchange) {
    let params = call.params.view();
    let argument = member(params, "argument");
    let name = argument.and_then(|argument| text(argument, "name")).unwrap_or_default();
    let value = argument.and_then(|argument| text(argument, "value")).unwrap_or_default();
    let all: &[&str] = match name.as_str() {
        "name" => &catalog::NAMES,
        "tone" => &catalog::TONES,
        _ => &[],
    };
    let fits = |known: &&&str| known.to_lowercase().starts_with(&value.to_lowercase());
    let found: Vec<&str> = all.iter().filter(fits).copied().collect();
    call.result(|w| {
        w.object("completion", |w| {
            w.u64("total", found.len() as u64).bool("hasMore", false).array_of_strings("values", found);
        });
    });
}

/// Nothing here ever changes, so a subscription is acknowledged and stays silent.
fn listen(call: &Exchange) {
    let params = call.params.view();
    let Some(filter) = member(params, "notifications").filter(|filter| filter.kind() == Kind::Object) else {
        return call.error(codes::INVALID_PARAMS, "notifications is missing", None);
    };
    call.server.wire.send(|out| {
        sanswire::jsonrpc::write_notification(out, Method::SubscriptionsAcknowledged.as_str(), |params| {
            params.object(|w| {
                w.object(meta::META, |w| {
                    w.id(meta::SUBSCRIPTION_ID, &call.id);
                });
                w.raw("notifications", filter);
            });
        });
    });
}
