//! Combinations of faults: how many faults of each kind.

use std::collections::{BTreeMap, BTreeSet};

/// Kinds in order, each as often as its faults happen.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Faults(Vec<String>);

impl Faults {
    pub fn new(kinds: impl IntoIterator<Item = String>) -> Faults {
        let mut kinds: Vec<String> = kinds.into_iter().collect();
        kinds.sort_unstable();
        Faults(kinds)
    }

    pub fn total(&self) -> usize {
        self.0.len()
    }

    pub fn contains(&self, other: &Faults) -> bool {
        let mut rest = self.0.iter();
        other.0.iter().all(|kind| rest.any(|own| own == kind))
    }

    /// This combination with one fault more.
    pub fn with(&self, kind: &str) -> Faults {
        Faults::new(self.0.iter().cloned().chain([kind.to_string()]))
    }

    /// The combinations with one fault fewer, each with the kind of this fault.
    pub fn smaller(&self) -> impl Iterator<Item = (Faults, &String)> {
        let without = |at| Faults([&self.0[..at], &self.0[at + 1..]].concat());
        (0..self.0.len()).map(move |at| (without(at), &self.0[at]))
    }

    /// `m(c)` of the page: each covered kind is replaced by the kind that covers it.
    pub fn replaced(&self, covered: &BTreeMap<String, String>) -> Faults {
        Faults::new(self.0.iter().map(|kind| covered.get(kind).unwrap_or(kind).clone()))
    }

    /// This combination without the faults of some kinds.
    pub fn without(&self, kinds: &BTreeSet<String>) -> Faults {
        Faults(self.0.iter().filter(|kind| !kinds.contains(*kind)).cloned().collect())
    }

    /// The limits and a total in which this combination must be.
    pub fn within(&self, limits: &BTreeMap<String, i64>, total: i64) -> bool {
        let groups = self.0.chunk_by(|one, other| one == other);
        self.0.len() as i64 <= total && { groups }.all(|kinds| kinds.len() as i64 <= limits[&kinds[0]])
    }
}

impl std::fmt::Display for Faults {
    /// The combination in words: `{kill 2, power-loss}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = |kinds: &[String]| match kinds.len() {
            1 => kinds[0].clone(),
            n => format!("{} {n}", kinds[0]),
        };
        let words: Vec<String> = self.0.chunk_by(|one, other| one == other).map(word).collect();
        write!(f, "{{{}}}", words.join(", "))
    }
}

#[cfg(test)]
#[path = "../tests/unit/faults.rs"]
mod tests;
