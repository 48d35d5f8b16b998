//! Containment: which boundary work needs, by how far it is trusted.

/// How far the code that does the work is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// Not at all: it must run behind a hardware boundary.
    #[default]
    Untrusted,
    /// In part: it must at least be confined by the kernel.
    SemiTrusted,
    /// It may run anywhere.
    Trusted,
}

impl Trust {
    /// The weakest boundary that is enough.
    #[must_use]
    pub const fn needs(self) -> Tier {
        match self {
            Self::Trusted => Tier::Unconfined,
            Self::SemiTrusted => Tier::Kernel,
            Self::Untrusted => Tier::Hardware,
        }
    }

    /// Its name in records: `trusted`, `semi-trusted` or `untrusted`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::SemiTrusted => "semi-trusted",
            Self::Untrusted => "untrusted",
        }
    }

    /// An unknown one is none.
    pub(super) fn named(name: &str) -> Self {
        let all = [Self::Untrusted, Self::SemiTrusted, Self::Trusted];
        all.into_iter().find(|trust| trust.as_str() == name).unwrap_or_default()
    }
}

/// The boundary that work is done behind, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// None, or one that was not declared.
    #[default]
    Unconfined,
    /// The kernel's: namespaces, system call filters, access rules.
    Kernel,
    /// The hardware's: a virtual machine, or another machine.
    Hardware,
}

impl Tier {
    /// Its name in texts: `unconfined`, `kernel` or `hardware`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unconfined => "unconfined",
            Self::Kernel => "kernel",
            Self::Hardware => "hardware",
        }
    }
}

/// The needed and the offered tier, where the offered one is too weak.
pub(super) fn check(trust: Trust, declared: Option<Tier>) -> Result<(), (Tier, Tier)> {
    let (needed, offered) = (trust.needs(), declared.unwrap_or_default());
    if offered >= needed { Ok(()) } else { Err((needed, offered)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trust_meets_every_tier() {
        // H-134
        use Tier::{Hardware, Kernel, Unconfined};
        use Trust::{SemiTrusted, Trusted, Untrusted};
        let table = [
            (Trusted, None, true),
            (Trusted, Some(Unconfined), true),
            (Trusted, Some(Kernel), true),
            (Trusted, Some(Hardware), true),
            (SemiTrusted, None, false),
            (SemiTrusted, Some(Unconfined), false),
            (SemiTrusted, Some(Kernel), true),
            (SemiTrusted, Some(Hardware), true),
            (Untrusted, None, false),
            (Untrusted, Some(Unconfined), false),
            (Untrusted, Some(Kernel), false),
            (Untrusted, Some(Hardware), true),
        ];
        for (trust, declared, passes) in table {
            let expected = if passes { Ok(()) } else { Err((trust.needs(), declared.unwrap_or(Unconfined))) };
            assert_eq!(check(trust, declared), expected, "{trust:?} behind {declared:?}");
        }
        assert_eq!(Trust::default(), Untrusted);
    }
}
