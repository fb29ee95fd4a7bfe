//! Checks a certificate: all rules of the page, in the order in which they are cheap.

use crate::archive::Archive;
use crate::certificate::{systems_of, Certificate, Claim, Part};
use crate::claims::{check_claim, check_smallest};
use crate::memory::Memory;
use crate::parts::{Counts, Evidence};
use crate::rejection::{rule, Result};
use crate::sexp::{self, BYTES_PER_BYTE};
use crate::steps::Share;
use crate::system::{self, System};
use crate::traces;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

pub struct Options<'a> {
    /// The folder with the texts that the systems must be.
    pub systems: Option<&'a Path>,
    pub memory: u64,
    pub threads: usize,
    /// One part of the work of several processes, which must all accept; None for all of the work.
    pub share: Option<Share>,
}

/// What an accepted certificate proves.
pub struct Report {
    pub about: Vec<String>,
    pub limits: Vec<(String, u64)>,
    /// Lemmas, each with its sum.
    pub lemmas: Vec<(String, i64)>,
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
    memory.take(archive.size("certificate.txt")?.saturating_mul(2 * BYTES_PER_BYTE), "reading certificate.txt")?;
    let text = archive.text("certificate.txt", &mut memory)?;
    let lists = sexp::read(&text)?;
    let (mut kinds, mut systems) = (Vec::new(), BTreeMap::new());
    for name in systems_of(&lists)? {
        let system = system::load(&name, options.systems, &mut kinds, &mut archive, &mut memory)?;
        traces::count_memory(&system, &mut memory)?;
        systems.insert(name, system);
    }
    systems.values_mut().for_each(|system| system.kinds = kinds.clone());
    let certificate = Certificate::read(&lists, &systems, &kinds)?;
    certificate.check_members(&archive)?;
    let mut counts = Counts { states: 0, steps: 0 };
    let mut claims = Vec::new();
    let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
    for part in &certificate.parts {
        let system = &systems[&part.system];
        for lemma in &part.lemmas {
            let right = i128::from(lemma.sum) == lemma.computed && lemma.sum < 0;
            rule!("lemma", right, "{:?} has the sum {}, its bounds {}", lemma.name, lemma.sum, lemma.computed);
        }
        let evidence = Evidence::new(system, &certificate, part, options.threads, seed, options.share.unwrap_or(Share { index: 0, of: 1 }))?;
        let mut last_states = Vec::new();
        for claim in &part.claims {
            check_smallest(system, &certificate, claim)?;
            traces::check_witness(system, &certificate, claim)?;
            let last = claim.smallest.iter().map(|smallest| traces::check_trace(system, claim, smallest));
            last_states.push(last.collect::<Result<Vec<_>>>()?);
        }
        let broken = evidence.check_sets(&mut archive, &mut memory, &mut counts)?;
        for (index, claim) in part.claims.iter().enumerate() {
            check_claim(system, &certificate, part, index, &evidence.possible, &broken, options.share.is_some())?;
            let property = &system.properties[claim.property];
            for last in std::mem::take(&mut last_states[index]).into_iter().filter(|_| property.is_goal) {
                evidence.check_stuck(property, last, &mut memory)?;
            }
            claims.push(words(system, part, claim));
        }
    }
    let lemmas = certificate.parts.iter().flat_map(|part| &part.lemmas).map(|lemma| (lemma.name.clone(), lemma.sum)).collect();
    let limits = kinds.into_iter().zip(certificate.limits.iter().copied()).collect();
    Ok(Report { about: certificate.about, limits, lemmas, claims, states: counts.states, steps: counts.steps, peak_memory: memory.peak })
}

/// A claim in plain words.
fn words(system: &System, part: &Part, claim: &Claim) -> String {
    let property = &system.properties[claim.property];
    let (violated, holds) = match property.is_goal {
        true => ("a state without a way to the goal can be reached", "from every state, steps without a fault can reach the goal"),
        false => ("can be violated", "holds"),
    };
    let sets: Vec<String> = claim.smallest.iter().map(|smallest| smallest.faults.words(&system.kinds)).collect();
    let (sets, up_to) = (sets.join(" or "), claim.up_to);
    let verdict = match claim.smallest.is_empty() {
        true => format!("{holds} with every combination of up to {up_to} faults within the limits"),
        false => format!("{violated} with {sets}; no other combination of up to {up_to} faults within the limits suffices, unless it contains one of these"),
    };
    let witness = if claim.witness.is_some() { "its witness is reached" } else { "the certificate has NO WITNESS for it" };
    let kept = part.layout.kept().count();
    format!("{:?} {verdict}; {witness} (id {:?}, {}, {kept} of {} variables)", property.name, claim.id, part.system, system.variables.len())
}
