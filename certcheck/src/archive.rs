//! The members of the file (the page, "The file"): each has a name of its own, and is packed by zlib.

use crate::memory::Memory;
use crate::rejection::{need, Rejection, Result};
use crate::sexp::numeral;
use miniz_oxide::inflate::stream::{inflate, InflateState};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

const FIRST_LINE: &[u8] = b"proofka-certificate 2\n";

/// Bytes of memory that a member needs at most as a part of the list of members.
const LISTED: u64 = 400;

/// Bytes of a member that are unpacked at a time; no number of a row is cut.
const CHUNK: usize = 1 << 16;

pub struct Archive {
    file: BufReader<File>,
    members: BTreeMap<String, Member>,
}

/// Where the packed bytes of a member begin in the file, their number, and the size of the content.
#[derive(Clone, Copy)]
struct Member {
    place: u64,
    packed: u64,
    size: u64,
}

fn io(error: std::io::Error) -> Rejection {
    Rejection::NotACertificate(format!("the file cannot be read: {error}"))
}

impl Archive {
    /// Reads the heads of all members.
    pub fn open(path: &std::path::Path, memory: &mut Memory) -> Result<Archive> {
        need!(!path.exists() || path.is_file(), "this is no regular file");
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let (end, mut place, mut members) = (file.get_ref().metadata().map_err(io)?.len(), FIRST_LINE.len() as u64, BTreeMap::new());
        let mut line = Vec::new();
        file.by_ref().take(place).read_to_end(&mut line).map_err(io)?;
        need!(line == FIRST_LINE, "the file does not begin as a certificate of version 2 does");
        while place < end {
            memory.take(LISTED, "the list of members")?;
            line.clear();
            file.by_ref().take(200).read_until(b'\n', &mut line).map_err(io)?;
            need!(let Some((name, packed, size)) = head(&line), "at byte {place} of the file stands no head of a member");
            place += line.len() as u64;
            need!(members.insert(name.clone(), Member { place, packed, size }).is_none(), "the member {name} is in the file twice");
            place += packed;
            need!(place <= end, "the member {name} is cut off");
            file.seek(SeekFrom::Start(place)).map_err(io)?;
        }
        Ok(Archive { file, members })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The size of a member, as its head has it; reading the member checks this size.
    pub fn size(&self, name: &str) -> Result<u64> {
        Ok(self.member(name)?.size)
    }

    fn member(&self, name: &str) -> Result<Member> {
        need!(let Some(member) = self.members.get(name), "the file has no member {name:?}");
        Ok(*member)
    }

    /// Reads a member that is a text.
    pub fn text(&mut self, name: &str, memory: &mut Memory) -> Result<String> {
        let size = self.size(name)?;
        memory.take(size, name)?;
        let mut bytes = Vec::with_capacity(size as usize);
        self.read(name, &mut |chunk| bytes.extend_from_slice(chunk))?;
        need!(let Ok(text) = String::from_utf8(bytes), "{name} is not UTF-8");
        Ok(text)
    }

    /// Reads a member chunk by chunk. No more bytes arrive than the head says, and a member with fewer is refused.
    pub fn read(&mut self, name: &str, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let Member { place, packed, size: mut left } = self.member(name)?;
        self.file.seek(SeekFrom::Start(place)).map_err(io)?;
        let mut packed = (&mut self.file).take(packed);
        let mut state = InflateState::new_boxed(DataFormat::Zlib);
        let (mut chunk, mut filled, mut ended) = (vec![0; CHUNK], 0, false);
        while !ended {
            let result = inflate(&mut state, packed.fill_buf().map_err(io)?, &mut chunk[filled..], MZFlush::None);
            packed.consume(result.bytes_consumed);
            filled += result.bytes_written;
            ended = result.status == Ok(MZStatus::StreamEnd);
            let goes_on = result.status.is_ok() && result.bytes_consumed + result.bytes_written > 0;
            need!(ended || goes_on, "the member {name} is damaged");
            if filled == CHUNK || ended {
                need!(filled as u64 <= left, "the member {name} is longer than its head says");
                sink(&chunk[..filled]);
                (left, filled) = (left - filled as u64, 0);
            }
        }
        need!(left == 0 && packed.limit() == 0, "the member {name} is shorter than its head says");
        Ok(())
    }
}

/// The name of a member, its packed size, and its size.
fn head(line: &[u8]) -> Option<(String, u64, u64)> {
    let words: Vec<&str> = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split(' ').collect();
    let [name, packed, size] = words.try_into().ok()?;
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._/-".contains(&b);
    let right = (1..=100).contains(&name.len()) && name.bytes().all(allowed);
    right.then_some((name.to_string(), numeral(packed)?, numeral(size)?))
}
