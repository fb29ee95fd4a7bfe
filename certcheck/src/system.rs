//! `system.smt2` (the page, "system.smt2"): variables, actions and properties.

use crate::rejection::{malformed, refused, Result};
use crate::sexp::{self, Sexp};
use crate::terms::{Op, Sort, Term, Terms};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub struct System {
    pub terms: Terms,
    pub variables: Vec<Variable>,
    /// The kinds of fault that actions have.
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
    true false not => and or xor = distinct ite + - * < <= > >= div mod abs divisible \
    assert check-sat check-sat-assuming declare-const declare-datatype declare-datatypes declare-fun declare-sort define-const \
    define-fun define-fun-rec define-funs-rec define-sort echo exit get-assertions get-assignment get-info get-model get-option \
    get-proof get-unsat-assumptions get-unsat-core get-value pop push reset reset-assertions set-info set-logic set-option";

/// Names of the script so far.
#[derive(Default)]
struct Names<'a> {
    variables: HashMap<&'a str, usize>,
    defined: HashMap<&'a str, Term>,
    kinds: HashMap<&'a str, usize>,
    actions: HashSet<String>,
}

impl<'a> Names<'a> {
    fn is_free(&self, name: &str) -> bool {
        let taken = self.variables.contains_key(name) || self.defined.contains_key(name);
        !taken && !name.starts_with(['.', '@']) && !RESERVED.split_whitespace().any(|word| word == name)
    }

    fn definition(&self, sexp: &Sexp<'a>, sort: Sort, terms: &Terms) -> Result<Term> {
        let name = sexp.symbol("the name of a term")?;
        match self.defined.get(name) {
            Some(term) if terms.sort(*term) == sort => Ok(*term),
            _ => malformed(format!("{name} is not the name of a term of the sort {sort:?}")),
        }
    }
}

impl System {
    /// Reads the script.
    pub fn read(text: &str) -> Result<System> {
        let commands = sexp::read(text)?;
        let mut system = System::default();
        let mut names = Names::default();
        let mut stage = 0;
        let mut at = 2;
        let header = sexp::read("(set-info :smt-lib-version 2.6) (set-logic QF_LIA)")?;
        if !commands.starts_with(&header) {
            return malformed("system.smt2 does not begin with SMT-LIB 2.6 and the logic QF_LIA");
        }
        while at < commands.len() {
            let (command, next) = (commands[at].list("a command")?, commands.get(at + 1));
            let order = match command {
                [Sexp::Symbol("declare-const"), name, Sexp::Symbol("Int")] => {
                    at += 1;
                    system.declare(name, next, &mut names)?;
                    0
                }
                [Sexp::Symbol("define-fun"), name, Sexp::List(none), sort, body] if none.is_empty() => {
                    system.define(name, sort, body, &mut names)?;
                    1
                }
                [Sexp::Symbol("set-info"), Sexp::Keyword(":action"), action] => {
                    system.action(action, &mut names)?;
                    2
                }
                [Sexp::Symbol("set-info"), Sexp::Keyword(":property"), property] => {
                    system.property(property, false, &names)?;
                    3
                }
                [Sexp::Symbol("set-info"), Sexp::Keyword(":goal"), property] => {
                    system.property(property, true, &names)?;
                    4
                }
                _ => return malformed(format!("the command number {at} of system.smt2 is none of the page")),
            };
            if order < stage {
                return malformed(format!("the command number {at} of system.smt2 stands behind commands that it must precede"));
            }
            (stage, at) = (order, at + 1);
        }
        Ok(system)
    }

