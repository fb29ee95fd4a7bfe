//! A part of `certificate.txt` with its system: what the commands of both texts say (the page, "The file").

use crate::faults::Faults;
use crate::rejection::{need, Result};
use crate::sexp::Sexp::{self, Keyword, List, Number, Symbol, Text};
use crate::terms::{Op, Sort, Term, Terms};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Kinds of faults, each with the largest number of its faults.
pub type Limits = BTreeMap<String, i64>;

pub struct Variable {
    pub name: String,
    pub low: i64,
    pub high: i64,
    pub initial: i64,
    pub term: Term,
    /// The place of the variable in a row, if the part keeps the variable.
    pub field: Option<Field>,
}

#[derive(Clone, Copy)]
pub struct Field {
    pub variable: usize,
    pub word: usize,
    pub shift: u32,
    /// As many low bits as the field is wide.
    pub mask: u64,
    pub low: i64,
    /// The highest value minus the lowest.
    pub span: u64,
}

pub struct Action {
    pub name: String,
    /// The kind of its fault; `none` for a step without a fault.
    pub kind: String,
    pub guard: Term,
    /// Variables by number, with their next values.
    pub updates: BTreeMap<usize, Term>,
}

pub struct Property {
    /// Whether the property is of a state with a goal; `term` is then the goal, else the violation.
    pub is_goal: bool,
    pub term: Term,
    pub witness: Term,
}

pub struct Claim {
    pub name: String,
    pub id: String,
    pub up_to: i64,
    pub witness: Option<Vec<usize>>,
    /// Smallest fault sets, each with a trace.
    pub smallest: Vec<(Faults, Vec<usize>)>,
}

#[derive(Default)]
pub struct Lemma {
    pub name: String,
    /// The bounds in words, and the sum of the longest times minus the sum of the shortest times.
    pub bounds: Vec<String>,
    pub sum: i128,
}

#[derive(Default)]
pub struct Part {
    /// The name of the system.
    pub name: String,
    pub terms: Terms,
    pub variables: Vec<Variable>,
    by_name: HashMap<String, usize>,
    pub actions: Vec<Action>,
    names_of_actions: BTreeSet<String>,
    pub properties: BTreeMap<String, Property>,
    pub lemmas: Vec<Lemma>,
    /// For each word of a row the bits that belong to fields: the lowest ones. All other bits of a row are 0.
    pub used: Vec<u64>,
    /// Covered kinds, each with the kind that covers it.
    pub covered: BTreeMap<String, String>,
    /// Kinds of which the claims are for any number.
    pub unlimited: BTreeSet<String>,
    /// The members of each set.
    pub sets: BTreeMap<Faults, Vec<String>>,
    last_set: Faults,
    pub claims: Vec<Claim>,
}

const START: &str = "(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n";

impl Part {
    /// Reads a system. Further commands of the part follow.
    pub fn new(name: &str, system: &str) -> Result<Part> {
        need!(let Some(text) = system.strip_prefix(START), "{name} does not begin as SMT-LIB 2.6 of the logic QF_LIA");
        let mut part = Part { name: name.to_string(), terms: Terms::new(), used: vec![0], ..Part::default() };
        for command in crate::sexp::read(text)? {
            need!(let List(items) = &command, "{name} has something that is no command: {command:?}");
            part.read_system(items)?;
        }
        Ok(part)
    }

