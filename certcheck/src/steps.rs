//! Steps from all states of a set: rules `step`, `fault`, `unlimited`, `covered`, `outside` and `domain`; and which
//! properties are broken in the set: a state violates, or (rule `rank`) a state has no step to a smaller rank.

use crate::batch::{Batch, Value};
use crate::memory::Memory;
use crate::part::{Action, Field, Part, Property};
use crate::rejection::{rule, Rejection, Result};
use crate::states::States;
use crate::terms::Term;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

/// States that are checked at a time.
pub const LANES: usize = 256;

/// Bytes of the stack of a thread: several times what the evaluation of a term with the most levels needs.
const STACK: usize = 8 << 20;

/// An action of a part: its number, and its updates of kept variables, of which there is at least one.
pub struct Step<'a> {
    pub number: usize,
    pub action: &'a Action,
    pub updates: Vec<(Field, Term)>,
}

/// The part of the work that this process does: of each `of` batches of a set, that with this index.
#[derive(Clone, Copy)]
pub struct Share {
    pub index: usize,
    pub of: usize,
}

/// Steps from up to `N` states at a time.
pub struct Stepper<'a, const N: usize> {
    part: &'a Part,
    batch: Batch<'a, N>,
    /// The states of the batch in which the last step is enabled, and the rows to which the step leads from these.
    pub lanes: Vec<usize>,
    pub rows: Vec<u64>,
}

impl<'a, const N: usize> Stepper<'a, N> {
    pub fn new(part: &'a Part) -> Self {
        Stepper { part, batch: Batch::new(part), lanes: vec![], rows: vec![] }
    }

    /// Goes to these states. Checks rule `domain`.
    pub fn load(&mut self, rows: &[u64]) -> Result<()> {
        self.batch.load(rows)
    }

    /// Finds the states among the first `count` in which a term holds.
    pub fn find(&mut self, term: Term, count: usize) -> &[usize] {
        self.lanes.clear();
        match self.batch.value(term) {
            Value::Same(same) if same == 0 => {}
            Value::Same(_) => self.lanes.extend(0..count),
            column => self.lanes.extend((0..count).filter(|lane| self.batch.at(column, *lane) != 0)),
        }
        &self.lanes
    }

    /// Takes a step from these states, wherever enabled. The rule with this code demands values within domains.
    pub fn take(&mut self, step: &Step, rows: &[u64], rule: &'static str) -> Result<()> {
        let words = self.part.used.len();
        self.find(step.action.guard, rows.len() / words);
        self.rows.clear();
        for lane in &self.lanes {
            self.rows.extend_from_slice(&rows[lane * words..(lane + 1) * words]);
        }
        for (field, term) in step.updates.iter().filter(|_| !self.lanes.is_empty()) {
            let value = self.batch.value(*term);
            let (keep, mut largest) = (!(field.mask << field.shift), 0);
            for (lane, row) in self.lanes.iter().zip(self.rows.chunks_exact_mut(words)) {
                let offset = (i64::from(self.batch.at(value, *lane)) - field.low) as u64;
                largest = largest.max(offset);
                row[field.word] = row[field.word] & keep | offset << field.shift;
            }
            let (action, name) = (&step.action.name, &self.part.variables[field.variable].name);
            rule!(rule, largest <= field.span, "the action {action:?} gives {name} a value outside its domain");
        }
        Ok(())
    }
}

/// Steps of some actions from each state of `source`, each of which must lead into one of `targets`.
pub struct Pass<'a> {
    pub part: &'a Part,
    pub source: &'a States,
    pub targets: &'a [&'a States],
    pub steps: Vec<&'a Step<'a>>,
    /// The code of the rule that says so.
    pub rule: &'static str,
    /// The source and the targets in words.
    pub names: [String; 2],
    /// Properties, for each of which the first row is found that breaks the property.
    pub properties: &'a [&'a Property],
    pub share: Share,
}

/// What was found in a pass: the number of steps, and for each property the first row that breaks it.
pub struct Found {
    pub steps: u64,
    pub broken: Vec<Option<usize>>,
}

