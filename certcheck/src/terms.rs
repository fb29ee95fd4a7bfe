//! Terms of a system: nodes, each with its sort, the interval of its values, and its levels.

use crate::batch::Lane;
use crate::rejection::{need, rule, Result};
use crate::sexp::Sexp::{self, List, Number, Symbol};
use std::collections::HashMap;

/// The number of a node. The operands of a node have smaller numbers.
pub type Term = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A variable of the system, by its number.
    Variable(usize),
    /// A number; for a truth value 0 (false) or -1.
    Constant(Lane),
    Not,
    And,
    Or,
    Implies,
    Equal,
    Distinct,
    Less,
    AtMost,
    Sum,
    Difference,
    Product,
    If,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Int,
    Bool,
}

use Sort::{Bool, Int};

/// Operators with their operands: the sort (none: any sort, the same for all; the condition of `ite` aside), and the
/// least and the largest number of them; then the sort of the term (none: that of the last operand). The operator `>`
/// is `<` with its operands the other way round, and so is `>=`.
type Form = (&'static str, Op, Option<Sort>, usize, usize, Option<Sort>);
const FORMS: [Form; 14] = [
    ("not", Op::Not, Some(Bool), 1, 1, Some(Bool)),
    ("and", Op::And, Some(Bool), 2, usize::MAX, Some(Bool)),
    ("or", Op::Or, Some(Bool), 2, usize::MAX, Some(Bool)),
    ("=>", Op::Implies, Some(Bool), 2, 2, Some(Bool)),
    ("=", Op::Equal, None, 2, 2, Some(Bool)),
    ("distinct", Op::Distinct, None, 2, 2, Some(Bool)),
    ("<", Op::Less, Some(Int), 2, 2, Some(Bool)),
    (">", Op::Less, Some(Int), 2, 2, Some(Bool)),
    ("<=", Op::AtMost, Some(Int), 2, 2, Some(Bool)),
    (">=", Op::AtMost, Some(Int), 2, 2, Some(Bool)),
    ("+", Op::Sum, Some(Int), 2, usize::MAX, Some(Int)),
    ("-", Op::Difference, Some(Int), 2, 2, Some(Int)),
    ("*", Op::Product, Some(Int), 2, 2, Some(Int)),
    ("ite", Op::If, None, 3, 3, None),
];

/// Levels of a term in which each name is replaced by its definition, at most: the evaluation of terms is recursive.
pub const MOST_LEVELS: u32 = 2_000;

pub struct Node {
    pub op: Op,
    pub operands: Box<[Term]>,
    pub sort: Sort,
    /// The lowest and the highest value. A truth value is 0 or -1.
    pub low: Lane,
    pub high: Lane,
    levels: u32,
}

#[derive(Default)]
pub struct Terms {
    pub nodes: Vec<Node>,
    names: HashMap<String, Term>,
}

impl Terms {
    pub fn new() -> Terms {
        let truth = |op| Node { op, operands: [].into(), sort: Bool, low: -1, high: 0, levels: 1 };
        let nodes = vec![truth(Op::Constant(0)), truth(Op::Constant(-1))];
        Terms { nodes, names: HashMap::from([("false".into(), 0), ("true".into(), 1)]) }
    }

    /// Gives a name to a term, or refuses a name that is taken.
    pub fn define(&mut self, name: &str, term: Term) -> Result<()> {
        let is_operator = FORMS.iter().any(|form| form.0 == name);
        need!(!is_operator && self.names.insert(name.to_string(), term).is_none(), "the name {name} is taken");
        Ok(())
    }

    /// The term of an expression. The reader of S-expressions bounds the depth of this recursion.
    pub fn read(&mut self, sexp: &Sexp) -> Result<Term> {
        let items = match sexp {
            Number(number) => return self.add(Op::Constant(*number as Lane), vec![], Int, (*number, *number)),
            Symbol(name) => {
                need!(let Some(term) = self.names.get(*name), "{name} is the name of no variable, and of no term");
                return Ok(*term);
            }
            List(items) => items.as_slice(),
            _ => &[],
        };
        need!(let [Symbol(operator), parts @ ..] = items, "this is no term: {sexp:?}");
        let form = FORMS.iter().find(|form| form.0 == *operator);
        need!(let Some((_, op, wanted, least, most, sort)) = form, "{operator} is no operator");
        let mut operands = parts.iter().map(|part| self.read(part)).collect::<Result<Vec<Term>>>()?;
        if let ("-", [_]) = (*operator, parts) {
            operands.insert(0, self.read(&Number(0))?);
        }
        need!(*least <= operands.len() && operands.len() <= *most, "{operator} has {} operands", operands.len());
        if operator.starts_with('>') {
            operands.reverse();
        }
        let sorts: Vec<Sort> = operands.iter().map(|a| self.nodes[*a].sort).collect();
        let (condition, same) = sorts.split_at(if *op == Op::If { 1 } else { 0 });
        let last = same[same.len() - 1];
        let right = condition.iter().all(|a| *a == Bool) && same.iter().all(|a| *a == wanted.unwrap_or(last));
        need!(right, "{operator} has an operand of the wrong sort");
        let is_linear = *op != Op::Product || parts.iter().any(|part| matches!(part, Number(_)));
        need!(is_linear, "a product of two terms, of which none is a number");
        let interval = self.interval(*op, &operands, sort.unwrap_or(last));
        self.add(*op, operands, sort.unwrap_or(last), interval)
    }

    /// The interval of an operation from those of its operands.
    fn interval(&self, op: Op, operands: &[Term], sort: Sort) -> (i64, i64) {
        let of = |at: usize| (i64::from(self.nodes[operands[at]].low), i64::from(self.nodes[operands[at]].high));
        match op {
            _ if sort == Bool => (-1, 0),
            Op::Sum => (0..operands.len()).map(of).fold((0, 0), |sum, a| (sum.0 + a.0, sum.1 + a.1)),
            Op::Difference => (of(0).0 - of(1).1, of(0).1 - of(1).0),
            Op::Product => {
                let corners = [of(0).0 * of(1).0, of(0).0 * of(1).1, of(0).1 * of(1).0, of(0).1 * of(1).1];
                corners.iter().fold((i64::MAX, i64::MIN), |found, n| (found.0.min(*n), found.1.max(*n)))
            }
            _ => (of(1).0.min(of(2).0), of(1).1.max(of(2).1)),
        }
    }

    /// Adds a node. The rule `limits` is this program's own: terms with more levels, or with numbers that 16 bits do not
    /// hold, are refused.
    pub fn add(&mut self, op: Op, operands: Vec<Term>, sort: Sort, interval: (i64, i64)) -> Result<Term> {
        let levels = 1 + operands.iter().map(|a| self.nodes[*a].levels).max().unwrap_or(0);
        rule!("limits", levels <= MOST_LEVELS, "a term has more than {MOST_LEVELS} levels");
        let (low, high) = (interval.0 as Lane, interval.1 as Lane);
        let is_exact = (i64::from(low), i64::from(high)) == interval;
        rule!("limits", is_exact, "a term has numbers that 16 bits do not hold");
        self.nodes.push(Node { op, operands: operands.into(), sort, low, high, levels });
        Ok(self.nodes.len() - 1)
    }

    /// For each node, whether it reads a variable that is not kept (rule `cone`).
    pub fn reading_others(&self, kept: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut reads: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let own = matches!(node.op, Op::Variable(variable) if !kept(variable));
            reads.push(own || node.operands.iter().any(|a| reads[*a]));
        }
        reads
    }
}

#[cfg(test)]
#[path = "../tests/unit/terms.rs"]
mod tests;
