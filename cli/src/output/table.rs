//! Tables for people.

use comfy_table::{ContentArrangement, Table, presets};

use super::escape;

/// How wide a table may get where nobody says how wide the terminal is.
const WIDTH: u16 = 100;

/// A table with these headings. Every cell is made harmless; nothing is cut, long cells are wrapped.
pub(crate) fn table<R: IntoIterator<Item = String>>(
    headings: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if super::on_terminal() {
        let width = console::Term::stdout().size_checked().map_or(WIDTH, |(_, columns)| columns);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(40));
    }
    table.set_header(headings.iter().map(|heading| heading.to_uppercase()));
    for row in rows {
        table.add_row(row.into_iter().map(|cell| escape::line(&cell).into_owned()));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The beginning of a description: its first line, cut.
pub(crate) fn summary(text: &str, max: usize) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let mut short: String = first.chars().take(max).collect();
    if short.len() < first.len() {
        short.push('…');
    }
    short
}
