//! What is made of a check's report: what is printed, the files, and the baseline.

use std::fs;
use std::path::Path;

use sanswire_check::{Baseline, Command, Format, Report};

use crate::context::Context;
use crate::failure::{Failure, status};
use crate::options::ReportArgs;
use crate::output::{document, json_document, on_terminal};

/// What will be made of a report: what can be wrong with it is found before anything is started.
pub(super) struct Reports {
    args: ReportArgs,
    format: Format,
    baseline: Option<Baseline>,
}

impl Reports {
    /// Reads the baseline, and looks whether files can be written.
    pub(super) fn prepare(context: &Context, args: ReportArgs) -> Result<Self, Failure> {
        let common = &context.common;
        if common.trace.is_some() || common.record.is_some() {
            let message = "a check has no --trace and no --record: it keeps what was said in its report";
            return Err(Failure::usage(message).hint("--report FILE.json, or --report FILE.html"));
        }
        let format = match args.format {
            Some(format) if common.json && format != Format::Json => {
                return Err(Failure::usage("--json and another --format")
                    .hint("--report FILE writes one more format"));
            }
            Some(format) => format,
            None if common.json => Format::Json,
            None => Format::Text,
        };
        let files = args.report.iter().map(|it| &it.path).chain(&args.write_baseline);
        for path in files {
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if !folder.is_dir() {
                return Err(Failure::usage(format!("there is no folder {}", folder.display()))
                    .hint("make it, or write the report elsewhere"));
            }
        }
        let baseline = args.baseline.as_deref().map(read).transpose()?;
        Ok(Self { args, format, baseline })
    }

    /// Tells what came of it; the status to exit with.
    pub(super) fn tell(
        self,
        mut report: Report,
        secrets: &[String],
        command: &Command,
    ) -> Result<u8, Failure> {
        if let Some(baseline) = &self.baseline {
            report.accept(baseline);
        }
        report.mask(secrets.iter().cloned());
        let file = file_of(command);
        if let Some(path) = &self.args.write_baseline {
            write(path, &report.baseline().to_text())?;
        }
        for wanted in &self.args.report {
            let text = match wanted.format {
                Format::Text => format!("{}\n", report.text().verbose(true)),
                format => report.to_format(format, file),
            };
            write(&wanted.path, &text)?;
        }
        match self.format {
            Format::Json => json_document(&report.to_json())?,
            Format::Text => {
                let colour = on_terminal() && console::colors_enabled();
                document(&format!("{}\n", report.text().verbose(self.args.verbose).colour(colour)))?;
            }
            format => document(&report.to_format(format, file))?,
        }
        Ok(report.status())
    }
}

fn read(path: &Path) -> Result<Baseline, Failure> {
    let unread = |why: String| {
        Failure::new(
            status::OTHER,
            "baseline",
            format!("the baseline {} cannot be read: {why}", path.display()),
        )
        .hint(format!("--write-baseline {} makes one of what this run finds", path.display()))
    };
    let text = fs::read(path).map_err(|error| unread(error.to_string()))?;
    Baseline::read(&text).map_err(|error| unread(error.to_string()))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))
}

/// Where a finding is shown: the program, or the script that it runs, if it is a file below this folder.
fn file_of(command: &Command) -> Option<&str> {
    let mut words =
        std::iter::once(command.program()).chain(command.arguments().iter().map(|it| it.as_os_str()));
    let here = |word: &str| {
        let path = Path::new(word);
        let below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        below && path.is_file()
    };
    words.find_map(|word| word.to_str().filter(|word| here(word)))
}
