//! A set of states in memory: its rows, its ranks, and a hash table of the rows.

use crate::archive::Archive;
use crate::memory::Memory;
use crate::part::Part;
use crate::rejection::{need, rule, Result};

pub struct States {
    words: usize,
    /// The rows, one after the other.
    pub rows: Vec<u64>,
    /// The rank of each row; empty without ranks.
    pub ranks: Vec<u16>,
    /// Linear probing, and exact comparison of rows. A slot is 0 if it is free. Else its low bits are the number of a
    /// row plus 1, and the other bits are from the hash of this row, so that few rows are compared in vain.
    table: Vec<u32>,
    low: u32,
    seed: u64,
    bytes: u64,
}

/// No row of a set.
const FREE: u32 = 0;

impl States {
    /// Reads the set with these members, after its memory is counted.
    pub fn load(part: &Part, names: &[String], file: &mut Archive, memory: &mut Memory, seed: u64) -> Result<Self> {
        let (words, what) = (part.used.len(), "a set of states");
        let bytes_of_row = 8 * words as u64 + if part.is_ranked() { 2 } else { 0 };
        let mut total: u64 = 0;
        for member in names {
            let size = file.size(member)?;
            need!(size % bytes_of_row == 0, "the member {member:?} does not have the size of whole rows");
            total = total.saturating_add(size / bytes_of_row);
        }
        rule!("memory", total < u64::from(u32::MAX), "a set has {total} states, more than this program holds");
        let (count, slots) = (total as usize, (total + total / 2 + 1).next_power_of_two() as usize);
        let bytes = total * bytes_of_row + 4 * slots as u64;
        memory.take(bytes, what)?;
        let mut states = States {
            words,
            rows: Memory::vector(count * words, what)?,
            ranks: Memory::vector(if part.is_ranked() { count } else { 0 }, what)?,
            table: Memory::vector(slots, what)?,
            low: ((total + 1).next_power_of_two() - 1) as u32,
            seed,
            bytes,
        };
        let mut first = 0;
        for member in names {
            let content = file.read(member, memory)?;
            let count = content.len() / bytes_of_row as usize;
            states.read(first, count, &content);
            first += count;
            memory.give_back(content.len() as u64);
        }
        for row in 0..count {
            let hash = states.hash(states.row(row));
            let (free, found) = states.slot(hash, states.row(row));
            need!(found.is_none(), "the row {row} is in its set twice");
            states.table[free] = (row as u32 + 1) | (hash >> 32) as u32 & !states.low;
        }
        Ok(states)
    }

    /// Reads the content of a member, whose rows begin at `first`: columns in which each value is XORed with the value
    /// before, then ranks.
    fn read(&mut self, first: usize, count: usize, content: &[u8]) {
        let (rows, ranks) = content.split_at(8 * count * self.words);
        for (word, column) in rows.chunks_exact((8 * count).max(1)).enumerate() {
            let mut value = 0;
            for (row, bytes) in column.chunks_exact(8).enumerate() {
                value ^= u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                self.rows[(first + row) * self.words + word] = value;
            }
        }
        for (bytes, rank) in ranks.chunks_exact(2).zip(self.ranks.iter_mut().skip(first)) {
            *rank = u16::from_le_bytes([bytes[0], bytes[1]]);
        }
    }

    /// Counts the memory of the set as free.
    pub fn drop_from(self, memory: &mut Memory) {
        memory.give_back(self.bytes);
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.words
    }

    fn row(&self, row: usize) -> &[u64] {
        &self.rows[row * self.words..(row + 1) * self.words]
    }

    /// The hash of a row, the same for all sets. The seed differs from run to run, so that no file can aim at equal
    /// hashes.
    pub fn hash(&self, row: &[u64]) -> u64 {
        let mut hash = self.seed;
        for word in row {
            hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 32;
        }
        hash
    }

    /// The slot and the number of a row, or the free slot where the row would be.
    fn slot(&self, hash: u64, row: &[u64]) -> (usize, Option<usize>) {
        let mut slot = hash as usize & (self.table.len() - 1);
        loop {
            let entry = self.table[slot];
            if entry == FREE {
                return (slot, None);
            }
            if (entry ^ (hash >> 32) as u32) & !self.low == 0 {
                let number = (entry & self.low) as usize - 1;
                if self.row(number).iter().zip(row).fold(0, |bits, (a, b)| bits | (a ^ b)) == 0 {
                    return (slot, Some(number));
                }
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
    }

    /// The number of a row with this hash, if the set has this row.
    pub fn find(&self, hash: u64, row: &[u64]) -> Option<usize> {
        self.slot(hash, row).1
    }

    /// Reads what `find` will read for these hashes, all at once, so that the processor waits for memory once and not
    /// for each.
    pub fn touch(&self, hashes: &[u64]) {
        let row = |hash: &u64| (self.table[*hash as usize & (self.table.len() - 1)] & self.low) as usize * self.words;
        let words = hashes.iter().map(|hash| self.rows.get(row(hash)).copied().unwrap_or(0));
        std::hint::black_box(words.fold(0, |bits, word| bits ^ word));
    }
}
