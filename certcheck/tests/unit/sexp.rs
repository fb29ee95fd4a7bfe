//! Unit tests of `src/sexp.rs`.

use super::*;

#[test]
fn atoms_and_lists() {
    let read = read("(a :b 12 ; comment (\n \"x\"\"y\" () 2.6) z").unwrap();
    let list = vec![Sexp::Symbol("a"), Sexp::Keyword(":b"), Sexp::Numeral(12), Sexp::Text("x\"y".into()), Sexp::List(vec![]), Sexp::Decimal("2.6")];
    assert_eq!(read, vec![Sexp::List(list), Sexp::Symbol("z")]);
}

#[test]
fn wrong_texts() {
    let deep = "(".repeat(DEEPEST + 1) + &")".repeat(DEEPEST + 1);
    let wrong = ["(", ")", "|x|", "\"a", "007", "1000000000000000000", "a\"b\"", "\"a\"b", "#x1", "1a", ":", "'", "ä", "\"\u{1}\"", "1.", "\u{b}", "2.5"];
    for text in wrong.into_iter().chain([deep.as_str()]) {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn negative_numbers() {
    assert_eq!(read("(- 3)").unwrap()[0].number(), Some(-3));
    assert!(read("(- -3)").unwrap()[0].number().is_none());
}
