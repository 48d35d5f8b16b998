//! Pages: how a listing goes on and ends.

use serde_json::Value;

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::{Finding, shown};
use crate::talk::{List, Lists, Page, Talk};

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "pagination-unknown-cursor",
        "a cursor that the server never gave is answered with -32602",
        Source::Spec("server/utilities/pagination#error-handling"),
        Should,
        Speaks::EachEra,
        [],
        unknown_cursor,
        "A client that comes with a cursor of yesterday has to learn that it is stale, and starts again. The first page instead makes it list everything twice; so does a server without pages that ignores cursors."
    ),
    shared!(
        "pagination-null-cursor",
        "a cursor that is null is answered",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        [],
        null_cursor,
        "Some clients write null where they have no cursor. Give the first page, or the error -32602."
    ),
    shared!(
        "pagination-ends",
        "a listing has a last page",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        [],
        ends,
        "Clients follow nextCursor until there is none. Leave it out on the last page, or they never stop."
    ),
    shared!(
        "pagination-no-entry-twice",
        "no entry is on two pages",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        [],
        no_entry_twice,
        "A client puts the pages together to one listing. An entry that is on two of them is there twice."
    ),
    shared!(
        "pagination-stable-cursors",
        "a cursor gives the same page when it comes again",
        Source::Spec("server/utilities/pagination#implementation-guidelines"),
        Should,
        Speaks::EachEra,
        [],
        stable_cursors,
        "A client asks for a page again when its answer was lost. A cursor names a place in the listing, and is not used up."
    ),
];

fn unknown_cursor(talk: &mut Talk) -> Result<(), Finding> {
    let Some(of) = talk.any_list() else { return nothing_listed(talk) };
    let answer = talk.page(of, Some(&Value::from("sanswire-check-no-such-cursor")))?.answer;
    super::is_refused(&answer, &[-32602])
}

fn null_cursor(talk: &mut Talk) -> Result<(), Finding> {
    let Some(of) = talk.any_list() else { return nothing_listed(talk) };
    let answer = talk.page(of, Some(&Value::Null))?.answer;
    if answer.result().is_some() || answer.code().is_some() {
        return Ok(());
    }
    Err(Finding::new("the first page, or an error", answer.text()))
}

fn ends(talk: &mut Talk) -> Result<(), Finding> {
    let mut tried = false;
    for of in declared(talk) {
        let list = talk.list(of)?;
        tried |= list.refusal().is_none();
        if !list.ends && list.refusal().is_none() {
            let (pages, entries) = (list.pages.len(), list.entries().count());
            let expected = format!("an end of {}", of.method());
            return Err(Finding::new(expected, format!("none within {pages} pages of {entries} entries")));
        }
    }
    if tried { Ok(()) } else { nothing_listed(talk) }
}

fn no_entry_twice(talk: &mut Talk) -> Result<(), Finding> {
    let mut tried = false;
    for of in declared(talk) {
        let list = talk.list(of)?;
        if list.pages.len() < 2 || !list.ends {
            continue;
        }
        tried = true;
        let mut seen: Vec<(&str, usize)> = Vec::new();
        for (n, page) in list.pages.iter().enumerate() {
            for key in keys(page, of) {
                if seen.iter().any(|(other, on)| *other == key && *on != n) {
                    let expected = format!("each entry of {} on one page", of.method());
                    return Err(Finding::new(expected, format!("{} on two", shown(key.as_bytes()))));
                }
                seen.push((key, n));
            }
        }
    }
    if tried { Ok(()) } else { talk.not_tried("no listing has more than one page") }
}

fn stable_cursors(talk: &mut Talk) -> Result<(), Finding> {
    for of in declared(talk) {
        let list = talk.list(of)?;
        let [first, second, ..] = list.pages.as_slice() else { continue };
        let again = talk.page(of, first.result.get("nextCursor"))?;
        let same = again.answer.result().is_some() && keys(&again, of).eq(keys(second, of));
        if same {
            return Ok(());
        }
        return Err(Finding::new("the second page again", again.answer.text()));
    }
    talk.not_tried("no listing has more than one page")
}

fn keys(page: &Page, of: Lists) -> impl Iterator<Item = &str> {
    let entries = page.result[of.member()].as_array().into_iter().flatten();
    entries.filter_map(move |entry| entry[of.key()].as_str())
}

/// What it says that it lists.
fn declared(talk: &Talk) -> Vec<Lists> {
    Lists::ALL.into_iter().filter(|of| talk.facts().declares(of.capability())).collect()
}

fn nothing_listed(talk: &mut Talk) -> Result<(), Finding> {
    talk.not_tried("the server lists nothing")
}

/// Whether no two entries have the same key.
pub(super) fn unique(list: &List) -> Result<(), Finding> {
    let mut keys: Vec<_> = list.keys().collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let expected = format!("each {} once in {}", list.of.key(), list.of.method());
            Err(Finding::new(expected, format!("{} twice", shown(pair[0].as_bytes()))))
        }
    }
}