    fn declare<'a>(&mut self, name: &Sexp<'a>, info: Option<&Sexp<'a>>, names: &mut Names<'a>) -> Result<()> {
        let name = name.symbol("the name of a variable")?;
        let info = match info {
            Some(Sexp::List(info)) => info.as_slice(),
            _ => &[],
        };
        let [Sexp::Symbol("set-info"), Sexp::Keyword(":variable"), Sexp::List(domain)] = info else {
            return malformed(format!("no domain follows the declaration of {name}"));
        };
        let [Sexp::Symbol(of), low, high, initial] = domain.as_slice() else {
            return malformed(format!("the domain of {name} is not a name and three numbers"));
        };
        let (low, high, initial) = (low.number("a lowest value")?, high.number("a highest value")?, initial.number("an initial value")?);
        if *of != name || !names.is_free(name) || !(low <= initial && initial <= high) {
            return malformed(format!("{name} cannot be declared: the name is taken or another one, or the initial value is outside the domain"));
        }
        let (Ok(low), Ok(high)) = (i32::try_from(low), i32::try_from(high)) else {
            return malformed(format!("the domain of {name} is larger than 32 bits"));
        };
        let variable = self.variables.len();
        let term = self.terms.variable(variable as u32, (low, high));
        self.variables.push(Variable { name: name.to_string(), low, high, initial: initial as i32, term });
        names.variables.insert(name, variable);
        Ok(())
    }

    fn define<'a>(&mut self, name: &Sexp<'a>, sort: &Sexp<'a>, body: &Sexp<'a>, names: &mut Names<'a>) -> Result<()> {
        let name = name.symbol("the name of a term")?;
        let sort = match sort {
            Sexp::Symbol("Int") => Sort::Int,
            Sexp::Symbol("Bool") => Sort::Bool,
            _ => return malformed(format!("the sort of {name} is neither Int nor Bool")),
        };
        let term = self.term(body, names)?;
        if self.terms.sort(term) != sort || !names.is_free(name) {
            return malformed(format!("{name} cannot be defined: the name is taken, or the term has another sort"));
        }
        names.defined.insert(name, term);
        Ok(())
    }

    /// Reads a term. The reader of S-expressions bounds the depth of this recursion.
    fn term(&mut self, sexp: &Sexp, names: &Names) -> Result<Term> {
        let items = match sexp {
            Sexp::Numeral(number) => match i32::try_from(*number) {
                Ok(number) => return self.terms.add(Op::Constant(number)),
                Err(_) => return malformed(format!("the numeral {number} is larger than 2^31 - 1")),
            },
            Sexp::Symbol("true") => return self.terms.add(Op::Truth(true)),
            Sexp::Symbol("false") => return self.terms.add(Op::Truth(false)),
            Sexp::Symbol(name) => {
                let variable = names.variables.get(name).map(|variable| self.variables[*variable].term);
                let Some(term) = variable.or_else(|| names.defined.get(name).copied()) else {
                    return malformed(format!("{name} is neither a variable nor a name that is defined before"));
                };
                return Ok(term);
            }
            Sexp::List(items) => items,
            _ => return malformed("a term is a string, a keyword or a decimal"),
        };
        let [Sexp::Symbol(operator), operands @ ..] = items.as_slice() else {
            return malformed("a term is a list without an operator");
        };
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
            ("*", [a, b]) if items[1..].iter().any(|factor| factor.number("a factor").is_ok()) => Op::Product(*a, *b),
            ("ite", [c, a, b]) => Op::If(*c, *a, *b),
            _ => return malformed(format!("no term of the page: {operator} with {} operands", operands.len())),
        };
        self.terms.add(op)
    }

    fn action<'a>(&mut self, action: &Sexp<'a>, names: &mut Names<'a>) -> Result<()> {
        let [number, name, kind, guard, Sexp::List(assigned)] = action.list("an action")? else {
            return malformed("an action is not a number, a name, a kind, a guard and updates");
        };
        let name = name.text("the name of an action")?.to_string();
        if number.numeral("the number of an action")? != self.actions.len() as u64 || !names.actions.insert(name.clone()) {
            return malformed(format!("the action {name:?} is not in order, or its name is taken"));
        }
        let kind = match kind.symbol("the kind of a fault")? {
            "none" => None,
            kind => Some(*names.kinds.entry(kind).or_insert_with(|| {
                self.kinds.push(kind.to_string());
                self.kinds.len() - 1
            })),
        };
        let guard = names.definition(guard, Sort::Bool, &self.terms)?;
        let mut updates = Vec::new();
        for update in assigned {
            let [Sexp::Symbol(variable), value] = update.list("an update")? else {
                return malformed(format!("an update of the action {name:?} is not a variable and a name"));
            };
            let Some(variable) = names.variables.get(variable) else {
                return malformed(format!("the action {name:?} assigns {variable}, which is not a variable"));
            };
            updates.push((*variable, names.definition(value, Sort::Int, &self.terms)?));
        }
        updates.sort_unstable();
        if updates.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return malformed(format!("the action {name:?} assigns a variable twice"));
        }
        self.actions.push(Action { name, kind, guard, updates });
        Ok(())
    }

    fn property<'a>(&mut self, property: &Sexp<'a>, is_goal: bool, names: &Names<'a>) -> Result<()> {
        let [name, term, witness] = property.list("a property")? else {
            return malformed("a property is not a name and two terms");
        };
        let name = name.text("the name of a property")?.to_string();
        if self.properties.iter().any(|other| other.name == name) {
            return malformed(format!("two properties have the name {name:?}"));
        }
        let term = names.definition(term, Sort::Bool, &self.terms)?;
        let witness = names.definition(witness, Sort::Bool, &self.terms)?;
        self.properties.push(Property { name, is_goal, term, witness });
        Ok(())
    }
}

