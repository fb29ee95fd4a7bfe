//! Evaluates terms for many states at a time: a column of values for each node that is needed.
//!
//! A node whose value is the same in all states of the batch has this value and no column. Rows that are neighbours in
//! a sorted file share most fields, so that most nodes are of this kind.

use crate::part::{Field, Part};
use crate::rejection::{rule, Result};
use crate::terms::{Node, Op, Sort, Term};

/// A number of a column; `false` is 0, `true` is -1. The rule `limits` keeps the numbers of all terms within this type.
/// The sum of many numbers may leave the type on the way, and is right at the end.
pub type Lane = i16;

/// The value of a node in the states of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// The same in all states.
    Same(Lane),
    /// The column of the node with this number.
    Column(usize),
}

use Value::{Column, Same};

/// A batch of `N` states.
pub struct Batch<'a, const N: usize> {
    part: &'a Part,
    columns: Vec<[Lane; N]>,
    values: Vec<Value>,
    /// The last batch for which a node's value is computed; a constant has its value for ever.
    computed: Vec<u64>,
    batch: u64,
    spare: [[Lane; N]; 2],
    words: Vec<[u64; N]>,
}

impl<'a, const N: usize> Batch<'a, N> {
    pub fn new(part: &'a Part) -> Self {
        let nodes = &part.terms.nodes;
        let constant = |node: &Node| if let Op::Constant(number) = node.op { Some(number) } else { None };
        Batch {
            part,
            columns: vec![[0; N]; nodes.len()],
            values: nodes.iter().map(|node| Same(constant(node).unwrap_or(0))).collect(),
            computed: nodes.iter().map(|node| if constant(node).is_some() { u64::MAX } else { 0 }).collect(),
            batch: 0,
            spare: [[0; N]; 2],
            words: vec![[0; N]; part.used.len()],
        }
    }

    /// Bytes that a batch may need.
    pub fn bytes(part: &Part) -> u64 {
        (part.terms.nodes.len() * (size_of::<Lane>() * N + 24) + 8 * part.used.len() * N) as u64
    }

    fn set(&mut self, term: Term, value: Value) {
        self.values[term] = value;
        self.computed[term] = self.batch;
    }

    /// Begins a batch with these rows, at least one and at most `N`; the last one fills the rest. Checks rule `domain`.
    pub fn load(&mut self, rows: &[u64]) -> Result<()> {
        self.batch += 1;
        let (part, words) = (self.part, self.part.used.len());
        let last = rows.len() / words - 1;
        let mut differing = vec![0; words];
        for (word, (column, differing)) in self.words.iter_mut().zip(&mut differing).enumerate() {
            for (lane, value) in column.iter_mut().enumerate() {
                *value = rows[lane.min(last) * words + word];
            }
            let first = column[0];
            *differing = column.iter().fold(0, |bits, value| bits | (value ^ first));
            rule!("domain", (*differing | first) & !part.used[word] == 0, "a row has a bit outside all fields");
        }
        for field in part.kept() {
            let Field { word, shift, mask, span, .. } = *field;
            let (column, variable) = (&self.words[word], &part.variables[field.variable]);
            let same = differing[word] & mask << shift == 0;
            let checked = if same { 1 } else { N };
            let wrong = span < mask && column[..checked].iter().any(|value| value >> shift & mask > span);
            rule!("domain", !wrong, "a row has a value of {} outside the domain", variable.name);
            let value = |word: &u64| (field.low + (word >> shift & mask) as i64) as Lane;
            if same {
                let value = value(&column[0]);
                self.set(variable.term, Same(value));
                continue;
            }
            for (lane, word) in self.columns[variable.term].iter_mut().zip(column) {
                *lane = value(word);
            }
            self.set(variable.term, Column(variable.term));
        }
        Ok(())
    }

    /// The value of a node. Nodes have at most 2,000 levels, which bounds the recursion.
    pub fn value(&mut self, term: Term) -> Value {
        if self.computed[term] < self.batch {
            let value = self.compute(term);
            self.set(term, value);
        }
        self.values[term]
    }

    /// The number that this value is in a state.
    pub fn at(&self, value: Value, lane: usize) -> Lane {
        match value {
            Same(same) => same,
            Column(column) => self.columns[column][lane],
        }
    }

