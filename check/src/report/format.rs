//! In which formats a report can be had.

use std::path::Path;

use super::Report;

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// For programs.
    Json,
    /// For what shows tests.
    Junit,
    /// For code scanning.
    Sarif,
    /// For the log of a workflow of GitHub.
    Github,
    /// A page.
    Html,
    /// A line of Markdown.
    Badge,
    /// What an endpoint of shields.io answers.
    Shields,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Text,
        Self::Json,
        Self::Junit,
        Self::Sarif,
        Self::Github,
        Self::Html,
        Self::Badge,
        Self::Shields,
    ];

    /// Its name: `junit`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::Github => "github",
            Self::Html => "html",
            Self::Badge => "badge",
            Self::Shields => "shields",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The format that a file's name ends with: `.txt`, `.json`, `.xml` (JUnit), `.sarif`, `.html`, `.md` (a badge).
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Self::Text,
            "json" => Self::Json,
            "xml" => Self::Junit,
            "sarif" => Self::Sarif,
            "html" | "htm" => Self::Html,
            "md" => Self::Badge,
            _ => return None,
        })
    }
}

impl Report {
    /// In this format, with a line feed at its end. `file`: see [`Report::to_sarif`].
    #[must_use]
    pub fn to_format(&self, format: Format, file: Option<&str>) -> String {
        match format {
            Format::Text => format!("{self}\n"),
            Format::Json => format!("{}\n", self.to_json().as_str()),
            Format::Junit => self.to_junit(),
            Format::Sarif => format!("{}\n", self.to_sarif(file).as_str()),
            Format::Github => self.to_github(),
            Format::Html => self.to_html(),
            Format::Badge => self.to_markdown(),
            Format::Shields => format!("{}\n", self.to_shields().as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn every_format_has_a_name_and_ends_with_a_line_feed() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.as_str()), Some(format));
            let text = samples::report().to_format(format, None);
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{format:?}");
        }
        assert_eq!(Format::named("yaml"), None);
        let of = |name: &str| Format::of_file(Path::new(name));
        assert_eq!((of("out/r.HTML"), of("r.tar.xml")), (Some(Format::Html), Some(Format::Junit)));
        assert_eq!((of("report"), of("r.pdf"), of(".html")), (None, None, None));
    }
}
