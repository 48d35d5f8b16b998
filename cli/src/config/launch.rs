//! From an entry to what is started.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::entry::{Entry, Origin};
use super::expand::{Expanded, Lookup, Rules, expand};
use super::kind::Kind;
use super::secrets;
use crate::failure::Failure;
use crate::mask::Mask;
use crate::options::Inherit;

/// The most that is read of a file that a configuration puts in.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// A program to start, with everything put in.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) inherit: Inherit,
    /// What must not be shown.
    pub(crate) secrets: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// What `entry` starts. Fails where a variable of a file of ours has no value, or the entry cannot be used.
pub(crate) fn launch(entry: &Entry) -> Result<Launch, Failure> {
    match &entry.kind {
        Kind::Demo => {
            let program = std::env::current_exe()
                .map_err(|error| Failure::usage(format!("the path of this program is unknown: {error}")))?;
            Ok(Launch {
                program: program.into(),
                args: vec!["demo-server".into()],
                env: Vec::new(),
                cwd: None,
                inherit: Inherit::All,
                secrets: Vec::new(),
                warnings: Vec::new(),
            })
        }
        Kind::Http(_) => Err(Failure::usage(format!("{} is no program", entry.place())).of(&entry.name)),
        Kind::Broken(why) => {
            Err(Failure::usage(format!("{} cannot be used: {why}", entry.place())).of(&entry.name))
        }
        Kind::Command { program, args, env, cwd } => command(entry, program, args, env, cwd.as_deref()),
    }
}

fn command(
    entry: &Entry,
    program: &str,
    args: &[String],
    env: &[(String, String)],
    cwd: Option<&str>,
) -> Result<Launch, Failure> {
    let rules = entry.origin.rules();
    let base = entry.file.as_deref().and_then(Path::parent);
    let values = Values::of(entry);
    let mut out = Expansion::of(entry, &values);
    // Our own files say where their references count; for others it is everywhere in these members.
    let program = if rules.everywhere() { out.put_in(program, "command")?.text } else { program.to_owned() };
    let mut words = Vec::with_capacity(args.len());
    for (n, arg) in args.iter().enumerate() {
        let expanded = out.put_in(arg, &format!("args[{n}]"))?;
        out.secrets.extend(variable_secrets(&expanded.values));
        words.push(OsString::from(expanded.text));
    }
    out.secrets.extend(secret_words(&words));
    let mut variables = Vec::with_capacity(env.len());
    for (name, value) in env {
        let value = out.put_in(value, &format!("env.{name}"))?.text;
        variables.push((name.clone(), value));
    }
    out.secrets.extend(variable_secrets(&variables));
    let cwd = match cwd {
        Some(cwd) if rules.everywhere() => Some(out.put_in(cwd, "cwd")?.text),
        cwd => cwd.map(str::to_owned),
    };
    let cwd = match (cwd, base) {
        (Some(cwd), Some(base)) => Some(base.join(cwd)),
        (Some(cwd), None) => Some(cwd.into()),
        (None, _) if entry.origin.is_project() => values.workspace.clone().map(PathBuf::from),
        (None, _) => None,
    };
    // What comes with a project, or from another program, sees no more than it says it needs.
    let all = matches!(entry.origin, Origin::Own);
    let inherit = entry.inherit.unwrap_or(if all { Inherit::All } else { Inherit::List });
    let (secrets, warnings) = (out.secrets, out.warnings);
    Ok(Launch {
        program: resolve_program(program, cwd.as_deref()),
        args: words,
        env: variables,
        cwd,
        inherit,
        secrets,
        warnings,
    })
}

/// What is put in for the references of one entry, and what came up with it.
pub(super) struct Expansion<'a> {
    entry: &'a Entry,
    rules: Rules,
    values: &'a Values,
    pub(super) secrets: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Expansion<'a> {
    pub(super) const fn of(entry: &'a Entry, values: &'a Values) -> Self {
        let rules = entry.origin.rules();
        Self { entry, rules, values, secrets: Vec::new(), warnings: Vec::new() }
    }

    /// Expands what a member holds. Fails where something has no value and is needed.
    pub(super) fn put_in(&mut self, text: &str, member: &str) -> Result<Expanded, Failure> {
        let expanded = expand(text, self.rules, self.values);
        if let Some(name) = expanded.unset.first() {
            let place = self.entry.place();
            if !self.rules.unset_stays() {
                return Err(self.unset(name, &place, member));
            }
            self.warnings
                .push(format!("{place}: the variable {name} is not set; {member} keeps it as it is written"));
        }
        Ok(expanded)
    }

    fn unset(&self, name: &str, place: &str, member: &str) -> Failure {
        let failure = match name.split_once(':') {
            Some(("input", id)) => Failure::usage(format!(
                "{place} needs the input {id:?} for {member}, which {} asks for",
                self.entry.origin.title()
            )),
            Some(("file", path)) => {
                Failure::usage(format!("{place} needs the file {path} for {member}, which cannot be read"))
            }
            _ => {
                let failure =
                    Failure::usage(format!("the variable {name} is not set; {place} needs it for {member}"));
                if self.rules == Rules::Own {
                    failure.hint(format!("set {name}, or give it a default: ${{{name}:-…}}"))
                } else {
                    failure.hint(format!("set {name}"))
                }
            }
        };
        failure.of(&self.entry.name)
    }
}

