//! A set of states in memory: its rows, its ranks, and a hash table of the rows.

use crate::archive::Archive;
use crate::certificate::Listed;
use crate::memory::Memory;
use crate::rejection::{need, rule, Result};

pub struct States {
    words: usize,
    /// The rows, one after the other.
    pub rows: Vec<u64>,
    /// The rank of each row; empty without ranks.
    pub ranks: Vec<u16>,
    /// Linear probing, and exact comparison of rows. A slot is 0 if it is free. Else its low bits are the number of a row plus 1,
    /// and the other bits are from the hash of this row, so that few rows are compared in vain.
    table: Vec<u32>,
    low: u32,
    seed: u64,
    bytes: u64,
}

/// No row of a set.
const FREE: u32 = 0;

impl States {
    /// Reads a set, after its memory is counted.
    pub fn load(listed: &Listed, words: usize, ranked: bool, archive: &mut Archive, memory: &mut Memory, seed: u64) -> Result<States> {
        let what = "a set of states";
        rule!("memory", listed.count < u64::from(u32::MAX), "a set has {} states, more than this program holds", listed.count);
        let count = listed.count as usize;
        let slots = (count + count / 2 + 1).next_power_of_two();
        let ranked = if ranked { count } else { 0 };
        // The counts of rows agree with the sizes of members, so that these products are small.
        let bytes = 8 * (count * words) as u64 + 2 * ranked as u64 + 4 * slots as u64;
        memory.take(bytes, what)?;
        let mut states = States {
            words,
            rows: Memory::vector(count * words, what)?,
            ranks: Memory::vector(ranked, what)?,
            table: Memory::vector(slots, what)?,
            low: ((listed.count + 1).next_power_of_two() - 1) as u32,
            seed,
            bytes,
        };
        let mut first = 0;
        for member in &listed.members {
            first += states.read(first, member, archive)?;
        }
        for row in 0..count {
            states.insert(row)?;
        }
        Ok(states)
    }

    /// Counts the memory of the set as free.
    pub fn drop_from(self, memory: &mut Memory) {
        memory.give_back(self.bytes);
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.words
    }

    pub fn row(&self, row: usize) -> &[u64] {
        &self.rows[row * self.words..(row + 1) * self.words]
    }

    /// Reads a member, whose rows begin at `first`: columns in which each value is XORed with the value before, then ranks.
    /// Gives the number of the rows.
    fn read(&mut self, first: usize, member: &str, archive: &mut Archive) -> Result<usize> {
        let (words, ranked) = (self.words, !self.ranks.is_empty());
        let count = archive.size(member)? as usize / (8 * words + if ranked { 2 } else { 0 });
        let rows = &mut self.rows[first * words..(first + count) * words];
        let mut ranks = self.ranks.iter_mut().skip(first);
        let (mut word, mut row, mut value) = (0, 0, 0);
        archive.read(member, &mut |chunk| {
            let left = (words - word) * count - row;
            let (of_rows, of_ranks) = chunk.split_at(chunk.len().min(8 * left));
            for bytes in of_rows.chunks_exact(8) {
                value ^= u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
                rows[row * words + word] = value;
                row += 1;
                if row == count {
                    (word, row, value) = (word + 1, 0, 0);
                }
            }
            for (bytes, rank) in of_ranks.chunks_exact(2).zip(&mut ranks) {
                *rank = u16::from_le_bytes([bytes[0], bytes[1]]);
            }
        })?;
        Ok(count)
    }

    fn insert(&mut self, row: usize) -> Result<()> {
        let hash = self.hash(self.row(row));
        let (free, found) = self.slot(hash, self.row(row));
        need!(found.is_none(), "the row {row} is in its set twice");
        self.table[free] = (row as u32 + 1) | (hash >> 32) as u32 & !self.low;
        Ok(())
    }

    /// The hash of a row, the same for all sets. The seed differs from run to run, so that no file can aim at equal hashes.
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

    pub fn has(&self, row: &[u64]) -> bool {
        self.find(self.hash(row), row).is_some()
    }

    /// Reads what `find` will read for these hashes, all at once, so that the processor waits for memory once and not for each.
    pub fn touch(&self, hashes: &[u64]) {
        let row = |hash: &u64| (self.table[*hash as usize & (self.table.len() - 1)] & self.low) as usize * self.words;
        let words = hashes.iter().map(|hash| self.rows.get(row(hash)).copied().unwrap_or(0));
        std::hint::black_box(words.fold(0, |bits, word| bits ^ word));
    }
}