    /// Reads a command of the system.
    fn read_system(&mut self, command: &[Sexp]) -> Result<()> {
        match command {
            [Symbol("declare-const"), Symbol(_), Symbol("Int")] => {} // solvers need the declaration of a variable
            [Symbol("set-info"), Keyword(":variable"), List(domain)] => {
                need!(let [Symbol(name), Number(low), Number(high), Number(first)] = domain[..], "{domain:?}");
                need!(low <= first && first <= high, "{name} has no such domain");
                let number = self.variables.len();
                let term = self.terms.add(Op::Variable(number), vec![], Sort::Int, (low, high))?;
                self.terms.define(name, term)?;
                self.by_name.insert(name.to_string(), number);
                let name = name.to_string();
                self.variables.push(Variable { name, low, high, initial: first, term, field: None });
            }
            [Symbol("define-fun"), Symbol(name), List(none), Symbol(sort), body] if none.is_empty() => {
                let term = self.terms.read(body)?;
                need!(*sort == format!("{:?}", self.terms.nodes[term].sort), "{name} does not have the sort {sort}");
                self.terms.define(name, term)?;
            }
            [Symbol("set-info"), Keyword(":action"), List(action)] => {
                need!(let [Number(number), Text(name), Symbol(kind), guard] = &action[..], "no action: {action:?}");
                need!(*number == self.actions.len() as i64, "the action {name:?} is not in order");
                need!(self.names_of_actions.insert(name.to_string()), "two actions have the name {name:?}");
                let (name, kind, guard) = (name.to_string(), kind.to_string(), self.term(guard, Sort::Bool)?);
                self.actions.push(Action { name, kind, guard, updates: BTreeMap::new() });
            }
            [Symbol("set-info"), Keyword(":next"), List(update)] => {
                need!(let [Symbol(name), value] = &update[..], "no next value: {update:?}");
                need!(let Some(variable) = self.by_name.get(*name).copied(), "{name} is no variable");
                let value = self.term(value, Sort::Int)?;
                need!(let Some(action) = self.actions.last_mut(), "no action stands before a next value");
                let first = action.updates.insert(variable, value).is_none();
                need!(first, "the action {:?} assigns {name} twice", action.name);
            }
            [Symbol("set-info"), Keyword(keyword @ (":property" | ":goal")), List(property)] => {
                need!(let [Text(name), term, witness] = &property[..], "no property: {property:?}");
                let (term, witness) = (self.term(term, Sort::Bool)?, self.term(witness, Sort::Bool)?);
                let property = Property { is_goal: *keyword == ":goal", term, witness };
                let first = self.properties.insert(name.to_string(), property).is_none();
                need!(first, "two properties have the name {name:?}");
            }
            _ => need!(false, "unexpected in a system: {command:?}"),
        }
        Ok(())
    }

    fn term(&mut self, sexp: &Sexp, sort: Sort) -> Result<Term> {
        let term = self.terms.read(sexp)?;
        need!(self.terms.nodes[term].sort == sort, "{sexp:?} does not have the sort {sort:?}");
        Ok(term)
    }

    /// Reads a command of `certificate.txt`.
    pub fn read(&mut self, command: &[Sexp], limits: &Limits) -> Result<()> {
        match command {
            [Symbol("lemma"), Text(name)] => {
                self.lemmas.push(Lemma { name: name.to_string(), ..Lemma::default() });
            }
            [Symbol(side @ ("least" | "most")), Text(name), Number(time)] => {
                need!(let Some(lemma) = self.lemmas.last_mut(), "no lemma stands before a bound");
                lemma.sum += if *side == "most" { i128::from(*time) } else { -i128::from(*time) };
                lemma.bounds.push(format!("{side} {name:?} {time}"));
            }
            [Symbol("word")] => self.used.push(0),
            [Symbol("field"), Symbol(name)] => self.field(name)?,
            [Symbol("covered"), Symbol(kind), Symbol(by)] => {
                let known = limits.contains_key(*kind) && limits.contains_key(*by) && kind != by;
                let first = self.covered.insert(kind.to_string(), by.to_string()).is_none();
                need!(known && first, "{kind} or {by} has no limit, or {kind} is covered twice or by itself");
            }
            [Symbol("unlimited"), Symbol(kind)] => {
                let first = limits.contains_key(*kind) && self.unlimited.insert(kind.to_string());
                let early = self.sets.is_empty() && self.claims.is_empty();
                need!(first && early, "{kind} has no limit, is unlimited twice, or stands behind a set or a claim");
            }
            [Symbol("set"), List(kinds)] => {
                self.last_set = faults(kinds, limits)?;
                let first = self.sets.insert(self.last_set.clone(), vec![]).is_none();
                need!(first, "the combination {} has two sets", self.last_set);
            }
            [Symbol("rows"), Text(member)] => {
                need!(let Some(members) = self.sets.get_mut(&self.last_set), "no set stands before {member:?}");
                members.push(member.to_string());
            }
            [Symbol("claim"), Text(name), Text(id), Number(up_to)] => {
                let known = self.properties.contains_key(*name);
                need!(known && *up_to >= 0, "the system has no property {name:?}, or a total is negative");
                let (name, id) = (name.to_string(), id.to_string());
                self.claims.push(Claim { name, id, up_to: *up_to, witness: None, smallest: vec![] });
            }
            [Symbol("witness"), numbers @ ..] => {
                let trace = self.trace(numbers)?;
                need!(let Some(claim) = self.claims.last_mut(), "no claim stands before a witness");
                need!(claim.witness.replace(trace).is_none(), "the claim {:?} has two witnesses", claim.name);
            }
            [Symbol("smallest"), List(kinds), numbers @ ..] => {
                let pair = (faults(kinds, limits)?, self.trace(numbers)?);
                need!(let Some(claim) = self.claims.last_mut(), "no claim stands before a smallest fault set");
                claim.smallest.push(pair);
            }
            _ => need!(false, "unexpected in certificate.txt: {command:?}"),
        }
        Ok(())
    }

