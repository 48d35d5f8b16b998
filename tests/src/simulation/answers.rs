//! Reads the answers that came over one connection as plainly as can be: no code is shared with what is tested, and what is
//! not plain is called a fault.

/// What a piece of an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The status and the fields, names in lower case.
    Head(u16, Vec<(String, String)>),
    Body(Vec<u8>),
    /// The answer is whole.
    End,
    /// What came is no HTTP as it should be, or nobody asked for it.
    Fault,
}

/// Where in an answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Nothing was asked.
    Rest,
    Head,
    /// So many bytes of it are to come.
    Length(u64),
    /// At the size of a chunk, in one, at the end of one, in the trailers.
    Size,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    /// It goes on to the end of the connection.
    ToEnd,
    /// Nothing more comes of this connection.
    Over,
}

/// Reads the answers of one connection.
#[derive(Debug)]
pub(super) struct Answers {
    at: At,
    unread: Vec<u8>,
    keep: bool,
    most: usize,
}

impl Answers {
    /// Heads, and trailers, may have so many bytes.
    pub(super) const fn new(most: usize) -> Self {
        Self { at: At::Rest, unread: Vec::new(), keep: true, most }
    }

    /// A request begins to leave.
    pub(super) fn asked(&mut self) {
        if self.at != At::Over {
            assert!(self.at == At::Rest, "a request was written while an answer was open: {:?}", self.at);
            self.at = At::Head;
        }
    }

    /// Whether the head of an answer has begun and is not there.
    pub(super) fn in_head(&self) -> bool {
        self.at == At::Head && !self.unread.is_empty()
    }

    /// Takes what came.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if self.at == At::Over {
            return pieces;
        }
        self.unread.extend_from_slice(bytes);
        while !self.unread.is_empty() && self.at != At::Over {
            match self.step(&mut pieces) {
                Some(true) => {}
                Some(false) => break,
                None => {
                    self.at = At::Over;
                    pieces.push(Piece::Fault);
                }
            }
        }
        pieces
    }

    /// The server says nothing more; `broken`: that was not its own word.
    pub(super) fn ended(&mut self, broken: bool) -> Option<Piece> {
        let at = std::mem::replace(&mut self.at, At::Over);
        (at == At::ToEnd && !broken).then_some(Piece::End)
    }

    /// Whether an answer is under way that has no end yet.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.at, At::Rest | At::Over)
    }

    /// `Some(false)`: more has to come first. `None`: that is none.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> Option<bool> {
        match self.at {
            At::Rest => return None,
            At::Over => return Some(false),
            At::Head => {
                let most = self.unread.len().min(self.most);
                let plain = b"HTTP/";
                let begun = plain.len().min(most);
                if self.unread[..begun] != plain[..begun] {
                    return None;
                }
                // Whatever stands in a line that is whole is looked at, before all lines are there.
                let Some(len) = self.unread[..most].windows(4).position(|end| end == b"\r\n\r\n") else {
                    return (self.unread.len() < self.most && !has_stray(&self.unread)).then_some(false);
                };
                let head = self.unread.drain(..len + 4).collect::<Vec<_>>();
                if has_stray(&head) {
                    return None;
                }
                let head = std::str::from_utf8(&head[..len]).ok()?;
                self.head(head, pieces)?;
            }
            At::Length(left) => {
                let len = left.min(self.unread.len() as u64) as usize;
                pieces.push(Piece::Body(self.unread.drain(..len).collect()));
                self.at = At::Length(left - len as u64);
                self.over_at(At::Length(0), pieces);
            }
            At::Chunk(left) => {
                let len = left.min(self.unread.len() as u64) as usize;
                pieces.push(Piece::Body(self.unread.drain(..len).collect()));
                let left = left - len as u64;
                self.at = if left == 0 { At::ChunkEnd } else { At::Chunk(left) };
            }
            At::ToEnd => pieces.push(Piece::Body(std::mem::take(&mut self.unread))),
            At::Size | At::ChunkEnd | At::Trailers => return self.line(pieces),
        }
        Some(true)
    }

    /// A line between the pieces of a body.
    fn line(&mut self, pieces: &mut Vec<Piece>) -> Option<bool> {
        let end = self.unread.windows(2).position(|end| end == b"\r\n");
        let line = &self.unread[..end.unwrap_or(self.unread.len())];
        let plain = |line: &[u8]| line.iter().all(|byte| (0x20..0x7f).contains(byte));
        let last_cr = end.is_none() && line.last() == Some(&b'\r');
        let line = &line[..line.len() - usize::from(last_cr)];
        let text = std::str::from_utf8(line).ok().filter(|text| plain(text.as_bytes()))?;
        let (size, extension) = text.split_once(';').unwrap_or((text, ""));
        let digits = size.len() <= 15 && size.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self.at {
            At::Size if !digits || extension.len() > 256 => return None,
            At::Size if size.is_empty() && (end.is_some() || last_cr || text.contains(';')) => return None,
            At::ChunkEnd if !text.is_empty() => return None,
            At::Trailers if text.len() > self.most => return None,
            At::Trailers => {
                let name = text.split(':').next().unwrap_or_default();
                let token = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                if !token || !text.is_empty() && (name.is_empty() || end.is_some() && name == text) {
                    return None;
                }
            }
            _ => {}
        }
        let Some(end) = end else { return Some(false) };
        let empty = text.is_empty();
        let next = match self.at {
            At::Size => match u64::from_str_radix(size, 16).ok()? {
                0 => At::Trailers,
                size => At::Chunk(size),
            },
            At::ChunkEnd => At::Size,
            _ if empty => At::Length(0),
            at => at,
        };
        self.unread.drain(..end + 2);
        self.at = next;
        self.over_at(At::Length(0), pieces);
        Some(true)
    }

    fn over_at(&mut self, at: At, pieces: &mut Vec<Piece>) {
        if self.at == at {
            pieces.push(Piece::End);
            self.at = if self.keep { At::Rest } else { At::Over };
        }
    }

    fn head(&mut self, head: &str, pieces: &mut Vec<Piece>) -> Option<()> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.splitn(3, ' ');
        let old = match first.next()? {
            "HTTP/1.1" => false,
            "HTTP/1.0" => true,
            _ => return None,
        };
        let status = first.next().filter(|status| status.len() == 3)?.parse::<u16>().ok()?;
        let mut fields = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':')?;
            let token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            if name.is_empty() || !name.bytes().all(token) {
                return None;
            }
            if value.bytes().any(|byte| byte < 0x20 && byte != b'\t' || byte == 0x7f) {
                return None;
            }
            fields.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
        }
        let all = |name: &str| -> Vec<String> {
            fields.iter().filter(|(found, _)| found == name).map(|(_, value)| value.clone()).collect()
        };
        let (lengths, codings) = (all("content-length"), all("transfer-encoding"));
        let digits = |length: &String| {
            !length.is_empty() && length.len() < 20 && length.bytes().all(|byte| byte.is_ascii_digit())
        };
        let (same, chunked) = (lengths.iter().all(|one| Some(one) == lengths.first()), !codings.is_empty());
        let coded = codings.len() > 1 || codings.iter().any(|coding| !coding.eq_ignore_ascii_case("chunked"));
        if fields.len() > 100 || !lengths.iter().all(digits) || !same || coded {
            return None;
        }
        if chunked && (!lengths.is_empty() || old) || !(100..=999).contains(&status) || status == 101 {
            return None;
        }
        if status < 200 {
            return Some(());
        }
        let says = |word: &str| {
            all("connection")
                .iter()
                .any(|all| all.split(',').any(|one| one.trim().eq_ignore_ascii_case(word)))
        };
        self.at = match lengths.first() {
            _ if matches!(status, 204 | 304) => At::Length(0),
            _ if chunked => At::Size,
            Some(length) => At::Length(length.parse().ok()?),
            None => At::ToEnd,
        };
        self.keep = !says("close") && (!old || says("keep-alive")) && self.at != At::ToEnd;
        pieces.push(Piece::Head(status, fields));
        self.over_at(At::Length(0), pieces);
        Some(())
    }
}

