//! Rule `memory`: memory is counted before it is taken.

use crate::rejection::{rule, Result};

/// The memory that may be taken, and how much of it is in use. Everything whose size the file decides is
/// counted here; what is not counted is less than `FIXED`.
pub struct Memory {
    limit: u64,
    used: u64,
    /// The most bytes that were counted at a time.
    pub peak: u64,
}

/// Bytes for the program itself: buffers of the decompressor, stacks, messages.
const FIXED: u64 = 4 << 20;

impl Memory {
    pub fn new(limit: u64) -> Memory {
        Memory { limit, used: FIXED, peak: FIXED }
    }

    /// Counts these bytes, or refuses the file.
    pub fn take(&mut self, bytes: u64, what: &str) -> Result<()> {
        let (used, limit) = (self.used.saturating_add(bytes), self.limit >> 20);
        rule!("memory", used <= self.limit, "{what} would need {} MiB in all, and --memory allows {limit}", used >> 20);
        self.used = used;
        self.peak = self.peak.max(used);
        Ok(())
    }

    /// Counts these bytes as free again.
    pub fn give_back(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// A vector of `count` default elements, whose bytes the caller has counted.
    pub fn vector<T: Default + Clone>(count: usize, what: &str) -> Result<Vec<T>> {
        let mut vector = Vec::new();
        rule!("memory", vector.try_reserve_exact(count).is_ok(), "the system gave no memory for {what}");
        vector.resize(count, T::default());
        Ok(vector)
    }
}

/// 80 % of the memory that is free now, by Linux's account; 2 GiB where there is no such account.
pub fn default_limit() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.map_or(2 << 30, |n| n * 1024 / 5 * 4)
}

/// Reads a number of bytes: `4GiB` or `4G`, `512MiB`, `64KiB`, or a plain number.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let (text, units) =
        (text.strip_suffix("iB").unwrap_or(text), [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("", 1)]);
    let (digits, unit) = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))?;
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
#[path = "../tests/unit/memory.rs"]
mod tests;
