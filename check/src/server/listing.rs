//! Listings as a whole: their order, how long they are, and that they do not depend on who asks.

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::{List, Lists, Talk};

/// How much of what a model can read at once the tools may take before they have done anything: a tenth of 200,000 tokens.
const MOST_TOKENS: usize = 20_000;

pub(super) const CHECKS: &[Check] = &[
    shared!(
        "listing-same-order",
        "tools are listed in the same order each time",
        Source::Practice,
        Advice,
        Speaks::Legacy,
        ["tools"],
        same_order,
        "A list in another order is another text to a model, and what was kept of the last one is of no use."
    ),
    shared!(
        "listing-deterministic",
        "tools are listed in a deterministic order",
        Source::Spec("server/tools#listing-tools"),
        Should,
        Speaks::Modern,
        ["tools"],
        same_order,
        "Since 2026-07-28 tools have the same order as long as they are the same, so that clients and models can keep the list."
    ),
    shared!(
        "listing-each-process",
        "another process of the server lists the same tools",
        Source::Practice,
        Advice,
        Speaks::Legacy,
        ["tools"],
        each_process,
        "Hosts keep the list of a server that they start again. Names that hold a time or a random part are new with each start."
    ),
    shared!(
        "listing-each-connection",
        "the listing does not vary by connection",
        Source::Spec("server/tools#listing-tools"),
        Must,
        Speaks::Modern,
        ["tools"],
        each_process,
        "Since 2026-07-28 what is listed does not depend on the connection, nor on what was asked on it before: the next request may come over another."
    ),
    shared!(
        "listing-size",
        "the tools leave a model room for its work",
        Source::Practice,
        Advice,
        Speaks::EachEra,
        ["tools"],
        size,
        "The whole list stands in front of each question to a model. Four bytes are about a token; more than 20,000 tokens are a tenth of what large models read at once. Shorten descriptions, or offer fewer tools."
    ),
];

fn same_order(talk: &mut Talk) -> Result<(), Finding> {
    let first = talk.list(Lists::Tools)?;
    let second = talk.list_anew(Lists::Tools)?;
    compare(talk, &first, &second)
}

fn each_process(talk: &mut Talk) -> Result<(), Finding> {
    let first = talk.list(Lists::Tools)?;
    let mut other = talk.another()?;
    let second = other.list_anew(Lists::Tools);
    talk.tell_of(other);
    compare(talk, &first, &second?)
}

fn compare(talk: &mut Talk, first: &List, second: &List) -> Result<(), Finding> {
    let told = |list: &List| list.keys().collect::<Vec<_>>().join(", ");
    if first.keys().next().is_none() {
        return talk.not_tried("no tool is listed");
    }
    if first.keys().eq(second.keys()) {
        return Ok(());
    }
    Err(Finding::new(format!("again {}", told(first)), told(second)))
}

fn size(talk: &mut Talk) -> Result<(), Finding> {
    let list = talk.list(Lists::Tools)?;
    let tokens = list.bytes() / 4;
    if list.entries().next().is_none() {
        return talk.not_tried("no tool is listed");
    }
    if tokens <= MOST_TOKENS {
        return Ok(());
    }
    let got = format!("{} bytes of {} tools, about {tokens} tokens", list.bytes(), list.entries().count());
    Err(Finding::new(format!("{MOST_TOKENS} tokens of tools at most"), got))
}
