//! `certificate.txt` (the page, "certificate.txt"): the claims, and where their evidence is.

use crate::archive::Archive;
use crate::faults::Faults;
use crate::layout::Layout;
use crate::rejection::{need, Result};
use crate::sexp;
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
    /// For each variable of the system, whether the part keeps the variable.
    pub kept: Vec<bool>,
    pub layout: Layout,
    /// Covered kinds, each with the kind that covers it.
    pub covered: Vec<(usize, usize)>,
    pub sets: BTreeMap<Faults, Listed>,
    pub claims: Vec<Claim>,
}

/// Bounds on times, in milliseconds: the sum that the lemma has, and the one that its bounds have.
pub struct Lemma {
    pub name: String,
    pub sum: i64,
    pub computed: i128,
}

/// A set of states in members of the archive.
#[derive(Debug)]
pub struct Listed {
    pub count: u64,
    pub members: Vec<Rows>,
}

#[derive(Debug)]
pub struct Rows {
    pub member: String,
    pub count: u64,
    pub ranks: Option<String>,
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
    pub stuck: Option<Listed>,
}

impl Listed {
    pub fn has_ranks(&self) -> bool {
        self.members.iter().any(|rows| rows.ranks.is_some())
    }
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
pub fn systems_of(text: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let all = sexp::read(text)?;
    need!(let [List(certificate)] = all.as_slice(), "certificate.txt is not one list");
    for item in certificate {
        let List(part) = item else { continue };
        let [Symbol("part"), _, List(system), ..] = part.as_slice() else { continue };
        need!(let [Symbol("system"), Text(name)] = system.as_slice(), "a part does not begin with its number and its system");
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    Ok(names)
}

impl Certificate {
    pub fn read(text: &str, systems: &BTreeMap<String, System>, kinds: &[String]) -> Result<Certificate> {
        let commands = sexp::read(text)?;
        let mut commands = commands.as_slice();
        let items = needed(&mut commands, "proofka-certificate")?;
        need!(let Some((Numeral(1), mut items)) = items.split_first(), "this program reads certificates of version 1");
        let about = needed(&mut items, "about")?.iter().map(about).collect();
        let limits = limits(needed(&mut items, "limits")?, kinds)?;
        let mut parts = Vec::new();
        while let Some(part) = next(&mut items, "part") {
            need!(let Some((Numeral(number), mut part)) = part.split_first(), "a part has no number");
            need!(*number == parts.len() as u64, "the part {number} does not have its number");
            need!(let [Text(name)] = needed(&mut part, "system")?, "the system of a part is not a string");
            need!(let Some(system) = systems.get(name.as_ref()), "a part has a system that is not read");
            let variables = system.variables.iter().enumerate().map(|(i, v)| (v.name.as_str(), i)).collect();
            parts.push(Reader { system, variables, kinds }.part(part, name)?);
        }
        need!(items.is_empty() && commands.is_empty() && !parts.is_empty(), "certificate.txt has no part, or more than the page has");
        Ok(Certificate { about, limits, parts })
    }

    /// Checks that the archive has the members that are named, each once and with the size that its rows demand, and no others.
    pub fn check_members(&self, archive: &Archive) -> Result<()> {
        let mut named: HashSet<&str> = HashSet::from(["certificate.txt", "README.txt", "deployment.json", "times.json"]);
        named.extend(self.parts.iter().map(|part| part.system.as_str()));
        for part in &self.parts {
            let stuck = part.claims.iter().flat_map(|claim| claim.smallest.iter().filter_map(|smallest| smallest.stuck.as_ref()));
            for rows in part.sets.values().chain(stuck).flat_map(|listed| &listed.members) {
                let members = [(Some(&rows.member), 8 * part.layout.words as u64), (rows.ranks.as_ref(), 2)];
                for (member, bytes) in members.into_iter().filter_map(|(member, bytes)| Some((member?, bytes))) {
                    need!(named.insert(member), "the member {member:?} is listed twice");
                    let right = Some(archive.size(member)?) == rows.count.checked_mul(bytes);
                    need!(right, "the member {member:?} does not have the size of {} rows", rows.count);
                }
            }
        }
        need!(archive.names().all(|name| named.contains(name)), "the archive has a member that certificate.txt does not name");
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
        let (kept, layout) = self.layout(needed(&mut items, "variables")?, needed(&mut items, "layout")?)?;
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
            need!(let [faults, Numeral(count), files @ ..] = set, "a set is not a combination, a number and members");
            need!(sets.insert(self.faults(faults)?, listed(*count, files)?).is_none(), "a combination has two sets");
        }
        let closed = |faults: &Faults| faults.kinds().all(|kind| sets.contains_key(&faults.without(kind)));
        let all_closed = sets.contains_key(&Faults::default()) && sets.keys().all(closed);
        need!(all_closed, "a combination that is contained in one with a set has no set");
        let mut claims = Vec::new();
        while let Some(claim) = next(&mut items, "claim") {
            claims.push(self.claim(claim)?);
        }
        need!(items.is_empty() && !claims.is_empty(), "a part has no claim, or more than the page has");
        Ok(Part { system: system.to_string(), lemmas, kept, layout, covered, sets, claims })
    }

    fn layout(&self, names: &[Sexp], items: &[Sexp]) -> Result<(Vec<bool>, Layout)> {
        let variable = |name: &Sexp| {
            need!(let Symbol(name) = name, "the name of a variable is not a symbol");
            need!(let Some(variable) = self.variables.get(name), "{name} is not a variable");
            Ok(*variable)
        };
        let mut kept = vec![false; self.system.variables.len()];
        for name in names {
            need!(!std::mem::replace(&mut kept[variable(name)?], true), "a variable is kept twice");
        }
        need!(let Some((Numeral(words), fields)) = items.split_first(), "a layout does not begin with a number of words");
        let mut layout = Layout::new(*words, names.len())?;
        let mut missing = kept.clone();
        for field in fields {
            need!(let List(field) = field, "a field is not a list");
            need!(let [name, Numeral(word), Numeral(shift), Numeral(width)] = field.as_slice(), "a field is not a variable and three numerals");
            let variable = variable(name)?;
            need!(std::mem::replace(&mut missing[variable], false), "a layout has a field twice, or of a variable that is not kept");
            layout.add(self.system, variable, *word, *shift, *width)?;
        }
        need!(!missing.contains(&true), "a layout has no field for a variable that is kept");
        Ok((kept, layout))
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
            need!(let Some((faults, mut evidence)) = set.split_first(), "a smallest fault set has no combination");
            let trace = self.trace(needed(&mut evidence, "trace")?)?;
            let mut stuck = None;
            if let Some(found) = next(&mut evidence, "stuck") {
                need!(let [Text(member), Numeral(count)] = found, "a stuck set is not a member and a number");
                stuck = Some(Listed { count: *count, members: vec![Rows { member: member.to_string(), count: *count, ranks: None }] });
            }
            need!(evidence.is_empty(), "a smallest fault set has more than the page has");
            need!(stuck.is_some() == self.system.properties[property].is_goal, "a stuck set is missing, or no goal demands it");
            smallest.push(Smallest { faults: self.faults(faults)?, trace, stuck });
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

fn listed(count: u64, mut files: &[Sexp]) -> Result<Listed> {
    let (mut members, mut sum) = (Vec::new(), 0u64);
    while let Some(rows) = next(&mut files, "rows") {
        need!(let [Text(member), Numeral(count)] = rows, "rows is not a member and a number");
        let mut ranks = None;
        if let Some(found) = next(&mut files, "ranks") {
            need!(let [Text(member)] = found, "ranks is not a member");
            ranks = Some(member.to_string());
        }
        sum = sum.saturating_add(*count);
        members.push(Rows { member: member.to_string(), count: *count, ranks });
    }
    need!(files.is_empty() && !members.is_empty() && sum == count, "a set has no member, more than the page has, or another number of rows");
    Ok(Listed { count, members })
}
