//! S-expressions as SMT-LIB 2.6 has them (the page, "The file").

use crate::rejection::{need, Result};

/// Lists that are open at once, at most.
const DEEPEST: usize = 100;

/// Bytes of memory that a byte of text may need as S-expressions: "(a)" is two elements in a vector of at least four.
pub const BYTES_PER_BYTE: u64 = 80;

#[derive(Debug, Clone, PartialEq)]
pub enum Sexp<'a> {
    /// A numeral, or a negative number such as `(- 5)`.
    Number(i64),
    Symbol(&'a str),
    Keyword(&'a str),
    /// A string as in the text, without the quotes around it.
    Text(&'a str),
    List(Vec<Sexp<'a>>),
}

/// Reads a text that is a row of S-expressions.
pub fn read(text: &str) -> Result<Vec<Sexp<'_>>> {
    let (mut open, mut at) = (vec![Vec::new()], 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (atom, length) = match first {
            ' ' | '\t' | '\n' | '\r' => (None, 1),
            ';' => (None, rest.find(['\n', '\r']).unwrap_or(rest.len())),
            '(' if negative(rest).is_some() => (negative(rest).map(Sexp::Number), rest.find(')').unwrap_or(0) + 1),
            '(' => {
                need!(open.len() <= DEEPEST, "more than {DEEPEST} lists are open at byte {at}");
                open.push(Vec::new());
                (None, 1)
            }
            ')' => {
                need!(open.len() > 1, "a parenthesis at byte {at} closes nothing");
                (open.pop().map(Sexp::List), 1)
            }
            _ => {
                let found = if first == '"' { string(rest) } else { word(rest) };
                need!(let Some((atom, length)) = found, "at byte {at} is no symbol, numeral, keyword or whole string");
                (Some(atom), length)
            }
        };
        open.last_mut().expect("a list is always open").extend(atom);
        at += length;
    }
    need!(open.len() == 1, "a list is not closed at the end of the text");
    Ok(open.pop().unwrap_or_default())
}

/// Whether an atom ends here: at a space, a parenthesis, a comment or the end.
fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', '(', ')', ';'])
}

/// The symbol, numeral or keyword with which a text begins, and its length.
fn word(rest: &str) -> Option<(Sexp<'_>, usize)> {
    let length = (0..rest.len()).find(|at| rest.is_char_boundary(*at) && ends(&rest[*at..])).unwrap_or(rest.len());
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&b);
    let is_symbol = |word: &str| word.bytes().all(allowed) && !word.is_empty() && !word.as_bytes()[0].is_ascii_digit();
    let sexp = match &rest[..length] {
        word if is_symbol(word) => Sexp::Symbol(word),
        word if word.strip_prefix(':').is_some_and(is_symbol) => Sexp::Keyword(word),
        word => Sexp::Number(numeral(word)?),
    };
    Some((sexp, length))
}

/// The string with which a text begins, and its length. Two double quotes in a string are one.
fn string(rest: &str) -> Option<(Sexp<'_>, usize)> {
    let mut end = 1 + rest[1..].find('"')?;
    while rest[end + 1..].starts_with('"') {
        end += 2 + rest[end + 2..].find('"')?;
    }
    let is_control = |c: char| c.is_ascii_control() && !['\t', '\n', '\r'].contains(&c);
    let right = !rest[..end].contains(is_control) && ends(&rest[end + 1..]);
    right.then_some((Sexp::Text(&rest[1..end]), end + 1))
}

/// The negative number with which a text begins.
fn negative(rest: &str) -> Option<i64> {
    let number = numeral(rest.strip_prefix("(- ")?.split_once(')')?.0)?;
    (number > 0).then_some(-number)
}

/// The number that a numeral of at most 18 digits is.
pub fn numeral(word: &str) -> Option<i64> {
    let right = word.bytes().all(|b| b.is_ascii_digit()) && (word == "0" || !word.starts_with('0')) && word.len() <= 18;
    word.parse().ok().filter(|_| right)
}

#[cfg(test)]
#[path = "../tests/unit/sexp.rs"]
mod tests;
