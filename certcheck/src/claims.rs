//! Rules about a claim as a whole: `smallest`, `claim`, and what `claim` needs of rule `rank`.

use crate::certificate::{Certificate, Claim, Part};
use crate::faults::Faults;
use crate::rejection::{rule, Rejection, Result};
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
        rule!("smallest", smallest.faults.within(&certificate.limits, claim.up_to), "{name:?}: {words} is not within the limits and the total");
        let mut others = claim.smallest.iter().enumerate().filter(|(j, _)| i != *j);
        let alone = others.all(|(_, other)| !smallest.faults.contains(&other.faults));
        rule!("smallest", alone, "{name:?}: {words} contains another smallest fault set");
    }
    Ok(())
}

/// Rule `claim`: each combination of possible kinds within the limits and the total contains a smallest fault set, or its
/// sets or those of its covering combination break nothing. In a share of the work, a combination with a set needs its own
/// set: otherwise one share could rest on one of the two sets, and another share on the other one.
pub fn check_claim(system: &System, certificate: &Certificate, part: &Part, index: usize, possible: &[usize], broken: &Broken, is_share: bool) -> Result<()> {
    let claim = &part.claims[index];
    let mut waiting = vec![(Faults::default(), 0)];
    let mut seen = 1;
    while let Some((faults, first)) = waiting.pop() {
        if claim.smallest.iter().any(|smallest| faults.contains(&smallest.faults)) {
            continue;
        }
        let found = [faults.clone(), faults.replaced(&part.covered)].map(|c| first_broken(index, &c, broken));
        let proved = match is_share && found[0].is_some() {
            true => found[0] == Some(None),
            false => found.contains(&Some(None)),
        };
        if !proved {
            return Err(refusal(system, claim, &faults, found.into_iter().flatten().flatten().next()));
        }
        // Kinds are added in order, so that each combination is reached once.
        for (position, kind) in possible.iter().enumerate().skip(first) {
            let more = faults.with(*kind);
            if more.within(&certificate.limits, claim.up_to) {
                waiting.push((more, position));
                seen += 1;
            }
        }
        rule!("memory", seen <= MOST_COMBINATIONS, "a claim is about more than {MOST_COMBINATIONS} combinations of faults");
    }
    Ok(())
}

/// The first row of a set of `T(c)` that breaks a claim, if there is one; nothing if `c` has no set.
fn first_broken<'b>(index: usize, faults: &Faults, broken: &'b Broken) -> Option<Option<(&'b Faults, usize)>> {
    broken.get(faults)?;
    let below = broken.iter().filter(|(below, _)| faults.contains(below));
    Some(below.filter_map(|(below, rows)| Some((below, rows[index]?))).next())
}

fn refusal(system: &System, claim: &Claim, faults: &Faults, found: Option<(&Faults, usize)>) -> Rejection {
    let (property, combination) = (&system.properties[claim.property], faults.words(&system.kinds));
    let (code, reason) = match found {
        None => ("claim", "contains no smallest fault set and has no set of states".to_string()),
        Some((set, row)) => {
            let row = format!("the row {row} of the set of {}", set.words(&system.kinds));
            match property.is_goal {
                true => ("rank", format!("{row} has neither rank 0 and the goal, nor a step to a smaller rank")),
                false => ("claim", format!("{row} violates the property")),
            }
        }
    };
    Rejection::Refused(code, format!("{:?}, {combination}: {reason}", property.name))
}
