//! Elements of an array: how their bytes become numbers.

use crate::table::dialect::WHOLE;

/// How the bytes of one element become a number.
pub(in crate::table) struct Element {
    kind: char,
    pub size: usize,
    big: bool,
}

impl Element {
    /// The error says what the array holds instead of numbers.
    pub fn new(descr: &str) -> Result<Self, &'static str> {
        let code = descr.strip_prefix(['\'', '"']).and_then(|d| d.strip_suffix(['\'', '"']));
        let Some(code) = code else {
            return Err("records");
        };
        let big = code.starts_with('>');
        let code = code.trim_start_matches(['<', '>', '|', '=']);
        let kind = code.chars().next().unwrap_or(' ');
        let size = code.get(kind.len_utf8()..).and_then(|s| s.parse().ok());
        match (kind, size) {
            ('f', Some(size @ (2 | 4 | 8))) | ('i' | 'u', Some(size @ (1 | 2 | 4 | 8))) | ('b', Some(size @ 1)) => {
                Ok(Element { kind, size, big })
            }
            ('f', _) => Err("floating-point numbers of unusual size"),
            ('c', _) => Err("complex numbers"),
            ('S' | 'U' | 'a', _) => Err("text"),
            ('O', _) => Err("Python objects"),
            ('M' | 'm', _) => Err("dates or durations"),
            ('V', _) => Err("records"),
            _ => Err("values of an unknown kind"),
        }
    }

    /// Whether a value may be a whole number that was rounded.
    pub fn may_be_rounded(&self, value: f64) -> bool {
        matches!(self.kind, 'i' | 'u') && value.abs() >= WHOLE
    }

    /// All of them; the usual types in loops that a compiler can unroll.
    pub fn decode_all(&self, bytes: &[u8], to: &mut [f64]) {
        match (self.kind, self.size, self.big) {
            ('u', 1, _) => to.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = f64::from(byte)),
            ('u', 2, false) => convert(bytes, to, |bytes| f64::from(u16::from_le_bytes(bytes))),
            ('i', 4, false) => convert(bytes, to, |bytes| f64::from(i32::from_le_bytes(bytes))),
            ('i', 8, false) => convert(bytes, to, |bytes| i64::from_le_bytes(bytes) as f64),
            ('f', 4, false) => convert(bytes, to, |bytes| f64::from(f32::from_le_bytes(bytes))),
            ('f', 8, false) => convert(bytes, to, f64::from_le_bytes),
            _ => to.iter_mut().zip(bytes.chunks_exact(self.size)).for_each(|(to, bytes)| *to = self.decode(bytes)),
        }
    }

    pub fn decode(&self, bytes: &[u8]) -> f64 {
        let bits = if self.big {
            bytes.iter().fold(0, |all, &b| all << 8 | u64::from(b))
        } else {
            bytes.iter().rev().fold(0, |all, &b| all << 8 | u64::from(b))
        };
        match (self.kind, self.size) {
            ('f', 8) => f64::from_bits(bits),
            ('f', 4) => f64::from(f32::from_bits(bits as u32)),
            ('f', _) => half(bits as u16),
            ('i', size) => {
                let unused = 64 - 8 * size as u32;
                ((bits << unused) as i64 >> unused) as f64
            }
            ('b', _) => f64::from(u8::from(bits != 0)),
            _ => bits as f64,
        }
    }
}

fn convert<const N: usize>(bytes: &[u8], to: &mut [f64], number: impl Fn([u8; N]) -> f64) {
    to.iter_mut().zip(bytes.as_chunks().0).for_each(|(to, &bytes)| *to = number(bytes));
}

fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let magnitude = match bits >> 10 & 0x1f {
        0 => fraction * 2_f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1.0 + fraction) * 2_f64.powi(i32::from(exponent) - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn many_elements_are_read_as_one_by_one() {
        let bytes: Vec<u8> = (0..240_u32).map(|i| (i * 37 % 251) as u8).collect();
        let types = ["u1", "i1", "b1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"];
        for code in types.iter().flat_map(|t| [format!("'<{t}'"), format!("'>{t}'")]) {
            let element = Element::new(&code).unwrap();
            let one_by_one: Vec<u64> = bytes.chunks_exact(element.size).map(|b| element.decode(b).to_bits()).collect();
            let mut all = vec![0.0; one_by_one.len()];
            element.decode_all(&bytes, &mut all);
            assert_eq!(all.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), one_by_one, "{code}");
        }
    }
}
