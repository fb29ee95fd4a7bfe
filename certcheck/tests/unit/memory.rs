//! Unit tests of `src/memory.rs`.

use super::*;

#[test]
fn bytes_are_refused_before_they_are_taken() {
    let mut memory = Memory::new(FIXED + 100);
    memory.take(60, "a").unwrap();
    assert!(memory.take(60, "b").is_err());
    assert!(memory.take(u64::MAX, "c").is_err());
    memory.give_back(60);
    memory.take(100, "d").unwrap();
    assert_eq!(memory.peak, FIXED + 100);
}

#[test]
fn numbers_of_bytes() {
    assert_eq!((parse_bytes("4GiB"), parse_bytes("4G")), (Some(4 << 30), Some(4 << 30)));
    assert_eq!(parse_bytes("17"), Some(17));
    for wrong in ["", "GiB", "-1", "4GB", "99999999999GiB"] {
        assert_eq!(parse_bytes(wrong), None, "{wrong}");
    }
}
