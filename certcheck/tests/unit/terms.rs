//! Unit tests of `src/terms.rs`.

use super::*;

fn two() -> (Terms, Term, Term) {
    let mut terms = Terms::default();
    let (x, y) = (terms.variable(0, (-2, 5)), terms.variable(1, (0, 3)));
    (terms, x, y)
}

#[test]
fn equal_terms_are_one_node() {
    let (mut terms, x, y) = two();
    assert_eq!(terms.add(Op::Less(x, y)), terms.add(Op::Less(x, y)));
    assert_ne!(terms.add(Op::Less(x, y)), terms.add(Op::Less(y, x)));
}

#[test]
fn intervals() {
    let (mut terms, x, y) = two();
    let mut interval = |op| {
        let term = terms.add(op).unwrap();
        terms.interval(term)
    };
    assert_eq!(interval(Op::Sum([x, y, y].into())), (-2, 11));
    assert_eq!(interval(Op::Difference(x, y)), (-5, 5));
    assert_eq!(interval(Op::Negative(x)), (-5, 2));
    assert_eq!(interval(Op::Product(x, y)), (-6, 15));
    assert_eq!(terms.hull(), (-6, 15));
    let large = terms.add(Op::Constant(i32::MAX)).unwrap();
    assert!(terms.add(Op::Sum([large, y].into())).is_err());
}

#[test]
fn sorts_and_levels_are_checked() {
    let (mut terms, x, y) = two();
    let truth = terms.add(Op::Truth(true)).unwrap();
    for op in [Op::Not(x), Op::Less(x, truth), Op::Equal(x, truth), Op::If(x, x, y), Op::If(truth, x, truth), Op::And([truth, x].into())] {
        assert!(terms.add(op).is_err());
    }
    let mut term = truth;
    for level in 1..=MOST_LEVELS + 1 {
        let next = terms.add(Op::Not(term));
        assert_eq!(next.is_ok(), level <= MOST_LEVELS);
        term = next.unwrap_or(term);
    }
}

#[test]
fn reads() {
    let (mut terms, x, y) = two();
    let less = terms.add(Op::Less(x, y)).unwrap();
    assert_eq!(terms.reading_others(|variable| variable == 0), vec![false, true, true]);
    assert!(!terms.reading_others(|_| true)[less as usize]);
}
