//! The evidence of a part: rule `cone`, and then the sets, combination by combination.

use crate::archive::Archive;
use crate::certificate::{Certificate, Part};
use crate::claims::Broken;
use crate::faults::Faults;
use crate::memory::Memory;
use crate::rejection::{refused, Result};
use crate::states::States;
use crate::steps::{Action, Demand, Pass};
use crate::system::System;
use std::collections::BTreeMap;

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
}

impl<'a> Evidence<'a> {
    /// Finds the actions of the part, and checks rule `cone`.
    pub fn new(system: &'a System, certificate: &'a Certificate, part: &'a Part, threads: usize, seed: u64) -> Result<Self> {
        let fields = part.layout.by_variable(system.variables.len());
        let others = system.terms.reading_others(&part.kept);
        let mut actions = Vec::new();
        for (number, action) in system.actions.iter().enumerate() {
            let updates: Vec<_> = action.updates.iter().filter_map(|(variable, term)| Some((fields[*variable]?, *term))).collect();
            if updates.is_empty() {
                continue;
            }
            if others[action.guard as usize] || updates.iter().any(|(_, term)| others[*term as usize]) {
                return refused("cone", format!("the action {:?} reads a variable that the part does not keep", action.name));
            }
            actions.push(Action { number, guard: action.guard, updates });
        }
        let mut demands = Vec::new();
        for claim in &part.claims {
            let property = &system.properties[claim.property];
            if others[property.term as usize] || others[property.witness as usize] {
                return refused("cone", format!("{:?} or its witness reads a variable that the part does not keep", property.name));
            }
            demands.push(if property.is_goal { Demand::Goal(property.term) } else { Demand::Never(property.term) });
        }
        let has_action = |kind| actions.iter().any(|action| system.actions[action.number].kind == Some(kind));
        let possible = (0..system.kinds.len()).filter(|kind| certificate.limits[*kind] > 0 && has_action(*kind)).collect();
        Ok(Evidence { system, part, actions, possible, demands, threads, seed })
    }

    fn actions_of(&self, kind: Option<usize>) -> Vec<&Action<'a>> {
        self.actions.iter().filter(|action| self.system.actions[action.number].kind == kind).collect()
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
        for (position, target) in order.iter().enumerate() {
            for faults in &order[..=position] {
                if target.contains(faults) && !loaded.contains_key(faults) {
                    let listed = &self.part.sets[*faults];
                    loaded.insert(faults, States::load(listed, self.part.layout.words, archive, memory, self.seed)?);
                }
            }
            if target.total() == 0 {
                self.check_initial(&loaded[target])?;
            }
            // The set of the target itself comes first: most steps stay in it.
            let mut targets: Vec<&States> = vec![&loaded[target]];
            targets.extend(loaded.iter().filter(|(faults, _)| **faults != *target && target.contains(faults)).map(|(_, states)| states));
            targets[1..].sort_by_key(|states| std::cmp::Reverse(states.len()));
            let own = self.pass(target, &loaded, target, &targets, None, "step").run(self.threads, memory)?;
            counts.states += loaded[target].len() as u64;
            counts.steps += own.steps;
            broken.insert((*target).clone(), own.broken);
            for kind in &self.possible {
                counts.steps += self.check_faults(*kind, *kind, target, &loaded, &targets, "fault", memory)?;
            }
            for (kind, by) in &self.part.covered {
                counts.steps += self.check_faults(*kind, *by, target, &loaded, &targets, "covered", memory)?;
            }
            let needed = |faults: &Faults| order[position + 1..].iter().any(|later| later.contains(faults));
            let done: Vec<&Faults> = loaded.keys().copied().filter(|faults| !needed(faults)).collect();
            for faults in done {
                loaded.remove(faults).into_iter().for_each(|states| states.drop_from(memory));
            }
        }
        Ok(broken)
    }

    /// Rule `initial`.
    fn check_initial(&self, states: &States) -> Result<()> {
        let initial: Vec<i32> = self.system.variables.iter().map(|variable| variable.initial).collect();
        if states.has(&self.part.layout.row(&initial)) {
            return Ok(());
        }
        refused("initial", "the initial state is not in the set of {}")
    }

    /// Faults of `kind` from `S(target - by)` into `T(target)`.
    #[allow(clippy::too_many_arguments)]
    fn check_faults(
        &self,
        kind: usize,
        by: usize,
        target: &Faults,
        loaded: &BTreeMap<&Faults, States>,
        targets: &[&States],
        rule: &'static str,
        memory: &mut Memory,
    ) -> Result<u64> {
        if target.count(by) == 0 {
            return Ok(0);
        }
        let source = target.without(by);
        Ok(self.pass(&source, loaded, target, targets, Some(kind), rule).run(self.threads, memory)?.steps)
    }

    fn pass<'p>(
        &'p self,
        source: &Faults,
        loaded: &'p BTreeMap<&Faults, States>,
        target: &Faults,
        targets: &'p [&'p States],
        kind: Option<usize>,
        rule: &'static str,
    ) -> Pass<'p> {
        Pass {
            system: self.system,
            layout: &self.part.layout,
            source: &loaded[source],
            targets,
            actions: self.actions_of(kind),
            rule,
            names: (self.words(source), format!("the sets of the combinations in {}", target.words(&self.system.kinds))),
            demands: if kind.is_none() { &self.demands } else { &[] },
        }
    }

    /// Rule `stuck`, for the smallest fault set with this number of a claim, whose trace ends in this state.
    pub fn check_stuck(&self, claim: usize, smallest: usize, last: &[i32], archive: &mut Archive, memory: &mut Memory, counts: &mut Counts) -> Result<()> {
        let (claim, smallest) = (&self.part.claims[claim], &self.part.claims[claim].smallest[smallest]);
        let property = &self.system.properties[claim.property];
        let name = format!("the stuck set of {:?} and {}", property.name, smallest.faults.words(&self.system.kinds));
        let Some(listed) = &smallest.stuck else {
            return if property.is_goal { refused("stuck", format!("{name} is missing")) } else { Ok(()) };
        };
        let states = States::load(listed, self.part.layout.words, archive, memory, self.seed)?;
        if !states.has(&self.part.layout.row(last)) {
            return refused("stuck", format!("the last state of the trace is not in {name}"));
        }
        let demands = [Demand::Never(property.term)];
        let pass = Pass {
            system: self.system,
            layout: &self.part.layout,
            source: &states,
            targets: &[&states],
            actions: self.actions_of(None),
            rule: "stuck",
            names: (name.clone(), name.clone()),
            demands: &demands,
        };
        let outcome = pass.run(self.threads, memory)?;
        if let Some(row) = outcome.broken[0] {
            return refused("stuck", format!("the goal holds in the row {row} of {name}"));
        }
        counts.states += states.len() as u64;
        counts.steps += outcome.steps;
        states.drop_from(memory);
        Ok(())
    }
}
