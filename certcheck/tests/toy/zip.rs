//! Writes ZIP archives for tests.

fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |s, _| if s & 1 == 1 { 0xEDB8_8320 ^ s >> 1 } else { s >> 1 });
    !bytes.iter().fold(!0, step)
}

/// An archive with these members. Every second member is stored, the others are deflated.
pub fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (number, (name, bytes)) in members.iter().enumerate() {
        let deflated = number % 2 == 0;
        let packed = if deflated { miniz_oxide::deflate::compress_to_vec(bytes, 6) } else { bytes.clone() };
        let mut middle = vec![20, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 33, 0];
        for number in [crc(bytes), packed.len() as u32, bytes.len() as u32] {
            middle.extend(number.to_le_bytes());
        }
        middle.extend([name.len() as u8, 0, 0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00".iter().chain(&middle).chain(&[0; 10]));
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        file.extend(b"PK\x03\x04".iter().chain(&middle).chain(name.as_bytes()).chain(&packed));
    }
    let (start, count) = (file.len() as u32, members.len() as u16);
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    file.extend([(directory.len() as u32).to_le_bytes(), start.to_le_bytes()].concat());
    file.extend([0, 0]);
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
