//! Traces of the whole system: rules `trace` and `witness`.

use crate::batch::{Batch, Value};
use crate::certificate::{Certificate, Claim, Smallest};
use crate::faults::Faults;
use crate::memory::Memory;
use crate::rejection::{refused, Result};
use crate::system::System;
use crate::terms::Term;

/// One state of the whole system at a time.
struct Walk<'a> {
    system: &'a System,
    batch: Batch<'a, i32, 1>,
    state: Vec<i32>,
}

/// Why a trace is no run.
enum Broken {
    NotEnabled(String),
    Outside(String),
}

impl<'a> Walk<'a> {
    fn new(system: &'a System) -> Self {
        let state = system.variables.iter().map(|variable| variable.initial).collect();
        let mut walk = Walk { system, batch: Batch::new(&system.terms, 0), state };
        walk.place();
        walk
    }

    fn place(&mut self) {
        self.batch.begin();
        for (variable, value) in self.system.variables.iter().zip(&self.state) {
            self.batch.set(variable.term, Value::Same(*value));
        }
    }

    fn value(&mut self, term: Term) -> i32 {
        let value = self.batch.value(term);
        self.batch.at(value, 0)
    }

    /// Takes the actions of a trace, and gives the combination of their faults.
    fn follow(&mut self, trace: &[usize]) -> std::result::Result<Faults, Broken> {
        let mut faults = Faults::default();
        for (position, action) in trace.iter().enumerate() {
            let action = &self.system.actions[*action];
            let name = &action.name;
            if self.value(action.guard) == 0 {
                return Err(Broken::NotEnabled(format!("the action {name:?} at the position {position} is not enabled")));
            }
            let mut next = self.state.clone();
            for (variable, term) in &action.updates {
                let (value, of) = (self.value(*term), &self.system.variables[*variable]);
                if value < of.low || value > of.high {
                    return Err(Broken::Outside(format!(
                        "the action {name:?} at the position {position} gives {} the value {value}, outside its domain",
                        of.name
                    )));
                }
                next[*variable] = value;
            }
            faults = action.kind.map_or(faults.clone(), |kind| faults.with(kind));
            self.state = next;
            self.place();
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
    let faults = match walk.follow(trace) {
        Ok(faults) => faults,
        Err(Broken::NotEnabled(reason)) => return refused("witness", format!("{:?}: {reason}", property.name)),
        Err(Broken::Outside(reason)) => return refused("outside", format!("the witness of {:?}: {reason}", property.name)),
    };
    if !faults.within(&certificate.limits, claim.up_to) {
        return refused("witness", format!("the witness of {:?} has more faults than the limits or the total: {}", property.name, faults.words(&system.kinds)));
    }
    if walk.value(property.witness) == 0 {
        return refused("witness", format!("the witness of {:?} does not hold at the end of its trace", property.name));
    }
    Ok(())
}

/// Rule `trace`: the trace is a run with the faults of the set, and at its end the property is violated (a goal: see rule
/// `stuck`). Gives the last state.
pub fn check_trace(system: &System, claim: &Claim, smallest: &Smallest) -> Result<Vec<i32>> {
    let property = &system.properties[claim.property];
    let wrong = |reason: String| refused("trace", format!("{:?}, {}: {reason}", property.name, smallest.faults.words(&system.kinds)));
    let mut walk = Walk::new(system);
    let faults = match walk.follow(&smallest.trace) {
        Ok(faults) => faults,
        Err(Broken::NotEnabled(reason) | Broken::Outside(reason)) => return wrong(reason),
    };
    if faults != smallest.faults {
        return wrong(format!("the trace has the faults {}", faults.words(&system.kinds)));
    }
    if !property.is_goal && walk.value(property.term) == 0 {
        return wrong("the property is not violated at the end of the trace".into());
    }
    Ok(walk.state)
}

/// Counts the memory that following a trace takes, once for all traces.
pub fn count_memory(system: &System, memory: &mut Memory) -> Result<()> {
    memory.take(crate::batch::bytes(system.terms.ops.len(), 0, 1) + 16 * system.variables.len() as u64, "following traces")
}
