//! The rules about a claim: `smallest`, `trace`, `witness`, `stuck`, `claim`, and what `claim` needs of rule `rank`.

use crate::batch::Batch;
use crate::evidence::{Broken, Evidence};
use crate::faults::Faults;
use crate::memory::Memory;
use crate::part::Claim;
use crate::rejection::{rule, Rejection, Result};
use crate::steps::Stepper;
use std::collections::{BTreeSet, HashSet};

/// Bytes that a kind in a combination takes: a name of up to 100 bytes, and its place.
const KIND: u64 = 136;

/// Bytes that a state takes in a set and in a list, besides its words.
const STATE: u64 = 64;

/// One state at a time.
type Walk<'a> = Stepper<'a, 1>;

impl Evidence<'_> {
    /// Whether a combination, without its unlimited kinds, is within the limits and the total of a claim.
    fn is_meant(&self, faults: &Faults, claim: &Claim) -> bool {
        faults.without(&self.part.unlimited).within(self.limits, claim.up_to)
    }

    /// Rule `smallest`: each set is within the total and the limits, and none contains another one.
    pub fn check_smallest(&self, claim: &Claim) -> Result<()> {
        for (faults, _) in &claim.smallest {
            let within = self.is_meant(faults, claim);
            rule!("smallest", within, "{:?}: {faults} is not within the limits and the total", claim.name);
            let alone = claim.smallest.iter().filter(|(other, _)| faults.contains(other)).count() == 1;
            rule!("smallest", alone, "{:?}: {faults} contains another smallest fault set", claim.name);
        }
        Ok(())
    }

    /// The faults and the last state of a trace, whose steps the rule with this code demands to be enabled.
    fn follow(&self, walk: &mut Walk, trace: &[usize], rule: &'static str) -> Result<(Faults, Vec<u64>)> {
        let (mut faults, mut state) = (Vec::new(), self.part.initial());
        walk.load(&state)?;
        for number in trace {
            let name = &self.part.actions[*number].name;
            let step = self.steps.iter().find(|step| step.number == *number);
            let reason = format!("the action {name:?} is not enabled, or changes nothing that the part keeps");
            let Some(step) = step else { return Err(Rejection { rule, reason }) };
            walk.take(step, &state, rule)?;
            rule!(rule, !walk.rows.is_empty(), "{reason}");
            faults.extend((step.action.kind != "none").then(|| step.action.kind.clone()));
            state = std::mem::take(&mut walk.rows);
            walk.load(&state)?;
        }
        Ok((Faults::new(faults), state))
    }

    /// Rules `witness`, `trace` and `stuck`: the traces of a claim are runs with the right faults and ends.
    pub fn check_traces(&self, index: usize, memory: &mut Memory) -> Result<()> {
        let (claim, property) = (&self.part.claims[index], self.properties[index]);
        let bytes = Batch::<1>::bytes(self.part);
        memory.take(bytes, "following traces")?;
        let (mut walk, name) = (Walk::new(self.part), &claim.name);
        if let Some(trace) = &claim.witness {
            let (faults, _) = self.follow(&mut walk, trace, "witness")?;
            let within = self.is_meant(&faults, claim);
            rule!("witness", within, "the witness of {name:?} has more faults than the limits or the total: {faults}");
            let seen = !walk.find(property.witness, 1).is_empty();
            rule!("witness", seen, "the witness of {name:?} does not hold at the end of its trace");
        }
        for (faults, trace) in &claim.smallest {
            let (found, last) = self.follow(&mut walk, trace, "trace")?;
            rule!("trace", found == *faults, "{name:?}, {faults}: the trace has the faults {found}");
            if property.is_goal {
                self.check_stuck(index, &mut walk, last, memory)?;
            } else {
                let violated = !walk.find(property.term, 1).is_empty();
                rule!("trace", violated, "{name:?}, {faults}: the property is not violated at the end of the trace");
            }
        }
        memory.give_back(bytes);
        Ok(())
    }

    /// Rule `stuck`: steps without a fault lead from the end of a trace to no state with the goal.
    fn check_stuck(&self, index: usize, walk: &mut Walk, last: Vec<u64>, memory: &mut Memory) -> Result<()> {
        // Each state is in the set of those seen, and may be in the list of those waiting.
        let (each, goal) = (2 * (8 * last.len() as u64 + STATE), self.properties[index].term);
        let (mut waiting, mut seen, name) = (vec![last.clone()], HashSet::from([last]), &self.part.claims[index].name);
        while let Some(state) = waiting.pop() {
            walk.load(&state)?;
            let is_stuck = walk.find(goal, 1).is_empty();
            rule!("stuck", is_stuck, "{name:?}: steps without a fault lead from the end of a trace to the goal");
            for step in self.steps.iter().filter(|step| step.action.kind == "none") {
                walk.take(step, &state, "outside")?;
                if !walk.rows.is_empty() && !seen.contains(&walk.rows) {
                    memory.take(each, "the states behind a trace")?;
                    seen.insert(walk.rows.clone());
                    waiting.push(walk.rows.clone());
                }
            }
        }
        memory.give_back(each * (seen.len() as u64 - 1));
        Ok(())
    }

    /// Rule `claim`: each combination of possible kinds within the limits and the total contains a smallest fault set,
    /// or its sets break nothing; those of its covering combination, if the combination itself has no set.
    pub fn check_claim(&self, index: usize, broken: &Broken, memory: &mut Memory) -> Result<()> {
        let (claim, is_goal) = (&self.part.claims[index], self.properties[index].is_goal);
        let (name, mut layer, mut taken) = (&claim.name, BTreeSet::from([Faults::default()]), 0);
        while !layer.is_empty() {
            layer.retain(|one| self.is_meant(one, claim) && !claim.smallest.iter().any(|(set, _)| one.contains(set)));
            for faults in &layer {
                let covering = faults.replaced(&self.part.covered);
                let proof = if broken.contains_key(faults) { faults } else { &covering };
                let has_set = broken.contains_key(proof);
                rule!("claim", has_set, "{name:?}, {faults}: there is no smallest fault set and no set of states");
                if let Some((set, row)) = first_broken(index, proof, broken) {
                    let (rule, what) = match is_goal {
                        true => ("rank", "has no step to a smaller rank, and is no goal of rank 0"),
                        false => ("claim", "violates it"),
                    };
                    rule!(rule, false, "{name:?}, {faults}: the row {row} of the set of {set} {what}");
                }
            }
            let kinds = layer.first().map_or(0, |faults| faults.total() + 1) * self.possible.len() * layer.len();
            memory.take(kinds as u64 * KIND, "the combinations of a claim")?;
            taken += kinds as u64 * KIND;
            let wider = layer.iter().flat_map(|faults| self.possible.iter().map(|kind| faults.with(kind)));
            layer = wider.collect();
        }
        memory.give_back(taken);
        Ok(())
    }
}

/// The first row of a set of `T(c)` that breaks a claim, if there is one.
fn first_broken<'b>(index: usize, faults: &Faults, broken: &'b Broken) -> Option<(&'b Faults, usize)> {
    let mut below = broken.iter().filter(|(below, _)| faults.contains(below));
    below.find_map(|(below, rows)| Some((below, rows[index]?)))
}
