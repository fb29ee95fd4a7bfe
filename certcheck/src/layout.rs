//! Rows: where the kept variables are in the 64-bit words of a row (the page, `layout`).

use crate::rejection::{need, Result};
use crate::system::System;

pub struct Layout {
    pub words: usize,
    pub fields: Vec<Field>,
    /// For each word, the bits that belong to fields. All other bits of a row are 0.
    pub used: Vec<u64>,
}

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
    /// A layout without fields. Each word of a row has a field, except the word of a row without fields.
    pub fn new(words: u64, kept: usize) -> Result<Layout> {
        need!(1 <= words && words <= kept.max(1) as u64, "a row has {words} words for {kept} kept variables");
        let words = words as usize;
        Ok(Layout { words, fields: Vec::with_capacity(kept), used: vec![0; words] })
    }

    /// Adds a field, which lies within a word, overlaps no other field, and is wide enough for the domain.
    pub fn add(&mut self, system: &System, variable: usize, word: u64, shift: u64, width: u64) -> Result<()> {
        let of = &system.variables[variable];
        let span = (i64::from(of.high) - i64::from(of.low)) as u64;
        let inside = word < self.words as u64 && width <= 64 && shift <= 63 && shift + width <= 64;
        need!(inside, "the field of {} is not within a word of a row", of.name);
        let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
        let free = self.used[word as usize] & mask << shift == 0;
        need!(span <= mask && free, "the field of {} is too narrow, or overlaps another field", of.name);
        self.used[word as usize] |= mask << shift;
        self.fields.push(Field { variable, word: word as usize, shift: shift as u32, mask, low: of.low, span });
        Ok(())
    }

    /// The field of each variable of the system.
    pub fn by_variable(&self, variables: usize) -> Vec<Option<&Field>> {
        let mut fields = vec![None; variables];
        for field in &self.fields {
            fields[field.variable] = Some(field);
        }
        fields
    }

    /// The row of a state of the whole system, cut down to the kept variables.
    pub fn row(&self, state: &[i32]) -> Vec<u64> {
        let mut row = vec![0; self.words];
        for field in &self.fields {
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
mod tests {
    use super::*;
    use crate::terms::Op;

    fn system() -> System {
        let mut system = System::default();
        for (i, name) in ["a", "b"].into_iter().enumerate() {
            let term = system.terms.variable(i as u32, (-1, 2));
            system.variables.push(crate::system::Variable { name: name.into(), low: -1, high: 2, initial: 0, term });
        }
        system.terms.add(Op::Truth(true)).unwrap();
        system
    }

    #[test]
    fn values_are_stored_minus_the_lowest() {
        let mut layout = Layout::new(1, 2).unwrap();
        layout.add(&system(), 0, 0, 62, 2).unwrap();
        layout.add(&system(), 1, 0, 0, 5).unwrap();
        assert_eq!(layout.row(&[2, 1]), vec![3 << 62 | 2]);
        assert_eq!(layout.used, vec![3 << 62 | 31]);
    }

    #[test]
    fn wrong_fields() {
        for (word, shift, width) in [(2, 0, 2), (0, 63, 2), (0, 64, 0), (0, 0, 65), (0, 0, 1), (0, 0, 0), (0, u64::MAX, 2)] {
            assert!(Layout::new(2, 2).unwrap().add(&system(), 0, word, shift, width).is_err());
        }
        let mut layout = Layout::new(1, 2).unwrap();
        layout.add(&system(), 0, 0, 0, 2).unwrap();
        assert!(layout.add(&system(), 1, 0, 1, 2).is_err());
        assert!(Layout::new(0, 2).is_err() && Layout::new(3, 2).is_err());
    }
}
