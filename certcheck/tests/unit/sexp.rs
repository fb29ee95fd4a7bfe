//! Unit tests of `src/sexp.rs`.

use super::*;

#[test]
fn atoms_and_lists() {
    let read = read("(a :b 12 ; comment (\n \"x\"\"y\" () (- 5) (- x)) z").unwrap();
    let (a, b, twelve, text) = (Sexp::Symbol("a"), Sexp::Keyword(":b"), Sexp::Number(12), Sexp::Text("x\"\"y"));
    let minus = Sexp::List(vec![Sexp::Symbol("-"), Sexp::Symbol("x")]);
    let list = vec![a, b, twelve, text, Sexp::List(vec![]), Sexp::Number(-5), minus];
    assert_eq!(read, vec![Sexp::List(list), Sexp::Symbol("z")]);
}

#[test]
fn wrong_texts() {
    let deep = "(".repeat(DEEPEST + 1) + &")".repeat(DEEPEST + 1);
    let wrong = [
        "(",
        ")",
        "|x|",
        "\"a",
        "007",
        "1000000000000000000",
        "a\"b\"",
        "\"a\"b",
        "#x1",
        "1a",
        ":",
        "'",
        "ä",
        "\"\u{1}\"",
        "\"\u{7f}\"",
        "1.",
        "\u{b}",
        "2.6",
        "\"",
        "\"\"\"",
        "(- 5",
    ];
    for text in wrong.into_iter().chain([deep.as_str()]) {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn negative_numbers() {
    assert_eq!(read("(- 3)").unwrap(), vec![Sexp::Number(-3)]);
    for list in ["(- -3)", "(-  3)", "(- 0)", "(- 3 4)"] {
        assert!(!matches!(read(list).unwrap()[0], Sexp::Number(_)), "{list}");
    }
}