/// What a file's references stand for, here and now.
pub(super) struct Values {
    workspace: Option<String>,
    /// The folder of the file.
    folder: Option<PathBuf>,
    of_project: bool,
}

impl Values {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            workspace: workspace(entry),
            folder: entry.file.as_deref().and_then(Path::parent).map(Path::to_path_buf),
            of_project: entry.origin.is_project(),
        }
    }
}

impl Lookup for Values {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn workspace(&self) -> Option<String> {
        self.workspace.clone()
    }

    fn file(&self, path: &str) -> Option<String> {
        // A file of a project may name anything.
        if self.of_project {
            return None;
        }
        let path = match (path.strip_prefix("~/"), std::env::var("HOME").ok()) {
            (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
            _ => self.folder.as_ref()?.join(path),
        };
        let mut text = String::new();
        std::fs::File::open(path).ok()?.take(MAX_SECRET_BYTES).read_to_string(&mut text).ok()?;
        Some(text.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// The folder of the project that an entry belongs to: where its file stands, or the present one.
fn workspace(entry: &Entry) -> Option<String> {
    let folder = match entry.file.as_deref().and_then(Path::parent) {
        // Files of a program's own folder in the project, such as .cursor/mcp.json.
        Some(folder) if entry.origin.is_project() && is_programs_own(folder) => {
            folder.parent()?.to_path_buf()
        }
        Some(folder) if entry.origin.is_project() => folder.to_path_buf(),
        _ => std::env::current_dir().ok()?,
    };
    Some(folder.to_string_lossy().into_owned())
}

fn is_programs_own(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    [".cursor", ".vscode", ".github", ".codex", ".gemini", ".opencode", ".zed"].contains(&name.as_str())
}

/// A relative path means the folder that the server starts in; a bare name is looked for in PATH.
fn resolve_program(program: String, cwd: Option<&Path>) -> OsString {
    match cwd {
        Some(cwd) if program.contains('/') => cwd.join(program).into(),
        _ => program.into(),
    }
}

/// Names that say that their value is secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    Mask::is_name(name)
}

/// The values among these variables that are to be kept out of sight.
pub(crate) fn variable_secrets(variables: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in variables {
        if is_secret_value(name, value) {
            found.push(value.clone());
        }
        secrets::within(value, &mut found);
    }
    found
}

/// Variables that everybody has and nobody hides: without their values a path in a message would be no path.
const HARMLESS: [&str; 11] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "TMPDIR",
    "userHome",
    "workspaceFolder",
    "workspaceFolderBasename",
];

/// Whether the value of a variable is to be kept out of sight. Short ones that do not look secret would make
/// every text unreadable: `1`, `debug`, `true`.
fn is_secret_value(name: &str, value: &str) -> bool {
    if is_secret_name(name) { value.len() >= 3 } else { value.len() >= 8 && !HARMLESS.contains(&name) }
}

/// What follows a flag that says that it is secret: `--token=x`, `--api-key x`, `-e NAME=x`; and what is secret
/// within a word: a password in an address, a header, a member of an object.
pub(crate) fn secret_words<W: AsRef<std::ffi::OsStr>>(words: &[W]) -> Vec<String> {
    secrets_by_word(words).into_iter().map(|(_, secret)| secret).collect()
}

/// As [`secret_words`], each with the number of its word.
pub(super) fn secrets_by_word<W: AsRef<std::ffi::OsStr>>(words: &[W]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut flag: Option<String> = None;
    for (n, word) in words.iter().enumerate() {
        let word = word.as_ref().to_string_lossy();
        let mut inside = Vec::new();
        secrets::within(&word, &mut inside);
        let value = match (word.split_once('='), flag.take()) {
            (Some((name, value)), _) if is_secret_name(name) => Some(value),
            (_, Some(flag)) if is_secret_name(&flag) && !word.starts_with('-') => Some(&*word),
            _ => None,
        };
        inside.extend(value.filter(|value| value.len() >= 3).map(str::to_owned));
        found.extend(inside.into_iter().map(|secret| (n, secret)));
        if word.starts_with('-') && !word.contains('=') {
            flag = Some(word.into_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_99_secrets_among_arguments_are_known() {
        let words =
            ["run", "-e", "API_KEY=one1", "--token=two2", "--secret", "three3", "--port", "8080", "x"];
        assert_eq!(secret_words(&words), ["one1", "two2", "three3"]);
    }
}
