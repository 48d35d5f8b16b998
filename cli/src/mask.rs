//! Keeping secrets out of what is shown and written.

pub(crate) use sanswire_std::Secrets as Mask;
