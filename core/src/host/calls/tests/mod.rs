//! Calls against a made-up reach.
