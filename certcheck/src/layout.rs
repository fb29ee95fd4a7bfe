//! Rows: where the kept variables are in the 64-bit words of a row (the page, `layout`).

use crate::rejection::{need, Result};
use crate::system::System;

pub struct Layout {
    pub words: usize,
    /// The field of each variable of the system that is kept.
    pub fields: Vec<Option<Field>>,
    /// For each word, the bits that belong to fields. All other bits of a row are 0.
    pub used: Vec<u64>,
}

#[derive(Clone)]
pub struct Field {
    pub variable: usize,
    pub word: usize,
    pub shift: u32,
    /// As many low bits as the field is wide.
    pub mask: u64,
    pub low: i32,
    /// The highest value minus the lowest.
    pub span: u64,
}

impl Layout {
    /// The layout of these variables, each with the first bit of its field.
    pub fn new(system: &System, places: &[(usize, u64)]) -> Result<Layout> {
        let mut layout = Layout { words: 1, fields: vec![None; system.variables.len()], used: vec![0; places.len().max(1)] };
        for (variable, bit) in places {
            let of = &system.variables[*variable];
            need!(*bit < 64 * places.len() as u64, "a row has more words than variables");
            let (word, shift) = ((bit / 64) as usize, (bit % 64) as u32);
            let span = (i64::from(of.high) - i64::from(of.low)) as u64;
            let width = u64::BITS - span.leading_zeros();
            let mask = (1 << width) - 1;
            need!(shift + width <= 64, "the field of {} leaves its word", of.name);
            let alone = layout.used[word] & mask << shift == 0 && layout.fields[*variable].is_none();
            need!(alone, "the field of {} overlaps another one, or is there twice", of.name);
            layout.used[word] |= mask << shift;
            layout.words = layout.words.max(word + 1);
            layout.fields[*variable] = Some(Field { variable: *variable, word, shift, mask, low: of.low, span });
        }
        layout.used.truncate(layout.words);
        Ok(layout)
    }

    /// The fields of the kept variables.
    pub fn kept(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().flatten()
    }

    /// The row of a state of the whole system, cut down to the kept variables.
    pub fn row(&self, state: &[i32]) -> Vec<u64> {
        let mut row = vec![0; self.words];
        for field in self.kept() {
            row[field.word] |= field.bits(state[field.variable]);
        }
        row
    }
}

impl Field {
    /// A value of the domain, in its place in the word.
    pub fn bits(&self, value: i32) -> u64 {
        ((i64::from(value) - i64::from(self.low)) as u64) << self.shift
    }

    pub fn place(&self) -> u64 {
        self.mask << self.shift
    }
}

#[cfg(test)]
#[path = "../tests/unit/layout.rs"]
mod tests;
