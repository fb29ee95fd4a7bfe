//! Unit tests of `src/faults.rs`.

use super::*;

#[test]
fn combinations() {
    let one = Faults::new(vec![(2, 1), (0, 2)]).unwrap();
    assert_eq!(one.with(1).without(0), Faults::new(vec![(0, 1), (1, 1), (2, 1)]).unwrap());
    assert_eq!(one.without(2), Faults::default().with(0).with(0));
    assert!(one.contains(&Faults::default()) && one.contains(&one) && !one.contains(&one.with(0)));
    assert_eq!(one.replaced(&[(0, 2)]), Faults::new(vec![(2, 3)]).unwrap());
    assert_eq!(one.replaced(&[(0, 2), (2, 0)]), Faults::new(vec![(0, 1), (2, 2)]).unwrap());
    assert!(one.within(&[2, 0, 1], 3) && !one.within(&[1, 0, 1], 3) && !one.within(&[2, 0, 1], 2));
    assert_eq!(one.words(&["kill".into(), "b".into(), "c".into()]), "{kill 2, c}");
    assert!(Faults::new(vec![(1, 0)]).is_none() && Faults::new(vec![(1, 1), (1, 2)]).is_none());
}
