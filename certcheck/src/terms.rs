//! Terms: equal terms are one node. Each node has its sort, the interval of its values, and its depth.

use crate::rejection::{need, Result};
use std::collections::HashMap;

/// The number of a node. The operands of a node have smaller numbers.
pub type Term = u32;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    Variable(u32),
    Constant(i32),
    Truth(bool),
    Not(Term),
    And(Box<[Term]>),
    Or(Box<[Term]>),
    Equal(Term, Term),
    Less(Term, Term),
    LessOrEqual(Term, Term),
    Sum(Box<[Term]>),
    Negative(Term),
    Difference(Term, Term),
    Product(Term, Term),
    If(Term, Term, Term),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Int,
    Bool,
}

/// The lowest and the highest value of a term.
pub type Interval = (i32, i32);

#[derive(Default)]
pub struct Terms {
    pub ops: Vec<Op>,
    sorts: Vec<Sort>,
    intervals: Vec<Interval>,
    depths: Vec<u32>,
    known: HashMap<Op, Term>,
}

/// Levels of a term in which each name is replaced by its definition (the page: "at most 2,000 levels").
pub const MOST_LEVELS: u32 = 2_000;

impl Op {
    pub fn operands(&self) -> Vec<Term> {
        match self {
            Op::Variable(_) | Op::Constant(_) | Op::Truth(_) => vec![],
            Op::Not(a) | Op::Negative(a) => vec![*a],
            Op::And(all) | Op::Or(all) | Op::Sum(all) => all.to_vec(),
            Op::Equal(a, b) | Op::Less(a, b) | Op::LessOrEqual(a, b) | Op::Difference(a, b) | Op::Product(a, b) => vec![*a, *b],
            Op::If(a, b, c) => vec![*a, *b, *c],
        }
    }
}

impl Terms {
    pub fn sort(&self, term: Term) -> Sort {
        self.sorts[term as usize]
    }

    pub fn interval(&self, term: Term) -> Interval {
        self.intervals[term as usize]
    }

    /// The smallest interval with all numbers of all terms.
    pub fn hull(&self) -> Interval {
        self.intervals.iter().fold((0, 0), |hull, i| (hull.0.min(i.0), hull.1.max(i.1)))
    }

    /// The node of a variable with this domain. Each variable is added once.
    pub fn variable(&mut self, variable: u32, domain: Interval) -> Term {
        self.push(Op::Variable(variable), Sort::Int, domain, 0)
    }

    /// The node of an operation, after its sorts and its interval are checked.
    pub fn add(&mut self, op: Op) -> Result<Term> {
        if let Some(term) = self.known.get(&op) {
            return Ok(*term);
        }
        let operands = op.operands();
        let levels = operands.iter().map(|a| self.depths[*a as usize] + 1).max().unwrap_or(0);
        need!(levels <= MOST_LEVELS, "a term has more than {MOST_LEVELS} levels");
        let sort_of = |a: &Term| self.sort(*a);
        let (wanted, sort) = match &op {
            Op::Variable(_) | Op::Constant(_) => (Sort::Int, Sort::Int),
            Op::Truth(_) | Op::Not(_) | Op::And(_) | Op::Or(_) => (Sort::Bool, Sort::Bool),
            Op::Less(..) | Op::LessOrEqual(..) => (Sort::Int, Sort::Bool),
            Op::Equal(a, _) => (sort_of(a), Sort::Bool),
            Op::Sum(_) | Op::Negative(_) | Op::Difference(..) | Op::Product(..) => (Sort::Int, Sort::Int),
            Op::If(_, a, _) => (sort_of(a), sort_of(a)),
        };
        let condition = matches!(op, Op::If(..)) as usize;
        let condition_right = operands[..condition].iter().all(|a| sort_of(a) == Sort::Bool);
        need!(condition_right && operands[condition..].iter().all(|a| sort_of(a) == wanted), "a term has an operand of the wrong sort");
        let interval = self.interval_of(&op)?;
        Ok(self.push(op, sort, interval, levels))
    }

    fn push(&mut self, op: Op, sort: Sort, interval: Interval, levels: u32) -> Term {
        let term = self.ops.len() as Term;
        self.known.insert(op.clone(), term);
        self.ops.push(op);
        self.sorts.push(sort);
        self.intervals.push(interval);
        self.depths.push(levels);
        term
    }

    /// The interval of an operation from those of its operands (the page: "between -2^31 and 2^31 - 1").
    fn interval_of(&self, op: &Op) -> Result<Interval> {
        let of = |a: &Term| {
            let (low, high) = self.interval(*a);
            (i128::from(low), i128::from(high))
        };
        let (low, high) = match op {
            Op::Constant(number) => (i128::from(*number), i128::from(*number)),
            Op::Sum(all) => all.iter().map(of).fold((0, 0), |sum, a| (sum.0 + a.0, sum.1 + a.1)),
            Op::Negative(a) => (-of(a).1, -of(a).0),
            Op::Difference(a, b) => (of(a).0 - of(b).1, of(a).1 - of(b).0),
            Op::Product(a, b) => {
                let (a, b) = (of(a), of(b));
                let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                (corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0))
            }
            Op::If(_, a, b) if self.sort(*a) == Sort::Int => (of(a).0.min(of(b).0), of(a).1.max(of(b).1)),
            _ => (0, 0),
        };
        need!(let (Ok(low), Ok(high)) = (i32::try_from(low), i32::try_from(high)), "a term has numbers that 32 bits do not hold");
        Ok((low, high))
    }

    /// For each node, whether it reads a variable that is not kept (rule `cone`).
    pub fn reading_others(&self, kept: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut reads: Vec<bool> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            reads.push(match op {
                Op::Variable(variable) => !kept(*variable as usize),
                _ => op.operands().iter().any(|a| reads[*a as usize]),
            });
        }
        reads
    }
}

#[cfg(test)]
#[path = "../tests/unit/terms.rs"]
mod tests;
