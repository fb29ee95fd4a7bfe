//! The members of the file (the page, "The file"): each has a name of its own, and is packed by zlib.

use crate::memory::Memory;
use crate::rejection::{need, Rejection, Result};
use crate::sexp::numeral;
use miniz_oxide::inflate::core::{decompress, inflate_flags as flag, DecompressorOxide};
use miniz_oxide::inflate::TINFLStatus;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

const FIRST_LINE: &[u8] = b"proofka-certificate 4\n";

/// Members that `certificate.txt` does not name, and which this program does not read.
const UNREAD: [&str; 3] = ["README.txt", "deployment.json", "times.json"];

/// Bytes of memory that a member needs at most as a part of the list of members.
const LISTED: u64 = 400;

pub struct Archive {
    file: BufReader<File>,
    /// Where the packed bytes of a member begin in the file, their number, and the size of the content.
    members: BTreeMap<String, (u64, u64, u64)>,
    /// Members that were not read so far.
    pub unread: BTreeSet<String>,
}

fn io(error: std::io::Error) -> Rejection {
    Rejection { rule: "format", reason: format!("the file cannot be read: {error}") }
}

impl Archive {
    /// Reads the heads of all members.
    pub fn open(path: &std::path::Path, memory: &mut Memory) -> Result<Archive> {
        need!(!path.exists() || path.is_file(), "this is no regular file");
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let end = file.get_ref().metadata().map_err(io)?.len();
        let (mut line, mut place, mut members) = (Vec::new(), FIRST_LINE.len() as u64, BTreeMap::new());
        file.by_ref().take(place).read_to_end(&mut line).map_err(io)?;
        need!(line == FIRST_LINE, "the file does not begin as a certificate of version 4 does");
        while place < end {
            memory.take(LISTED, "the list of members")?;
            line.clear();
            file.by_ref().take(200).read_until(b'\n', &mut line).map_err(io)?;
            need!(let Some((name, packed, size)) = head(&line), "at byte {place} stands no head of a member");
            place += line.len() as u64;
            let first = members.insert(name.clone(), (place, packed, size)).is_none();
            place += packed;
            need!(first && place <= end, "the member {name} is in the file twice, or is cut off");
            file.seek(SeekFrom::Start(place)).map_err(io)?;
        }
        let unread = members.keys().filter(|name| !UNREAD.contains(&name.as_str())).cloned().collect();
        Ok(Archive { file, members, unread })
    }

    /// The size of a member, as its head has it; reading the member checks this size.
    pub fn size(&self, name: &str) -> Result<u64> {
        need!(let Some((_, _, size)) = self.members.get(name), "the file has no member {name:?}");
        Ok(*size)
    }

    /// Reads a member. The caller gives the memory back, which is counted here.
    pub fn read(&mut self, name: &str, memory: &mut Memory) -> Result<Vec<u8>> {
        let size = self.size(name)?;
        let (place, packed, _) = self.members[name];
        memory.take(size + packed, name)?;
        let (mut content, mut bytes) = (Memory::vector(size as usize, name)?, Memory::vector(packed as usize, name)?);
        self.file.seek(SeekFrom::Start(place)).and_then(|_| self.file.read_exact(&mut bytes)).map_err(io)?;
        let flags = flag::TINFL_FLAG_PARSE_ZLIB_HEADER | flag::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let found = decompress(&mut DecompressorOxide::new(), &bytes, &mut content, 0, flags);
        let right = found == (TINFLStatus::Done, bytes.len(), content.len());
        need!(right, "the member {name} is damaged, or has another size than its head says");
        self.unread.remove(name);
        memory.give_back(packed);
        Ok(content)
    }
}

/// The name of a member, its packed size, and its size.
fn head(line: &[u8]) -> Option<(String, u64, u64)> {
    let words: Vec<&str> = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split(' ').collect();
    let [name, packed, size] = words.try_into().ok()?;
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._/-".contains(&b);
    let right = (1..=100).contains(&name.len()) && name.bytes().all(allowed);
    right.then_some((name.to_string(), numeral(packed)? as u64, numeral(size)? as u64))
}
