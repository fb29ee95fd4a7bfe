//! `certificate.txt` (the page, "certificate.txt"): the claims, and where their evidence is.

use crate::archive::Archive;
use crate::faults::Faults;
use crate::layout::Layout;
use crate::rejection::{need, Result};
use crate::sexp::Sexp::{self, List, Numeral, Symbol, Text};
use crate::system::System;
use std::collections::{BTreeMap, HashMap, HashSet};

pub struct Certificate {
    /// What the certificate says about itself; nothing of this is proved.
    pub about: Vec<String>,
    /// For each kind of fault of the system, the largest number.
    pub limits: Vec<u64>,
    pub parts: Vec<Part>,
}

pub struct Part {
    /// The name of the system that the part speaks of.
    pub system: String,
    pub lemmas: Vec<Lemma>,
    pub layout: Layout,
    /// Covered kinds, each with the kind that covers it.
    pub covered: Vec<(usize, usize)>,
    /// Whether rows have ranks, because a claim is about a goal.
    pub ranked: bool,
    pub sets: BTreeMap<Faults, Listed>,
    pub claims: Vec<Claim>,
}

/// Bounds on times, in milliseconds: the sum that the lemma has, and the one that its bounds have.
pub struct Lemma {
    pub name: String,
    pub sum: i64,
    pub computed: i128,
}

/// A set of states in members of the file.
pub struct Listed {
    pub count: u64,
    pub members: Vec<String>,
}

pub struct Claim {
    pub property: usize,
    pub id: String,
    pub up_to: u64,
    pub witness: Option<Vec<usize>>,
    pub smallest: Vec<Smallest>,
}

pub struct Smallest {
    pub faults: Faults,
    pub trace: Vec<usize>,
}

/// Takes the next item if it is a list with this head, and gives the items that follow the head.
fn next<'s, 'a>(items: &mut &'s [Sexp<'a>], head: &str) -> Option<&'s [Sexp<'a>]> {
    let (List(first), others) = items.split_first()? else { return None };
    let (Symbol(symbol), found) = first.split_first()? else { return None };
    if *symbol == head {
        *items = others;
    }
    (*symbol == head).then_some(found)
}

fn needed<'s, 'a>(items: &mut &'s [Sexp<'a>], head: &str) -> Result<&'s [Sexp<'a>]> {
    need!(let Some(found) = next(items, head), "certificate.txt has no ({head} ...) where the page has it");
    Ok(found)
}

struct Reader<'a> {
    system: &'a System,
    variables: HashMap<&'a str, usize>,
    kinds: &'a [String],
}

