//! Writes files for tests.

/// A file with these members. Every second member is not compressed.
pub fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"proofka-certificate 4\n".to_vec();
    for (number, (name, bytes)) in members.iter().enumerate() {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, if number % 2 == 0 { 6 } else { 0 });
        file.extend(format!("{name} {} {}\n", packed.len(), bytes.len()).as_bytes());
        file.extend(packed);
    }
    file
}

/// Rows in columns, each value XORed with the one before.
pub fn columns(rows: &[Vec<u64>], words: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in 0..words {
        let mut before = 0;
        for row in rows {
            bytes.extend((row[word] ^ before).to_le_bytes());
            before = row[word];
        }
    }
    bytes
}
