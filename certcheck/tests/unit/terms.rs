//! Unit tests of `src/terms.rs`.

use super::*;

/// The terms of two variables.
fn two() -> Terms {
    let mut terms = Terms::new();
    for (number, (name, interval)) in [("x", (-2, 5)), ("y", (0, 3))].into_iter().enumerate() {
        let term = terms.add(Op::Variable(number), vec![], Int, interval).unwrap();
        terms.define(name, term).unwrap();
    }
    terms
}

fn read(terms: &mut Terms, text: &str) -> Result<Term> {
    terms.read(&crate::sexp::read(text).unwrap()[0])
}

#[test]
fn intervals() {
    let mut terms = two();
    let texts = [
        ("(+ x y y)", (-2, 11)),
        ("(- x y)", (-5, 5)),
        ("(- x)", (-5, 2)),
        ("(* x (- 3))", (-15, 6)),
        ("(* 2 y)", (0, 6)),
        ("(ite true x y)", (-2, 5)),
        ("(ite (< x y) 7 (- 8))", (-8, 7)),
    ];
    for (text, interval) in texts {
        let term = read(&mut terms, text).unwrap();
        assert_eq!((terms.nodes[term].low, terms.nodes[term].high), interval, "{text}");
    }
    for text in ["(+ 32767 y)", "(- (- 32767) 2)", "32768", "(* 20000 y)", "999999999999999999"] {
        assert_eq!(read(&mut terms, text).map_err(|refusal| refusal.rule), Err("limits"), "{text}");
    }
    assert!(read(&mut terms, "(- (- 32767) 1)").is_ok());
}

#[test]
fn forms_are_checked() {
    let mut terms = two();
    let wrong = [
        "(not x)",
        "(< x true)",
        "(= x true)",
        "(ite x x y)",
        "(ite true x true)",
        "(and true x)",
        "(and true)",
        "(+ x)",
        "(* x y)",
        "(- x y y)",
        "(> x)",
        "(mod x 2)",
        "z",
        "()",
        "((not) true)",
        "\"x\"",
        ":x",
        "(=> true)",
        "(ite true x)",
        "(-)",
        "(not)",
    ];
    for text in wrong {
        assert!(read(&mut terms, text).is_err(), "{text}");
    }
    let mut term = 0;
    for level in 2..=MOST_LEVELS + 1 {
        let next = terms.add(Op::Not, vec![term], Bool, (-1, 0));
        assert_eq!(next.is_ok(), level <= MOST_LEVELS);
        term = next.unwrap_or(term);
    }
}

#[test]
fn names() {
    let mut terms = two();
    for name in ["x", "true", "and", "ite"] {
        assert!(terms.define(name, 0).is_err(), "{name}");
    }
    for name in ["z", "getter", "set.1", "check", "t0"] {
        assert!(terms.define(name, 0).is_ok(), "{name}");
    }
}

#[test]
fn reads() {
    let mut terms = two();
    let less = read(&mut terms, "(< x y)").unwrap();
    assert!(terms.reading_others(|variable| variable == 0)[less]);
    assert!(!terms.reading_others(|_| true)[less]);
}
