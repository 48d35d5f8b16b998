//! What is made of a report.

use std::path::{Path, PathBuf};

use clap::Args;
use sanswire_check::Format;

/// How a report is shown, where it is written, and what is known already.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reports")]
pub(crate) struct ReportArgs {
    /// Print the report as text, json, junit, sarif, github (a workflow's log), html, badge (Markdown) or shields
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Option<Format>,
    /// Write it to FILE too; may be repeated. The format is that of its name: .txt, .json, .xml (JUnit), .sarif, .html, .md;
    /// or FORMAT=FILE
    #[arg(long, value_name = "FILE", value_parser = report_file)]
    pub(crate) report: Vec<ReportFile>,
    /// Findings in FILE are accepted: they are told, and do not fail
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all findings of this run to FILE, for --baseline; notes of the baseline that was given are kept
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// List what passed too
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// A file, and what is to stand in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportFile {
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
}

fn names() -> String {
    Format::ALL.map(Format::as_str).join(", ")
}

fn format(text: &str) -> Result<Format, String> {
    Format::named(text).ok_or_else(|| format!("not one of {}", names()))
}

fn report_file(text: &str) -> Result<ReportFile, String> {
    let named = text.split_once('=').and_then(|(name, path)| Some((Format::named(name)?, path)));
    let (format, path) = match named {
        Some((format, path)) => (Some(format), path),
        None => (Format::of_file(Path::new(text)), text),
    };
    match format {
        Some(format) if !path.is_empty() => Ok(ReportFile { format, path: path.into() }),
        _ => Err(format!("its name says no format: write FORMAT=FILE, with one of {}", names())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_its_format_by_its_name_or_in_front() {
        for (text, format, path) in [
            ("out.html", Format::Html, "out.html"),
            ("a/b=c.xml", Format::Junit, "a/b=c.xml"),
            ("text=out", Format::Text, "out"),
            ("shields=badge.json", Format::Shields, "badge.json"),
        ] {
            assert_eq!(report_file(text), Ok(ReportFile { format, path: path.into() }), "{text}");
        }
        for text in ["out", "", "pdf=out.pdf", "junit="] {
            assert!(report_file(text).unwrap_err().contains("FORMAT=FILE"), "{text}");
        }
    }
}