    /// Gives a variable the next bits of the last word.
    fn field(&mut self, name: &str) -> Result<()> {
        need!(let Some(number) = self.by_name.get(name).copied(), "{name} is no variable");
        let (variable, word) = (&mut self.variables[number], self.used.len() - 1);
        let (span, shift) = ((variable.high - variable.low) as u64, self.used[word].trailing_ones());
        let width = (u64::BITS - span.leading_zeros()).max(1);
        let right = variable.field.is_none() && shift + width <= u64::BITS;
        need!(right, "the field of {name} leaves its word, or is there twice");
        let mask = (1 << width) - 1;
        self.used[word] |= mask << shift;
        variable.field = Some(Field { variable: number, word, shift, mask, low: variable.low, span });
        Ok(())
    }

    fn trace(&self, numbers: &[Sexp]) -> Result<Vec<usize>> {
        let known = |number: &Sexp| match number {
            Number(number) => usize::try_from(*number).ok().filter(|number| *number < self.actions.len()),
            _ => None,
        };
        need!(let Some(trace) = numbers.iter().map(known).collect(), "these are no actions: {numbers:?}");
        Ok(trace)
    }

    /// Checks that the part has a claim, and the sets that it must have.
    pub fn complete(&self) -> Result<()> {
        need!(!self.claims.is_empty(), "a part about {} has no claim", self.name);
        let closed = |faults: &Faults| faults.smaller().all(|(smaller, _)| self.sets.contains_key(&smaller));
        let all_closed = self.sets.contains_key(&Faults::default()) && self.sets.keys().all(closed);
        need!(all_closed, "a combination that is contained in one with a set has no set, or no faults have none");
        let mut in_covers = self.covered.iter().flat_map(|(kind, by)| [kind, by]);
        need!(!in_covers.any(|kind| self.unlimited.contains(kind)), "an unlimited kind is covered, or covers another");
        Ok(())
    }

    /// The fields of the kept variables.
    pub fn kept(&self) -> impl Iterator<Item = &Field> {
        self.variables.iter().filter_map(|variable| variable.field.as_ref())
    }

    /// The row of the initial state, cut down to the kept variables.
    pub fn initial(&self) -> Vec<u64> {
        let mut row = vec![0; self.used.len()];
        for (variable, field) in self.variables.iter().filter_map(|variable| Some((variable, variable.field?))) {
            row[field.word] |= ((variable.initial - field.low) as u64) << field.shift;
        }
        row
    }

    /// Whether rows have ranks, because a claim is about a goal.
    pub fn is_ranked(&self) -> bool {
        self.claims.iter().any(|claim| self.properties[&claim.name].is_goal)
    }
}

fn faults(kinds: &[Sexp], limits: &Limits) -> Result<Faults> {
    let known = |kind: &Sexp| match kind {
        Symbol(kind) if limits.contains_key(*kind) => Some(kind.to_string()),
        _ => None,
    };
    need!(let Some(kinds) = kinds.iter().map(known).collect::<Option<Vec<_>>>(), "this is no combination: {kinds:?}");
    Ok(Faults::new(kinds))
}

#[cfg(test)]
#[path = "../tests/unit/part.rs"]
mod tests;
