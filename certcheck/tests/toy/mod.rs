//! A toy system with faults, and its certificate: closed sets by a naive explorer, ranks, and traces.
//!
//! A counter counts to 3 and begins again. A `crash` stops it, a `hang` does the same, `rot` cannot be mended.
#![allow(dead_code)]

pub mod file;

use std::collections::{BTreeMap, BTreeSet};

/// The variables n (-1 to 3), up, bad, and note, which the part does not keep.
pub type State = [i32; 4];
/// Crashes and rots.
pub type Combination = (u64, u64);
/// Rows with their ranks.
pub type Rows = Vec<(Vec<u64>, u16)>;

const SYSTEM: &str = r#"(set-info :smt-lib-version 2.6)
(set-logic QF_LIA)
(declare-const n Int)
(set-info :variable (n (- 1) 3 0))
(declare-const up Int)
(set-info :variable (up 0 1 1))
(declare-const bad Int)
(set-info :variable (bad 0 1 0))
(declare-const note Int)
(set-info :variable (note 0 1 0))
(define-fun zero () Int 0)
(define-fun one () Int 1)
(define-fun runs () Bool (= up 1))
(define-fun count.g () Bool (and runs (< n 3)))
(define-fun count.n () Int (+ n 1))
(define-fun reset.g () Bool (and runs (not (distinct n 3))))
(define-fun down () Bool (not runs))
(define-fun hang.n () Int (ite (=> runs (>= n 1)) (- n n) 0))
(define-fun rot.g () Bool (or (< bad 1) false))
(define-fun doubt.g () Bool (= note 0))
(define-fun bad.p () Bool (> bad 0))
(define-fun three () Bool (= n (* 3 1)))
(define-fun negative () Bool (<= n (- 1)))
(define-fun fresh () Bool (and (= n 0) runs (= bad 0)))
(set-info :action (0 "count" none count.g))
(set-info :next (n count.n))
(set-info :action (1 "reset" none reset.g))
(set-info :next (n zero))
(set-info :action (2 "restart" none down))
(set-info :next (up one))
(set-info :action (3 "crash" crash runs))
(set-info :next (up zero))
(set-info :next (n zero))
(set-info :action (4 "hang" hang runs))
(set-info :next (up zero))
(set-info :next (n hang.n))
(set-info :action (5 "rot" rot rot.g))
(set-info :next (bad one))
(set-info :next (note zero))
(set-info :action (6 "doubt" none doubt.g))
(set-info :next (note one))
(set-info :property ("no-bad" bad.p three))
(set-info :property ("safe" negative down))
(set-info :goal ("recovers" fresh three))
"#;

const HEAD: &str = r#"(about deployment "toy") ; a comment
(limit crash 2) (limit hang 1) (limit rot 1)
(system "system.smt2")
(lemma "a") (least "x" 5) (most "y" (- 2)) (most "z" 3)
(field n) (field up) (word) (field bad)
(covered hang crash)
"#;

const CLAIMS: &str = r#"
(claim "no-bad" "1" 2) (witness 0 0 0) (smallest (rot) 0 5)
(claim "safe" "2" 2) (witness 3)
(claim "recovers" "3" 2) (witness 0 0 0) (smallest (rot) 0 5)
"#;

/// Next states without a fault.
fn steps([n, up, bad, note]: State) -> Vec<State> {
    let steps = [
        (up == 1 && n < 3, [n + 1, up, bad, note]),
        (up == 1 && n == 3, [0, up, bad, note]),
        (up == 0, [n, 1, bad, note]),
    ];
    steps.into_iter().filter_map(|(enabled, state)| enabled.then_some(state)).collect()
}

fn is_goal(state: &State) -> bool {
    state[..3] == [0, 1, 0]
}

fn closed(mut states: BTreeSet<State>) -> BTreeSet<State> {
    loop {
        let next: BTreeSet<State> =
            states.iter().flat_map(|state| steps(*state)).filter(|next| !states.contains(next)).collect();
        if next.is_empty() {
            return states;
        }
        states.extend(next);
    }
}

