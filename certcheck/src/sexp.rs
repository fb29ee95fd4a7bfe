//! S-expressions as SMT-LIB 2.6 has them (the page, "The file").

use crate::rejection::{need, Result};
use std::borrow::Cow;

/// Lists open at once: a term has at most 200 levels, of which the innermost is no list, and stands within one list.
const DEEPEST: usize = 200;

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

impl Sexp<'_> {
    /// The number that is written `5` or `(- 5)`, as a domain has them.
    pub fn number(&self) -> Option<i64> {
        match self {
            Sexp::Numeral(number) => Some(*number as i64),
            Sexp::List(items) => match items.as_slice() {
                [Sexp::Symbol("-"), Sexp::Numeral(number)] => Some(-(*number as i64)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Reads a text that is a row of S-expressions.
pub fn read(text: &str) -> Result<Vec<Sexp<'_>>> {
    let bytes = text.as_bytes();
    let (mut open, mut at) = (vec![Vec::new()], 0);
    while at < bytes.len() {
        at = match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            b';' => bytes[at..].iter().position(|b| b"\n\r".contains(b)).map_or(bytes.len(), |n| at + n),
            b'(' => {
                need!(open.len() <= DEEPEST, "more than {DEEPEST} lists are open at byte {at}");
                open.push(Vec::new());
                at + 1
            }
            b')' => {
                let list = open.pop().unwrap_or_default();
                need!(let Some(outer) = open.last_mut(), "a parenthesis at byte {at} closes nothing");
                outer.push(Sexp::List(list));
                at + 1
            }
            _ => {
                let (atom, end) = atom(text, at)?;
                open.last_mut().expect("a list is always open").push(atom);
                end
            }
        };
    }
    need!(open.len() == 1, "a list is not closed at the end of the text");
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
    let sexp = match word.bytes().next() {
        _ if word == "2.6" => Some(Sexp::Decimal(word)),
        Some(b'0'..=b'9') => numeral(word).map(Sexp::Numeral),
        Some(b':') if is_symbol(&word[1..]) => Some(Sexp::Keyword(word)),
        _ if is_symbol(word) => Some(Sexp::Symbol(word)),
        _ => None,
    };
    need!(let Some(sexp) = sexp, "at byte {at} is neither a symbol, a numeral, a keyword nor a string");
    Ok((sexp, at + length))
}

/// The number that a numeral of at most 18 digits is.
pub fn numeral(word: &str) -> Option<u64> {
    let right = word.bytes().all(|b| b.is_ascii_digit()) && (word == "0" || !word.starts_with('0')) && word.len() <= 18;
    word.parse().ok().filter(|_| right)
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
            (Some(b'"'), Some(b'"')) => (end, doubled) = (end + 2, true),
            (Some(b'"'), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b';')) => break,
            (Some(32..) | Some(b'\t' | b'\n' | b'\r'), _) if bytes[end] != b'"' => end += 1,
            _ => need!(false, "the string at byte {at} is not closed, has a control character, or no space follows it"),
        }
    }
    let inside = &text[at + 1..end];
    let value = if doubled { Cow::Owned(inside.replace("\"\"", "\"")) } else { Cow::Borrowed(inside) };
    Ok((Sexp::Text(value), end + 1))
}

#[cfg(test)]
#[path = "../tests/unit/sexp.rs"]
mod tests;
