//! Command line for Model Context Protocol servers.
fn main() {}
