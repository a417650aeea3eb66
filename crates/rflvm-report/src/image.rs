//! Rows that are pictures: one column per pixel, row by row from the top left.

use rflvm::internal::error::SpecError;
use std::str::FromStr;

/// Height and width in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    /// Height.
    pub height: usize,
    /// Width.
    pub width: usize,
}

impl FromStr for Image {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides =
            text.split_once(['x', 'X', '×']).map(|(height, width)| (height.trim().parse(), width.trim().parse()));
        match sides {
            Some((Ok(height), Ok(width))) if height > 0 && width > 0 => Ok(Image { height, width }),
            _ => Err("give the height and the width of a picture in pixels, such as 28x28".into()),
        }
    }
}

impl Image {
    /// Checks that a picture has as many pixels as the table has columns.
    pub fn check(self, columns: usize) -> Result<(), SpecError> {
        if self.height.checked_mul(self.width) == Some(columns) {
            return Ok(());
        }
        let (setting, value) = ("image", format!("{}x{}", self.height, self.width));
        let rule = format!(
            "the table has {columns} columns, and a picture needs one for each pixel; give a height and a width whose product is {columns}"
        );
        Err(SpecError::Setting { setting, value, rule })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shapes_that_fit_the_table_are_taken() {
        let image: Image = "2x3".parse().unwrap();
        assert_eq!(image, Image { height: 2, width: 3 });
        assert!(image.check(6).is_ok());
        assert!(image.check(7).unwrap_err().to_string().contains("7 columns"));
        for text in ["", "28", "0x4", "2x", "axb", "-1x2", "99999999999999999999x1"] {
            assert!(text.parse::<Image>().is_err(), "{text}");
        }
        assert!("4294967296x4294967296".parse::<Image>().unwrap().check(0).is_err());
    }
}
