//! Keeping secrets out of a report.

use sanswire_system::Secrets;

use super::{Report, Verdict};
use crate::finding::{CUT, Finding, harmless};
use crate::transcript::Transcript;

impl Report {
    /// Takes these values out of everything that the server, or anybody but this program, said: three stars stand for each.
    ///
    /// It is done to what was heard, so that none is left in any format, however that spells it.
    pub fn mask(&mut self, secrets: impl IntoIterator<Item = String>) {
        let spelled = |secret: String| [harmless(&secret), secret];
        let secrets = Secrets::new(secrets.into_iter().flat_map(spelled));
        self.peer.iter_mut().for_each(|peer| text(&secrets, peer));
        self.unspoken.iter_mut().for_each(|it| text(&secrets, &mut it.why));
        if let Some(found) = &mut self.unreached {
            finding(&secrets, &mut found.finding);
            lines(&secrets, &mut found.transcript);
        }
        for result in &mut self.results {
            match &mut result.verdict {
                Verdict::Passed => {}
                Verdict::Found(found) => finding(&secrets, found),
                Verdict::Accepted(found, note) => {
                    finding(&secrets, found);
                    text(&secrets, note);
                }
                Verdict::Skipped(why) => text(&secrets, why),
            }
            lines(&secrets, &mut result.transcript);
        }
    }
}

fn finding(secrets: &Secrets, finding: &mut Finding) {
    text(secrets, &mut finding.expected);
    text(secrets, &mut finding.got);
}

/// A part of a secret is looked for at the end of a line, and what was cut off ends there too.
fn text(secrets: &Secrets, text: &mut String) {
    let pieces: Vec<_> = text.split(CUT).map(|piece| secrets.apply(piece)).collect();
    *text = pieces.join(CUT);
}

fn lines(secrets: &Secrets, transcript: &mut Transcript) {
    for entry in transcript.entries_mut() {
        let kept = match std::str::from_utf8(&entry.bytes) {
            // A character that was cut through would stand between a part of a secret and the end.
            Err(cut) if cut.error_len().is_none() => &entry.bytes[..cut.valid_up_to()],
            Ok(_) | Err(_) => &entry.bytes,
        };
        let heard = String::from_utf8_lossy(kept);
        let masked = secrets.apply(&heard);
        if masked != heard {
            // What was kept whole is still told as the whole.
            entry.len = if entry.bytes.len() < entry.len { entry.len } else { masked.len() };
            entry.bytes = masked.into_owned().into_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use crate::Verdict;

    #[test]
    fn a_secret_is_in_no_format_however_it_is_written_there() {
        let secret = "p<\u{e4}&\"ss\t'/w\u{f6}rd";
        let cut = format!("{}{}", "x".repeat(4080), secret);
        let mut report = samples::report();
        let results = &mut report.results;
        results[0].verdict = samples::found("nothing", &format!("a {secret} b"));
        results[0].transcript = samples::said(&[secret, &format!("{:?}", secret), &cut]);
        results[1].verdict = Verdict::Accepted(samples::finding("x", &"y".repeat(200_000)), secret.into());
        results[2].verdict = Verdict::Skipped(secret.into());
        report.peer = Some(format!("server {secret}"));
        report.unspoken[0].why = format!("it answers with {secret}");
        report.mask([secret.to_owned()]);
        for (format, text) in samples::all_formats(&report) {
            for part in
                ["p<\u{e4}", "p&lt;", "p\\u003c", "w\u{f6}rd", "w\\u{f6}rd", "w\\u00f6rd", "ss\\t", "ss\t"]
            {
                assert!(!text.contains(part), "{format} holds {part}");
            }
            assert!(text.contains("***"), "{format}");
        }
    }

    #[test]
    fn a_secret_that_was_cut_through_is_taken_out_too() {
        let secret = "0123456789abcdef";
        let mut report = samples::report();
        report.results[0].verdict = samples::found("x", &format!("{}{secret}", "y".repeat((16 << 10) - 10)));
        report.mask([secret.to_owned()]);
        let Verdict::Found(finding) = &report.results[0].verdict else { panic!() };
        assert!(finding.got.ends_with("yyy***... (16390 bytes)"), "{}", &finding.got[16_000..]);
    }
}
