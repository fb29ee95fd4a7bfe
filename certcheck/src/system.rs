//! `system.smt2` (the page, "system.smt2"): variables, actions and properties.

use crate::archive::Archive;
use crate::memory::Memory;
use crate::rejection::{malformed, need, rule, Result};
use crate::sexp::Sexp::{self, Keyword, List, Numeral, Symbol, Text};
use crate::sexp::{self, BYTES_PER_BYTE};
use crate::terms::{Op, Sort, Term, Terms};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Bytes that a byte of a system may need as terms and names.
const TERMS_PER_BYTE: u64 = 80;

#[derive(Default)]
pub struct System {
    pub terms: Terms,
    pub variables: Vec<Variable>,
    /// The kinds of fault that actions have, in all systems of the certificate.
    pub kinds: Vec<String>,
    pub actions: Vec<Action>,
    pub properties: Vec<Property>,
}

pub struct Variable {
    pub name: String,
    pub low: i32,
    pub high: i32,
    pub initial: i32,
    pub term: Term,
}

pub struct Action {
    pub name: String,
    /// The number of the kind of its fault; none for a step without a fault.
    pub kind: Option<usize>,
    pub guard: Term,
    /// Variables by number, with their next values.
    pub updates: Vec<(usize, Term)>,
}

pub struct Property {
    pub name: String,
    /// Whether the property is of a state with a goal; `term` is then the goal, else the violation.
    pub is_goal: bool,
    pub term: Term,
    pub witness: Term,
}

/// Names that SMT-LIB or its theories have, which a script must not declare.
const RESERVED: &str = "! _ as BINARY DECIMAL exists HEXADECIMAL forall let match NUMERAL par STRING \
    Int Bool true false not => and or xor = distinct ite + - * < <= > >= div mod abs divisible \
    assert check-sat check-sat-assuming declare-const declare-datatype declare-datatypes declare-fun declare-sort define-const \
    define-fun define-fun-rec define-funs-rec define-sort echo exit get-assertions get-assignment get-info get-model get-option \
    get-proof get-unsat-assumptions get-unsat-core get-value pop push reset reset-assertions set-info set-logic set-option";

/// Names of the script so far.
#[derive(Default)]
struct Names<'a> {
    variables: HashMap<&'a str, usize>,
    defined: HashMap<&'a str, Term>,
    actions: HashSet<String>,
}

impl<'a> Names<'a> {
    fn is_free(&self, name: &str) -> bool {
        let taken = self.variables.contains_key(name) || self.defined.contains_key(name);
        !taken && !name.starts_with(['.', '@']) && !RESERVED.split_whitespace().any(|word| word == name)
    }

    fn definition(&self, name: &Sexp<'a>, sort: Sort, terms: &Terms) -> Result<Term> {
        need!(let Symbol(name) = name, "a term is not given by its name");
        need!(let Some(term) = self.defined.get(name), "{name} is not the name of a term");
        need!(terms.sort(*term) == sort, "{name} does not have the sort {sort:?}");
        Ok(*term)
    }
}

impl System {
    /// The initial state.
    pub fn initial(&self) -> Vec<i32> {
        self.variables.iter().map(|variable| variable.initial).collect()
    }

