//! The ZIP archive (the page, "The file"): members are stored or deflated, and named once. No ZIP64, no encryption, no comment.

use crate::memory::Memory;
use crate::rejection::{need, Rejection, Result};
use miniz_oxide::inflate::stream::{inflate, InflateState};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

const DIRECTORY_END: u64 = 22;
const CHUNK: usize = 1 << 16;
const STORED: u64 = 0;
const DEFLATED: u64 = 8;

pub struct Archive {
    file: File,
    members: BTreeMap<String, Member>,
}

#[derive(Clone)]
struct Member {
    method: u64,
    checksum: u32,
    packed: u64,
    size: u64,
    header: u64,
}

fn io(error: std::io::Error) -> Rejection {
    Rejection::NotACertificate(format!("the file cannot be read: {error}"))
}

fn u16_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    u16_at(bytes, at) | u16_at(bytes, at + 2) << 16
}

impl Archive {
    /// Reads the directory of the archive.
    pub fn open(path: &std::path::Path, memory: &mut Memory) -> Result<Archive> {
        need!(!path.exists() || path.is_file(), "this is no regular file");
        let mut file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        need!(let Some(end_at) = length.checked_sub(DIRECTORY_END), "the file is too short for a ZIP archive");
        let mut end = [0; DIRECTORY_END as usize];
        read_at(&mut file, end_at, &mut end)?;
        let (count, size, start) = (u16_at(&end, 10), u32_at(&end, 12), u32_at(&end, 16));
        let whole = u32_at(&end, 4) == 0 && u16_at(&end, 8) == count && u16_at(&end, 20) == 0 && start + size == end_at;
        need!(&end[..4] == b"PK\x05\x06" && whole, "the file does not end as a ZIP archive without comment ends");
        memory.take(size * 5, "the directory of the archive")?;
        let mut directory: Vec<u8> = Memory::vector(size as usize, "the directory of the archive")?;
        read_at(&mut file, start, &mut directory)?;
        let (mut members, mut rest) = (BTreeMap::new(), directory.as_slice());
        for _ in 0..count {
            let (name, member, length) = entry(rest)?;
            need!(members.insert(name.clone(), member).is_none(), "the member {name:?} is in the archive twice");
            rest = &rest[length..];
        }
        need!(rest.is_empty(), "the directory of the archive is longer than its members");
        let first = members.values().map(|member: &Member| member.header).min();
        need!(first.unwrap_or(0) == 0, "the file has bytes before its first member");
        Ok(Archive { file, members })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The size of a member after decompression, as the directory has it; reading the member checks this size.
    pub fn size(&self, name: &str) -> Result<u64> {
        Ok(self.member(name)?.size)
    }

    fn member(&self, name: &str) -> Result<&Member> {
        need!(let Some(member) = self.members.get(name), "the archive has no member {name:?}");
        Ok(member)
    }

    /// Reads a member that is a text.
    pub fn text(&mut self, name: &str, memory: &mut Memory) -> Result<String> {
        let size = self.size(name)?;
        memory.take(size, name)?;
        let (mut bytes, mut at): (Vec<u8>, usize) = (Memory::vector(size as usize, name)?, 0);
        self.read(name, &mut |chunk| {
            bytes[at..at + chunk.len()].copy_from_slice(chunk);
            at += chunk.len();
        })?;
        need!(let Ok(text) = String::from_utf8(bytes), "{name} is not UTF-8");
        Ok(text)
    }

    /// Reads a member chunk by chunk. Each chunk but the last has `CHUNK` bytes, so that numbers are not cut. No more
    /// bytes arrive than the directory says, and a member with fewer, or with another checksum, is no member.
    pub fn read(&mut self, name: &str, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let member = self.member(name)?.clone();
        let mut header = [0; 30];
        read_at(&mut self.file, member.header, &mut header)?;
        let mut local = vec![0; u16_at(&header, 26) as usize];
        self.file.read_exact(&mut local).map_err(io)?;
        let same = u16_at(&header, 8) == member.method && u16_at(&header, 6) & !ALLOWED_FLAGS == 0 && local == name.as_bytes();
        need!(&header[..4] == b"PK\x03\x04" && same, "the member {name:?} does not begin as the directory says");
        self.file.seek(SeekFrom::Current(u16_at(&header, 28) as i64)).map_err(io)?;
        let mut packed = (&mut self.file).take(member.packed);
        let mut state = InflateState::new_boxed(DataFormat::Raw);
        let (mut input, mut output) = (vec![0; CHUNK], vec![0; CHUNK]);
        let (mut from, mut to, mut filled) = (0, 0, 0);
        let (mut size, mut checksum, mut ended) = (0u64, !0u32, false);
        while !ended {
            if from == to {
                (from, to) = (0, packed.read(&mut input).map_err(io)?);
            }
            if member.method == STORED {
                let length = (to - from).min(CHUNK - filled);
                output[filled..filled + length].copy_from_slice(&input[from..from + length]);
                (from, filled, ended) = (from + length, filled + length, to == 0);
            } else {
                let result = inflate(&mut state, &input[from..to], &mut output[filled..], MZFlush::None);
                ended = result.status == Ok(MZStatus::StreamEnd);
                let goes_on = result.status.is_ok() && result.bytes_consumed + result.bytes_written > 0;
                need!(ended || goes_on, "the member {name:?} cannot be decompressed");
                (from, filled) = (from + result.bytes_consumed, filled + result.bytes_written);
            }
            if filled == CHUNK || ended {
                size += filled as u64;
                need!(size <= member.size, "the member {name:?} is longer than the directory says");
                checksum = crc(checksum, &output[..filled]);
                sink(&output[..filled]);
                filled = 0;
            }
        }
        let exact = size == member.size && from == to && packed.limit() == 0 && !checksum == member.checksum;
        need!(exact, "the member {name:?} has another size or checksum than the directory says");
        Ok(())
    }
}

/// Flags that say nothing about the bytes: how hard the writer compressed, sizes behind the data, names in UTF-8.
const ALLOWED_FLAGS: u64 = 0b1000_0000_1110;

/// The member that an entry of the directory describes, and the length of the entry.
fn entry(bytes: &[u8]) -> Result<(String, Member, usize)> {
    need!(bytes.len() >= 46 && &bytes[..4] == b"PK\x01\x02", "the directory of the archive is damaged");
    let name_end = 46 + u16_at(bytes, 28) as usize;
    let length = name_end + u16_at(bytes, 30) as usize + u16_at(bytes, 32) as usize;
    need!(length <= bytes.len(), "the directory of the archive is damaged");
    need!(let Ok(name) = String::from_utf8(bytes[46..name_end].to_vec()), "the name of a member is not UTF-8");
    let (flags, method) = (u16_at(bytes, 8), u16_at(bytes, 10));
    let plain = flags & !ALLOWED_FLAGS == 0 && [STORED, DEFLATED].contains(&method) && u16_at(bytes, 34) == 0;
    need!(plain, "the member {name:?} is neither stored nor deflated, or is encrypted");
    let (checksum, packed, size, header) = (u32_at(bytes, 16) as u32, u32_at(bytes, 20), u32_at(bytes, 24), u32_at(bytes, 42));
    Ok((name, Member { method, checksum, packed, size, header }, length))
}

fn read_at(file: &mut File, at: u64, bytes: &mut [u8]) -> Result<()> {
    file.seek(SeekFrom::Start(at)).map_err(io)?;
    file.read_exact(bytes).map_err(io)
}

/// The checksum of ZIP archives (CRC-32), continued by these bytes, eight at a time.
fn crc(mut checksum: u32, bytes: &[u8]) -> u32 {
    const TABLES: [[u32; 256]; 8] = crc_tables();
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let low = checksum ^ u32_at(eight, 0) as u32;
        let index = [low & 255, low >> 8 & 255, low >> 16 & 255, low >> 24, u32::from(eight[4]), u32::from(eight[5]), u32::from(eight[6]), u32::from(eight[7])];
        checksum = (0..8).fold(0, |sum, i| sum ^ TABLES[7 - i][index[i] as usize]);
    }
    eights.remainder().iter().fold(checksum, |sum, byte| TABLES[0][((sum ^ u32::from(*byte)) & 255) as usize] ^ sum >> 8)
}

const fn crc_tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut i = 0;
    while i < 8 * 256 {
        let (table, byte) = (i / 256, i % 256);
        let mut value = if table == 0 { byte as u32 } else { tables[table - 1][byte] };
        if table == 0 {
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { 0xEDB8_8320 ^ value >> 1 } else { value >> 1 };
                bit += 1;
            }
        } else {
            value = tables[0][(value & 255) as usize] ^ value >> 8;
        }
        tables[table][byte] = value;
        i += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_standard_check_text() {
        assert_eq!(!crc(!0, b"123456789"), 0xCBF4_3926);
        assert_eq!(!crc(crc(!0, b"1234567890123456"), b"7"), !crc(!0, b"12345678901234567"));
    }
}
