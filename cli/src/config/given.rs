//! A server on the web, as the command line says it.

use std::path::{Path, PathBuf};

use sanswire::http::{Url, UrlFault};

use super::headers;
use super::launch::is_secret_name;
use super::remote::{Remote, Speaks, check_url};
use crate::failure::Failure;
use crate::options::WebArgs;

impl Remote {
    /// What the command line says. `None`: nothing. What is wrong is told without the words, which may be secret.
    pub(crate) fn given(args: &WebArgs) -> Result<Option<Self>, Failure> {
        let Some(url) = &args.url else {
            let stray = "--header and the like go with --url, and not with other kinds of server";
            return if args.needs_url() { Err(Failure::usage(stray)) } else { Ok(None) };
        };
        check_url(url).map_err(|why| wrong_url(url, why))?;
        let mut headers = Vec::new();
        for said in &args.header {
            headers.push(header(said)?);
        }
        if args.bearer_env.as_ref().is_some_and(|name| !is_variable(name)) {
            return Err(Failure::usage("what --bearer-env was given is not the name of a variable").hint(
                "put the token into a variable, and give the name of that: letters, digits and underscores",
            ));
        }
        let this = Self {
            url: url.trim().to_owned(),
            headers,
            speaks: if args.sse { Speaks::Sse } else { args.transport.unwrap_or_default() },
            bearer_env: args.bearer_env.clone(),
            ca_file: args.ca_file.as_deref().map(path),
            client_cert: args.client_cert.as_deref().map(path),
            client_key: args.client_key.as_deref().map(path),
            proxy: args.proxy.clone(),
            public_only: args.public_only,
        };
        this.check().map_err(Failure::usage)?;
        Ok(Some(this))
    }
}

fn wrong_url(url: &str, why: String) -> Failure {
    let failure = Failure::usage(format!("--url cannot be used: {why}"));
    if url.contains("${") {
        return failure.hint("no variable is put in there; let the shell do it, outside of single quotes");
    }
    // A name and a password are refused by what is wrong with the address, and not repeated.
    if Url::parse(url.trim()) == Err(UrlFault::UserInfo) {
        return failure.hint("-H 'Authorization: Basic ${NAME}', where the variable holds the two in Base64");
    }
    failure.hint("give it whole, such as https://example.com/mcp or http://localhost:8080/mcp")
}

fn header(said: &str) -> Result<(String, String), Failure> {
    let form = "give it in quotes, as 'NAME: VALUE'";
    let (name, value) =
        headers::one(said).ok_or_else(|| Failure::usage("a header is not Name: value").hint(form))?;
    let value = headers::check(&name, &value).map_err(Failure::usage)?;
    if value.is_empty() && is_secret_name(&name) {
        // Without quotes, all that follows the colon are words of their own.
        return Err(Failure::usage(format!("the header {name} has no value")).hint(form));
    }
    if headers::is_authorization(&name) {
        headers::finish(&name, &value).map_err(Failure::usage)?;
    }
    Ok((name, value))
}

/// From then on it does not matter where it is used.
fn path(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    absolute.to_string_lossy().into_owned()
}

/// Whether this is the name of a variable, as far as a shell can set it; most tokens are none.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
