//! Formats of a picture. SVG is what we draw; PNG and PDF are made from it by `rsvg-convert` of the librsvg project.
//!
//! The crates that could do this here (resvg, svg2pdf) bring 112 others, most of them for fonts, and would take longer to compile than the
//! program itself.

use crate::failure::Failure;
use rflvm::internal::error::SpecError;
use rflvm_study::write;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Pixels per unit of a PNG: 300 dots per inch at the size of the SVG.
const ZOOM: &str = "3.125";

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
    Pdf,
}

impl Format {
    /// By the ending of a name.
    pub fn of(path: &Path) -> Result<Self, SpecError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            Some("pdf") => Ok(Format::Pdf),
            _ => Err(refused(path, "its name must end in .svg, .png or .pdf")),
        }
    }

    /// Writes a picture.
    pub fn write(self, path: &Path, svg: &str) -> Result<(), Failure> {
        let bytes = match self {
            Format::Svg => return Ok(write::text(path, svg)?),
            Format::Png => converted(&["--format", "png", "--zoom", ZOOM], svg),
            Format::Pdf => converted(&["--format", "pdf"], svg),
        };
        let rule = "it needs the program `rsvg-convert` (on Debian and Ubuntu, apt-get install librsvg2-bin; with Homebrew, \
                    brew install librsvg); install it, or write an .svg";
        let bytes = bytes.ok_or_else(|| refused(path, rule))?;
        Ok(write::with(path, |file| file.write_all(&bytes))?)
    }
}

fn refused(path: &Path, rule: &str) -> SpecError {
    SpecError::Setting { setting: "out", value: path.display().to_string(), rule: rule.into() }
}

/// The picture in another format; `None` if the program is missing or fails.
fn converted(arguments: &[&str], svg: &str) -> Option<Vec<u8>> {
    let mut command = Command::new("rsvg-convert");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take()?;
    // It reads everything before it writes anything, so that neither waits for the other.
    input.write_all(svg.as_bytes()).ok()?;
    drop(input);
    let output = child.wait_with_output().ok()?;
    output.status.success().then_some(output.stdout)
}
