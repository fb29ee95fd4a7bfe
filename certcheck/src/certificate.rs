//! `certificate.txt` (the page, "certificate.txt"): the claims, and where their evidence is.

use crate::archive::Archive;
use crate::faults::Faults;
use crate::layout::Layout;
use crate::rejection::{malformed, Result};
use crate::sexp::{self, Sexp};
use crate::system::System;
use std::collections::{BTreeMap, HashMap, HashSet};

pub struct Certificate {
    /// What the certificate says about itself; nothing of this is proved.
    pub about: Vec<(String, String)>,
    /// For each kind of fault of the system, the largest number.
    pub limits: Vec<u64>,
    pub parts: Vec<Part>,
}

pub struct Part {
    /// For each variable of the system, whether the part keeps the variable.
    pub kept: Vec<bool>,
    pub layout: Layout,
    /// Covered kinds, each with the kind that covers it.
    pub covered: Vec<(usize, usize)>,
    pub sets: BTreeMap<Faults, Listed>,
    pub claims: Vec<Claim>,
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

struct Reader<'a> {
    system: &'a System,
    variables: HashMap<&'a str, usize>,
    kinds: HashMap<&'a str, usize>,
}

/// The items that follow the head of a list.
fn rest<'s, 'a>(sexp: &'s Sexp<'a>, head: &str) -> Option<&'s [Sexp<'a>]> {
    match sexp {
        Sexp::List(items) => match items.as_slice() {
            [Sexp::Symbol(symbol), rest @ ..] if *symbol == head => Some(rest),
            _ => None,
        },
        _ => None,
    }
}

/// Takes the next item if it is a list with this head.
fn next<'s, 'a>(items: &mut &'s [Sexp<'a>], head: &str) -> Option<&'s [Sexp<'a>]> {
    let (first, others) = items.split_first()?;
    let found = rest(first, head)?;
    *items = others;
    Some(found)
}

fn needed<'s, 'a>(items: &mut &'s [Sexp<'a>], head: &str) -> Result<&'s [Sexp<'a>]> {
    next(items, head).map_or_else(|| malformed(format!("certificate.txt has no ({head} ...) where the page has it")), Ok)
}

fn done(items: &[Sexp], what: &str) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    malformed(format!("{what} has something that the page does not have, or in another order"))
}

impl Certificate {
    pub fn read(text: &str, system: &System) -> Result<Certificate> {
        let variables = system.variables.iter().enumerate().map(|(i, v)| (v.name.as_str(), i)).collect();
        let kinds = system.kinds.iter().enumerate().map(|(i, kind)| (kind.as_str(), i)).collect();
        let reader = Reader { system, variables, kinds };
        let commands = sexp::read(text)?;
        let mut commands = commands.as_slice();
        let mut items = needed(&mut commands, "proofka-certificate")?;
        done(commands, "certificate.txt")?;
        match items.split_first() {
            Some((Sexp::Numeral(1), others)) => items = others,
            _ => return malformed("this program reads certificates of version 1"),
        }
        let about = needed(&mut items, "about")?.iter().map(about).collect::<Result<_>>()?;
        let limits = reader.limits(needed(&mut items, "limits")?)?;
        let mut parts = Vec::new();
        while let Some(part) = next(&mut items, "part") {
            parts.push(reader.part(part, parts.len())?);
        }
        done(items, "certificate.txt")?;
        if parts.is_empty() {
            return malformed("the certificate has no claim");
        }
        Ok(Certificate { about, limits, parts })
    }

    /// All sets of states.
    fn listed(&self) -> impl Iterator<Item = (&Listed, usize)> {
        self.parts.iter().flat_map(|part| {
            let stuck = part.claims.iter().flat_map(|claim| claim.smallest.iter().filter_map(|smallest| smallest.stuck.as_ref()));
            part.sets.values().chain(stuck).map(|listed| (listed, part.layout.words))
        })
    }

