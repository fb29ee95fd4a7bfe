//! Unit tests of `src/part.rs`.

use super::*;
use crate::batch::Lane;

const HEAD: &str =
    "(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n(declare-const x Int)(set-info :variable (x (- 1) 3 0))";
const REST: &str = "(define-fun g () Bool (< x 3))(define-fun u () Int (+ x 1))(set-info :action (0 \"up\" none g))(set-info :next (x u))\
    (set-info :property (\"p\" g g))(set-info :goal (\"q\" g g))";

#[test]
fn a_system() {
    let system = Part::new("system.smt2", &format!("{HEAD}{REST}")).unwrap();
    assert_eq!((system.variables[0].low, system.variables[0].initial), (-1, 0));
    assert_eq!(system.actions[0].updates.len(), 1);
    assert!(!system.properties["p"].is_goal && system.properties["q"].is_goal);
}

#[test]
fn wrong_systems() {
    let changes = [
        ("2.6", "2.5"),
        ("QF_LIA", "LIA"),
        ("declare-const x Int", "declare-const x Bool"),
        ("(x (- 1) 3 0)", "(x 1 3 0)"),
        ("(x (- 1) 3 0)", "(y (- 1) 3 0)"),
        ("(x (- 1) 3 0)", "(x (- 1) 3 0 0)"),
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
        ("fun u ()", "fun u (x)"),
        ("(0 \"up\"", "(1 \"up\""),
        ("none g", "none u"),
        ("none g", "none x"),
        (":next (x u)", ":next (x u x u)"),
        (":next (x u)", ":next (x g)"),
        (":next (x u)", ":next (g u)"),
        (":next (x u))", ":next (x u))(set-info :next (x 1))"),
        ("(\"q\" g g)", "(\"p\" g g)"),
        ("(set-info :goal", "(assert true)(set-info :goal"),
    ];
    let text = format!("{HEAD}{REST}");
    for (from, to) in changes {
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed);
        assert!(Part::new("system.smt2", &changed).is_err(), "{from} -> {to}");
    }
}

#[test]
fn values_are_stored_minus_the_lowest() {
    let mut part = Part::new("system.smt2", &format!("{HEAD}{REST}")).unwrap();
    part.field("x").unwrap();
    assert_eq!((part.used.len(), part.initial(), &part.used), (1, vec![1], &vec![7]));
    assert!(part.field("x").is_err() && part.field("g").is_err());
}

#[test]
fn fields_fill_a_word_to_its_last_bit() {
    let wide = |name: &str, high: i64| format!("(set-info :variable ({name} 0 {high} 0))");
    let high = i64::from(Lane::MAX);
    let variables = [("a", high), ("b", high), ("c", high), ("d", high), ("e", 3), ("f", 2)];
    let domains: String = variables.iter().map(|(name, high)| wide(name, *high)).collect();
    let mut part = Part::new("system.smt2", &format!("{HEAD}{domains}{REST}")).unwrap();
    ["a", "b", "c", "d", "e"].iter().for_each(|name| part.field(name).unwrap());
    assert!(part.field("x").is_err(), "3 bits do not fit behind 62");
    part.field("f").unwrap();
    part.used.push(0);
    part.field("x").unwrap();
    assert_eq!(part.used, [u64::MAX, 7]);
}