pub fn row(state: &State) -> Vec<u64> {
    vec![(state[0] + 1) as u64 | (state[1] as u64) << 3, (state[2] as u64)]
}

/// What is written into the archive; a forgery changes some of this.
#[derive(Clone)]
pub struct Toy {
    pub system: String,
    pub head: String,
    pub claims: String,
    /// For each combination its text, its rows, and their ranks.
    pub sets: BTreeMap<Combination, (String, Rows)>,
    pub others: Vec<(String, Vec<u8>)>,
}

impl Toy {
    pub fn new() -> Toy {
        let mut all: BTreeMap<Combination, BTreeSet<State>> = BTreeMap::new();
        let mut sets = BTreeMap::new();
        for (crashes, rots, text) in
            [(0, 0, "()"), (1, 0, "(crash)"), (2, 0, "(crash crash)"), (0, 1, "(rot)"), (1, 1, "(rot crash)")]
        {
            let mut states = BTreeSet::from([[0, 1, 0, 0]]);
            let crashed = |state: &State| (state[1] == 1).then_some([0, 0, state[2], 0]);
            let rotten = |state: &State| (state[2] == 0).then_some([state[0], state[1], 1, 0]);
            if crashes > 0 {
                states.extend(all[&(crashes - 1, rots)].iter().filter_map(crashed));
            }
            if rots > 0 {
                states.extend(all[&(crashes, rots - 1)].iter().filter_map(rotten));
            }
            states = closed(states);
            all.insert((crashes, rots), states.clone());
            let below = all.iter().filter(|((c, r), _)| (*c, *r) != (crashes, rots) && *c <= crashes && *r <= rots);
            let below: BTreeSet<State> = below.flat_map(|(_, states)| states.iter().copied()).collect();
            let own = states.difference(&below).map(|state| (row(state), rank(*state))).collect();
            sets.insert((crashes, rots), (text.to_string(), own));
        }
        Toy { system: SYSTEM.into(), head: HEAD.into(), claims: CLAIMS.into(), sets, others: vec![] }
    }

    pub fn certificate(&self) -> String {
        let mut text = self.head.clone();
        for (number, (faults, _)) in self.sets.values().enumerate() {
            text += &format!("(set {faults}) (rows \"0/{number}.0\") (rows \"0/{number}.1\")\n");
        }
        text + &self.claims
    }

    pub fn members(&self) -> Vec<(String, Vec<u8>)> {
        let mut members = vec![("README.txt".to_string(), b"read me".to_vec())];
        if !self.system.is_empty() {
            members.push(("system.smt2".into(), self.system.clone().into_bytes()));
        }
        for (number, (_, rows)) in self.sets.values().enumerate() {
            let (first, second) = rows.split_at(rows.len() / 2);
            for (part, rows) in [first, second].into_iter().enumerate() {
                let words: Vec<Vec<u64>> = rows.iter().map(|(row, _)| row.clone()).collect();
                let ranks = rows.iter().flat_map(|(_, rank)| rank.to_le_bytes());
                members
                    .push((format!("0/{number}.{part}"), file::columns(&words, 2).into_iter().chain(ranks).collect()));
            }
        }
        members.push(("certificate.txt".into(), self.certificate().into_bytes()));
        members.extend(self.others.clone());
        members
    }

    pub fn file(&self) -> Vec<u8> {
        file::archive(&self.members())
    }
}

/// Steps without a fault to the goal; 0 where there is no way.
fn rank(state: State) -> u16 {
    let mut reached = BTreeSet::from([state]);
    for rank in 0..20 {
        if reached.iter().any(is_goal) {
            return rank;
        }
        reached = reached.into_iter().flat_map(steps).collect();
    }
    0
}

/// Numbers that look random.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % below
    }
}