    /// Checks that the archive has the members that are named, each once and with the size that its rows demand, and no others.
    pub fn check_members(&self, archive: &Archive) -> Result<()> {
        let mut named: HashSet<&str> = HashSet::from(["certificate.txt", "system.smt2", "README.txt"]);
        for (listed, words) in self.listed() {
            for rows in &listed.members {
                let members = [(Some(&rows.member), 8 * words as u64), (rows.ranks.as_ref(), 2)];
                for (member, bytes) in members.into_iter().filter_map(|(member, bytes)| Some((member?, bytes))) {
                    if !named.insert(member) {
                        return malformed(format!("the member {member:?} is listed twice"));
                    }
                    if Some(archive.size(member)?) != rows.count.checked_mul(bytes) {
                        return malformed(format!("the member {member:?} does not have the size of {} rows", rows.count));
                    }
                }
            }
        }
        match archive.names().find(|name| !named.contains(name)) {
            Some(name) => malformed(format!("the archive has the member {name:?}, which certificate.txt does not name")),
            None => Ok(()),
        }
    }
}

fn about(item: &Sexp) -> Result<(String, String)> {
    match item.list("an item of about")? {
        [Sexp::Symbol(name), Sexp::Text(value)] => Ok((name.to_string(), value.to_string())),
        [Sexp::Symbol(name), Sexp::Numeral(value)] => Ok((name.to_string(), value.to_string())),
        _ => malformed("an item of about is not a name and a string or a numeral"),
    }
}

fn one_numeral(items: &[Sexp], what: &str) -> Result<u64> {
    match items {
        [number] => number.numeral(what),
        _ => malformed(format!("{what} is not a numeral")),
    }
}

