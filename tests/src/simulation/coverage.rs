//! What runs met, counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What runs met. The same seeds give the same counts on any machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: BTreeMap<(&'static str, &'static str), u64>,
    cases: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// Once more.
    pub fn met(&mut self, kind: &'static str, what: &'static str) {
        *self.counts.entry((kind, what)).or_default() += 1;
    }

    /// A peer did something that has a name, and shows these cases.
    pub(super) fn behaviour(&mut self, name: &'static str, cases: &'static [&'static str]) {
        self.met("behaviour", name);
        for case in cases {
            *self.cases.entry(case).or_default() += 1;
        }
    }

    /// How often.
    #[must_use]
    pub fn count(&self, kind: &'static str, what: &'static str) -> u64 {
        self.counts.get(&(kind, what)).copied().unwrap_or(0)
    }

    /// Adds what others met.
    pub fn add(&mut self, other: &Self) {
        for (key, count) in &other.counts {
            *self.counts.entry(*key).or_default() += count;
        }
        for (case, count) in &other.cases {
            *self.cases.entry(case).or_default() += count;
        }
    }

    /// Everything, a line a kind.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut last = "";
        for ((kind, what), count) in &self.counts {
            let _ = match *kind == last {
                true => write!(out, ", {what} {count}"),
                false => write!(out, "{}{kind}: {what} {count}", if out.is_empty() { "" } else { "\n" }),
            };
            last = kind;
        }
        let cases: Vec<_> = self.cases.iter().map(|(case, count)| format!("{case} {count}")).collect();
        let _ = writeln!(out, "\ncase: {}", cases.join(", "));
        out
    }
}