impl Pass<'_> {
    /// Checks all states, with this number of threads.
    pub fn run(&self, threads: usize, memory: &mut Memory) -> Result<Found> {
        let threads = threads.min(self.source.len().div_ceil(LANES)).max(1);
        let successors = 8 * self.part.used.len() as u64 * LANES as u64;
        let bytes = threads as u64 * (Batch::<LANES>::bytes(self.part) + successors);
        memory.take(bytes, "the evaluation of terms")?;
        let next = AtomicUsize::new(0);
        let work = || Worker::new(self).work(&next);
        let all = std::thread::scope(|scope| {
            // A thread that cannot begin leaves its work to the others.
            let begin = |_| Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
            let others: Vec<ScopedJoinHandle<_>> = (1..threads).filter_map(begin).collect();
            let own = work();
            let join =
                |other: ScopedJoinHandle<_>| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            others.into_iter().map(join).chain([own]).collect::<Vec<_>>()
        });
        memory.give_back(bytes);
        // Batches are taken in order, and each one is completed, so that the first refusal does not depend on threads.
        if let Some((_, refusal)) =
            all.iter().filter_map(|(_, refusal)| refusal.as_ref()).min_by_key(|(first, _)| *first)
        {
            return Err(refusal.clone());
        }
        let mut found = Found { steps: 0, broken: vec![None; self.properties.len()] };
        for (worker, _) in all {
            found.steps += worker.steps;
            for (first, own) in found.broken.iter_mut().zip(worker.broken) {
                *first = first.iter().copied().chain(own).min();
            }
        }
        Ok(found)
    }
}

struct Worker<'a> {
    pass: &'a Pass<'a>,
    stepper: Stepper<'a, LANES>,
    hashes: Vec<u64>,
    /// Whether a step leads from the state of the lane to a smaller rank.
    falls: [bool; LANES],
    found: Found,
}

impl<'a> Worker<'a> {
    fn new(pass: &'a Pass<'a>) -> Self {
        let found = Found { steps: 0, broken: vec![None; pass.properties.len()] };
        Worker { pass, stepper: Stepper::new(pass.part), hashes: vec![], falls: [false; LANES], found }
    }

    /// Takes batches of the share until there are none, or until a batch breaks a rule: then with its first row.
    fn work(mut self, next: &AtomicUsize) -> (Found, Option<(usize, Rejection)>) {
        let Share { index, of } = self.pass.share;
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed).saturating_mul(of).saturating_add(index);
            let first = batch.saturating_mul(LANES);
            if first >= self.pass.source.len() {
                return (self.found, None);
            }
            if let Err(refusal) = self.check(first, LANES.min(self.pass.source.len() - first)) {
                return (self.found, Some((first, refusal)));
            }
        }
    }

    fn check(&mut self, first: usize, count: usize) -> Result<()> {
        let (pass, words) = (self.pass, self.pass.part.used.len());
        let rows = &pass.source.rows[first * words..(first + count) * words];
        self.stepper.load(rows)?;
        let ranks = pass.source.ranks.get(first..first + count).filter(|_| pass.rule == "step");
        self.falls = [false; LANES];
        for step in &pass.steps {
            self.stepper.take(step, rows, "outside")?;
            self.found.steps += self.stepper.lanes.len() as u64;
            if let Some(lane) = self.look_up(ranks) {
                let ([from, to], row, name) = (&pass.names, first + lane, &step.action.name);
                rule!(pass.rule, false, "the action {name:?} leads from the row {row} of {from} to none of {to}");
            }
        }
        for (property, broken) in pass.properties.iter().zip(&mut self.found.broken) {
            let mut holds = [false; LANES];
            self.stepper.find(property.term, count).iter().for_each(|lane| holds[*lane] = true);
            let breaks = |lane: &usize| match ranks.filter(|_| property.is_goal) {
                Some(ranks) => !self.falls[*lane] && (ranks[*lane] > 0 || !holds[*lane]),
                None => holds[*lane],
            };
            *broken = broken.or_else(|| (0..count).find(breaks).map(|lane| first + lane));
        }
        Ok(())
    }

    /// Looks the next rows up in the targets. Gives a lane whose next row is in none of them.
    fn look_up(&mut self, ranks: Option<&[u16]>) -> Option<usize> {
        let (rows, targets) = (self.stepper.rows.chunks_exact(self.pass.part.used.len()), self.pass.targets);
        self.hashes.clear();
        self.hashes.extend(rows.clone().map(|row| self.pass.source.hash(row)));
        targets[0].touch(&self.hashes);
        let mut missing = None;
        for ((lane, row), hash) in self.stepper.lanes.iter().zip(rows).zip(&self.hashes) {
            let mut found = false;
            for (target, at) in targets.iter().filter_map(|target| Some((target, target.find(*hash, row)?))) {
                found = true;
                // A state may be in several sets, with a rank in each.
                self.falls[*lane] |= ranks.is_some_and(|ranks| target.ranks[at] < ranks[*lane]);
                if ranks.is_none() || self.falls[*lane] {
                    break;
                }
            }
            missing = missing.or((!found).then_some(*lane));
        }
        missing
    }
}