impl Reader<'_> {
    fn kind(&self, name: &Sexp) -> Result<usize> {
        let name = name.symbol("a kind of fault")?;
        self.kinds.get(name).map_or_else(|| malformed(format!("no action has a fault of the kind {name}")), |kind| Ok(*kind))
    }

    fn kinds_with_numbers(&self, items: &[Sexp]) -> Result<Vec<(usize, u64)>> {
        let pair = |item: &Sexp| match item.list("a kind with a number")? {
            [kind, number] => Ok((self.kind(kind)?, number.numeral("a number of faults")?)),
            _ => malformed("a kind with a number has another number of items"),
        };
        items.iter().map(pair).collect()
    }

    fn limits(&self, items: &[Sexp]) -> Result<Vec<u64>> {
        let pairs = self.kinds_with_numbers(items)?;
        let limits: BTreeMap<usize, u64> = pairs.iter().copied().collect();
        if limits.len() != pairs.len() || limits.len() != self.kinds.len() {
            return malformed("limits does not name every kind of fault of the actions once");
        }
        Ok(limits.into_values().collect())
    }

    fn faults(&self, sexp: &Sexp) -> Result<Faults> {
        let pairs = self.kinds_with_numbers(sexp.list("a combination")?)?;
        Faults::new(pairs).map_or_else(|| malformed("a combination has a kind twice, or a number 0"), Ok)
    }

    fn part(&self, items: &[Sexp], number: usize) -> Result<Part> {
        let mut items = match items.split_first() {
            Some((Sexp::Numeral(n), others)) if *n == number as u64 => others,
            _ => return malformed(format!("the part {number} does not have its number")),
        };
        let (kept, layout) = self.layout(needed(&mut items, "variables")?, needed(&mut items, "layout")?)?;
        let mut covered: Vec<(usize, usize)> = Vec::new();
        while let Some(pair) = next(&mut items, "covered") {
            let [kind, by] = pair else {
                return malformed("covered does not have two kinds");
            };
            let pair = (self.kind(kind)?, self.kind(by)?);
            if pair.0 == pair.1 || covered.iter().any(|(kind, _)| *kind == pair.0) {
                return malformed("a kind is covered twice, or covers itself");
            }
            covered.push(pair);
        }
        let mut sets = BTreeMap::new();
        while let Some(set) = next(&mut items, "set") {
            let [faults, Sexp::Numeral(count), files @ ..] = set else {
                return malformed("a set is not a combination, a number and members");
            };
            if sets.insert(self.faults(faults)?, listed(*count, files)?).is_some() {
                return malformed("a combination has two sets");
            }
        }
        let closed = |faults: &Faults| faults.kinds().all(|kind| sets.contains_key(&faults.without(kind)));
        if !sets.contains_key(&Faults::default()) || !sets.keys().all(closed) {
            return malformed("a combination that is contained in one with a set has no set");
        }
        let mut claims = Vec::new();
        while let Some(claim) = next(&mut items, "claim") {
            claims.push(self.claim(claim)?);
        }
        done(items, "a part")?;
        if claims.is_empty() {
            return malformed(format!("the part {number} has no claim"));
        }
        Ok(Part { kept, layout, covered, sets, claims })
    }

    fn layout(&self, names: &[Sexp], items: &[Sexp]) -> Result<(Vec<bool>, Layout)> {
        let variable = |name: &Sexp| {
            let name = name.symbol("the name of a variable")?;
            self.variables.get(name).map_or_else(|| malformed(format!("{name} is not a variable")), |variable| Ok(*variable))
        };
        let mut kept = vec![false; self.system.variables.len()];
        for name in names {
            if std::mem::replace(&mut kept[variable(name)?], true) {
                return malformed("a variable is kept twice");
            }
        }
        let Some((Sexp::Numeral(words), fields)) = items.split_first() else {
            return malformed("a layout does not begin with a number of words");
        };
        let mut layout = Layout::new(*words, names.len())?;
        let mut missing = kept.clone();
        for field in fields {
            let [name, Sexp::Numeral(word), Sexp::Numeral(shift), Sexp::Numeral(width)] = field.list("a field")? else {
                return malformed("a field is not a variable and three numerals");
            };
            let variable = variable(name)?;
            if !std::mem::replace(&mut missing[variable], false) {
                return malformed("a layout has a field twice, or of a variable that is not kept");
            }
            layout.add(self.system, variable, *word, *shift, *width)?;
        }
        if missing.contains(&true) {
            return malformed("a layout has no field for a variable that is kept");
        }
        Ok((kept, layout))
    }

    fn claim(&self, items: &[Sexp]) -> Result<Claim> {
        let Some((Sexp::Text(name), mut items)) = items.split_first() else {
            return malformed("a claim has no property");
        };
        let Some(property) = self.system.properties.iter().position(|property| property.name == *name) else {
            return malformed(format!("system.smt2 has no property {name:?}"));
        };
        let id = match needed(&mut items, "id")? {
            [id] => id.text("an id")?.to_string(),
            _ => return malformed("an id is not a string"),
        };
        let up_to = one_numeral(needed(&mut items, "up-to")?, "a total of faults")?;
        let witness = next(&mut items, "witness").map(|trace| self.trace(trace)).transpose()?;
        let mut smallest = Vec::new();
        while let Some(set) = next(&mut items, "smallest") {
            let Some((faults, mut evidence)) = set.split_first() else {
                return malformed("a smallest fault set has no combination");
            };
            let trace = self.trace(needed(&mut evidence, "trace")?)?;
            let stuck = match next(&mut evidence, "stuck") {
                Some(_) if !self.system.properties[property].is_goal => return malformed("a property without a goal has a stuck set"),
                Some([Sexp::Text(member), Sexp::Numeral(count)]) => {
                    let rows = Rows { member: member.to_string(), count: *count, ranks: None };
                    Some(Listed { count: *count, members: vec![rows] })
                }
                Some(_) => return malformed("a stuck set is not a member and a number"),
                None => None,
            };
            done(evidence, "a smallest fault set")?;
            smallest.push(Smallest { faults: self.faults(faults)?, trace, stuck });
        }
        done(items, "a claim")?;
        Ok(Claim { property, id, up_to, witness, smallest })
    }

    fn trace(&self, items: &[Sexp]) -> Result<Vec<usize>> {
        let action = |item: &Sexp| match item.numeral("an action of a trace")? {
            number if number < self.system.actions.len() as u64 => Ok(number as usize),
            number => malformed(format!("a trace has the action {number}, which the system does not have")),
        };
        items.iter().map(action).collect()
    }
}

fn listed(count: u64, files: &[Sexp]) -> Result<Listed> {
    let mut members: Vec<Rows> = Vec::new();
    let mut files = files;
    while let Some(rows) = next(&mut files, "rows") {
        let [Sexp::Text(member), Sexp::Numeral(count)] = rows else {
            return malformed("rows is not a member and a number");
        };
        let ranks = match next(&mut files, "ranks") {
            Some([Sexp::Text(ranks)]) => Some(ranks.to_string()),
            Some(_) => return malformed("ranks is not a member"),
            None => None,
        };
        members.push(Rows { member: member.to_string(), count: *count, ranks });
    }
    done(files, "a set")?;
    let sum = members.iter().try_fold(0u64, |sum, rows| sum.checked_add(rows.count));
    if members.is_empty() || sum != Some(count) {
        return malformed("the members of a set do not have as many rows as the set");
    }
    Ok(Listed { count, members })
}
