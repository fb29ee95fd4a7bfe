//! Rules about a claim as a whole: `smallest`, `claim`, and what `claim` needs of rule `rank`.

use crate::certificate::{Certificate, Claim, Part};
use crate::faults::Faults;
use crate::rejection::{refused, Result};
use crate::system::System;
use std::collections::BTreeMap;

/// For each set of a part, the first row in which each claim of the part is broken.
pub type Broken = BTreeMap<Faults, Vec<Option<usize>>>;

/// Combinations that this program looks at for a claim. A certificate has a set for most of them.
const MOST_COMBINATIONS: usize = 100_000;

/// Rule `smallest`: each set is within the total and the limits, and none contains another one.
pub fn check_smallest(system: &System, certificate: &Certificate, claim: &Claim) -> Result<()> {
    let name = &system.properties[claim.property].name;
    for (i, smallest) in claim.smallest.iter().enumerate() {
        let words = smallest.faults.words(&system.kinds);
        if !smallest.faults.within(&certificate.limits, claim.up_to) {
            return refused("smallest", format!("{name:?}: {words} is not within the limits and the total"));
        }
        let others = claim.smallest.iter().enumerate().filter(|(j, _)| i != *j);
        if let Some((_, other)) = others.into_iter().find(|(_, other)| smallest.faults.contains(&other.faults)) {
            return refused("smallest", format!("{name:?}: {words} contains {}", other.faults.words(&system.kinds)));
        }
    }
    Ok(())
}

/// Rule `claim`: each combination of possible kinds within the limits and the total contains a smallest fault set, or its
/// sets or those of its covering combination break nothing.
pub fn check_claim(system: &System, certificate: &Certificate, part: &Part, index: usize, possible: &[usize], broken: &Broken) -> Result<()> {
    let claim = &part.claims[index];
    let mut waiting = vec![(Faults::default(), 0)];
    let mut seen = 1;
    while let Some((faults, first)) = waiting.pop() {
        if claim.smallest.iter().any(|smallest| faults.contains(&smallest.faults)) {
            continue;
        }
        let unbroken = |faults: &Faults| first_broken(index, faults, broken).is_ok_and(|found| found.is_none());
        if !unbroken(&faults) && !unbroken(&faults.replaced(&part.covered)) {
            return refuse(system, claim, index, &faults, broken);
        }
        // Kinds are added in order, so that each combination is reached once.
        for (position, kind) in possible.iter().enumerate().skip(first) {
            let more = faults.with(*kind);
            if more.within(&certificate.limits, claim.up_to) {
                waiting.push((more, position));
                seen += 1;
            }
        }
        if seen > MOST_COMBINATIONS {
            return refused("memory", format!("a claim is about more than {MOST_COMBINATIONS} combinations of faults"));
        }
    }
    Ok(())
}

/// The first set of `T(c)` that breaks a claim, with its row; an error if `c` has no set.
fn first_broken<'b>(index: usize, faults: &Faults, broken: &'b Broken) -> std::result::Result<Option<(&'b Faults, usize)>, ()> {
    if !broken.contains_key(faults) {
        return Err(());
    }
    let below = broken.iter().filter(|(below, _)| faults.contains(below));
    Ok(below.filter_map(|(below, rows)| Some((below, rows[index]?))).next())
}

fn refuse(system: &System, claim: &Claim, index: usize, faults: &Faults, broken: &Broken) -> Result<()> {
    let property = &system.properties[claim.property];
    let (name, words) = (&property.name, faults.words(&system.kinds));
    match first_broken(index, faults, broken) {
        Err(()) => refused("claim", format!("{name:?}: {words} contains no smallest fault set and has no set of states")),
        Ok(Some((set, row))) if property.is_goal => {
            let set = set.words(&system.kinds);
            refused("rank", format!("{name:?}, {words}: the row {row} of the set of {set} has neither rank 0 and the goal, nor a step to a smaller rank"))
        }
        Ok(Some((set, row))) => refused("claim", format!("{name:?}, {words}: the row {row} of the set of {} violates", set.words(&system.kinds))),
        Ok(None) => Ok(()),
    }
}
