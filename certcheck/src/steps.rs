//! Steps from all states of a set: rules `step`, `fault`, `covered`, `stuck`, `outside` and `domain`; and which properties are
//! broken in the set: a state violates, or (rule `rank`) a state has no step to a smaller rank.

use crate::batch::{Batch, Lane, Value};
use crate::layout::{Field, Layout};
use crate::memory::Memory;
use crate::rejection::{rule, Rejection, Result};
use crate::states::States;
use crate::system::System;
use crate::terms::Term;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// States that are checked at a time.
pub const LANES: usize = 256;

/// An action of a part: its number, its guard, and its updates of kept variables, of which there is at least one.
pub struct Action<'a> {
    pub number: usize,
    pub guard: Term,
    pub updates: Vec<(&'a Field, Term)>,
}

/// What must hold in each state of a set for a property.
#[derive(Clone, Copy, PartialEq)]
pub enum Demand {
    /// The term holds nowhere.
    Never(Term),
    /// The state has the rank 0 and the term holds, or a step leads to a smaller rank.
    Goal(Term),
}

/// The part of the work that this process does: of each `of` batches of a set, that with this index.
#[derive(Clone, Copy)]
pub struct Share {
    pub index: usize,
    pub of: usize,
}

/// Steps by some actions from each state of `source`, each of which must lead into one of `targets`.
pub struct Pass<'a> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub source: &'a States,
    pub targets: &'a [&'a States],
    pub actions: Vec<&'a Action<'a>>,
    /// The code of the rule that says so.
    pub rule: &'static str,
    /// The source and the targets in words.
    pub names: [String; 2],
    pub demands: &'a [Demand],
    pub share: Share,
}

/// What was found in a pass.
pub struct Found {
    pub steps: u64,
    /// For each demand, the first row that does not meet it.
    pub broken: Vec<Option<usize>>,
    /// The refusal of the earliest batch that breaks a rule.
    refusal: Option<(usize, Rejection)>,
}

impl Pass<'_> {
    /// Checks all states, with this number of threads.
    pub fn run(&self, threads: usize, memory: &mut Memory) -> Result<Found> {
        let (low, high) = self.system.terms.hull();
        match low.unsigned_abs().max(high.unsigned_abs()) {
            0..128 => self.run_with::<i8>(threads, memory),
            128..32768 => self.run_with::<i16>(threads, memory),
            _ => self.run_with::<i32>(threads, memory),
        }
    }

    fn run_with<L: Lane>(&self, threads: usize, memory: &mut Memory) -> Result<Found> {
        let threads = threads.min(self.source.len().div_ceil(LANES)).max(1);
        let successors = 8 * self.layout.words as u64 * LANES as u64;
        let bytes = threads as u64 * (crate::batch::bytes(self.system.terms.ops.len(), self.layout.words, LANES) + successors);
        memory.take(bytes, "the evaluation of terms")?;
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Found { steps: 0, broken: vec![None; self.demands.len()], refusal: None }));
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // A thread that cannot begin leaves its work to the others.
                let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || Worker::<L>::new(self).work(&next, &found));
            }
            Worker::<L>::new(self).work(&next, &found);
        });
        memory.give_back(bytes);
        let found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        match found.refusal {
            Some((_, refusal)) => Err(refusal),
            None => Ok(found),
        }
    }
}

/// Bytes of the stack of a thread: the largest that the evaluation of a term with the most levels needs, several times.
const STACK: usize = 8 << 20;

struct Worker<'a, L> {
    pass: &'a Pass<'a>,
    batch: Batch<'a, L, LANES>,
    variables: Vec<Term>,
    /// The lanes in which the current action is enabled, their next rows, and the hashes of these rows.
    lanes: Vec<usize>,
    rows: Vec<u64>,
    hashes: Vec<u64>,
    steps: u64,
    /// Whether a step leads from the state of the lane to a smaller rank.
    falls: [bool; LANES],
}

impl<'a, L: Lane> Worker<'a, L> {
    fn new(pass: &'a Pass<'a>) -> Self {
        let variables = pass.system.variables.iter().map(|variable| variable.term).collect();
        let batch = Batch::new(&pass.system.terms, pass.layout.words);
        Worker { pass, batch, variables, lanes: vec![], rows: vec![], hashes: vec![], steps: 0, falls: [false; LANES] }
    }

    /// The first row of the next batch of the share.
    fn take(&self, next: &AtomicUsize) -> usize {
        let share = self.pass.share;
        next.fetch_add(1, Ordering::Relaxed).saturating_mul(share.of).saturating_add(share.index).saturating_mul(LANES)
    }