    fn compute(&mut self, at: Term) -> Value {
        let node = &self.part.terms.nodes[at];
        let truth = |truth: bool| -Lane::from(truth);
        match node.op {
            Op::Variable(_) | Op::Constant(_) => unreachable!("rule cone: a part evaluates kept variables only"),
            Op::Not => self.two(at, 0, |a, _| !a),
            Op::And => self.all(at, -1, 0, |a, b| a & b),
            Op::Or => self.all(at, 0, -1, |a, b| a | b),
            Op::Implies => self.two(at, 1, |a, b| !a | b),
            Op::Equal => self.two(at, 1, |a, b| truth(a == b)),
            Op::Distinct => self.two(at, 1, |a, b| truth(a != b)),
            Op::Less => self.two(at, 1, |a, b| truth(a < b)),
            Op::AtMost => self.two(at, 1, |a, b| truth(a <= b)),
            Op::Difference => self.two(at, 1, |a, b| a.wrapping_sub(b)),
            Op::Product => self.two(at, 1, |a, b| a.wrapping_mul(b)),
            Op::Sum => {
                let first = self.value(node.operands[0]);
                node.operands[1..].iter().fold(first, |sum, a| {
                    let a = self.value(*a);
                    self.combine(at, sum, a, |a, b| a.wrapping_add(b))
                })
            }
            Op::If => match self.value(node.operands[0]) {
                Same(c) if c == truth(true) => self.value(node.operands[1]),
                Same(_) => self.value(node.operands[2]),
                Column(c) => {
                    let (a, b) = (self.value(node.operands[1]), self.value(node.operands[2]));
                    self.choose(at, c, a, b)
                }
            },
        }
    }

    /// An operation on the first operand and another one, which can be the first one again.
    fn two(&mut self, at: Term, other: usize, f: impl Fn(Lane, Lane) -> Lane) -> Value {
        let operands = &self.part.terms.nodes[at].operands;
        let (a, b) = (self.value(operands[0]), self.value(operands[other]));
        let value = self.combine(at, a, b, f);
        self.settled(at, value)
    }

    /// A conjunction or a disjunction: from `neutral`, until the value is `last` in all states.
    fn all(&mut self, at: Term, neutral: Lane, last: Lane, f: impl Fn(Lane, Lane) -> Lane + Copy) -> Value {
        let mut value = Same(neutral);
        for operand in &self.part.terms.nodes[at].operands {
            let operand = self.value(*operand);
            value = match (value, operand) {
                (Same(_), _) => operand,
                (_, Same(same)) if same == neutral => value,
                (_, Same(_)) => operand,
                _ => {
                    let value = self.combine(at, value, operand, f);
                    self.settled(at, value)
                }
            };
            if value == Same(last) {
                break;
            }
        }
        value
    }

    /// Writes `f` of two values into the column of a node. The first one may be this column.
    fn combine(&mut self, at: Term, a: Value, b: Value, f: impl Fn(Lane, Lane) -> Lane) -> Value {
        if let (Same(a), Same(b)) = (a, b) {
            return Same(f(a, b));
        }
        let (before, rest) = self.columns.split_at_mut(at);
        let [spare_a, spare_b] = &mut self.spare;
        let b = column(b, before, spare_b);
        if a == Column(at) {
            rest[0].iter_mut().zip(b).for_each(|(to, b)| *to = f(*to, *b));
        } else {
            let a = column(a, before, spare_a);
            rest[0].iter_mut().zip(a.iter().zip(b)).for_each(|(to, (a, b))| *to = f(*a, *b));
        }
        Column(at)
    }

    /// Writes, state by state, `a` where the column `c` is true and `b` elsewhere.
    fn choose(&mut self, at: Term, c: Term, a: Value, b: Value) -> Value {
        let (before, rest) = self.columns.split_at_mut(at);
        let [spare_a, spare_b] = &mut self.spare;
        let (a, b) = (column(a, before, spare_a), column(b, before, spare_b));
        for (to, (c, (a, b))) in rest[0].iter_mut().zip(before[c].iter().zip(a.iter().zip(b))) {
            *to = *c & *a | !*c & *b;
        }
        self.settled(at, Column(at))
    }

    /// The value without a column, if it is a truth value and the same in all states.
    fn settled(&self, at: Term, value: Value) -> Value {
        if value != Column(at) || self.part.terms.nodes[at].sort == Sort::Int {
            return value;
        }
        let first = self.columns[at][0];
        let differing = self.columns[at].iter().fold(0, |bits, value| bits | (*value ^ first));
        Some(value).filter(|_| differing != 0).unwrap_or(Same(first))
    }
}

/// The column of a value, or a spare one that is filled with the value.
fn column<'c, const N: usize>(value: Value, columns: &'c [[Lane; N]], spare: &'c mut [Lane; N]) -> &'c [Lane; N] {
    match value {
        Column(column) => &columns[column],
        Same(same) => {
            spare.fill(same);
            spare
        }
    }
}
