//! Traces of the whole system: rules `trace` and `witness`.

use crate::batch::{Batch, Value};
use crate::certificate::{Certificate, Claim, Smallest};
use crate::faults::Faults;
use crate::memory::Memory;
use crate::rejection::{rule, Result};
use crate::system::System;
use crate::terms::Term;

/// One state of the whole system at a time.
pub struct Walk<'a> {
    system: &'a System,
    batch: Batch<'a, i32, 1>,
    state: Vec<i32>,
}

impl<'a> Walk<'a> {
    /// Begins in the initial state.
    pub fn new(system: &'a System) -> Self {
        let mut walk = Walk { system, batch: Batch::new(&system.terms, 0), state: vec![] };
        walk.go_to(system.initial());
        walk
    }

    pub fn go_to(&mut self, state: Vec<i32>) {
        self.state = state;
        self.batch.begin();
        for (variable, value) in self.system.variables.iter().zip(&self.state) {
            self.batch.set(variable.term, Value::Same(*value));
        }
    }

    pub fn value(&mut self, term: Term) -> i32 {
        let value = self.batch.value(term);
        self.batch.at(value, 0)
    }

    /// The state after an action with these updates; none if the action is not enabled. Rule `code` demands that values stay within the domains.
    pub fn step(&mut self, action: usize, updates: impl Iterator<Item = (usize, Term)>, code: &'static str) -> Result<Option<Vec<i32>>> {
        let action = &self.system.actions[action];
        if self.value(action.guard) == 0 {
            return Ok(None);
        }
        let mut next = self.state.clone();
        for (variable, term) in updates {
            let (value, of) = (self.value(term), &self.system.variables[variable]);
            rule!(code, of.low <= value && value <= of.high, "the action {:?} gives {} the value {value}", action.name, of.name);
            next[variable] = value;
        }
        Ok(Some(next))
    }

    /// Takes the actions of a trace, which rule `code` demands to be enabled. Gives the combination of their faults.
    fn follow(&mut self, trace: &[usize], code: &'static str) -> Result<Faults> {
        let (system, mut faults) = (self.system, Faults::default());
        for (position, number) in trace.iter().enumerate() {
            let action = &system.actions[*number];
            let next = self.step(*number, action.updates.iter().copied(), code)?;
            rule!(code, next.is_some(), "the action {:?} at the position {position} of a trace is not enabled", action.name);
            faults = action.kind.map_or(faults.clone(), |kind| faults.with(kind));
            self.go_to(next.unwrap_or_default());
        }
        Ok(faults)
    }
}

/// Rule `witness`: the trace is a run within the limits and the total, and the witness holds at the end.
pub fn check_witness(system: &System, certificate: &Certificate, claim: &Claim) -> Result<()> {
    let (Some(trace), property) = (&claim.witness, &system.properties[claim.property]) else {
        return Ok(());
    };
    let mut walk = Walk::new(system);
    let faults = walk.follow(trace, "witness")?;
    let (name, within) = (&property.name, faults.within(&certificate.limits, claim.up_to));
    rule!("witness", within, "the witness of {name:?} has more faults than the limits or the total: {}", faults.words(&system.kinds));
    rule!("witness", walk.value(property.witness) != 0, "the witness of {name:?} does not hold at the end of its trace");
    Ok(())
}

/// Rule `trace`: the trace is a run with the faults of the set, and at its end the property is violated (a goal: see rule
/// `stuck`). Gives the last state.
pub fn check_trace(system: &System, claim: &Claim, smallest: &Smallest) -> Result<Vec<i32>> {
    let property = &system.properties[claim.property];
    let (name, words) = (&property.name, smallest.faults.words(&system.kinds));
    let mut walk = Walk::new(system);
    let faults = walk.follow(&smallest.trace, "trace")?;
    rule!("trace", faults == smallest.faults, "{name:?}, {words}: the trace has the faults {}", faults.words(&system.kinds));
    let violated = property.is_goal || walk.value(property.term) != 0;
    rule!("trace", violated, "{name:?}, {words}: the property is not violated at the end of the trace");
    Ok(walk.state)
}

/// Counts the memory that following a trace takes, once for all traces.
pub fn count_memory(system: &System, memory: &mut Memory) -> Result<()> {
    memory.take(crate::batch::bytes(system.terms.ops.len(), 0, 1) + 16 * system.variables.len() as u64, "following traces")
}
