//! How a client is set up, and the options of its requests, written down and read again.

use sanswire::client::{Config, LogLevel, RequestOptions, ServerRequests, Start, Verdict};
use sanswire::exchange::Partition;
use sanswire::jsonrpc::{JsonRef, ObjectWriter, RawJson};
use sanswire::limits::Limits;
use sanswire::mcp::Revision;
use sanswire::mcp::types::lifecycle::{ClientCapabilities, Implementation, RawCapabilities};

use super::pen::{self, Flaw, Pen};

/// The same fields in both directions: counts, and times in nanoseconds.
macro_rules! limits {
    ($($count:ident)+; $($time:ident)+) => {
        fn write_limits(w: &mut ObjectWriter<'_>, limits: &Limits) {
            $(w.u64(stringify!($count), limits.$count as u64);)+
            $(pen::write_nanos(w, stringify!($time), limits.$time);)+
        }

        fn read_limits(object: JsonRef<'_>) -> Result<Limits, Flaw> {
            let mut limits = Limits::default();
            $(limits.$count = pen::number(object, stringify!($count))?
                .try_into()
                .map_err(|_| stringify!($count))?;)+
            $(limits.$time = pen::nanos(object, stringify!($time))?;)+
            Ok(limits)
        }
    };
}

limits! {
    max_message_bytes max_json_depth max_in_flight max_subscriptions max_peer_requests max_queued_out_bytes
    max_queued_events max_queued_event_bytes violation_budget max_junk_lines max_resource_subscriptions
    max_input_rounds max_pages max_items max_list_bytes;
    connect request_idle request_absolute peer_request probe_hedge close_flush drain list_changed_debounce
}

/// The same flags in both directions.
macro_rules! capabilities {
    ($($flag:ident)+) => {
        fn write_capabilities(w: &mut ObjectWriter<'_>, pen: Pen<'_>, what: &ClientCapabilities) {
            $(w.bool(stringify!($flag), what.$flag);)+
            if let Some(RawCapabilities(extensions)) = &what.extensions {
                pen.raw(w, "extensions", extensions.view());
            }
        }

        fn read_capabilities(object: JsonRef<'_>) -> Result<ClientCapabilities, Flaw> {
            Ok(ClientCapabilities {
                $($flag: pen::flag(object, stringify!($flag))?,)+
                extensions: pen::raw(object, "extensions")?.map(RawCapabilities),
            })
        }
    };
}

capabilities! {
    elicitation_form elicitation_url sampling sampling_tools sampling_context roots roots_list_changed
}

/// Whether everything of this configuration can be written down.
pub(super) fn is_complete(config: &Config) -> bool {
    let written = RawJson::object(|w| write(w, Pen(None), config));
    read(written.view()).is_ok_and(|read| {
        // Extensions are compared by their bytes: what is shown of them is their length.
        format!("{read:?}") == format!("{config:?}") && read.capabilities == config.capabilities
    })
}

pub(super) fn write(w: &mut ObjectWriter<'_>, pen: Pen<'_>, config: &Config) {
    w.object("client", |w| write_implementation(w, pen, &config.client));
    w.object("capabilities", |w| write_capabilities(w, pen, &config.capabilities));
    w.object("limits", |w| write_limits(w, &config.limits));
    match &config.start {
        Start::Remembered(verdict) => w.string("start", verdict_name(verdict)),
        Start::Pinned(revision) => w.string("start", revision.as_str()),
        _ => w.string("start", "unknown"),
    };
    w.bool("drop_all", config.server_requests == ServerRequests::DropAll);
    w.bool("lenient_ids", config.lenient_ids);
    if let Some(level) = config.log_level {
        w.string("log_level", level.as_str());
    }
}

pub(super) fn read(object: JsonRef<'_>) -> Result<Config, Flaw> {
    let mut config = Config::new("", "");
    config.client = read_implementation(pen::needed(object, "client")?)?;
    config.capabilities = read_capabilities(pen::needed(object, "capabilities")?)?;
    config.limits = read_limits(pen::needed(object, "limits")?)?;
    config.start = read_start(&pen::text(object, "start")?).ok_or("start")?;
    if pen::flag(object, "drop_all")? {
        config.server_requests = ServerRequests::DropAll;
    }
    config.lenient_ids = pen::flag(object, "lenient_ids")?;
    config.log_level = read_level(object)?;
    Ok(config)
}

fn read_start(text: &str) -> Option<Start> {
    let verdicts = [Verdict::Modern, Verdict::Legacy, Verdict::ModernOther, Verdict::Died];
    if text == "unknown" {
        return Some(Start::Unknown);
    }
    let verdict = verdicts.into_iter().find(|verdict| verdict_name(verdict) == text);
    verdict.map(Start::Remembered).or_else(|| Revision::from_date(text).map(Start::Pinned))
}

/// Every verdict by a name of its own.
pub(super) const fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Modern => "modern",
        Verdict::Legacy => "legacy",
        Verdict::ModernOther => "modern_other",
        Verdict::Died => "died",
        _ => "another",
    }
}

pub(super) fn write_implementation(w: &mut ObjectWriter<'_>, pen: Pen<'_>, who: &Implementation) {
    pen.text(w, "name", &who.name);
    if let Some(title) = &who.title {
        pen.text(w, "title", title);
    }
    pen.text(w, "version", &who.version);
}