/// The names of the systems, in the order in which parts name them first.
pub fn systems_of(lists: &[Sexp]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for item in lists {
        let List(part) = item else { continue };
        let [Symbol("part"), List(system), ..] = part.as_slice() else { continue };
        need!(let [Symbol("system"), Text(name)] = system.as_slice(), "a part does not begin with its system");
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    Ok(names)
}

impl Certificate {
    pub fn read(mut lists: &[Sexp], systems: &BTreeMap<String, System>, kinds: &[String]) -> Result<Certificate> {
        let about = needed(&mut lists, "about")?.iter().map(about).collect();
        let limits = limits(needed(&mut lists, "limits")?, kinds)?;
        let mut parts = Vec::new();
        while let Some(mut part) = next(&mut lists, "part") {
            need!(let [Text(name)] = needed(&mut part, "system")?, "the system of a part is not a string");
            need!(let Some(system) = systems.get(name.as_ref()), "a part has a system that is not read");
            let variables = system.variables.iter().enumerate().map(|(i, v)| (v.name.as_str(), i)).collect();
            parts.push(Reader { system, variables, kinds }.part(part, name)?);
        }
        need!(lists.is_empty() && !parts.is_empty(), "certificate.txt has no part, or more than the page has");
        Ok(Certificate { about, limits, parts })
    }

    /// Checks that the file has the members that are named, each once and with the size that its rows demand, and no others.
    pub fn check_members(&self, archive: &Archive) -> Result<()> {
        let mut named: HashSet<&str> = HashSet::from(["certificate.txt", "README.txt", "deployment.json", "times.json"]);
        named.extend(self.parts.iter().map(|part| part.system.as_str()));
        for part in &self.parts {
            let row = 8 * part.layout.words as u64 + if part.ranked { 2 } else { 0 };
            for listed in part.sets.values() {
                let mut count = 0;
                for member in &listed.members {
                    need!(named.insert(member), "the member {member:?} is listed twice");
                    let size = archive.size(member)?;
                    need!(size % row == 0, "the member {member:?} does not have the size of whole rows");
                    count += size / row;
                }
                need!(count == listed.count, "a set has {count} rows, and {} are claimed", listed.count);
            }
        }
        need!(archive.names().all(|name| named.contains(name)), "the file has a member that certificate.txt does not name");
        Ok(())
    }
}

/// The words of an item: `deployment "orders"`, or what else a writer says.
fn about(item: &Sexp) -> String {
    match item {
        List(items) => items.iter().map(about).collect::<Vec<_>>().join(" "),
        Text(text) => format!("{text:?}"),
        Symbol(word) | Sexp::Keyword(word) | Sexp::Decimal(word) => word.to_string(),
        Numeral(number) => number.to_string(),
    }
}

fn kind_of(name: &Sexp, kinds: &[String]) -> Result<usize> {
    need!(let Symbol(name) = name, "a kind of fault is not a symbol");
    need!(let Some(kind) = kinds.iter().position(|kind| kind == name), "no action has a fault of the kind {name}");
    Ok(kind)
}

fn kinds_with_numbers(items: &[Sexp], kinds: &[String]) -> Result<Vec<(usize, u64)>> {
    let pair = |item: &Sexp| {
        need!(let List(item) = item, "a kind with a number is not a list");
        need!(let [kind, Numeral(number)] = item.as_slice(), "a list is not a kind with a number");
        Ok((kind_of(kind, kinds)?, *number))
    };
    items.iter().map(pair).collect()
}

fn limits(items: &[Sexp], kinds: &[String]) -> Result<Vec<u64>> {
    let pairs = kinds_with_numbers(items, kinds)?;
    let limits: BTreeMap<usize, u64> = pairs.iter().copied().collect();
    let once = limits.len() == pairs.len() && limits.len() == kinds.len();
    need!(once, "limits does not name every kind of fault of the actions once");
    Ok(limits.into_values().collect())
}

impl Reader<'_> {
    fn faults(&self, sexp: &Sexp) -> Result<Faults> {
        need!(let List(items) = sexp, "a combination is not a list");
        need!(let Some(faults) = Faults::new(kinds_with_numbers(items, self.kinds)?), "a combination has a kind twice, or a number 0");
        Ok(faults)
    }

    fn part(&self, mut items: &[Sexp], system: &str) -> Result<Part> {
        let mut lemmas = Vec::new();
        while let Some(items) = next(&mut items, "lemma") {
            lemmas.push(lemma(items)?);
        }
        let layout = self.layout(needed(&mut items, "layout")?)?;
        let mut covered: Vec<(usize, usize)> = Vec::new();
        while let Some(pair) = next(&mut items, "covered") {
            need!(let [kind, by] = pair, "covered does not have two kinds");
            let pair = (kind_of(kind, self.kinds)?, kind_of(by, self.kinds)?);
            let once = pair.0 != pair.1 && covered.iter().all(|(kind, _)| *kind != pair.0);
            need!(once, "a kind is covered twice, or covers itself");
            covered.push(pair);
        }
        let mut sets = BTreeMap::new();
        while let Some(set) = next(&mut items, "set") {
            need!(let [faults, Numeral(count), members @ ..] = set, "a set is not a combination, a number and members");
            need!(!members.is_empty(), "a set has no member");
            let members = members.iter().map(text).collect::<Result<_>>()?;
            need!(sets.insert(self.faults(faults)?, Listed { count: *count, members }).is_none(), "a combination has two sets");
        }
        let closed = |faults: &Faults| faults.kinds().all(|kind| sets.contains_key(&faults.without(kind)));
        let all_closed = sets.contains_key(&Faults::default()) && sets.keys().all(closed);
        need!(all_closed, "a combination that is contained in one with a set has no set");
        let mut claims: Vec<Claim> = Vec::new();
        while let Some(claim) = next(&mut items, "claim") {
            claims.push(self.claim(claim)?);
        }
        need!(items.is_empty() && !claims.is_empty(), "a part has no claim, or more than the page has");
        let ranked = claims.iter().any(|claim| self.system.properties[claim.property].is_goal);
        Ok(Part { system: system.to_string(), lemmas, layout, covered, ranked, sets, claims })
    }

    fn layout(&self, fields: &[Sexp]) -> Result<Layout> {
        let field = |field: &Sexp| {
            need!(let List(field) = field, "a field is not a list");
            need!(let [Symbol(name), Numeral(bit)] = field.as_slice(), "a field is not a variable and its first bit");
            need!(let Some(variable) = self.variables.get(name), "{name} is not a variable");
            Ok((*variable, *bit))
        };
        Layout::new(self.system, &fields.iter().map(field).collect::<Result<Vec<_>>>()?)
    }

    fn claim(&self, items: &[Sexp]) -> Result<Claim> {
        need!(let Some((Text(name), mut items)) = items.split_first(), "a claim has no property");
        let property = self.system.properties.iter().position(|property| property.name == *name);
        need!(let Some(property) = property, "system.smt2 has no property {name:?}");
        need!(let [Text(id)] = needed(&mut items, "id")?, "an id is not a string");
        need!(let [Numeral(up_to)] = needed(&mut items, "up-to")?, "a total of faults is not a numeral");
        let witness = next(&mut items, "witness").map(|trace| self.trace(trace)).transpose()?;
        let mut smallest = Vec::new();
        while let Some(set) = next(&mut items, "smallest") {
            need!(let [faults, List(trace)] = set, "a smallest fault set is not a combination and a trace");
            need!(let [Symbol("trace"), actions @ ..] = trace.as_slice(), "a smallest fault set has no trace");
            smallest.push(Smallest { faults: self.faults(faults)?, trace: self.trace(actions)? });
        }
        need!(items.is_empty(), "a claim has more than the page has, or another order");
        Ok(Claim { property, id: id.to_string(), up_to: *up_to, witness, smallest })
    }

    fn trace(&self, items: &[Sexp]) -> Result<Vec<usize>> {
        let action = |item: &Sexp| {
            need!(let Numeral(number) = item, "an action of a trace is not a numeral");
            need!(*number < self.system.actions.len() as u64, "a trace has the action {number}, which the system does not have");
            Ok(*number as usize)
        };
        items.iter().map(action).collect()
    }
}

fn lemma(items: &[Sexp]) -> Result<Lemma> {
    need!(let [Text(name), bounds @ .., List(sum)] = items, "a lemma is not a string and lists");
    let mut computed = 0;
    for bound in bounds {
        need!(let List(bound) = bound, "a bound of a lemma is not a list");
        need!(let [Symbol(side @ ("least" | "most")), Text(_), time] = bound.as_slice(), "a bound of a lemma is not (least ...) or (most ...)");
        need!(let Some(time) = time.number(), "a time of a lemma is not a number");
        computed += if *side == "most" { i128::from(time) } else { -i128::from(time) };
    }
    need!(let [Symbol("sum"), sum] = sum.as_slice(), "a lemma does not end with its sum");
    need!(let Some(sum) = sum.number(), "the sum of a lemma is not a number");
    Ok(Lemma { name: name.to_string(), sum, computed })
}

fn text(item: &Sexp) -> Result<String> {
    need!(let Text(text) = item, "the name of a member is not a string");
    Ok(text.to_string())
}
