//! Command line for Model Context Protocol servers.
#![forbid(unsafe_code)]

mod demo;
mod json;

fn main() {
    demo::run();
}
