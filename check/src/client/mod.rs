//! The checks of clients, by subject.

mod calls;
mod framing;
mod ids;
mod listing;
mod modern;
mod opening;
mod process;
mod requests;
mod work;

use crate::check::{Check, Company, Script, Source, Speaks, Strength};

/// What most of them have in common: a run of their own, with the newest handshake.
const ALONE: Check = Check {
    id: "",
    title: "",
    source: Source::Practice,
    strength: Strength::Advice,
    speaks: Speaks::Legacy,
    needs: &[],
    company: Company::Alone,
    explain: "",
    script: Script::Client(|_| Ok(())),
};

/// What looks at a run where all was well.
const SHARED: Check = Check { company: Company::Shared, ..ALONE };

/// All checks of clients, in the order in which they are told.
pub fn all() -> impl Iterator<Item = &'static Check> + Clone {
    [
        opening::CHECKS,
        modern::CHECKS,
        framing::CHECKS,
        ids::CHECKS,
        requests::CHECKS,
        listing::CHECKS,
        calls::CHECKS,
        process::CHECKS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_told_apart_and_says_what_to_do() {
        let mut ids: Vec<_> = all().chain(crate::server::all()).map(|check| check.id).collect();
        ids.sort_unstable();
        let len = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), len, "a name serves both lists");
        for check in all() {
            assert!(
                check
                    .id
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
            assert!(check.title.len() > 10 && check.explain.len() > 30, "{}", check.id);
            assert!(!check.title.ends_with('.') && check.explain.ends_with('.'), "{}", check.id);
        }
    }
}