fn read_implementation(object: JsonRef<'_>) -> Result<Implementation, Flaw> {
    let mut who = Implementation::new(&pen::text(object, "name")?, &pen::text(object, "version")?);
    who.title = pen::text_or_none(object, "title");
    Ok(who)
}

fn read_level(object: JsonRef<'_>) -> Result<Option<LogLevel>, Flaw> {
    let Some(name) = pen::text_or_none(object, "log_level") else { return Ok(None) };
    LogLevel::named(&name).map(Some).ok_or("log_level")
}

/// What differs from the defaults.
pub(super) fn write_options(w: &mut ObjectWriter<'_>, pen: Pen<'_>, options: &RequestOptions) {
    for (name, time) in [("idle", options.idle), ("absolute", options.absolute)] {
        if let Some(time) = time {
            pen::write_nanos(w, name, time);
        }
    }
    if options.partition != Partition::default() {
        w.u64("partition", options.partition.0.into());
    }
    if let Some(level) = options.log_level {
        w.string("log_level", level.as_str());
    }
    if let Some(meta) = &options.meta {
        pen.raw(w, "meta", meta.view());
    }
    if let Some(capabilities) = &options.capabilities {
        w.object("capabilities", |w| write_capabilities(w, pen, capabilities));
    }
    if let Some(client) = &options.client {
        w.object("client", |w| write_implementation(w, pen, client));
    }
}

pub(super) fn read_options(object: JsonRef<'_>) -> Result<RequestOptions, Flaw> {
    let has = |name| object.get(name).is_some();
    let mut options = RequestOptions::default();
    options.idle = has("idle").then(|| pen::nanos(object, "idle")).transpose()?;
    options.absolute = has("absolute").then(|| pen::nanos(object, "absolute")).transpose()?;
    if has("partition") {
        options.partition = Partition(pen::number(object, "partition")?.try_into().map_err(|_| "partition")?);
    }
    options.log_level = read_level(object)?;
    options.meta = pen::raw(object, "meta")?;
    options.capabilities = object.get("capabilities").map(read_capabilities).transpose()?;
    options.client = object.get("client").map(read_implementation).transpose()?;
    Ok(options)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A configuration in which nothing is as it is by default.
    fn odd() -> Config {
        let mut config = Config::new("a \"name\"", "1");
        config.client.title = Some("t".into());
        let extensions = RawCapabilities(RawJson::parse_str(r#"{"x/y":{"z":[1]}}"#).unwrap());
        config.capabilities = ClientCapabilities {
            elicitation_form: true,
            elicitation_url: true,
            sampling: true,
            sampling_tools: true,
            sampling_context: true,
            roots: true,
            roots_list_changed: true,
            extensions: Some(extensions),
        };
        config.limits.max_message_bytes = 4097;
        config.limits.max_json_depth = 9;
        config.limits.probe_hedge = Duration::new(1, 7);
        config.server_requests = ServerRequests::DropAll;
        config.lenient_ids = true;
        config.log_level = Some(LogLevel::Alert);
        config
    }

    #[test]
    fn a_configuration_comes_back_whole() {
        assert!(is_complete(&Config::new("x", "1")));
        let starts =
            [Start::Unknown, Start::Remembered(Verdict::Died), Start::Pinned(Revision::NEWEST_MODERN)];
        for start in starts {
            let mut config = odd();
            config.start = start.clone();
            assert!(is_complete(&config), "{start:?}");
        }
    }

    #[test]
    fn options_come_back_whole() {
        let mut options = RequestOptions::default();
        options.idle = Some(Duration::from_nanos(3));
        options.absolute = Some(Duration::from_secs(4));
        options.partition = Partition(7);
        options.log_level = Some(LogLevel::Debug);
        options.meta = Some(RawJson::parse_str(r#"{"a":1}"#).unwrap());
        options.capabilities = Some(odd().capabilities);
        options.client = Some(odd().client);
        for options in [options, RequestOptions::default()] {
            let written = RawJson::object(|w| write_options(w, Pen(None), &options));
            let read = read_options(written.view()).unwrap();
            assert_eq!(format!("{read:?}"), format!("{options:?}"));
            assert_eq!(read.meta, options.meta);
        }
    }

    #[test]
    fn what_is_damaged_is_named() {
        let written = RawJson::object(|w| write(w, Pen(None), &odd()));
        for (from, to, flaw) in [
            ("\"max_pages\":1000", "\"max_pages\":-1", "max_pages"),
            ("\"max_json_depth\":9", "\"max_json_depth\":70000", "max_json_depth"),
            ("\"roots\":true", "\"roots\":1", "roots"),
            ("\"start\":\"unknown\"", "\"start\":\"1999-01-01\"", "start"),
            ("\"log_level\":\"alert\"", "\"log_level\":\"loud\"", "log_level"),
        ] {
            let damaged = written.as_str().replace(from, to);
            assert_ne!(damaged, written.as_str(), "{from}");
            let damaged = RawJson::parse_str(&damaged).unwrap();
            assert_eq!(read(damaged.view()).unwrap_err(), flaw);
        }
    }
}
