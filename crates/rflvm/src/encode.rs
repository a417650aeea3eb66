//! Numbers as files hold them.

/// Little-endian bytes of some numbers, in one pass that a compiler turns into a copy.
pub fn floats(values: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; 8 * values.len()];
    bytes.chunks_exact_mut(8).zip(values).for_each(|(to, value)| to.copy_from_slice(&value.to_le_bytes()));
    bytes
}

/// The same in single precision.
pub fn singles(values: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * values.len()];
    bytes.chunks_exact_mut(4).zip(values).for_each(|(to, &value)| to.copy_from_slice(&(value as f32).to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::{floats, singles};

    #[test]
    fn numbers_are_written_as_they_are() {
        let values = [1.5, -0.0, f64::NAN, f64::INFINITY];
        assert_eq!(floats(&values), values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        assert_eq!(singles(&[1.5, 1e300]), [1.5_f32.to_le_bytes(), f32::INFINITY.to_le_bytes()].concat());
        assert!(floats(&[]).is_empty());
    }
}
