//! Combinations of faults: how many faults of each kind.

/// Kinds by number, in order, each with a number of faults greater than 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Faults(Vec<(usize, u64)>);

impl Faults {
    /// The combination with these numbers of faults; none if a kind is twice or a number is 0.
    pub fn new(mut counts: Vec<(usize, u64)>) -> Option<Faults> {
        counts.sort_unstable();
        let valid = counts.iter().all(|(_, n)| *n > 0) && counts.windows(2).all(|pair| pair[0].0 < pair[1].0);
        valid.then_some(Faults(counts))
    }

    pub fn count(&self, kind: usize) -> u64 {
        self.0.iter().find(|(k, _)| *k == kind).map_or(0, |(_, n)| *n)
    }

    pub fn kinds(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|(kind, _)| *kind)
    }

    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    pub fn contains(&self, other: &Faults) -> bool {
        other.0.iter().all(|(kind, n)| self.count(*kind) >= *n)
    }

    /// This combination with one fault more.
    pub fn with(&self, kind: usize) -> Faults {
        let mut counts = self.0.clone();
        match counts.binary_search_by_key(&kind, |(k, _)| *k) {
            Ok(at) => counts[at].1 = counts[at].1.saturating_add(1),
            Err(at) => counts.insert(at, (kind, 1)),
        }
        Faults(counts)
    }

    /// This combination with one fault of a kind in it fewer.
    pub fn without(&self, kind: usize) -> Faults {
        Faults(self.0.iter().filter_map(|(k, n)| if *k == kind { (*n > 1).then(|| (*k, n - 1)) } else { Some((*k, *n)) }).collect())
    }

    /// `m(c)` of the page: each covered kind is replaced by the kind that covers it.
    pub fn replaced(&self, covered: &[(usize, usize)]) -> Faults {
        let mut counts = std::collections::BTreeMap::new();
        for (kind, n) in &self.0 {
            let by = covered.iter().find(|(k, _)| k == kind).map_or(*kind, |(_, by)| *by);
            let count = counts.entry(by).or_insert(0u64);
            *count = count.saturating_add(*n);
        }
        Faults(counts.into_iter().collect())
    }

    /// The limits and a total in which this combination must be.
    pub fn within(&self, limits: &[u64], total: u64) -> bool {
        self.total() <= total && self.0.iter().all(|(kind, n)| *n <= limits[*kind])
    }

    /// The combination in words: `{kill 2}`.
    pub fn words(&self, kinds: &[String]) -> String {
        let word = |(kind, n): &(usize, u64)| if *n == 1 { kinds[*kind].clone() } else { format!("{} {n}", kinds[*kind]) };
        format!("{{{}}}", self.0.iter().map(word).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
#[path = "../tests/unit/faults.rs"]
mod tests;
