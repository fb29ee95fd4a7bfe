//! Unit tests of `src/faults.rs`.

use super::*;

fn faults(kinds: &str) -> Faults {
    Faults::new(kinds.split_whitespace().map(str::to_string))
}

fn map<T>(pairs: &[(&str, T)]) -> BTreeMap<String, T>
where
    T: Clone,
{
    pairs.iter().map(|(kind, value)| (kind.to_string(), value.clone())).collect()
}

#[test]
fn combinations() {
    let one = faults("c a a");
    assert_eq!(one.with("b"), faults("a a b c"));
    let smaller: Vec<_> = one.smaller().map(|(smaller, kind)| (smaller, kind.as_str())).collect();
    assert_eq!(smaller, [(faults("a c"), "a"), (faults("a c"), "a"), (faults("a a"), "c")]);
    assert!(one.contains(&Faults::default()) && one.contains(&one) && !one.contains(&one.with("a")));
    assert!(one.contains(&faults("a c")) && !one.contains(&faults("b")) && !faults("a").contains(&faults("a c")));
    assert_eq!(one.replaced(&map(&[("a", "c".to_string())])), faults("c c c"));
    assert_eq!(one.replaced(&map(&[("a", "c".to_string()), ("c", "a".to_string())])), faults("a c c"));
    let limits = |a, c| map(&[("a", a), ("c", c)]);
    assert!(one.within(&limits(2, 1), 3) && !one.within(&limits(1, 1), 3) && !one.within(&limits(2, 1), 2));
    assert_eq!(one.to_string(), "{a 2, c}");
}
