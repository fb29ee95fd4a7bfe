//! Checks a certificate: all rules of the page, in the order in which they are cheap.

use crate::archive::Archive;
use crate::evidence::Evidence;
use crate::memory::Memory;
use crate::part::{Claim, Limits, Part};
use crate::rejection::{need, rule, Result};
use crate::sexp::Sexp::{List, Number, Symbol, Text};
use crate::sexp::{self, BYTES_PER_BYTE};
use crate::steps::Share;
use std::collections::BTreeSet;
use std::path::Path;

pub struct Options<'a> {
    /// The text that the system must be, or a folder with texts.
    pub systems: Option<&'a Path>,
    pub memory: u64,
    pub threads: usize,
    /// One part of the work of several processes, which must all accept; None for all of the work.
    pub share: Option<Share>,
}

/// What an accepted certificate proves.
pub struct Report {
    /// What the file says of itself (not proved), the limits, and the lemmas.
    pub lines: Vec<String>,
    /// A line for each claim.
    pub claims: Vec<String>,
    pub states: u64,
    pub steps: u64,
    pub peak_memory: u64,
}

/// Checks the certificate in this file.
pub fn check(path: &Path, options: &Options) -> Result<Report> {
    let mut memory = Memory::new(options.memory);
    let mut archive = Archive::open(path, &mut memory)?;
    let text = read_text("certificate.txt", &mut archive, &mut memory)?;
    let (mut lines, mut limits, mut parts) = (Vec::new(), Limits::new(), Vec::<Part>::new());
    for command in sexp::read(&text)? {
        need!(let List(items) = &command, "certificate.txt has something that is no list: {command:?}");
        match items.as_slice() {
            [Symbol("about"), Symbol(word), Text(text)] => lines.push(format!("about (not proved): {word} {text:?}")),
            [Symbol("limit"), Symbol(kind), Number(most)] => {
                let first = limits.insert(kind.to_string(), *most).is_none();
                need!(first && *most >= 0 && kind.len() <= 100, "the limit of {kind} is negative, or there twice");
                lines.push(format!("limit (unless a claim is for any number): {kind} {most}"));
            }
            [Symbol("system"), Text(name)] => parts.push(part(name, options.systems, &mut archive, &mut memory)?),
            _ => {
                need!(let Some(part) = parts.last_mut(), "no system stands before {command:?}");
                part.read(items, &limits)?;
            }
        }
    }
    let kinds = parts.iter().flat_map(|part| &part.actions).map(|action| &action.kind).filter(|kind| *kind != "none");
    let right = !parts.is_empty() && kinds.collect::<BTreeSet<_>>().into_iter().eq(limits.keys());
    need!(right, "there is no part, or the limits are not those of all kinds of faults of the actions");
    parts.iter().try_for_each(Part::complete)?;
    let (mut counts, mut claims) = ([0, 0], Vec::new());
    for part in &parts {
        for lemma in &part.lemmas {
            let (name, sum, bounds) = (&lemma.name, lemma.sum, lemma.bounds.join(", "));
            rule!("lemma", sum < 0, "the bounds of {name:?} have the sum {sum}, which is not below 0");
            lines.push(format!("lemma: {name:?}: {bounds}: the sum is {sum} ms"));
        }
        let evidence = Evidence::new(part, &limits, options)?;
        for (index, claim) in part.claims.iter().enumerate() {
            evidence.check_smallest(claim)?;
            evidence.check_traces(index, &mut memory)?;
        }
        let broken = evidence.check_sets(&mut archive, &mut memory, &mut counts)?;
        for (index, claim) in part.claims.iter().enumerate() {
            evidence.check_claim(index, &broken, &mut memory)?;
            claims.push(words(part, claim, evidence.possible.is_empty()));
        }
    }
    need!(archive.unread.is_empty(), "certificate.txt does not name the members {:?}", archive.unread);
    Ok(Report { lines, claims, states: counts[0], steps: counts[1], peak_memory: memory.peak })
}

/// Reads a text; its memory, with that of its expressions and terms, stays counted.
fn read_text(name: &str, archive: &mut Archive, memory: &mut Memory) -> Result<String> {
    memory.take(archive.size(name)?.saturating_mul(2 * BYTES_PER_BYTE), name)?;
    need!(let Ok(text) = String::from_utf8(archive.read(name, memory)?), "{name} is not UTF-8");
    Ok(text)
}

/// Begins a part. Rule `system`: its system equals the file of its name in the folder, or the file that is given in
/// place of a folder.
fn part(name: &str, given: Option<&Path>, archive: &mut Archive, memory: &mut Memory) -> Result<Part> {
    let number = name.strip_prefix("system").and_then(|rest| rest.strip_suffix(".smt2"));
    let is_number = |rest: &str| rest.strip_prefix('.').and_then(sexp::numeral).is_some_and(|number| number > 0);
    need!(number.is_some_and(|rest| rest.is_empty() || is_number(rest)), "{name:?} is not a name of a system");
    let text = read_text(name, archive, memory)?;
    if let Some(path) = given.map(|given| if given.is_dir() { given.join(name) } else { given.to_path_buf() }) {
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        let same = size == text.len() as u64 && std::fs::read(&path).is_ok_and(|given| given == text.as_bytes());
        rule!("system", same, "{name} is another text than the given one, or no such file was given");
    }
    Part::new(name, &text)
}

/// A claim in plain words. `alone`: whether the faults of unlimited kinds are the only ones that are possible.
fn words(part: &Part, claim: &Claim, alone: bool) -> String {
    let sets: Vec<String> = claim.smallest.iter().map(|(faults, _)| faults.to_string()).collect();
    let limit = (!alone || part.unlimited.is_empty()).then(|| format!("up to {} faults", claim.up_to));
    let any = part.unlimited.iter().map(|kind| format!("any number of {kind}"));
    let within = limit.into_iter().chain(any).collect::<Vec<String>>().join(", ");
    let is_goal = part.properties[&claim.name].is_goal;
    let holds = if is_goal { "holds (the goal stays reachable without faults)" } else { "holds" };
    let verdict = match sets.join(" or ") {
        none if none.is_empty() => format!("{holds} with {within}"),
        sets => format!("is violated with {sets}, and {holds} with {within} that contain none of these"),
    };
    let witness = if claim.witness.is_some() { "its witness is reached" } else { "without a witness" };
    format!("{:?} {verdict}; {witness} (id {:?}, {})", claim.name, claim.id, part.name)
}
