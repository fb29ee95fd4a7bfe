//! Evaluates terms for many states at a time: a column of values for each node that is needed.
//!
//! A node whose value is the same in all states of the batch has this value and no column. Rows that are neighbours in a
//! sorted file share most fields, so that most nodes are of this kind.

use crate::layout::{Field, Layout};
use crate::terms::{Op, Sort, Term, Terms};
use std::ops::{BitAnd, BitOr, BitXor};

/// A number of a column: the smallest type that holds all numbers of all terms. `false` is 0, `true` is -1.
///
/// Operations wrap around. The sum of many numbers may leave the type on the way, and is right at the end, because the interval of
/// each node is within the type.
pub trait Lane: Copy + Default + PartialEq + PartialOrd + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> {
    fn of(number: i64) -> Self;
    fn number(self) -> i32;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! lane {
    ($type:ty) => {
        impl Lane for $type {
            fn of(number: i64) -> Self {
                number as $type
            }
            fn number(self) -> i32 {
                i32::from(self)
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    };
}

lane!(i8);
lane!(i16);
lane!(i32);

/// The value of a node in the states of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<L> {
    /// The same in all states.
    Same(L),
    /// The column of the node with this number.
    Column(usize),
}

use Value::{Column, Same};

/// A batch of `N` states.
pub struct Batch<'a, L, const N: usize> {
    terms: &'a Terms,
    columns: Vec<[L; N]>,
    values: Vec<Value<L>>,
    /// The batch for which a node's value was computed.
    computed: Vec<u64>,
    batch: u64,
    spare: [[L; N]; 2],
    words: Vec<[u64; N]>,
}

/// Bytes that a batch may need for a system with this many nodes.
pub fn bytes(nodes: usize, words: usize, lanes: usize) -> u64 {
    (nodes * (4 * lanes + 24) + 8 * words * lanes) as u64
}

impl<'a, L: Lane, const N: usize> Batch<'a, L, N> {
    pub fn new(terms: &'a Terms, words: usize) -> Self {
        let nodes = terms.ops.len();
        Batch {
            terms,
            columns: vec![[L::default(); N]; nodes],
            values: vec![Same(L::default()); nodes],
            computed: vec![0; nodes],
            batch: 0,
            spare: [[L::default(); N]; 2],
            words: vec![[0; N]; words],
        }
    }

    /// Begins a batch, in which no node has a value.
    pub fn begin(&mut self) {
        self.batch += 1;
    }

    pub fn set(&mut self, term: Term, value: Value<L>) {
        self.values[term as usize] = value;
        self.computed[term as usize] = self.batch;
    }

    /// Begins a batch with these rows, at least one and at most `N`; the last one fills the rest. Checks rule `domain`: the
    /// error is a variable whose field has a wrong value, or none if a bit outside all fields is set.
    pub fn load(&mut self, layout: &Layout, variables: &[Term], rows: &[u64]) -> Result<(), Option<usize>> {
        self.begin();
        let last = rows.len() / layout.words - 1;
        let mut differing = vec![0; layout.words];
        for (word, used) in layout.used.iter().enumerate() {
            let column = &mut self.words[word];
            for (lane, value) in column.iter_mut().enumerate() {
                *value = rows[lane.min(last) * layout.words + word];
            }
            let first = column[0];
            differing[word] = column.iter().fold(0, |bits, value| bits | (value ^ first));
            if (differing[word] | first) & !used != 0 {
                return Err(None);
            }
        }
        for field in layout.kept() {
            let Field { word, shift, mask, span, .. } = *field;
            let (column, low, term) = (&self.words[word], L::of(i64::from(field.low)), variables[field.variable]);
            let same = differing[word] & field.place() == 0;
            let checked = if same { 1 } else { N };
            if span < mask && column[..checked].iter().any(|value| value >> shift & mask > span) {
                return Err(Some(field.variable));
            }
            if same {
                let value = low.plus(L::of((column[0] >> shift & mask) as i64));
                self.set(term, Same(value));
                continue;
            }
            for (lane, value) in self.columns[term as usize].iter_mut().zip(column) {
                *lane = low.plus(L::of((value >> shift & mask) as i64));
            }
            self.set(term, Column(term as usize));
        }
        Ok(())
    }

