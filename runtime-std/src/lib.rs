//! Blocking runtime for sanswire.
