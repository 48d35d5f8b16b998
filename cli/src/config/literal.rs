//! Secrets that stand in an entry of a file of ours as they are, and not as a reference to a variable.

use sanswire::jsonrpc::JsonRef;

use super::expand::{Piece, Reference, Rules, pieces};
use super::kind::{Kind, Words};
use super::launch::{is_secret_name, secrets_by_word};
use super::remote::{Remote, shown};
use super::secrets;
use crate::output::escape;

/// What stands for a reference while a text is searched: what holds it is not there as it is.
const PUT_IN: char = '\u{fffc}';

/// From how many bytes on a value whose name says that it is secret is one.
const MIN: usize = 3;

/// A member that holds what looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// `headers.Authorization`, `args[1]`, `url`.
    pub(crate) member: String,
    remedy: &'static str,
}

impl Literal {
    /// What is to be known of it, without the secret.
    pub(crate) fn warning(&self, name: &str) -> String {
        let (name, member) = (escape::line(name), escape::line(&self.member));
        format!(
            "{name}: {member} holds what looks like a secret, which stands in the file as plain text; {}",
            self.remedy
        )
    }
}

const VARIABLE: &str = "put it into a variable, and write ${NAME} there instead (on a command line in single quotes). \
    Better still is a server that reads a variable of its own";
const ADDRESS: &str = "no variable is put in there: if the server takes it in a header as well, send it in one, as \
    ${NAME}";
const PROXY: &str = "leave it out, and say it by the variable HTTPS_PROXY or HTTP_PROXY instead";

/// The members of an entry, as it is written in a file of ours, in which a secret stands as it is. A default is such a
/// text, a reference without one is not.
pub(crate) fn literals(entry: JsonRef<'_>) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut tell = |member: String, remedy| found.push(Literal { member, remedy });
    match Kind::read(entry, Words::OWN, &mut Vec::new()) {
        Ok(Kind::Command { args, env, .. }) => {
            let mut told = None;
            for (n, secret) in secrets_by_word(&args.iter().map(|arg| written(arg)).collect::<Vec<_>>()) {
                if is_there(&secret) && told.replace(n) != Some(n) {
                    tell(format!("args[{n}]"), VARIABLE);
                }
            }
            for (name, value) in env {
                let value = written(&value);
                let mut secrets = Vec::new();
                secrets
                    .extend(Some(value.clone()).filter(|value| is_secret_name(&name) && value.len() >= MIN));
                secrets::within(&value, &mut secrets);
                if secrets.iter().any(|secret| is_there(secret)) {
                    tell(format!("env.{name}"), VARIABLE);
                }
            }
        }
        Ok(Kind::Http(Remote { url, headers, proxy, .. })) => {
            let mut secrets = Vec::new();
            secrets::within(&url, &mut secrets);
            if !secrets.is_empty() {
                tell("url".into(), ADDRESS);
            }
            for (name, value) in headers {
                let mut secrets = Vec::new();
                secrets::named(&name, &written(&value), &mut secrets);
                if secrets.iter().any(|secret| is_there(secret)) {
                    tell(format!("headers.{name}"), VARIABLE);
                }
            }
            if proxy.is_some_and(|proxy| shown(&proxy) != proxy) {
                tell("proxy".into(), PROXY);
            }
        }
        Ok(Kind::Demo | Kind::Broken(_)) | Err(_) => {}
    }
    found
}

/// A text with what stands in it as it is, and a sign for each reference.
fn written(text: &str) -> String {
    let mut out = String::new();
    for piece in pieces(text, Rules::Own) {
        match piece {
            Piece::Text(text) | Piece::Reference(Reference::Variable { default: Some(text), .. }, _) => {
                out.push_str(text);
            }
            Piece::Reference(..) => out.push(PUT_IN),
        }
    }
    out
}

fn is_there(secret: &str) -> bool {
    !secret.contains(PUT_IN)
}

#[cfg(test)]
mod tests {
    use sanswire::jsonrpc::RawJson;

    use super::*;

    #[test]
    fn what_stands_there_as_it_is_is_found_and_what_is_put_in_is_not() {
        for (entry, members) in [
            (
                r#"{"url":"https://x/mcp","headers":{"Authorization":"Bearer s3cret","X-Api-Key":"abc","X-Region":"eu-central-1"}}"#,
                &["headers.Authorization", "headers.X-Api-Key"][..],
            ),
            (
                r#"{"url":"https://x","headers":{"Authorization":"Bearer ${T}","X-Api-Key":"${K}","Cookie":"a=${C}; b"}}"#,
                &[],
            ),
            (
                r#"{"url":"https://x","headers":{"Authorization":"Bearer ${T:-s3cret}","X-Api-Key":"$${K}"}}"#,
                &["headers.Authorization", "headers.X-Api-Key"],
            ),
            (
                r#"{"url":"https://x","headers":{"X-Key":"${K:-}","X-Basic":"Basic dTpwdzEyMw=="}}"#,
                &["headers.X-Basic"],
            ),
            (r#"{"url":"https://x/mcp?v=2&api_key=s3cret"}"#, &["url"]),
            (r#"{"url":"https://x/mcp?v=2&page=s3cret"}"#, &[]),
            (r#"{"url":"https://x","proxy":"http://me:pw1@p:1"}"#, &["proxy"]),
            (r#"{"url":"https://x","proxy":"http://p:1"}"#, &[]),
            (r#"{"url":"https://x","bearer_env":"T"}"#, &[]),
            (
                r#"{"command":"x","args":["-y","--token=s3cret","--api-key","s3cret","--key","${K}"],"env":{"TOKEN":"s3cret","LEVEL":"debug-all"}}"#,
                &["args[1]", "args[3]", "env.TOKEN"],
            ),
            (
                r#"{"command":"x","args":["--header=Authorization: Bearer s3cret","postgres://u:pw1@h","postgres://u:${P}@h"]}"#,
                &["args[0]", "args[1]"],
            ),
            (
                r#"{"command":["x","--token","s3cret"],"env":{"DB":"postgres://${U:-me}:pw1@h","C":"{\"key\":\"s3cret\"}","D":"{\"key\":\"${K}\"}"}}"#,
                &["args[1]", "env.DB", "env.C"],
            ),
        ] {
            let json = RawJson::parse_str(entry).expect("JSON");
            let found = literals(json.view());
            let names: Vec<&str> = found.iter().map(|literal| literal.member.as_str()).collect();
            assert_eq!(names, members, "{entry}");
            for literal in found {
                let told = literal.warning("n");
                assert!(!told.contains("s3cret") && !told.contains("pw1"), "{told}");
            }
        }
    }
}
