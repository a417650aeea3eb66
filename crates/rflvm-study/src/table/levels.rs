//! The distinct texts of a column. When the whole column has been read, they show what it holds.

use std::collections::HashMap;

use super::holds::Holds;

/// The most distinct texts of a category; beyond this, no more are kept.
pub(super) const MOST: usize = 1000;
/// Longer texts, in bytes, are not categories.
const LONGEST: usize = 1 << 10;

/// The distinct texts of a column. Its cells hold their codes, numbered in order of appearance.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    codes: HashMap<String, u32>,
    /// Cells that are texts, and cells that could be numbers.
    pub texts: usize,
    pub numbers: usize,
    /// Number of distinct texts that are not numbers.
    pub different: usize,
    /// Place and text of the first text.
    pub first: Option<(String, String)>,
    /// What the column holds, if the file or the user declares it.
    pub said: Option<Holds>,
    /// Whether the user declared it.
    pub asked: bool,
    /// Whether these are the levels of a fit, so that others are errors.
    pub known: bool,
    /// Whether cells before the first text hold numbers rather than codes.
    pub late: bool,
    /// Whether there were more texts than are kept.
    pub full: bool,
}

impl Levels {
    /// For a column whose kind is known.
    pub fn said(holds: Holds) -> Self {
        Levels { said: Some(holds), ..Levels::default() }
    }

    /// For a column that the user declares to be a category.
    pub fn asked() -> Self {
        Levels { asked: true, ..Levels::said(Holds::Category) }
    }

    /// For a column with these levels and no others.
    pub fn known(levels: &[String]) -> Self {
        let codes = levels.iter().zip(0..).map(|(level, code)| (level.clone(), code)).collect();
        Levels { codes, known: true, ..Levels::asked() }
    }

    /// For a column with this many numbers before its first text.
    pub fn after(numbers: usize) -> Self {
        Levels { numbers, late: numbers > 0, ..Levels::default() }
    }

    /// Whether any cell has been read.
    pub fn is_met(&self) -> bool {
        self.texts + self.numbers > 0
    }

    /// The code of a text; `None` if it is not among the known levels.
    pub fn code(&mut self, text: &str, is_number: bool) -> Option<f64> {
        *(if is_number { &mut self.numbers } else { &mut self.texts }) += 1;
        if let Some(&code) = self.codes.get(text) {
            return Some(f64::from(code));
        }
        if self.known {
            return None;
        }
        if self.codes.len() == MOST || text.len() > LONGEST {
            self.full = true;
            return Some(0.0);
        }
        self.different += usize::from(!is_number);
        let code = self.codes.len() as u32;
        self.codes.insert(text.to_string(), code);
        Some(f64::from(code))
    }

    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// The texts in the order of their codes.
    pub fn in_order(&self) -> Vec<&str> {
        let mut texts: Vec<(u32, &str)> = self.codes.iter().map(|(text, &code)| (code, text.as_str())).collect();
        texts.sort_unstable();
        texts.into_iter().map(|(_, text)| text).collect()
    }
}
