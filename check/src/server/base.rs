//! What most checks have in common.

use crate::check::{Check, Company, Script, Source, Speaks, Strength};
use crate::finding::Finding;
use crate::talk::Talk;

/// A check that weighs as MUST, is tried in each era, needs nothing and shares its connection: what is otherwise is said in
/// front of `..`.
pub(super) const fn check(
    id: &'static str,
    title: &'static str,
    source: Source,
    explain: &'static str,
    script: fn(&mut Talk) -> Result<(), Finding>,
) -> Check {
    Check {
        id,
        title,
        source,
        strength: Strength::Must,
        speaks: Speaks::EachEra,
        needs: &[],
        company: Company::Shared,
        explain,
        script: Script::Server(script),
    }
}
