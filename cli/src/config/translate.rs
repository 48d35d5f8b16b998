//! An entry of another program, as it would stand in a file of ours.

use std::path::Path;
use std::time::Duration;

use sanswire::jsonrpc::{ObjectWriter, RawJson};

use super::entry::Entry;
use super::expand::{Lookup, Piece, Reference, expand, pieces};
use super::kind::Kind;
use super::launch::{Values, is_secret_name};
use super::remote::{Remote, check_url};
use crate::json::object;

/// The entry in our own words; what it says of approvals is left behind. References stay references, so that no
/// secret is written down.
///
/// Fails, with the reason, where something cannot be said in our words, or has no value at present.
pub(crate) fn translate(entry: &Entry) -> Result<RawJson, String> {
    let values = Values::of(entry);
    let text = Translation { entry, values: &values };
    let access = &entry.access;
    let kind = match &entry.kind {
        Kind::Command { program, args, env, cwd } => {
            let folder = entry.file.as_deref().and_then(Path::parent);
            let program = text.resolved(program, "command")?;
            let args = args
                .iter()
                .enumerate()
                .map(|(n, arg)| text.put(arg, &format!("args[{n}]")))
                .collect::<Result<Vec<_>, _>>()?;
            let env = text.all(env, "env")?;
            let cwd = match cwd {
                Some(cwd) => {
                    let cwd = text.resolved(cwd, "cwd")?;
                    let cwd = folder.map_or_else(|| cwd.clone().into(), |folder| folder.join(&cwd));
                    Some(cwd.to_string_lossy().into_owned())
                }
                None if entry.origin.is_project() => values.workspace(),
                None => None,
            };
            Written::Command { program, args, env, cwd }
        }
        Kind::Http(remote) => {
            let url = text.resolved(&remote.url, "url")?;
            // What could not be used is not written down: it may hold a name and a password.
            check_url(&url).map_err(|why| format!("its url cannot be used: {why}"))?;
            Written::Web(Remote { url, headers: text.all(&remote.headers, "headers")?, ..remote.clone() })
        }
        Kind::Demo => return Err("it is built in".into()),
        Kind::Broken(why) => return Err(why.clone()),
    };
    Ok(object(|w| {
        write(w, &kind);
        if let Some(list) = &access.filter.allowed_tools {
            w.array_of_strings("allowed_tools", list.iter().map(String::as_str));
        }
        if !access.filter.blocked_tools.is_empty() {
            w.array_of_strings("blocked_tools", access.filter.blocked_tools.iter().map(String::as_str));
        }
        seconds(w, "connect_timeout", access.connect_timeout);
        seconds(w, "timeout", access.timeout);
        if entry.disabled {
            w.bool("disabled", true);
        }
    }))
}

/// What is written of the kind.
enum Written {
    Command { program: String, args: Vec<String>, env: Vec<(String, String)>, cwd: Option<String> },
    Web(Remote),
}

fn write(w: &mut ObjectWriter<'_>, kind: &Written) {
    match kind {
        Written::Command { program, args, env, cwd } => {
            w.string("command", program);
            if !args.is_empty() {
                w.array_of_strings("args", args.iter().map(String::as_str));
            }
            pairs(w, "env", env);
            if let Some(cwd) = cwd {
                w.string("cwd", cwd);
            }
            // It sees no more of the environment than it did before.
            w.string("inherit_env", "list");
        }
        Written::Web(remote) => remote.write(w),
    }
}

fn pairs(w: &mut ObjectWriter<'_>, name: &str, pairs: &[(String, String)]) {
    if !pairs.is_empty() {
        w.object(name, |w| {
            for (name, value) in pairs {
                w.string(name, value);
            }
        });
    }
}

fn seconds(w: &mut ObjectWriter<'_>, name: &str, time: Option<Duration>) {
    if let Some(time) = time {
        w.f64(name, time.as_secs_f64());
    }
}

struct Translation<'a> {
    entry: &'a Entry,
    values: &'a Values,
}