    /// The value of a node. Nodes have at most 2,000 levels, which bounds the recursion.
    pub fn value(&mut self, term: Term) -> Value<L> {
        let at = term as usize;
        if self.computed[at] != self.batch {
            let value = self.compute(at);
            self.set(term, value);
        }
        self.values[at]
    }

    /// The number that this value is in a state.
    pub fn at(&self, value: Value<L>, lane: usize) -> L {
        match value {
            Same(same) => same,
            Column(column) => self.columns[column][lane],
        }
    }

    fn compute(&mut self, at: usize) -> Value<L> {
        let terms = self.terms;
        let truth = |truth: bool| L::of(-i64::from(truth));
        match &terms.ops[at] {
            Op::Variable(_) => unreachable!("rule cone: a node that is evaluated reads kept variables only"),
            Op::Constant(number) => Same(L::of(i64::from(*number))),
            Op::Truth(value) => Same(truth(*value)),
            Op::Not(a) => self.two(at, *a, *a, |a, _| a ^ L::of(-1)),
            Op::And(all) => self.all(at, all, L::of(-1), L::of(0), |a, b| a & b),
            Op::Or(all) => self.all(at, all, L::of(0), L::of(-1), |a, b| a | b),
            Op::Equal(a, b) => self.two(at, *a, *b, |a, b| truth(a == b)),
            Op::Less(a, b) => self.two(at, *a, *b, |a, b| truth(a < b)),
            Op::LessOrEqual(a, b) => self.two(at, *a, *b, |a, b| truth(a <= b)),
            Op::Negative(a) => self.two(at, *a, *a, |a, _| L::of(0).minus(a)),
            Op::Difference(a, b) => self.two(at, *a, *b, L::minus),
            Op::Product(a, b) => self.two(at, *a, *b, L::times),
            Op::Sum(all) => {
                let first = self.value(all[0]);
                all[1..].iter().fold(first, |sum, a| {
                    let a = self.value(*a);
                    self.combine(at, sum, a, L::plus)
                })
            }
            Op::If(c, a, b) => match self.value(*c) {
                Same(c) if c == truth(true) => self.value(*a),
                Same(_) => self.value(*b),
                Column(c) => {
                    let (a, b) = (self.value(*a), self.value(*b));
                    self.choose(at, c, a, b)
                }
            },
        }
    }

    fn two(&mut self, at: usize, a: Term, b: Term, f: impl Fn(L, L) -> L) -> Value<L> {
        let (a, b) = (self.value(a), self.value(b));
        let value = self.combine(at, a, b, f);
        self.settled(at, value)
    }

    /// A conjunction or a disjunction: from `neutral`, until the value is `last` in all states.
    fn all(&mut self, at: usize, operands: &[Term], neutral: L, last: L, f: impl Fn(L, L) -> L + Copy) -> Value<L> {
        let mut value = Same(neutral);
        for operand in operands {
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
    fn combine(&mut self, at: usize, a: Value<L>, b: Value<L>, f: impl Fn(L, L) -> L) -> Value<L> {
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
    fn choose(&mut self, at: usize, c: usize, a: Value<L>, b: Value<L>) -> Value<L> {
        let (before, rest) = self.columns.split_at_mut(at);
        let [spare_a, spare_b] = &mut self.spare;
        let (a, b) = (column(a, before, spare_a), column(b, before, spare_b));
        for (to, (c, (a, b))) in rest[0].iter_mut().zip(before[c].iter().zip(a.iter().zip(b))) {
            *to = *c & *a | (*c ^ L::of(-1)) & *b;
        }
        self.settled(at, Column(at))
    }

    /// The value without a column, if it is a truth value and the same in all states.
    fn settled(&self, at: usize, value: Value<L>) -> Value<L> {
        if value != Column(at) || self.terms.sort(at as Term) == Sort::Int {
            return value;
        }
        let first = self.columns[at][0];
        let differing = self.columns[at].iter().fold(L::of(0), |bits, value| bits | (*value ^ first));
        Some(value).filter(|_| differing != L::of(0)).unwrap_or(Same(first))
    }
}

/// The column of a value, or a spare one that is filled with the value.
fn column<'c, L: Copy, const N: usize>(value: Value<L>, columns: &'c [[L; N]], spare: &'c mut [L; N]) -> &'c [L; N] {
    match value {
        Column(column) => &columns[column],
        Same(same) => {
            spare.fill(same);
            spare
        }
    }
}
