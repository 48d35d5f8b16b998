//! Lines that are no wider than the terminal, so that it breaks none where somebody else chose.

/// How much further in a line goes on than it began.
const FURTHER: usize = 6;

/// The text in lines of at most `columns` columns. Where a line is broken it goes on further in than it began: what a
/// server or a model wrote cannot be spaced out until it stands where our own lines stand.
///
/// Whatever is not ASCII counts as two columns, which is the most that it takes.
pub(crate) fn folded(text: &str, columns: usize) -> String {
    let columns = columns.max(20);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let begun = line.chars().take_while(|c| *c == ' ').count();
        let indent = (begun + FURTHER).min(columns / 2);
        let mut column = 0;
        for c in line.chars() {
            let width = match c {
                '\n' => 0,
                '\t' => 8 - column % 8,
                _ if c.is_ascii() => 1,
                _ => 2,
            };
            // The last column stays free: some terminals break a line as soon as it is taken.
            if column + width >= columns {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            }
            out.push(c);
            column += width;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn what_goes_on_in_a_new_line_stands_further_in_than_it_began() {
        assert_eq!(folded("short\n  lines\n", 20), "short\n  lines\n");
        let words = format!("  a: b{}Call it?", " ".repeat(14));
        assert_eq!(folded(&words, 20), format!("  a: b{}\n{}Call it?", " ".repeat(13), " ".repeat(9)));
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
