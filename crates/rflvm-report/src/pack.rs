//! Large arrays in one block of bytes: little-endian, each aligned to its element, deflated together and written as base64.
//!
//! JSON would take three times the space and ten times the time to read.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use std::io::Write;

/// The block. Arrays are referred to by a JSON object with their place, length and type.
#[derive(Debug, Default)]
pub struct Pack {
    bytes: Vec<u8>,
}

impl Pack {
    /// Single-precision numbers.
    pub fn floats<'a>(&mut self, values: impl IntoIterator<Item = &'a f64>) -> Value {
        self.array("f32", 4, values.into_iter().map(|&value| (value as f32).to_le_bytes()))
    }

    /// Numbers to 1/32767 of the largest, all of which must be finite.
    pub fn shorts(&mut self, values: &[f64]) -> Value {
        let largest = values.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let unit = if largest > 0.0 { largest / 32767.0 } else { 1.0 };
        let mut told = self.array("i16", 2, values.iter().map(|value| ((value / unit).round() as i16).to_le_bytes()));
        told["unit"] = json!(unit);
        told
    }

    /// Numbers to 1/65534 of their range, NaN included.
    pub fn steps(&mut self, values: &[f64]) -> Value {
        let seen = || values.iter().filter(|v| v.is_finite());
        let (low, high) = seen().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        let unit = if high > low { (high - low) / 65534.0 } else { 1.0 };
        let step = |value: &f64| if value.is_finite() { ((value - low) / unit).round() as u16 } else { u16::MAX };
        let mut told = self.array("u16", 2, values.iter().map(|value| step(value).to_le_bytes()));
        (told["low"], told["unit"]) = (json!(if low.is_finite() { low } else { 0.0 }), json!(unit));
        told
    }

    /// Small whole numbers.
    pub fn bytes(&mut self, values: impl IntoIterator<Item = u8>) -> Value {
        self.array("u8", 1, values.into_iter().map(|value| [value]))
    }

    /// Whole numbers up to 65535.
    pub fn words(&mut self, values: impl IntoIterator<Item = u16>) -> Value {
        self.array("u16", 2, values.into_iter().map(u16::to_le_bytes))
    }

    fn array<const W: usize>(&mut self, kind: &str, width: usize, values: impl Iterator<Item = [u8; W]>) -> Value {
        let start = self.bytes.len().next_multiple_of(width);
        self.bytes.resize(start, 0);
        values.for_each(|value| self.bytes.extend(value));
        json!({ "at": start, "count": (self.bytes.len() - start) / width, "kind": kind })
    }

    /// The block, deflated, in base64.
    pub fn deflated(self) -> String {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
        // Writing into memory cannot fail.
        let _ = encoder.write_all(&self.bytes);
        base64(&encoder.finish().unwrap_or_default())
    }
}

/// Fifteen lines here are lighter than a dependency.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place > three.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn arrays_are_aligned_and_described() {
        let mut pack = Pack::default();
        assert_eq!(pack.bytes([1, 2, 3]), json!({ "at": 0, "count": 3, "kind": "u8" }));
        assert_eq!(pack.floats(&[0.5]), json!({ "at": 4, "count": 1, "kind": "f32" }));
        assert_eq!(pack.shorts(&[-2.0, 1.0]), json!({ "at": 8, "count": 2, "kind": "i16", "unit": 2.0 / 32767.0 }));
        assert_eq!(pack.bytes[4..8], 0.5_f32.to_le_bytes());
        assert_eq!(pack.bytes[8..12], [1, 128, 0, 64]);
        assert_eq!(pack.shorts(&[0.0])["unit"], 1.0);
        let steps = pack.steps(&[3.0, f64::NAN, 1.0]);
        assert_eq!(
            (steps["low"].as_f64(), pack.bytes[pack.bytes.len() - 6..].to_vec()),
            (Some(1.0), vec![254, 255, 255, 255, 0, 0])
        );
        assert_eq!(pack.steps(&[f64::INFINITY, 2.0])["low"], 2.0);
        assert_eq!(pack.steps(&[f64::NAN])["low"], 0.0);
    }
}