    /// Takes batches until there are none, or until a batch breaks a rule. Batches are taken in order and completed, so
    /// that the refusal does not depend on the number of threads.
    fn work(mut self, next: &AtomicUsize, found: &Mutex<Found>) {
        let mut broken = vec![None; self.pass.demands.len()];
        let mut refusal = None;
        let mut first = self.take(next);
        while first < self.pass.source.len() && refusal.is_none() {
            let count = LANES.min(self.pass.source.len() - first);
            if let Err(reason) = self.check(first, count, &mut broken) {
                refusal = Some((first, reason));
                next.fetch_max(usize::MAX / 2, Ordering::Relaxed);
            }
            first = self.take(next);
        }
        let mut found = found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        found.steps += self.steps;
        for (all, mine) in found.broken.iter_mut().zip(broken) {
            *all = all.iter().copied().chain(mine).min();
        }
        found.refusal = std::mem::take(&mut found.refusal).into_iter().chain(refusal).min_by_key(|(first, _)| *first);
    }

    fn check(&mut self, first: usize, count: usize, broken: &mut [Option<usize>]) -> Result<()> {
        let (pass, words) = (self.pass, self.pass.layout.words);
        let rows = &pass.source.rows[first * words..(first + count) * words];
        if let Err(variable) = self.batch.load(pass.layout, &self.variables, rows) {
            let what = variable.map_or("a bit outside all fields", |variable| &pass.system.variables[variable].name);
            rule!("domain", false, "a row from {first} to {} of {} has a wrong value for {what}", first + count, pass.names[0]);
        }
        let ranks = pass.source.ranks.get(first..first + count).filter(|_| pass.demands.iter().any(|d| matches!(d, Demand::Goal(_))));
        self.falls = [false; LANES];
        for action in &pass.actions {
            self.enable(action, count);
            if self.lanes.is_empty() {
                continue;
            }
            self.steps += self.lanes.len() as u64;
            let name = &pass.system.actions[action.number].name;
            let outside = self.apply(action, rows).map(|field| &pass.system.variables[field.variable].name);
            rule!("outside", outside.is_none(), "the action {name:?} gives {} a value outside its domain", outside.unwrap_or(name));
            let missing = self.look_up(ranks).map(|lane| first + lane);
            let [from, to] = &pass.names;
            rule!(pass.rule, missing.is_none(), "the action {name:?} leads from the row {} of {from} to none of {to}", missing.unwrap_or(0));
        }
        for (demand, broken) in pass.demands.iter().zip(broken) {
            let (Demand::Never(term) | Demand::Goal(term)) = *demand;
            let value = self.batch.value(term);
            let holds = |lane| self.batch.at(value, lane) != L::of(0);
            let met = |lane: usize| match demand {
                Demand::Never(_) => !holds(lane),
                Demand::Goal(_) => ranks.is_some_and(|ranks| self.falls[lane] || ranks[lane] == 0 && holds(lane)),
            };
            if broken.is_none() {
                *broken = (0..count).find(|lane| !met(*lane)).map(|lane| first + lane);
            }
        }
        Ok(())
    }

    /// Finds the lanes in which an action is enabled.
    fn enable(&mut self, action: &Action, count: usize) {
        self.lanes.clear();
        match self.batch.value(action.guard) {
            Value::Same(same) if same == L::of(0) => {}
            Value::Same(_) => self.lanes.extend(0..count),
            guard => self.lanes.extend((0..count).filter(|lane| self.batch.at(guard, *lane) != L::of(0))),
        }
    }

    /// Computes the next rows. Gives a field whose next value is outside the domain, if there is one.
    fn apply<'f>(&mut self, action: &Action<'f>, rows: &[u64]) -> Option<&'f Field> {
        let words = self.pass.layout.words;
        self.rows.clear();
        for lane in &self.lanes {
            self.rows.extend_from_slice(&rows[lane * words..(lane + 1) * words]);
        }
        for (field, term) in &action.updates {
            let value = self.batch.value(*term);
            let (keep, mut largest) = (!field.place(), 0);
            for (lane, row) in self.lanes.iter().zip(self.rows.chunks_exact_mut(words)) {
                let offset = (i64::from(self.batch.at(value, *lane).number()) - i64::from(field.low)) as u64;
                largest = largest.max(offset);
                row[field.word] = row[field.word] & keep | offset << field.shift;
            }
            if largest > field.span {
                return Some(field);
            }
        }
        None
    }

    /// Looks the next rows up in the targets. Gives a lane whose next row is in none of them.
    fn look_up(&mut self, ranks: Option<&[u16]>) -> Option<usize> {
        let words = self.pass.layout.words;
        self.hashes.clear();
        self.hashes.extend(self.rows.chunks_exact(words).map(|row| self.pass.source.hash(row)));
        self.pass.targets[0].touch(&self.hashes);
        let mut missing = None;
        for ((lane, row), hash) in self.lanes.iter().zip(self.rows.chunks_exact(words)).zip(&self.hashes) {
            let mut found = false;
            for at in self.pass.targets.iter().filter_map(|target| target.find(*hash, row).map(|at| target.ranks.get(at))) {
                found = true;
                // A state may be in several sets, with a rank in each.
                self.falls[*lane] |= at.zip(ranks).is_some_and(|(rank, ranks)| *rank < ranks[*lane]);
                if ranks.is_none() || self.falls[*lane] {
                    break;
                }
            }
            missing = missing.or((!found).then_some(*lane));
        }
        missing
    }
}