impl Translation<'_> {
    fn all(&self, pairs: &[(String, String)], member: &str) -> Result<Vec<(String, String)>, String> {
        let one = |(name, value): &(String, String)| {
            Ok((name.clone(), self.put(value, &format!("{member}.{name}"))?))
        };
        pairs.iter().map(one).collect()
    }

    /// A text in which our own references count.
    fn put(&self, text: &str, member: &str) -> Result<String, String> {
        let mut out = String::new();
        for piece in pieces(text, self.entry.origin.rules()) {
            let reference = match piece {
                Piece::Text(text) => {
                    out.push_str(&text.replace("${", "$${"));
                    continue;
                }
                Piece::Reference(reference, _) => reference,
            };
            let before = out.len();
            match reference {
                Reference::Variable { name, default: Some(default) } => {
                    out.push_str(&format!("${{{name}:-{default}}}"));
                }
                Reference::Variable { name, default: None } => {
                    if self.values.variable(name).is_none() {
                        return Err(format!("the variable {name} is not set; {member} needs it"));
                    }
                    out.push_str(&format!("${{{name}}}"));
                }
                Reference::Home => out.push_str("${HOME}"),
                Reference::Workspace | Reference::WorkspaceName if !self.entry.origin.is_project() => {
                    return Err(format!("{member} depends on the folder that is open"));
                }
                Reference::Workspace | Reference::WorkspaceName | Reference::Separator => {
                    out.push_str(&self.value(piece, member)?.replace("${", "$${"));
                }
                Reference::Input(_) | Reference::File(_) => return Err(self.missing(reference, member)),
            }
            // `$${` would be a `${` that is meant as it stands.
            if out.get(..before).is_some_and(|before| before.ends_with('$'))
                && out.get(before..).is_some_and(|put| put.starts_with("${"))
            {
                return Err(format!(
                    "{member} has a dollar sign before a reference, which cannot be written here"
                ));
            }
        }
        Ok(out)
    }

    /// A text in which ours do not count: what stands in it now is written down, unless it is secret.
    fn resolved(&self, text: &str, member: &str) -> Result<String, String> {
        let rules = self.entry.origin.rules();
        if !rules.everywhere() {
            return Ok(text.to_owned());
        }
        let mut out = String::new();
        for piece in pieces(text, rules) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Reference(Reference::Variable { name, .. }, _) if is_secret_name(name) => {
                    return Err(format!("{member} holds {name}, which would be written down in it"));
                }
                Piece::Reference(reference @ (Reference::Input(_) | Reference::File(_)), _) => {
                    return Err(self.missing(reference, member));
                }
                Piece::Reference(Reference::Workspace | Reference::WorkspaceName, _)
                    if !self.entry.origin.is_project() =>
                {
                    return Err(format!("{member} depends on the folder that is open"));
                }
                Piece::Reference(..) => out.push_str(&self.value(piece, member)?),
            }
        }
        Ok(out)
    }

    fn value(&self, piece: Piece<'_>, member: &str) -> Result<String, String> {
        let Piece::Reference(_, whole) = piece else { return Ok(String::new()) };
        let expanded = expand(whole, self.entry.origin.rules(), self.values);
        match expanded.unset.first() {
            Some(name) => Err(format!("the variable {name} is not set; {member} needs it")),
            None => Ok(expanded.text),
        }
    }

    fn missing(&self, reference: Reference<'_>, member: &str) -> String {
        match reference {
            Reference::File(path) => format!("{member} reads the file {path}, which cannot be written here"),
            Reference::Input(id) => {
                format!("{member} needs the input {id:?}, which {} asks for", self.entry.origin.title())
            }
            _ => format!("{member} cannot be written here"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::dialects::CLIENTS;
    use crate::config::entry::Origin;
    use crate::config::expand::Rules;

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a $${}:/\\\\]{0,3}",
            Just("${HOME}".to_owned()),
            Just("$HOME".to_owned()),
            Just("${env:HOME}".to_owned()),
            Just("$env:HOME".to_owned()),
            Just("{env:HOME}".to_owned()),
            Just("${HOME:-d}".to_owned()),
            Just("${SURELY_NOT_SET:-d e}".to_owned()),
            Just("${SURELY_NOT_SET}".to_owned()),
            Just("${userHome}${/}".to_owned()),
            Just("\\${HOME}".to_owned()),
            Just("$${HOME}".to_owned()),
        ]
    }

    proptest! {
        #[test]
        fn what_is_copied_means_what_it_meant(pieces in proptest::collection::vec(piece(), 0..5), n in 0..CLIENTS.len()) {
            let text = pieces.concat();
            let client = &CLIENTS[n];
            let args = vec![text.clone()];
            let kind = Kind::Command { program: "x".into(), args, env: Vec::new(), cwd: None };
            let entry = Entry::new("s".into(), kind, Origin::User(client));
            let values = Values::of(&entry);
            let meant = expand(&text, client.rules, &values);
            match translate(&entry) {
                Ok(copied) => {
                    let written = copied.view().get("args").and_then(|args| args.elements().next());
                    let written = written.and_then(|arg| arg.str()).map(|arg| arg.decode().into_owned());
                    let written = written.unwrap_or_default();
                    let ours = expand(&written, Rules::Own, &values);
                    prop_assert_eq!((&ours.text, ours.unset.len()), (&meant.text, 0), "{} {}", client.name, written);
                }
                Err(why) => prop_assert!(
                    !meant.unset.is_empty() || why.contains("dollar sign"),
                    "{} {}: {}", client.name, text, why
                ),
            }
        }
    }
}
