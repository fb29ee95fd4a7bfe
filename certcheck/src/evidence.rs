//! The evidence of a part: rule `cone`, and then the sets, combination by combination.

use crate::archive::Archive;
use crate::check::Options;
use crate::faults::Faults;
use crate::memory::Memory;
use crate::part::{Limits, Part, Property};
use crate::rejection::{rule, Result};
use crate::states::States;
use crate::steps::{Pass, Share, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher};

/// For each set of a part, the first row in which each claim of the part is broken.
pub type Broken = BTreeMap<Faults, Vec<Option<usize>>>;

/// A part with what its rules speak of.
pub struct Evidence<'a> {
    pub part: &'a Part,
    pub limits: &'a Limits,
    /// The actions of the part.
    pub steps: Vec<Step<'a>>,
    /// Kinds with a limit above 0 and an action of the part, without the unlimited ones.
    pub possible: BTreeSet<&'a String>,
    /// The property of each claim.
    pub properties: Vec<&'a Property>,
    pub options: &'a Options<'a>,
}

impl<'a> Evidence<'a> {
    /// Finds the actions of the part, and checks rule `cone`.
    pub fn new(part: &'a Part, limits: &'a Limits, options: &'a Options) -> Result<Self> {
        let others = part.terms.reading_others(|variable| part.variables[variable].field.is_some());
        let mut steps = Vec::new();
        for (number, action) in part.actions.iter().enumerate() {
            let kept = |(variable, term): (&usize, &usize)| Some((part.variables[*variable].field?, *term));
            let updates: Vec<_> = action.updates.iter().filter_map(kept).collect();
            let reads_others = others[action.guard] || updates.iter().any(|(_, term)| others[*term]);
            let right = updates.is_empty() || !reads_others;
            rule!("cone", right, "the action {:?} reads a variable that the part does not keep", action.name);
            if !updates.is_empty() {
                steps.push(Step { number, action, updates });
            }
        }
        let properties: Vec<&Property> = part.claims.iter().map(|claim| &part.properties[&claim.name]).collect();
        for (claim, property) in part.claims.iter().zip(&properties) {
            let reads_kept = !others[property.term] && !others[property.witness];
            rule!("cone", reads_kept, "{:?} or its witness reads a variable that the part does not keep", claim.name);
        }
        let kinds = steps.iter().map(|step| &step.action.kind);
        let is_counted = |kind: &&String| limits.get(*kind).is_some_and(|limit| *limit > 0);
        let possible = kinds.filter(is_counted).filter(|kind| !part.unlimited.contains(*kind)).collect();
        Ok(Evidence { part, limits, steps, possible, properties, options })
    }

    /// Checks all sets, and counts their states and steps. For each combination `c`, the sets of `T(c)` are in memory:
    /// the steps from `S(c)` lead into them, and so do the faults that lead from the sets of smaller combinations to
    /// `c`. Sets that no later combination needs are dropped.
    pub fn check_sets(&self, archive: &mut Archive, memory: &mut Memory, counts: &mut [u64; 2]) -> Result<Broken> {
        let mut order: Vec<&Faults> = self.part.sets.keys().collect();
        order.sort_by_key(|faults| (faults.total(), *faults));
        let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
        let (mut loaded, mut broken): (BTreeMap<&Faults, States>, _) = (BTreeMap::new(), Broken::new());
        for (position, target) in order.iter().enumerate() {
            for below in order[..=position].iter().filter(|below| target.contains(below)) {
                if !loaded.contains_key(below) {
                    loaded.insert(below, States::load(self.part, &self.part.sets[*below], archive, memory, seed)?);
                }
            }
            let (states, initial) = (&loaded[target], self.part.initial());
            let begins = target.total() > 0 || states.find(states.hash(&initial), &initial).is_some();
            rule!("initial", begins, "the initial state is not in the set of {{}}");
            // The set of the target itself comes first: most steps stay in it.
            let within = loaded.iter().filter(|(faults, _)| target.contains(faults));
            let mut targets: Vec<&States> = within.map(|(_, states)| states).collect();
            targets.sort_by_key(|other| (!std::ptr::eq(*other, states), std::cmp::Reverse(other.len())));
            let mut pass = |rule, source: &Faults, kind: &str, properties: &[&Property]| {
                let steps = self.steps.iter().filter(|step| step.action.kind == kind).collect();
                let names = [format!("the set of {source}"), format!("the sets of {target} and below")];
                let (source, share) = (&loaded[source], self.options.share.unwrap_or(Share { index: 0, of: 1 }));
                let pass = Pass { part: self.part, source, targets: &targets, steps, rule, names, properties, share };
                let found = pass.run(self.options.threads, memory)?;
                counts[1] += found.steps;
                Ok(found.broken)
            };
            broken.insert((*target).clone(), pass("step", target, "none", &self.properties)?);
            for kind in &self.part.unlimited {
                pass("unlimited", target, kind, &[])?;
            }
            for (source, by) in target.smaller().collect::<BTreeMap<_, _>>() {
                if self.possible.contains(by) {
                    pass("fault", &source, by, &[])?;
                }
                for (kind, _) in self.part.covered.iter().filter(|(_, covering)| *covering == by) {
                    pass("covered", &source, kind, &[])?;
                }
            }
            counts[0] += states.len() as u64;
            let needed = |faults: &Faults| order[position + 1..].iter().any(|later| later.contains(faults));
            let done: Vec<&Faults> = loaded.keys().copied().filter(|faults| !needed(faults)).collect();
            done.into_iter().filter_map(|faults| loaded.remove(faults)).for_each(|states| states.drop_from(memory));
        }
        Ok(broken)
    }
}
