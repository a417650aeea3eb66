//! Elements of an array: how their bytes become numbers.

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

    pub fn decode(&self, bytes: &[u8]) -> f64 {
        let bits = if self.big {
            bytes.iter().fold(0, |all, &b| all << 8 | u64::from(b))
        } else {
            bytes.iter().rev().fold(0, |all, &b| all << 8 | u64::from(b))
        };
        // Integers beyond 2^53 are rounded, as in NumPy's conversion to float.
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
