//! The demo server on the web.

use std::net::{SocketAddr, TcpListener};

use clap::Args;
use sanswire::http::endpoint::{EndpointConfig, Names, Token};
use sanswire::server::{Config, Principal};
use sanswire_std::{HttpOptions, Server};

use super::{failed, unbound};
use crate::failure::Failure;
use crate::output;

/// How it is served over HTTP.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Over HTTP")]
pub(super) struct Web {
    /// Serve all who come over HTTP to this address instead
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) http: Option<String>,
    /// The path
    #[arg(long, value_name = "PATH", default_value = "/mcp", requires = "http")]
    path: String,
    /// Let those in who show what the variable NAME holds as a bearer token, and nobody else
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,
    /// Answer requests that are meant for this host, too; may be repeated. Without, loopback names only
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// Answer requests of pages from this origin, too; may be repeated. Without, loopback names only
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// Listen on an address that others reach although nobody has to show a token
    #[arg(long, requires = "http", conflicts_with = "token_env")]
    anybody: bool,
}

impl Web {
    /// Serves until a signal comes.
    pub(super) fn serve(&self, server: &Server, address: &str) -> Result<(), Failure> {
        let mut options = HttpOptions::default();
        options.path.clone_from(&self.path);
        if let Some(name) = &self.token_env {
            options.tokens.push(Token::new(Principal::named("demo"), &token(name)?));
        }
        let listener = TcpListener::bind(address).map_err(|error| unbound(address, &error))?;
        let bound = listener.local_addr().map_err(|error| unbound(address, &error))?;
        if !bound.ip().is_loopback() && options.tokens.is_empty() && !self.anybody {
            return Err(Failure::usage(format!(
                "others reach {bound}, and nobody would have to show a token"
            ))
            .hint("name a variable that holds one with --token-env NAME, or say --anybody"));
        }
        options.hosts = names(self.hosts(bound));
        options.origins = names(self.allow_origin.clone());
        check(&options)?;
        output::complain(&format!("listening on http://{bound}{}", self.path));
        if bound.ip().is_unspecified() && options.hosts == Names::Loopback {
            output::complain(
                "requests for other names than loopback ones are refused; --allow-host NAME lets one in",
            );
        }
        server.serve_http(listener, options).map_err(|error| failed(&error))
    }

    /// Whoever listens on one address of many is called by it.
    fn hosts(&self, bound: SocketAddr) -> Vec<String> {
        let mut hosts = self.allow_host.clone();
        if !bound.ip().is_loopback() && !bound.ip().is_unspecified() {
            hosts.push(bound.to_string());
        }
        hosts
    }
}

/// What would be refused anyway, in the words of the command line.
fn check(options: &HttpOptions) -> Result<(), Failure> {
    let mut config = EndpointConfig::new(Config::new("", ""));
    config.path.clone_from(&options.path);
    config.hosts.clone_from(&options.hosts);
    config.origins.clone_from(&options.origins);
    config.check().map_err(|error| {
        Failure::usage(match error.field.split(' ').next() {
            Some("hosts") => "--allow-host takes the name of a host, with or without a port",
            Some("origins") => "--allow-origin takes an origin with its scheme: https://example.com",
            _ => "--path takes a path that begins with a slash and holds no blanks, ? or #",
        })
    })
}

fn names(names: Vec<String>) -> Names {
    if names.is_empty() {
        return Names::Loopback;
    }
    Names::These(names.into_iter().map(String::into_boxed_str).collect())
}

/// What the variable holds. It is not repeated.
fn token(name: &str) -> Result<String, Failure> {
    let token = std::env::var(name).unwrap_or_default().trim().to_owned();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::usage(format!(
            "the variable that --token-env names {}; give the name of one that holds the token, not the token",
            if token.is_empty() {
                "is not set"
            } else {
                "holds no token: it has white space or odd characters"
            }
        )));
    }
    Ok(token)
}
