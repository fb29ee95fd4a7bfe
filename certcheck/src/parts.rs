//! The evidence of a part: rule `cone`, and then the sets, combination by combination.

use crate::archive::Archive;
use crate::certificate::{Certificate, Part};
use crate::claims::Broken;
use crate::faults::Faults;
use crate::memory::Memory;
use crate::rejection::{rule, Result};
use crate::states::States;
use crate::steps::{Action, Demand, Pass, Share};
use crate::system::{Property, System};
use crate::traces::Walk;
use std::collections::{BTreeMap, HashSet};

/// Bytes that a state takes in a set and in a list, besides its values.
const STATE: u64 = 64;

pub struct Counts {
    pub states: u64,
    pub steps: u64,
}

/// A part with what its rules speak of.
pub struct Evidence<'a> {
    system: &'a System,
    part: &'a Part,
    actions: Vec<Action<'a>>,
    /// Kinds with a limit above 0 and an action of the part.
    pub possible: Vec<usize>,
    demands: Vec<Demand>,
    threads: usize,
    seed: u64,
    share: Share,
}

impl<'a> Evidence<'a> {
    /// Finds the actions of the part, and checks rule `cone`.
    pub fn new(system: &'a System, certificate: &'a Certificate, part: &'a Part, threads: usize, seed: u64, share: Share) -> Result<Self> {
        let fields = &part.layout.fields;
        let others = system.terms.reading_others(|variable| fields[variable].is_some());
        let mut actions = Vec::new();
        for (number, action) in system.actions.iter().enumerate() {
            let updates: Vec<_> = action.updates.iter().filter_map(|(variable, term)| Some((fields[*variable].as_ref()?, *term))).collect();
            if updates.is_empty() {
                continue;
            }
            let reads_kept = !others[action.guard as usize] && updates.iter().all(|(_, term)| !others[*term as usize]);
            rule!("cone", reads_kept, "the action {:?} reads a variable that the part does not keep", action.name);
            actions.push(Action { number, guard: action.guard, updates });
        }
        let mut demands = Vec::new();
        for claim in &part.claims {
            let property = &system.properties[claim.property];
            let reads_kept = !others[property.term as usize] && !others[property.witness as usize];
            rule!("cone", reads_kept, "{:?} or its witness reads a variable that the part does not keep", property.name);
            demands.push(if property.is_goal { Demand::Goal(property.term) } else { Demand::Never(property.term) });
        }
        let has_action = |kind| actions.iter().any(|action| system.actions[action.number].kind == Some(kind));
        let possible = (0..system.kinds.len()).filter(|kind| certificate.limits[*kind] > 0 && has_action(*kind)).collect();
        Ok(Evidence { system, part, actions, possible, demands, threads, seed, share })
    }

    fn words(&self, faults: &Faults) -> String {
        format!("the set of {}", faults.words(&self.system.kinds))
    }

    /// Checks all sets. For each combination `c`, the sets of `T(c)` are in memory: the steps from `S(c)` lead into them, and so
    /// do the faults that lead from the sets of smaller combinations to `c`. Sets that no later combination needs are dropped.
    pub fn check_sets(&self, archive: &mut Archive, memory: &mut Memory, counts: &mut Counts) -> Result<Broken> {
        let mut order: Vec<&Faults> = self.part.sets.keys().collect();
        order.sort_by_key(|faults| (faults.total(), *faults));
        let mut loaded: BTreeMap<&Faults, States> = BTreeMap::new();
        let mut broken = Broken::new();
        // Faults of the first kind lead from S(c) to T(c with one of the second kind more).
        let possible = self.possible.iter().map(|kind| (*kind, *kind, "fault"));
        let faults: Vec<_> = possible.chain(self.part.covered.iter().map(|(kind, by)| (*kind, *by, "covered"))).collect();
        for (position, target) in order.iter().enumerate() {
            for below in order[..=position].iter().filter(|below| target.contains(below)) {
                if !loaded.contains_key(below) {
                    loaded.insert(below, States::load(&self.part.sets[*below], self.part.layout.words, self.part.ranked, archive, memory, self.seed)?);
                }
            }
            let states = &loaded[target];
            if target.total() == 0 {
                rule!("initial", states.has(&self.part.layout.row(&self.system.initial())), "the initial state is not in the set of {{}}");
            }
            // The set of the target itself comes first: most steps stay in it.
            let mut targets: Vec<&States> = loaded.iter().filter(|(faults, _)| target.contains(faults)).map(|(_, states)| states).collect();
            targets.sort_by_key(|other| (!std::ptr::eq(*other, states), std::cmp::Reverse(other.len())));
            let names = |source: &Faults| [self.words(source), format!("the sets of {} and below", target.words(&self.system.kinds))];
            let own = self.pass(states, &targets, None, "step", names(target), &self.demands).run(self.threads, memory)?;
            counts.states += states.len() as u64;
            counts.steps += own.steps;
            broken.insert((*target).clone(), own.broken);
            for (kind, by, rule) in faults.iter().filter(|(_, by, _)| target.count(*by) > 0) {
                let source = target.without(*by);
                let pass = self.pass(&loaded[&source], &targets, Some(*kind), rule, names(&source), &[]);
                counts.steps += pass.run(self.threads, memory)?.steps;
            }
            let needed = |faults: &Faults| order[position + 1..].iter().any(|later| later.contains(faults));
            let done: Vec<&Faults> = loaded.keys().copied().filter(|faults| !needed(faults)).collect();
            done.into_iter().filter_map(|faults| loaded.remove(faults)).for_each(|states| states.drop_from(memory));
        }
        Ok(broken)
    }

    /// The steps by the actions of a kind.
    fn pass<'p>(
        &'p self,
        source: &'p States,
        targets: &'p [&'p States],
        kind: Option<usize>,
        rule: &'static str,
        names: [String; 2],
        demands: &'p [Demand],
    ) -> Pass<'p> {
        let actions = self.actions.iter().filter(|action| self.system.actions[action.number].kind == kind).collect();
        Pass { system: self.system, layout: &self.part.layout, source, targets, actions, rule, names, demands, share: self.share }
    }

    /// Rule `stuck`: steps without a fault lead from the end of a trace to no state with the goal.
    pub fn check_stuck(&self, property: &Property, last: Vec<i32>, memory: &mut Memory) -> Result<()> {
        // Each state is in the set of those seen, and may be in the list of those waiting.
        let (each, mut waiting, mut seen) = (2 * (4 * last.len() as u64 + STATE), vec![last.clone()], HashSet::from([last]));
        let mut walk = Walk::new(self.system);
        while let Some(state) = waiting.pop() {
            walk.go_to(state);
            rule!("stuck", walk.value(property.term) == 0, "{:?}: steps without a fault lead from the end of a trace to the goal", property.name);
            for action in self.actions.iter().filter(|action| self.system.actions[action.number].kind.is_none()) {
                let updates = action.updates.iter().map(|(field, term)| (field.variable, *term));
                if let Some(next) = walk.step(action.number, updates, "outside")?.filter(|next| !seen.contains(next)) {
                    memory.take(each, "the states behind a trace")?;
                    seen.insert(next.clone());
                    waiting.push(next);
                }
            }
        }
        memory.give_back(each * (seen.len() as u64 - 1));
        Ok(())
    }
}
