//! S-expressions as SMT-LIB 2.6 has them (the page, "The file").

use crate::rejection::{malformed, Result};
use std::borrow::Cow;

/// Lists open at once. Terms have at most 200 levels, and stand within two lists.
const DEEPEST: usize = 210;

/// Bytes of memory that a byte of text may need as S-expressions: "(a)" is two elements in a vector of at least four.
pub const BYTES_PER_BYTE: u64 = 80;

#[derive(Debug, Clone, PartialEq)]
pub enum Sexp<'a> {
    Numeral(u64),
    Decimal(&'a str),
    Symbol(&'a str),
    Keyword(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Sexp<'a>>),
}

impl<'a> Sexp<'a> {
    pub fn list(&self, what: &str) -> Result<&[Sexp<'a>]> {
        match self {
            Sexp::List(items) => Ok(items),
            _ => malformed(format!("{what} is not a list")),
        }
    }

    pub fn symbol(&self, what: &str) -> Result<&'a str> {
        match self {
            Sexp::Symbol(name) => Ok(name),
            _ => malformed(format!("{what} is not a symbol")),
        }
    }

    pub fn text(&self, what: &str) -> Result<&str> {
        match self {
            Sexp::Text(text) => Ok(text),
            _ => malformed(format!("{what} is not a string")),
        }
    }

    pub fn numeral(&self, what: &str) -> Result<u64> {
        match self {
            Sexp::Numeral(number) => Ok(*number),
            _ => malformed(format!("{what} is not a numeral")),
        }
    }

    /// A number that is written `5` or `(- 5)`, as a domain has them.
    pub fn number(&self, what: &str) -> Result<i64> {
        match self {
            Sexp::Numeral(number) => Ok(*number as i64),
            Sexp::List(items) => match items.as_slice() {
                [Sexp::Symbol("-"), Sexp::Numeral(number)] => Ok(-(*number as i64)),
                _ => malformed(format!("{what} is not a number")),
            },
            _ => malformed(format!("{what} is not a number")),
        }
    }
}

/// Reads a text that is a row of S-expressions.
pub fn read(text: &str) -> Result<Vec<Sexp<'_>>> {
    let bytes = text.as_bytes();
    let mut open: Vec<Vec<Sexp>> = vec![Vec::new()];
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            b';' => bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n),
            b'(' if open.len() > DEEPEST => return malformed(format!("more than {DEEPEST} lists are open at byte {at}")),
            b'(' => {
                open.push(Vec::new());
                at + 1
            }
            b')' => {
                let list = open.pop().unwrap_or_default();
                match open.last_mut() {
                    Some(outer) => outer.push(Sexp::List(list)),
                    None => return malformed(format!("a parenthesis at byte {at} closes nothing")),
                }
                at + 1
            }
            _ => {
                let (atom, end) = atom(text, at)?;
                open.last_mut().expect("a list is always open").push(atom);
                end
            }
        };
        at = end;
    }
    if open.len() != 1 {
        return malformed("a list is not closed at the end of the text");
    }
    Ok(open.pop().unwrap_or_default())
}

/// The atom that begins at `at`, and where the atom ends: at a space, a parenthesis, a comment or the end.
fn atom(text: &str, at: usize) -> Result<(Sexp<'_>, usize)> {
    if text.as_bytes()[at] == b'"' {
        return string(text, at);
    }
    let rest = &text[at..];
    let length = rest.find(|c: char| c.is_ascii_whitespace() || "();".contains(c)).unwrap_or(rest.len());
    let word = &rest[..length];
    let sexp = match word.as_bytes()[0] {
        b'0'..=b'9' => number(word),
        b':' if is_symbol(&word[1..]) => Some(Sexp::Keyword(word)),
        _ if is_symbol(word) => Some(Sexp::Symbol(word)),
        _ => None,
    };
    match sexp {
        Some(sexp) => Ok((sexp, at + length)),
        None => malformed(format!("no symbol, numeral, keyword or string: {:?} at byte {at}", word.chars().take(40).collect::<String>())),
    }
}

fn number(word: &str) -> Option<Sexp<'_>> {
    let whole = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    match word.split_once('.') {
        None if whole(word) => word.parse::<u64>().ok().filter(|n| *n <= i64::MAX as u64).map(Sexp::Numeral),
        Some((a, b)) if whole(a) && !b.is_empty() && b.bytes().all(|c| c.is_ascii_digit()) => Some(Sexp::Decimal(word)),
        _ => None,
    }
}

fn is_symbol(word: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&b);
    word.bytes().all(allowed) && word.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

fn string(text: &str, at: usize) -> Result<(Sexp<'_>, usize)> {
    let bytes = text.as_bytes();
    let (mut end, mut doubled) = (at + 1, false);
    loop {
        match (bytes.get(end), bytes.get(end + 1)) {
            (None, _) => return malformed(format!("a string is not closed; it begins at byte {at}")),
            (Some(b'"'), Some(b'"')) => (end, doubled) = (end + 2, true),
            (Some(b'"'), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b';')) => break,
            (Some(b'"'), Some(_)) => return malformed(format!("no space after the string that begins at byte {at}")),
            (Some(byte), _) if *byte < 32 && !b"\t\r\n".contains(byte) => return malformed("a control character in a string"),
            _ => end += 1,
        }
    }
    let inside = &text[at + 1..end];
    let value = if doubled { Cow::Owned(inside.replace("\"\"", "\"")) } else { Cow::Borrowed(inside) };
    Ok((Sexp::Text(value), end + 1))
}

#[cfg(test)]
mod tests {
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
        let wrong = ["(", ")", "|x|", "\"a", "007", "9223372036854775808", "a\"b\"", "\"a\"b", "#x1", "1a", ":", "'", "ä", "\"\u{1}\"", "1.", "\u{b}"];
        for text in wrong.into_iter().chain([deep.as_str()]) {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn negative_numbers() {
        assert_eq!(read("(- 3)").unwrap()[0].number("n"), Ok(-3));
        assert!(read("(- -3)").unwrap()[0].number("n").is_err());
    }
}