    /// Reads the script. Commands stand in the order of the page.
    pub fn read(text: &str, kinds: &mut Vec<String>) -> Result<System> {
        let commands = sexp::read(text)?;
        let (mut system, mut names, mut stage, mut at) = (System::default(), Names::default(), 0, 2);
        let header = sexp::read("(set-info :smt-lib-version 2.6) (set-logic QF_LIA)")?;
        need!(commands.starts_with(&header), "system.smt2 does not begin with SMT-LIB 2.6 and the logic QF_LIA");
        while at < commands.len() {
            need!(let List(command) = &commands[at], "system.smt2 has something that is not a command");
            let before = stage;
            stage = match command.as_slice() {
                [Symbol("declare-const"), Symbol(name), Symbol("Int")] => {
                    at += 1;
                    system.declare(name, commands.get(at), &mut names)?;
                    0
                }
                [Symbol("define-fun"), Symbol(name), List(none), Symbol(sort), body] if none.is_empty() => {
                    system.define(name, sort, body, &mut names)?;
                    1
                }
                [Symbol("set-info"), Keyword(":action"), List(action)] => {
                    system.action(action, &mut names, kinds)?;
                    2
                }
                [Symbol("set-info"), Keyword(keyword @ (":property" | ":goal")), List(property)] => {
                    system.property(property, *keyword == ":goal", &names)?;
                    if *keyword == ":goal" {
                        4
                    } else {
                        3
                    }
                }
                _ => return malformed("system.smt2 has a command that the page does not have"),
            };
            need!(stage >= before, "a command of system.smt2 stands behind commands that it must precede");
            at += 1;
        }
        Ok(system)
    }

