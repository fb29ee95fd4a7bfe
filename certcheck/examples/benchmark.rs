//! Measures the checker on a made-up system of the size of a model of Kafka: 150 actions, 128 variables, rows of 5 words,
//! about 3,500 distinct nodes, and 5 steps from a state on average.
//!
//!     cargo run --release --example benchmark [THREADS] [shuffled]
//!
//! Ten counters run from 0 to 3, and 118 variables follow them. A counter moves while its neighbour is below 2; fifteen actions
//! move it, by the value of a third counter. Guards have terms that are always true, in front of or behind those that decide.

#[path = "../tests/toy/file.rs"]
mod file;

use certcheck::{check, Options};
use std::collections::HashMap;
use std::fmt::Write;

const COUNTERS: usize = 10;
const VARIABLES: usize = 128;
const WORDS: usize = 5;
const PER_WORD: usize = 26;

/// Definitions, one for each operation, so that their number is the number of nodes.
#[derive(Default)]
struct Definitions {
    text: String,
    names: HashMap<String, String>,
}

impl Definitions {
    fn add(&mut self, sort: &str, body: String) -> String {
        let name = format!("t{}", self.names.len());
        if let Some(known) = self.names.get(&body) {
            return known.clone();
        }
        writeln!(self.text, "(define-fun {name} () {sort} {body})").unwrap();
        self.names.insert(body, name.clone());
        name
    }
}

/// The value of a variable that follows a counter.
fn follows(variable: usize, counter: usize) -> usize {
    (counter * (1 + variable % 3) + variable / 7) % 4
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(1);
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let name = |variable: usize| if variable < COUNTERS { format!("c{variable}") } else { format!("v{variable}") };
    let mut terms = Definitions::default();
    let mut actions = String::new();
    let mut count = 0;
    for counter in 0..COUNTERS {
        let c = name(counter);
        let last = terms.add("Bool", format!("(= {c} 3)"));
        let more = terms.add("Int", format!("(+ {c} 1)"));
        let next = terms.add("Int", format!("(ite {last} 0 {more})"));
        let mut updates = format!("(set-info :next ({c} {next}))\n");
        for variable in (COUNTERS..VARIABLES).filter(|variable| variable % COUNTERS == counter) {
            let mut value = terms.add("Int", format!("{}", follows(variable, 0)));
            for now in 0..3 {
                let is = terms.add("Bool", format!("(= {c} {now})"));
                value = terms.add("Int", format!("(ite {is} {} {value})", follows(variable, now + 1)));
            }
            writeln!(updates, "(set-info :next ({} {value}))", name(variable)).unwrap();
        }
        for part in 0..15 {
            let mut decide = vec![terms.add("Bool", format!("(< {} 2)", name((counter + 1) % COUNTERS)))];
            decide.push(if part < 14 {
                terms.add("Bool", format!("(= {c} {})", part % 4))
            } else {
                terms.add("Bool", format!("(>= {c} 2)"))
            });
            let third = name((counter + 2) % COUNTERS);
            decide.push(if part < 14 {
                terms.add("Bool", format!("(= {third} {})", part / 4))
            } else {
                terms.add("Bool", format!("(= {third} 3)"))
            });
            let mut filler = Vec::new();
            for i in 0..7 {
                let [a, b, d] =
                    [7, 11, 13].map(|step| name(COUNTERS + (count * step + i * 17 + step) % (VARIABLES - COUNTERS)));
                let is = terms.add("Bool", format!("(= {a} {})", i % 4));
                let value = terms.add("Int", format!("(ite {is} {b} {d})"));
                let sum = terms.add("Int", format!("(+ {value} {a})"));
                filler.push(terms.add("Bool", format!("(<= {sum} 6)")));
            }
            let guard = if count % 2 == 0 { [filler, decide].concat() } else { [decide, filler].concat() };
            let guard = terms.add("Bool", format!("(and {})", guard.join(" ")));
            writeln!(actions, "(set-info :action ({count} \"action {count}\" none {guard}))\n{updates}").unwrap();
            count += 1;
        }
    }
    let wrong = terms.add("Bool", "(> c0 3)".into());
    let start = terms.add("Bool", "(= c0 0)".into());
    let mut system = "(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n".to_string();
    let mut layout = String::new();
    for variable in 0..VARIABLES {
        let initial = if variable < COUNTERS { 0 } else { follows(variable, 0) };
        let name = name(variable);
        writeln!(system, "(declare-const {name} Int)\n(set-info :variable ({name} 0 3 {initial}))").unwrap();
        if variable > 0 && variable % PER_WORD == 0 {
            layout += "(word)\n";
        }
        writeln!(layout, "(field {name})").unwrap();
    }
    system += &format!("{}{actions}(set-info :property (\"p\" {wrong} {start}))\n", terms.text);
    let mut rows: Vec<Vec<u64>> = (0..1usize << (2 * COUNTERS)).map(row).collect();
    rows.sort();
    if has("shuffled") {
        let length = rows.len();
        let mut order = 1;
        (0..length).for_each(|i| {
            order = (order * 5 + 3) % length;
            rows.swap(i, order);
        });
    }
    let certificate =
        format!("(system \"system.smt2\") {layout} (set ()) (rows \"0/0.0\") (claim \"p\" \"\" 0) (witness)");
    let members = [
        ("system.smt2", system.into_bytes()),
        ("certificate.txt", certificate.into_bytes()),
        ("0/0.0", file::columns(&rows, WORDS)),
    ];
    let members: Vec<(String, Vec<u8>)> = members.into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect();
    let path = std::env::temp_dir().join(format!("certcheck-benchmark-{}.cert", std::process::id()));
    std::fs::write(&path, file::archive(&members)).unwrap();
    let (begin, busy) = (std::time::Instant::now(), processor_seconds());
    let result = check(&path, &Options { systems: None, memory: 8 << 30, threads, share: None });
    let (seconds, busy) = (begin.elapsed().as_secs_f64(), processor_seconds() - busy);
    std::fs::remove_file(&path).unwrap();
    let report = result.map_err(|rejection| rejection.to_string()).unwrap();
    let steps = report.steps as f64 / report.states as f64;
    println!(
        "{count} actions, {VARIABLES} variables, {} nodes, {} states, {steps:.2} steps from a state",
        terms.names.len() + VARIABLES + 7,
        report.states
    );
    let rate = report.states as f64 / busy / 1e6;
    println!("{seconds:.2} s with {threads} threads, {busy:.2} s of processor time: {rate:.2} million states a second of a core");
}

/// The row of the state with these counters, two bits each.
fn row(counters: usize) -> Vec<u64> {
    let mut row = vec![0; WORDS];
    for variable in 0..VARIABLES {
        let counter = counters >> (2 * (variable % COUNTERS)) & 3;
        let value = if variable < COUNTERS { counter } else { follows(variable, counter) };
        row[variable / PER_WORD] |= (value as u64) << (variable % PER_WORD * 2);
    }
    row
}

/// Processor time of this process so far, by Linux's account: on a machine that does other work too, only this time says how fast
/// the checker is.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