/// Whether a CR or an LF stands there without the other.
fn has_stray(text: &[u8]) -> bool {
    text.windows(2).any(|two| (two[0] == b'\r') != (two[1] == b'\n'))
}

/// An event, or what else a stream of them says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Event(String, Vec<u8>),
    Id(String),
}

/// Reads a stream of events.
#[derive(Debug, Default)]
pub(super) struct Events {
    unread: Vec<u8>,
    begun: bool,
    after_cr: bool,
    name: String,
    id: Option<String>,
    data: Option<Vec<u8>>,
}

impl Events {
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Told> {
        let mut told = Vec::new();
        self.unread.extend_from_slice(bytes);
        loop {
            if self.after_cr && self.unread.first() == Some(&b'\n') {
                self.unread.remove(0);
            }
            self.after_cr &= self.unread.is_empty();
            let Some(end) = self.unread.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
                return told;
            };
            self.after_cr = self.unread[end] == b'\r';
            let mut line: Vec<u8> = self.unread.drain(..=end).take(end).collect();
            if !std::mem::replace(&mut self.begun, true) && line.starts_with("\u{feff}".as_bytes()) {
                line.drain(..3);
            }
            self.line(&line, &mut told);
        }
    }

    /// Bytes that are kept of what is not over.
    pub(super) fn held(&self) -> usize {
        self.unread.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    fn line(&mut self, line: &[u8], told: &mut Vec<Told>) {
        if line.is_empty() {
            told.extend(self.id.take().map(Told::Id));
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take().filter(|data| !data.iter().all(u8::is_ascii_whitespace)) {
                told.push(Told::Event(name, data));
            }
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match &line[..colon] {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                none => *none = Some(value.to_vec()),
            },
            b"event" => self.name = text(),
            b"id" if !value.contains(&0) => self.id = Some(text()),
            _ => {}
        }
    }
}