    fn declare<'a>(&mut self, name: &'a str, info: Option<&Sexp<'a>>, names: &mut Names<'a>) -> Result<()> {
        need!(let Some(List(info)) = info, "no domain follows the declaration of {name}");
        need!(let [Symbol("set-info"), Keyword(":variable"), List(domain)] = info.as_slice(), "no domain follows the declaration of {name}");
        need!(let [Symbol(of), low, high, initial] = domain.as_slice(), "the domain of {name} is not a name and three numbers");
        let number = |sexp: &Sexp| sexp.number().and_then(|number| i32::try_from(number).ok());
        need!(let (Some(low), Some(high), Some(initial)) = (number(low), number(high), number(initial)), "the domain of {name} is not of 32-bit numbers");
        need!(*of == name && names.is_free(name), "{name} cannot be declared: the name is taken, or not that of the domain");
        need!(low <= initial && initial <= high, "the initial value of {name} is outside the domain");
        names.variables.insert(name, self.variables.len());
        let term = self.terms.variable(self.variables.len() as u32, (low, high));
        self.variables.push(Variable { name: name.to_string(), low, high, initial, term });
        Ok(())
    }

    fn define<'a>(&mut self, name: &'a str, sort: &str, body: &Sexp<'a>, names: &mut Names<'a>) -> Result<()> {
        let term = self.term(body, names)?;
        need!(sort == format!("{:?}", self.terms.sort(term)), "{name} does not have the sort {sort}");
        need!(names.is_free(name), "{name} cannot be defined: the name is taken");
        names.defined.insert(name, term);
        Ok(())
    }

    /// Reads a term. The reader of S-expressions bounds the depth of this recursion.
    fn term(&mut self, sexp: &Sexp, names: &Names) -> Result<Term> {
        let items = match sexp {
            Symbol("true") => return self.terms.add(Op::Truth(true)),
            Symbol("false") => return self.terms.add(Op::Truth(false)),
            Numeral(number) => {
                need!(let Ok(number) = i32::try_from(*number), "the numeral {number} is larger than 2^31 - 1");
                return self.terms.add(Op::Constant(number));
            }
            Symbol(name) => {
                let variable = names.variables.get(name).map(|variable| self.variables[*variable].term);
                need!(let Some(term) = variable.or_else(|| names.defined.get(name).copied()), "{name} is neither a variable nor defined before");
                return Ok(term);
            }
            List(items) => items,
            _ => return malformed("a term is a string, a keyword or a decimal"),
        };
        need!(let [Symbol(operator), operands @ ..] = items.as_slice(), "a term is a list without an operator");
        let operands = operands.iter().map(|operand| self.term(operand, names)).collect::<Result<Vec<Term>>>()?;
        let op = match (*operator, operands.as_slice()) {
            ("not", [a]) => Op::Not(*a),
            ("and", [_, _, ..]) => Op::And(operands.into()),
            ("or", [_, _, ..]) => Op::Or(operands.into()),
            ("=>", [a, b]) => Op::Or([self.terms.add(Op::Not(*a))?, *b].into()),
            ("=", [a, b]) => Op::Equal(*a, *b),
            ("distinct", [a, b]) => Op::Not(self.terms.add(Op::Equal(*a, *b))?),
            ("<", [a, b]) | (">", [b, a]) => Op::Less(*a, *b),
            ("<=", [a, b]) | (">=", [b, a]) => Op::LessOrEqual(*a, *b),
            ("+", [_, _, ..]) => Op::Sum(operands.into()),
            ("-", [a]) => Op::Negative(*a),
            ("-", [a, b]) => Op::Difference(*a, *b),
            ("*", [a, b]) if items[1..].iter().any(|factor| factor.number().is_some()) => Op::Product(*a, *b),
            ("ite", [c, a, b]) => Op::If(*c, *a, *b),
            _ => return malformed(format!("the page has no term {operator} with {} operands like these", operands.len())),
        };
        self.terms.add(op)
    }

    fn action<'a>(&mut self, action: &[Sexp<'a>], names: &mut Names<'a>, kinds: &mut Vec<String>) -> Result<()> {
        let parts = "an action is not a number, a name, a kind, a guard and updates";
        need!(let [Numeral(number), Text(name), Symbol(kind), guard, List(assigned)] = action, "{parts}");
        let in_order = *number == self.actions.len() as u64;
        need!(in_order && names.actions.insert(name.to_string()), "the action {name:?} is not in order, or its name is taken");
        let kind = (*kind != "none").then(|| {
            kinds.iter().position(|known| known == kind).unwrap_or_else(|| {
                kinds.push(kind.to_string());
                kinds.len() - 1
            })
        });
        let guard = names.definition(guard, Sort::Bool, &self.terms)?;
        let mut updates = Vec::new();
        for update in assigned {
            need!(let List(update) = update, "an update of the action {name:?} is not a list");
            need!(let [Symbol(variable), value] = update.as_slice(), "an update of the action {name:?} is not a variable and a name");
            need!(let Some(variable) = names.variables.get(variable), "the action {name:?} assigns {variable}, which is not a variable");
            updates.push((*variable, names.definition(value, Sort::Int, &self.terms)?));
        }
        updates.sort_unstable();
        need!(updates.windows(2).all(|pair| pair[0].0 != pair[1].0), "the action {name:?} assigns a variable twice");
        self.actions.push(Action { name: name.to_string(), kind, guard, updates });
        Ok(())
    }

    fn property<'a>(&mut self, property: &[Sexp<'a>], is_goal: bool, names: &Names<'a>) -> Result<()> {
        need!(let [Text(name), term, witness] = property, "a property is not a name and two terms");
        need!(self.properties.iter().all(|other| other.name != *name), "two properties have the name {name:?}");
        let term = names.definition(term, Sort::Bool, &self.terms)?;
        let witness = names.definition(witness, Sort::Bool, &self.terms)?;
        self.properties.push(Property { name: name.to_string(), is_goal, term, witness });
        Ok(())
    }
}

/// Reads a system of the certificate. Rule `system`: its text equals the file of its name in the folder, or the file that
/// is given in place of a folder.
pub fn load(name: &str, folder: Option<&Path>, kinds: &mut Vec<String>, archive: &mut Archive, memory: &mut Memory) -> Result<System> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    need!(name.ends_with(".smt2") && name.bytes().all(allowed), "{name:?} is not a name of a system");
    memory.take(archive.size(name)?.saturating_mul(BYTES_PER_BYTE + TERMS_PER_BYTE), "reading a system")?;
    let text = archive.text(name, memory)?;
    if let Some(path) = folder.map(|given| if given.is_file() { given.to_path_buf() } else { given.join(name) }) {
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        let same = size == text.len() as u64 && std::fs::read(&path).is_ok_and(|given| given == text.as_bytes());
        rule!("system", same, "{name} is another text than the given one, or no such file was given");
    }
    System::read(&text, kinds)
}

#[cfg(test)]
#[path = "../tests/unit/system.rs"]
mod tests;
