//! Lines that are no wider than the terminal, so that it breaks none where somebody else chose.

/// How much further in a line goes on than it began.
const FURTHER: usize = 6;

/// The text in lines of at most `columns` columns. Where a line is broken, at a space if one is near, it goes on further
/// in than it began: what a server or a model wrote cannot be spaced out until it stands where our own lines stand.
///
/// Whatever is not ASCII counts as two columns, which is the most that it takes.
pub(crate) fn folded(text: &str, columns: usize) -> String {
    // The last column stays free: some terminals break a line as soon as it is taken.
    let room = columns.max(20) - 1;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let begun = line.chars().take_while(|c| *c == ' ').count();
        let (mut rest, mut indent) = (line, 0);
        while let Some(end) = end_of(rest, indent, room) {
            let (fits, further) = rest.split_at(end);
            out.push_str(fits);
            indent = (begun + FURTHER).min(columns.max(20) / 2);
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            rest = further;
        }
        out.push_str(rest);
    }
    out
}

/// Where a line that begins in this column has to be broken, if it has to.
fn end_of(line: &str, indent: usize, room: usize) -> Option<usize> {
    let (mut column, mut space) = (indent, None);
    for (at, c) in line.char_indices() {
        let width = match c {
            '\n' => 0,
            '\t' => 8 - column % 8,
            _ if c.is_ascii() => 1,
            _ => 2,
        };
        column += width;
        if column > room {
            return Some(space.unwrap_or(at));
        }
        if c == ' ' && column > room - room / 4 {
            space = Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn what_goes_on_in_a_new_line_stands_further_in_than_it_began() {
        assert_eq!(folded("short\n  lines\n", 20), "short\n  lines\n");
        let words = format!("  a: b{}Call it?", " ".repeat(14));
        assert_eq!(folded(&words, 20), format!("  a: b{}\n{}Call it?", " ".repeat(13), " ".repeat(9)));
        assert_eq!(folded("one two three four five six", 20), "one two three four \n      five six");
        assert_eq!(folded("one two_three_four_five", 20), "one two_three_four_\n      five");
        assert_eq!(folded(&"x".repeat(19), 20), "x".repeat(19));
        assert_eq!(folded(&"日".repeat(10), 20), format!("{}\n      日", "日".repeat(9)));
        assert_eq!(folded("12345678\t12345678\tx", 20), "12345678\t123\n      45678\tx");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let text = format!("{}{}\n{}", " ".repeat(90), "ab 日\t".repeat(50), "z".repeat(400));
        for columns in 0..120 {
            for line in folded(&text, columns).lines() {
                let width: usize = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
                assert!(width < columns.max(20), "{columns}: {line:?}");
            }
        }
    }
}
