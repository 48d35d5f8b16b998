//! Which server, and what of it: `server/tool`, `server.tool`, two words; or a server in no file.

use crate::advice::servers;
use crate::approvals::Control;
use crate::arguments::suggestion;
use crate::config::{Configuration, Entry};
use crate::context::Context;
use crate::failure::Failure;
use crate::mask::Mask;
use crate::options::Reach;
use crate::server::{GOES_WITH_URL, Server, is_address};

/// Something of a server.
pub(crate) struct Target {
    pub(crate) server: Server,
    /// A tool, a prompt, an address.
    pub(crate) item: String,
    /// The words that follow.
    pub(crate) rest: Vec<String>,
    /// What the files say of its calls; `None`: it stands in none.
    control: Option<Control>,
}

impl Target {
    /// Finds it in the first words. `what` is what they should name: "tool".
    pub(crate) fn find(
        context: &Context,
        words: &[String],
        reach: &Reach,
        what: &str,
    ) -> Result<Self, Failure> {
        let Some((first, rest)) = words.split_first() else {
            return Err(Failure::usage(format!("no {what} is named")));
        };
        if reach.is_given() {
            let server = Server::in_no_file(context, reach)?;
            return Ok(Self { server, item: first.clone(), rest: rest.to_vec(), control: None });
        }
        let configuration = context.configuration()?;
        let (entry, item) = locate(context, &configuration, first)?;
        let server = Server::of_entry(context, entry)?;
        let control = Some(Control::of_entry(&configuration, entry));
        if let Some(item) = item {
            return Ok(Self { server, item: item.into(), rest: rest.to_vec(), control });
        }
        match rest.split_first() {
            Some((item, rest)) => Ok(Self { server, item: item.clone(), rest: rest.to_vec(), control }),
            None => {
                let mask = Mask::new(server.secrets.iter().cloned());
                let lists = server.given.command(&context.common, &format!("{what}s"), None, &mask);
                Err(Failure::usage(format!("{first} is a server; which {what} of it?"))
                    .hint(format!("{lists} lists them")))
            }
        }
    }

    /// A command that tells more, for a hint: `sanswire inspect …` of this, `sanswire tools …` of its server.
    pub(crate) fn advice(&self, context: &Context, verb: &str, of_item: bool) -> String {
        let mask = Mask::new(self.server.secrets.iter().cloned());
        self.server.given.command(&context.common, verb, of_item.then_some(self.item.as_str()), &mask)
    }

    /// What the files say of its calls. Of a server that is in no file, they say something of all calls.
    pub(crate) fn control(&self, context: &Context) -> Result<Control, Failure> {
        match &self.control {
            Some(control) => Ok(control.clone()),
            None => Ok(Control::in_no_file(&context.configuration()?)),
        }
    }

    /// How it is named in messages.
    pub(crate) fn named(&self) -> String {
        format!("{}/{}", self.server.name, self.item)
    }
}

/// The entry that a word names, and what stands behind the name. A name itself may hold slashes and dots: the
/// whole word counts first, then the longest name.
fn locate<'c, 'w>(
    context: &Context,
    configuration: &'c Configuration,
    word: &'w str,
) -> Result<(&'c Entry, Option<&'w str>), Failure> {
    if let Some(entry) = configuration.find(word) {
        return Ok((entry, None));
    }
    let longest = configuration
        .entries
        .iter()
        .filter_map(|entry| {
            let item = word.strip_prefix(entry.name.as_str())?.strip_prefix(['/', '.'])?;
            Some((entry, item))
        })
        .max_by_key(|(entry, _)| entry.name.len());
    match longest {
        Some((entry, item)) => Ok((entry, Some(item).filter(|item| !item.is_empty()))),
        None => Err(unknown(context, configuration, word)),
    }
}

/// No server has that name.
pub(crate) fn unknown(context: &Context, configuration: &Configuration, word: &str) -> Failure {
    if is_address(word) {
        return Failure::not_found("an address is no name of a server").hint(GOES_WITH_URL);
    }
    let said = word.split(['/', '.']).next().unwrap_or(word);
    let known: Vec<String> = configuration.entries.iter().map(|entry| entry.name.clone()).collect();
    let failure = Failure::not_found(format!("there is no server {said:?}"));
    if context.common.no_mcp {
        return failure.hint("--no-mcp leaves all of them out");
    }
    let lists = servers(&context.common);
    match suggestion(said, &known) {
        Some(meant) => failure.hint(format!("did you mean {meant}? {lists} lists all")),
        None => failure.hint(format!("{lists} lists all; a server in no file goes behind --")),
    }
}

/// Servers by name, and which of them may be started.
pub(crate) type Selected = Vec<(String, Result<Server, Failure>)>;

/// The servers that a verb is about: those that are named, or all of our own files. The flag: exactly one was
/// asked for.
pub(crate) fn select(
    context: &Context,
    names: &[String],
    reach: &Reach,
) -> Result<(Selected, bool), Failure> {
    if reach.is_given() {
        // First what is wrong with it: a name may be what belongs to one of its words.
        let server = Server::in_no_file(context, reach)?;
        if let Some(name) = names.first() {
            return Err(Failure::usage(format!(
                "{name:?} and a server that is in no file: only one can be meant"
            )));
        }
        return Ok((vec![(server.name.clone(), Ok(server))], true));
    }
    let configuration = context.configuration()?;
    let entries = named(context, &configuration, names)?;
    let found = entries.into_iter().map(|entry| (entry.name.clone(), Server::of_entry(context, entry)));
    let found: Selected = found.collect();
    let single = !names.is_empty() && found.len() == 1;
    Ok((found, single))
}

/// The entries of these names, each once; without any, all of our own files.
pub(crate) fn named<'c>(
    context: &Context,
    configuration: &'c Configuration,
    names: &[String],
) -> Result<Vec<&'c Entry>, Failure> {
    let entries: Vec<&Entry> = if names.is_empty() {
        configuration.own().collect()
    } else {
        let mut once: Vec<&String> = Vec::new();
        for name in names {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        once.into_iter()
            .map(|name| configuration.find(name).ok_or_else(|| unknown(context, configuration, name)))
            .collect::<Result<_, _>>()?
    };
    if entries.is_empty() && context.common.no_mcp {
        return Err(Failure::usage("no server is used in this run").hint("--no-mcp leaves all of them out"));
    }
    if entries.is_empty() {
        return Err(Failure::usage("no server of your own is configured")
            .hint(
                "sanswire servers lists those of other programs; name the one that you mean, or take it over with \
                 sanswire import",
            ));
    }
    Ok(entries)
}
