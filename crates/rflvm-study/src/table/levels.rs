//! The texts of a column, each kept once: what it holds follows from them when the whole column has been read.

use std::collections::HashMap;

use super::holds::Holds;

/// Different texts up to which a column can be one of categories; beyond, no more are kept.
pub(super) const MOST: usize = 1000;
/// No name of a category is near this long.
const LONGEST: usize = 1 << 10;

/// The texts of a column. Its cells hold their codes, counted in the order in which texts are met.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    codes: HashMap<String, u32>,
    /// Cells that are texts, and cells that could be numbers.
    pub texts: usize,
    pub numbers: usize,
    /// How many different ones are no numbers.
    pub different: usize,
    /// Place and words of the first text.
    pub first: Option<(String, String)>,
    /// What the column holds, if the file or the user says so.
    pub said: Option<Holds>,
    /// Whether it was the user.
    pub asked: bool,
    /// Whether these are the levels of a fit, and there are no others.
    pub known: bool,
    /// Whether cells before the first text hold numbers and no codes.
    pub late: bool,
    /// Whether there were more texts than are kept.
    pub full: bool,
}

impl Levels {
    /// For a column of which it is known what it holds.
    pub fn said(holds: Holds) -> Self {
        Levels { said: Some(holds), ..Levels::default() }
    }

    /// For a column that the user wants to be one of categories, whatever it looks like.
    pub fn asked() -> Self {
        Levels { asked: true, ..Levels::said(Holds::Category) }
    }

    /// For a column that has these levels and no others.
    pub fn known(levels: &[String]) -> Self {
        let codes = levels.iter().zip(0..).map(|(level, code)| (level.clone(), code)).collect();
        Levels { codes, known: true, ..Levels::asked() }
    }

    /// For a column that has had so many numbers before its first text.
    pub fn after(numbers: usize) -> Self {
        Levels { numbers, late: numbers > 0, ..Levels::default() }
    }

    /// Whether any cell has been met.
    pub fn is_met(&self) -> bool {
        self.texts + self.numbers > 0
    }

    /// The code of a text; none where it is not among levels that are known.
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
