//! The scripted peer's own way of cutting lines. It shares no code with the machines it tests.

/// Lines out of pieces. Kept as simple as can be.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    waiting: Vec<u8>,
    searched: usize,
}

impl Splitter {
    /// Takes a piece; gives the lines that are complete now, without their LF.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        self.waiting.extend_from_slice(piece);
        let mut lines = Vec::new();
        while let Some(end) = self.waiting[self.searched..].iter().position(|byte| *byte == b'\n') {
            let mut line: Vec<u8> = self.waiting.drain(..=self.searched + end).collect();
            line.pop();
            lines.push(line);
            self.searched = 0;
        }
        self.searched = self.waiting.len();
        lines
    }
}
