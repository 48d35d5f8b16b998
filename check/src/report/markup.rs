//! Text inside XML and HTML.

/// The text as it stands between tags and in attributes, of XML 1.0 and HTML alike.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // In an attribute they would become spaces.
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // No XML may hold these, not even written as numbers.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_means_something_in_markup_is_written_out() {
        assert_eq!(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
        assert_eq!(escaped("]]> &amp; <!--"), "]]&gt; &amp;amp; &lt;!--");
        assert_eq!(
            escaped("1\n2\t3\r\0\u{1b}\u{85}\u{ffff}"),
            "1&#10;2&#9;3\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(escaped("ü 漢 \u{1f600}"), "ü 漢 \u{1f600}");
    }
}