/// Rule `system`: the text equals the text that was given.
pub fn check_text(text: &str, given: Option<&[u8]>) -> Result<()> {
    match given {
        Some(given) if given != text.as_bytes() => refused("system", "system.smt2 is another text than the one that was given"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "(set-info :smt-lib-version 2.6)(set-logic QF_LIA)(declare-const x Int)(set-info :variable (x (- 1) 3 0))";
    const REST: &str = "(define-fun g () Bool (< x 3))(define-fun u () Int (+ x 1))(set-info :action (0 \"up\" none g ((x u))))\
        (set-info :property (\"p\" g g))(set-info :goal (\"q\" g g))";

    #[test]
    fn a_system() {
        let system = System::read(&format!("{HEAD}{REST}")).unwrap();
        assert_eq!((system.variables[0].low, system.variables[0].initial), (-1, 0));
        assert_eq!(system.actions[0].updates.len(), 1);
        assert!(!system.properties[0].is_goal && system.properties[1].is_goal);
    }

    #[test]
    fn wrong_systems() {
        let changes = [
            ("2.6", "2.5"),
            ("QF_LIA", "LIA"),
            ("declare-const x Int", "declare-const x Bool"),
            ("(x (- 1) 3 0)", "(x 1 3 0)"),
            ("(x (- 1) 3 0)", "(y (- 1) 3 0)"),
            ("(x (- 1) 3 0)", "(x 0 2147483648 0)"),
            ("(< x 3)", "(< x y)"),
            ("(< x 3)", "(< x 3 3)"),
            ("(< x 3)", "(and true)"),
            ("(< x 3)", "x"),
            ("(+ x 1)", "(* x x)"),
            ("(+ x 1)", "(+ x 2147483647)"),
            ("(+ x 1)", "4294967297"),
            ("(+ x 1)", "(div x 1)"),
            ("fun u ()", "fun g ()"),
            ("fun u ()", "fun x ()"),
            ("fun u ()", "fun and ()"),
            ("fun u ()", "fun @u ()"),
            ("fun u ()", "fun u (x)"),
            ("(0 \"up\"", "(1 \"up\""),
            ("none g", "none u"),
            ("none g", "none x"),
            ("((x u))", "((x u) (x u))"),
            ("((x u))", "((x g))"),
            ("((x u))", "((x x))"),
            ("((x u))", "((g u))"),
            ("(\"q\" g g)", "(\"p\" g g)"),
            ("(set-info :goal", "(define-fun h () Int 1)(set-info :goal"),
            ("(set-info :goal", "(assert true)(set-info :goal"),
        ];
        let text = format!("{HEAD}{REST}");
        for (from, to) in changes {
            let changed = text.replacen(from, to, 1);
            assert_ne!(text, changed);
            assert!(System::read(&changed).is_err(), "{from} -> {to}");
        }
    }
}
