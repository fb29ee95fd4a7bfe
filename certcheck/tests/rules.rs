//! The toy certificate is accepted, and for every rule of the page forged ones are refused with the code of the rule.

mod toy;

use certcheck::{check, Options, Rejection, Report, Share};
use std::sync::atomic::{AtomicUsize, Ordering};
use toy::{row, Dice, Toy};

static FILES: AtomicUsize = AtomicUsize::new(0);
const MEMORY: u64 = 64 << 20;

fn check_bytes(bytes: &[u8], memory: u64) -> Result<Report, Rejection> {
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("toy-{}-{number}.cert", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let result = check(&path, &Options { systems: None, memory, threads: 2, share: None });
    if let Ok(report) = &result {
        let shares = (0..3).map(|index| {
            check(&path, &Options { systems: None, memory, threads: 1, share: Some(Share { index, of: 3 }) })
        });
        let steps: u64 = shares.map(|share| share.map_err(|r| r.to_string()).unwrap().steps).sum();
        assert_eq!(steps, report.steps, "the shares together do all of the work");
    } else {
        let share =
            |index| check(&path, &Options { systems: None, memory, threads: 1, share: Some(Share { index, of: 3 }) });
        assert!((0..3).any(|index| share(index).is_err()), "no share refuses what the whole check refuses");
    }
    std::fs::remove_file(&path).unwrap();
    result
}

fn code(result: &Result<Report, Rejection>) -> &'static str {
    match result {
        Ok(_) => "accepted",
        Err(rejection) => rejection.rule,
    }
}

type Change = fn(&mut Toy);

