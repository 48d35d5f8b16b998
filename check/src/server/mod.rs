//! The checks of servers, by subject.

mod framing;
mod ids;
mod lifecycle;

use crate::check::Check;

/// All checks of servers, in the order in which they are told.
pub fn all() -> impl Iterator<Item = &'static Check> + Clone {
    [lifecycle::CHECKS, framing::CHECKS, ids::CHECKS].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_told_apart_and_says_what_to_do() {
        let mut ids: Vec<_> = all().map(|check| check.id).collect();
        ids.sort_unstable();
        let len = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), len);
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
