//! Listings: asked for once in a connection, page by page, and shared by the checks that are about them.

use std::sync::Arc;

use serde_json::Value;

use super::{Answer, Talk};
use crate::finding::Finding;
use crate::transcript::From;

/// The most pages of a listing, and the most entries.
const MOST_PAGES: usize = 100;
const MOST_ENTRIES: usize = 10_000;

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Lists {
    pub(crate) const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];

    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the result that holds them.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// The capability that has to be declared for it.
    pub(crate) const fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// The member that tells an entry from others.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
            Self::Tools | Self::Prompts => "name",
        }
    }
}

/// A page: what was asked, what came, and the same decoded.
#[derive(Debug)]
pub(crate) struct Page {
    asked: String,
    pub(crate) answer: Answer,
    /// The result; null where there is none, or it is too deep to be decoded.
    pub(crate) result: Value,
}

/// A listing.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) of: Lists,
    pub(crate) pages: Vec<Page>,
    /// Whether the last page was reached.
    pub(crate) ends: bool,
}

impl List {
    /// The error that came instead of a page.
    pub(crate) fn refusal(&self) -> Option<String> {
        let last = &self.pages.last()?.answer;
        last.result().is_none().then(|| format!("{} is answered with {}", self.of.method(), last.text()))
    }

    /// The entries of all pages, in their order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Value> {
        self.pages.iter().flat_map(|page| page.result[self.of.member()].as_array().into_iter().flatten())
    }

    /// The keys of all entries that have one.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().filter_map(|entry| entry[self.of.key()].as_str())
    }

    /// How many bytes the results have.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.iter().filter_map(|page| page.answer.result()).map(|it| it.as_bytes().len()).sum()
    }
}

impl Talk {
    /// The listing: asked for now, or as it was before in this connection. Then what was said is told again, so that what
    /// is found in it has its proof.
    pub(crate) fn list(&mut self, of: Lists) -> Result<Arc<List>, Finding> {
        if let Some(known) = self.lists.iter().find(|list| list.of == of).cloned() {
            self.transcript.push(From::Event, b"listed before in this connection:");
            for page in &known.pages {
                self.transcript.push(From::Check, page.asked.as_bytes());
                self.transcript.push(From::Server, page.answer.bytes());
            }
            return Ok(known);
        }
        let list = Arc::new(self.list_anew(of)?);
        self.lists.push(Arc::clone(&list));
        Ok(list)
    }

    /// The listing, asked for now.
    pub(crate) fn list_anew(&mut self, of: Lists) -> Result<List, Finding> {
        let mut list = List { of, pages: Vec::new(), ends: false };
        let mut cursor = None;
        while list.pages.len() < MOST_PAGES && list.entries().count() < MOST_ENTRIES {
            let page = self.page(of, cursor.as_ref())?;
            let next = page.result.get("nextCursor").filter(|next| !next.is_null()).cloned();
            list.pages.push(page);
            cursor = next;
            if cursor.is_none() {
                list.ends = true;
                break;
            }
        }
        Ok(list)
    }

    /// One page.
    pub(crate) fn page(&mut self, of: Lists, cursor: Option<&Value>) -> Result<Page, Finding> {
        let members = cursor.map_or_else(String::new, |cursor| format!(r#""cursor":{cursor}"#));
        let id = self.id().to_string();
        let asked = self.line(&id, of.method(), &members);
        self.say_line(&asked);
        let answer = self.answer_to(&id)?;
        let result = answer.value().unwrap_or_default();
        Ok(Page { asked, answer, result })
    }

    /// The first of the listings whose capability is declared: what all of them have to do is tried with it.
    pub(crate) fn any_list(&self) -> Option<Lists> {
        let of = [Lists::Tools, Lists::Prompts, Lists::Resources];
        of.into_iter().find(|of| self.facts().declares(of.capability()))
    }
}