/// A forgery that replaces a text, which must be there, in system.smt2 (0), the head (1) or the claims (2) of certificate.txt.
type Replacement = (&'static str, usize, &'static str, &'static str);

const REPLACED: &[Replacement] = &[
    // A change that breaks nothing is accepted, so that the others are refused for what they change.
    ("accepted", 1, "(about deployment \"toy\")", ""),
    ("accepted", 0, "(define-fun zero", "; note\n(define-fun zero"),
    ("accepted", 0, "none down", "none (not runs)"),
    ("covered", 1, "(covered hang crash)", "(covered crash rot) (covered hang crash)"),
    ("cone", 1, "(field up)", ""),
    ("cone", 0, "(set-info :property (\"safe\" negative", "(set-info :property (\"safe\" doubt.g"),
    ("cone", 0, "negative down", "negative doubt.g"),
    ("cone", 0, "count.n () Int (+ n 1)", "count.n () Int (+ n note)"),
    ("cone", 0, "down () Bool (not runs)", "down () Bool (or (not runs) (= note 1))"),
    ("step", 0, "(set-info :next (up one))", "(set-info :next (up one)) (set-info :next (bad one))"),
    ("cone", 0, "(set-info :next (note one))", "(set-info :next (note one)) (set-info :next (bad one))"),
    ("fault", 0, "crash runs))\n(set-info :next (up zero))\n(set-info :next (n zero))", CRASH_TO_ONE),
    ("covered", 0, HANG, "hang.n () Int (ite (=> runs (>= n 3)) (- 1) 0)"),
    ("outside", 0, "(and runs (< n 3))", "(and runs (<= n 3))"),
    ("outside", 0, HANG, "hang.n () Int (ite (=> runs (>= n 3)) (- 2) 0)"),
    ("claim", 2, "(smallest (rot) 0 5)\n(claim \"safe\"", "(claim \"safe\""),
    ("claim", 2, "\"safe\" \"2\" 2", "\"safe\" \"2\" 3"),
    ("claim", 1, "(covered hang crash)", ""),
    ("covered", 1, "(covered hang crash)", "(covered hang rot)"),
    ("rank", 0, "fresh () Bool (and (= n 0)", "fresh () Bool (and (= n 2)"),
    ("trace", 2, "(smallest (rot) 0 5)", "(smallest (rot) 1 5)"),
    ("trace", 2, "(smallest (rot) 0 5)", "(smallest (rot) 0)"),
    ("trace", 2, "(smallest (rot) 0 5)", "(smallest (rot) 0 5 3)"),
    ("trace", 2, "(smallest (rot) 0 5)", "(smallest () 0)"),
    ("trace", 2, "(smallest (rot) 0 5)", "(smallest (rot) 6 5)"),
    ("stuck", 0, "(and (= n 0) runs (= bad 0))", "(= n 0)"),
    ("witness", 2, "(witness 0 0 0)", "(witness 0 0)"),
    ("witness", 2, "(witness 0 0 0)", "(witness 1 0 0 0)"),
    ("witness", 2, "(witness 0 0 0)", "(witness 6 0 0 0)"),
    ("witness", 2, "(witness 3)", "(witness 3 2 3 2 3)"),
    ("witness", 2, "(witness 3)", "(witness 4 2 4)"),
    ("lemma", 1, "(least \"x\" 5)", ""),
    ("lemma", 1, "(most \"z\" 3)", "(most \"z\" 7)"),
    ("format", 1, "(most \"z\" 3)", "(most \"z\" -3)"),
    ("format", 1, "(lemma \"a\")", ""),
    ("format", 1, "(system \"system.smt2\")", ""),
    ("format", 1, "(system \"system.smt2\")", "(system \"system.2.smt2\")"),
    ("format", 1, "(system \"system.smt2\")", "(system \"README.txt\")"),
    ("smallest", 2, "(smallest (rot) 0 5)", "(smallest (rot) 0 5) (smallest (rot crash) 5 3)"),
    ("smallest", 2, "(smallest (rot) 0 5)", "(smallest (rot) 0 5) (smallest (rot) 0 5)"),
    ("smallest", 2, "\"1\" 2)", "\"1\" 0)"),
    ("smallest", 1, "(limit rot 1)", "(limit rot 0)"),
    ("format", 0, "(< n 3)", "(< n 3 4)"),
    ("limits", 0, "(+ n 1)", "(+ n 32767)"),
    ("format", 0, "(+ n 1)", "(+ n 99999999999999999999999)"),
    ("format", 0, "(3 \"crash\"", "(2 \"crash\""),
    ("format", 0, "(* 3 1)", "(* n up)"),
    ("format", 1, "(limit crash 2)", ""),
    ("format", 1, "(limit hang 1)", "(limit hang 1) (limit hang 2)"),
    ("format", 1, "(limit hang 1)", "(limit hang 1) (limit flood 2)"),
    ("format", 1, "(limit hang 1)", "(limit hang (- 1))"),
    ("format", 1, "(field n)", "(field m)"),
    ("format", 1, "(field n)", "(field n 0)"),
    ("format", 1, "(field n)", "(field n) (field n)"),
    ("format", 1, "(field n)", "(field n) (field runs)"),
    ("format", 1, "(word)", "(word 1)"),
    ("format", 1, "(word)", "(word) (word)"),
    ("format", 1, "(covered hang crash)", "(covered hang hang)"),
    ("format", 1, "(covered hang crash)", "(covered hang crash) (covered hang rot)"),
    ("format", 1, "(covered hang crash)", "(covered hang flood)"),
    ("format", 1, "; a comment", "; a comment\n \u{7}"),
    ("format", 1, "; a comment", "|a|"),
    ("format", 2, "(claim \"safe\"", "(claim \"unsafe\""),
    ("format", 2, "(witness 3)", "(witness 7)"),
    ("format", 2, "(witness 3)", "(witness (- 3))"),
    ("format", 2, "(witness 3)", "(witness 3) (witness 3)"),
    ("format", 2, "(smallest (rot) 0 5)", "(smallest (rot) 0 5 \"x\")"),
    ("format", 2, "(smallest (rot)", "(smallest (flood)"),
    ("format", 2, "(smallest (rot)", "(smallest ((rot 1))"),
    ("format", 2, "(witness 3)", "(witness 3"),
    ("format", 2, "(witness 3)", "(witness 3))"),
    ("format", 2, "(witness 3)", "(witness 3) more"),
];

const HANG: &str = "hang.n () Int (ite (=> runs (>= n 1)) (- n n) 0)";
const CRASH_TO_ONE: &str = "crash runs))\n(set-info :next (up zero))\n(set-info :next (n one))";

const CHANGED: &[(&str, &str, Change)] = &[
    ("domain", "a value outside the domain", |toy| rows(toy, (0, 0))[1].0[0] = 6 | 8),
    ("domain", "a bit outside the fields", |toy| rows(toy, (1, 1))[0].0[1] |= 1 << 63),
    ("initial", "the initial state is dropped", |toy| rows(toy, (0, 0)).retain(|(r, _)| *r != row(&[0, 1, 0, 0]))),
    ("initial", "another initial state, with traces that fit", |toy| {
        toy.system = toy.system.replace("(n (- 1) 3 0)", "(n (- 1) 3 (- 1))");
        toy.claims = toy.claims.replace("(witness 0", "(witness 0 0");
    }),
    ("step", "a state is dropped", |toy| rows(toy, (0, 0)).retain(|(r, _)| *r != row(&[2, 1, 0, 0]))),
    ("step", "a state with rot is dropped", |toy| rows(toy, (0, 1)).retain(|(r, _)| *r != row(&[2, 1, 1, 0]))),
    ("fault", "the states after a crash are dropped", |toy| rows(toy, (1, 0)).clear()),
    ("fault", "the states after a crash and rot are dropped", |toy| rows(toy, (1, 1)).clear()),
    ("claim", "a state that violates is added", |toy| {
        rows(toy, (0, 0)).push((row(&[-1, 1, 0, 0]), 5));
        rows(toy, (0, 1)).push((row(&[-1, 1, 1, 0]), 5));
    }),
    ("claim", "a set is dropped", |toy| drop(toy.sets.remove(&(2, 0)))),
    ("rank", "a rank of 0 without the goal", |toy| rows(toy, (0, 0))[2].1 = 0),
    ("rank", "a rank that does not fall", |toy| rows(toy, (1, 0))[0].1 = 0),
    ("rank", "a goal with a rank above 0 from which ranks do not fall", |toy| {
        rows(toy, (0, 0)).iter_mut().for_each(|(_, rank)| *rank += 1)
    }),
    ("format", "a state twice", |toy| {
        let first = rows(toy, (0, 0))[0].clone();
        rows(toy, (0, 0)).push(first);
    }),
    ("format", "a set without a set below", |toy| drop(toy.sets.remove(&(1, 0)))),
    ("format", "no set without faults", |toy| drop(toy.sets.remove(&(0, 0)))),
    ("format", "two sets of a combination", |toy| rows_of(toy, (1, 1)).0 = "(rot)".into()),
    ("accepted", "a part about another system", |toy| {
        toy.others.push(("system.1.smt2".into(), toy.system.clone().into_bytes()));
        toy.head = toy.head.replace("system.smt2", "system.1.smt2");
        toy.system.clear();
    }),
    ("accepted", "members for other programs", |toy| {
        toy.others.extend(["deployment.json", "times.json"].map(|name| (name.into(), vec![b'x'])))
    }),
    ("format", "a member that is not named", |toy| toy.others.push(("more".into(), vec![]))),
    ("format", "a member twice", |toy| toy.others.push(("system.smt2".into(), vec![]))),
    ("format", "deep nesting", |toy| {
        toy.system = toy.system.replace("(+ n 1)", &format!("{}n{}", "(- ".repeat(20_000), ")".repeat(20_000)))
    }),
    ("limits", "deep nesting by names", |toy| {
        let names: String = (0..2_500).map(|i| format!("(define-fun d{} () Int (- d{i}))", i + 1)).collect();
        toy.system =
            toy.system.replace("(define-fun zero", &format!("(define-fun d0 () Int n){names}(define-fun zero"));
    }),
];

fn rows_of(toy: &mut Toy, faults: toy::Combination) -> &mut (String, toy::Rows) {
    toy.sets.get_mut(&faults).unwrap()
}

fn rows(toy: &mut Toy, faults: toy::Combination) -> &mut toy::Rows {
    &mut rows_of(toy, faults).1
}

#[test]
fn the_toy_is_accepted() {
    let toy = Toy::new();
    let report = check_bytes(&toy.file(), MEMORY).map_err(|r| r.to_string()).unwrap();
    assert_eq!(report.claims.len(), 3);
    assert!(report.claims[0].contains("\"no-bad\" is violated with {rot}"), "{}", report.claims[0]);
    assert!(report.claims[1].contains("\"safe\" holds"), "{}", report.claims[1]);
    let sets = toy.sets.values().map(|(_, rows)| rows.len()).sum::<usize>();
    assert_eq!(report.states as usize, sets);
}

#[test]
fn forged_texts_are_refused() {
    let mut wrong = Vec::new();
    for (expected, part, from, to) in REPLACED {
        let mut toy = Toy::new();
        let text = [&mut toy.system, &mut toy.head, &mut toy.claims].into_iter().nth(*part).unwrap();
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1);
        let result = check_bytes(&toy.file(), MEMORY);
        if code(&result) != *expected {
            wrong.push(format!(
                "{expected} expected, {from} -> {to}: {}",
                result.err().map_or("accepted".into(), |r| r.to_string())
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn forged_states_are_refused() {
    let mut wrong = Vec::new();
    for (expected, name, change) in CHANGED {
        let mut toy = Toy::new();
        change(&mut toy);
        let result = check_bytes(&toy.file(), MEMORY);
        if code(&result) != *expected {
            wrong.push(format!(
                "{expected} expected, {name}: {}",
                result.err().map_or("accepted".into(), |r| r.to_string())
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_amount_of_memory_is_enough_or_refused() {
    let file = Toy::new().file();
    let mut seen = std::collections::BTreeSet::new();
    for kibibytes in (0..16 << 10).step_by(64) {
        seen.insert(code(&check_bytes(&file, kibibytes << 10)));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["accepted", "memory"]);
}

#[test]
fn a_file_that_is_cut_off_is_no_certificate() {
    let file = Toy::new().file();
    for length in 0..file.len() {
        assert_eq!(code(&check_bytes(&file[..length], MEMORY)), "format", "{length}");
    }
}

#[test]
fn flipped_bytes_and_changed_tokens_end_in_an_answer() {
    let toy = Toy::new();
    let (file, mut dice) = (toy.file(), Dice(1));
    for _ in 0..3000 {
        let mut changed = file.clone();
        for _ in 0..=dice.roll(3) {
            let at = dice.roll(file.len());
            changed[at] ^= 1 << dice.roll(8);
        }
        let _ = check_bytes(&changed, MEMORY);
    }
    for _ in 0..3000 {
        let mut members = toy.members();
        let count = members.len();
        let member = [1, count - 1, 2 + dice.roll(count - 3)][dice.roll(3)];
        let bytes = &mut members[member].1;
        let (from, to) = (dice.roll(bytes.len().max(1)), dice.roll(12));
        match dice.roll(4) {
            0 => drop(bytes.drain(from..(from + to).min(bytes.len()))),
            1 => drop(bytes.splice(
                from..from,
                [b'(', b')', b'9', b' ', b'-', b'"', b'n', b'0', b'=', b';', b'\n', 255][to..].to_vec(),
            )),
            2 if from + to < bytes.len() => bytes.copy_within(from..from + to, 0),
            _ if !bytes.is_empty() => bytes[from] ^= 1 << dice.roll(8),
            _ => {}
        }
        let _ = check_bytes(&toy::file::archive(&members), MEMORY);
    }
}
