//! Unit tests of `src/layout.rs`.

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
    let layout = Layout::new(&system(), &[(0, 62), (1, 0)]).unwrap();
    assert_eq!(layout.row(&[2, 1]), vec![3 << 62 | 2]);
    assert_eq!(layout.used, vec![3 << 62 | 3]);
    assert_eq!(Layout::new(&system(), &[(0, 64), (1, 0)]).unwrap().words, 2);
}

#[test]
fn wrong_fields() {
    for places in [&[(0, 63), (1, 0)][..], &[(0, 128), (1, 0)], &[(0, u64::MAX), (1, 0)], &[(0, 1), (1, 0)], &[(0, 0), (0, 2)], &[(0, 64)]] {
        assert!(Layout::new(&system(), places).is_err(), "{places:?}");
    }
}
