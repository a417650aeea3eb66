//! A fit as one interactive web page: a single file that opens from disk and fetches nothing.
//!
//! Each section of the page has a file here, which asks the engine and packs its answers: small ones as JSON, large ones as arrays
//! (`pack`). The page itself is in `page/`: plain JavaScript, drawn on canvases and as SVG. It does not use a plotting library: the ones
//! that draw 20,000 points smoothly weigh 1 to 4 MB in every file, and none of them decodes a latent position as the pointer moves.

#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
// User input must never cause a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

mod cells;
mod checks;
mod decode;
mod forecast;
mod frequencies;
mod image;
mod latent;
mod link;
mod number;
mod outlier_score;
mod pack;
mod page;
mod predictions;
mod subject;
mod trust;

pub use image::Image;
pub use subject::{Rows, Subject};

use pack::Pack;
use rflvm::internal::error::RunError;
use serde_json::{Value, json};

/// The page about a fit. `image` is the shape of the picture that each row is, if rows are pictures.
pub fn html(subject: &Subject<'_>, image: Option<Image>) -> Result<String, RunError> {
    if let Some(image) = image {
        image.check(subject.columns.len())?;
    }
    let mut pack = Pack::default();
    let model = subject.fitted.model;
    let mut families: Vec<&str> = model.blocks().iter().map(|block| block.family.name()).collect();
    families.dedup();
    let data = json!({
        "title": subject.title,
        "rows": model.rows(),
        "columns": subject.columns,
        "families": families,
        "image": image.map(|image| [image.height, image.width]),
        "map": latent::section(subject, &mut pack)?,
        "cells": cells::section(subject, &mut pack),
        "decode": told(decode::section(subject, &mut pack))?,
        "kernel": told(frequencies::section(subject))?,
        "fit": {
            "checks": told(checks::section(subject))?,
            "predictions": told(predictions::section(subject))?,
            "missing": told(predictions::missing(subject))?,
            "forecast": told(forecast::section(subject))?,
            "modes": latent::modes(subject, &mut pack),
        },
        "trust": trust::section(subject, &mut pack)?,
    });
    Ok(page::html(&subject.title, &data, &pack.deflated()))
}

/// A section, or why there is none: a store may lack the draws that it needs.
fn told(section: Result<Value, RunError>) -> Result<Value, RunError> {
    match section {
        Err(RunError::Spec(reason)) => Ok(json!({ "absent": reason.to_string() })),
        other => other,
    }
}
