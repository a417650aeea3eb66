//! Jumps of X and W in a complete Gaussian table, with β and σ² integrated out: a row, or a frequency, chooses among places from anywhere.
//! Gradient moves are local: by them a row in the wrong place stays there, and a frequency that the kernel lacks is never found.
//!
//! Of the current place and independent draws from a density q, each is chosen with probability ∝ π/q, which leaves π invariant (iterated
//! sampling importance resampling: Andrieu, Lee & Vihola 2018). With H' and b_j as in [`crate::model::collapsed`], V = (H'ᵀH' + δI)⁻¹,
//! G = VH'ᵀỸ: [`rows`] and [`frequencies`] say what the table says of a place.

mod frequencies;
mod rows;
mod table;

use super::assignments::Seating;
use crate::error::NumericalError;
use crate::model::collapsed::CollapsedData;
use crate::model::features::Turned;
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::rng::Stream;
use table::Table;

/// Up to this number of rows, on average, jump in a sweep of any table; of longer tables a tenth of the rows.
const FEW_ROWS: f64 = 64.0;

/// From this ratio of signal to noise on, in variances, V has too few digits.
const MOST: f64 = 1e8;

/// Jumps of a random `share` of the rows (unless X is held) and of the frequencies; z goes with W, and clusters are redrawn later.
pub(crate) fn update(
    model: &Model,
    state: &mut State,
    target: &CollapsedData,
    (positions, share): (bool, f64),
    stream: Stream,
) -> Result<(), NumericalError> {
    let Some(tau2) = target.common(&state.tau2).filter(|tau2| *tau2 < MOST) else { return Ok(()) };
    let mut table = Table::new(target, &mut state.features, tau2)?;
    if positions {
        let stream = stream.named("rows");
        let turned = Turned::new(&table.w);
        // A row costs as much as a gradient of some hundred: of a long table only a tenth jumps, or the sweep would consist of jumps.
        let share = share.min((FEW_ROWS / model.rows() as f64).max(0.1));
        for n in (0..model.rows()).filter(|&n| stream.at(n as u64).is_chosen(share)) {
            table.jump_row(n, (model.covariates().row(n), &turned), &mut stream.at(n as u64).rng());
        }
    }
    let stream = stream.named("frequencies");
    let mut seating = match &model.spec().kernel {
        Kernel::Learned(mixture) => Some(Seating::new(mixture, &state.spectral, &table.w)?),
        Kernel::Rbf { .. } => None,
    };
    for l in (0..model.frequencies()).filter(|&l| stream.at(l as u64).is_chosen(share)) {
        table.jump_frequency(l, state, seating.as_mut(), &mut stream.at(l as u64).rng())?;
    }
    let Table { x, w, h, .. } = table;
    state.features.take_back(h, Some((x.as_slice(), w.as_slice())));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::rows::{ln_places, ln_standard, places};
    use super::table::RowChoice;
    use super::*;
    use crate::dist::normals;
    use crate::linalg::{Mat, par_mul};
    use crate::model::ModelSpec;
    use crate::model::family::Gaussian;
    use crate::simulate;
    use std::sync::Arc;

    fn model() -> (Model, State) {
        let spec = ModelSpec { features: 10, ..ModelSpec::default() };
        let mut model = simulate::blank(12, vec![(5, Arc::new(Gaussian::default()))], 1, spec).unwrap();
        let state = simulate::draw_prior(&model, Stream::new(1)).unwrap();
        model.set_values(&simulate::draw_data(&model, &state, Stream::new(1)));
        (model, state)
    }

    /// ln p(Y | X, W) directly.
    fn ln_marginal(target: &CollapsedData, state: &State, x: &Mat, w: &Mat) -> f64 {
        let mut features = state.features.clone();
        features.set(x.as_slice(), w.as_slice());
        target.ln_marginal(features.h(), &state.tau2).unwrap()
    }

    #[test]
    fn candidates_are_priced_by_the_marginal_likelihood() {
        let (model, state) = model();
        let target = CollapsedData::new(&model, &state.theta);
        let mut table = Table::new(&target, &mut state.features.clone(), state.tau2[0]).unwrap();
        let here = ln_marginal(&target, &state, &table.x, &table.w);
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-7, "{found}, {wanted}");
        let rng = &mut Stream::new(2).rng();
        let others = table.others(3, rng);
        let (places, turned) = (places(table.x.row(3), &others, rng), Turned::new(&table.w));
        let mut choice = RowChoice::default();
        choice.resize(places.rows(), table.h.cols(), table.g.cols());
        table.features_at(&places, (model.covariates().row(3), &turned), &mut choice.h);
        table.price_row(3, &mut choice);
        for k in [1, 7] {
            let mut x = table.x.clone();
            x.row_mut(3).copy_from_slice(places.row(k));
            close(choice.ln_lik[k] - choice.ln_lik[0], ln_marginal(&target, &state, &x, &table.w) - here);
        }
        table.put_row(3, 7, places.row(7), &choice);
        let mut w = Mat::from_vec(3, 2, normals(6, rng));
        w.row_mut(0).copy_from_slice(table.w.row(2));
        let there = ln_marginal(&target, &state, &table.x, &table.w);
        let choice = table.price_frequency(2, &w).unwrap();
        for k in [1, 2] {
            let mut other = table.w.clone();
            other.row_mut(2).copy_from_slice(w.row(k));
            close(choice.ln_lik[k] - choice.ln_lik[0], ln_marginal(&target, &state, &table.x, &other) - there);
        }
        // What is held after jumps is what it would be from the beginning.
        table.put_frequency(2, 1, &w, &choice);
        let mut features = state.features.clone();
        features.set(table.x.as_slice(), table.w.as_slice());
        let again = Table::new(&target, &mut features, state.tau2[0]).unwrap();
        for (a, b) in [(&table.h, &again.h), (&table.v, &again.v), (&table.g, &again.g)] {
            a.as_slice().iter().zip(b.as_slice()).for_each(|(a, b)| close(*a, *b));
        }
        table.rate.iter().zip(&again.rate).for_each(|(a, b)| close(*a, *b));
    }

    #[test]
    fn hardly_any_noise_does_not_ruin_what_is_held() {
        let (model, mut state) = model();
        let target = CollapsedData::new(&model, &state.theta);
        for tau2 in [1e6, 0.99 * MOST] {
            state.tau2.fill(tau2);
            for i in 0..20 {
                update(&model, &mut state, &target, (true, 1.0), Stream::new(i)).unwrap();
            }
            let mut table = Table::new(&target, &mut state.features.clone(), tau2).unwrap();
            let mut seating = None;
            for l in 0..table.w.rows() {
                table.jump_frequency(l, &mut state, seating.as_mut(), &mut Stream::new(l as u64).rng()).unwrap();
            }
            let turned = Turned::new(&table.w);
            for n in 0..table.x.rows() {
                table.jump_row(n, (model.covariates().row(n), &turned), &mut Stream::new(n as u64).rng());
            }
            let mut features = state.features.clone();
            features.set(table.x.as_slice(), table.w.as_slice());
            let again = Table::new(&target, &mut features, tau2).unwrap();
            let fit = |of: &Table| {
                let mut fit = Mat::zeros(12, 5);
                par_mul(&mut fit, of.h.view(), of.g.view(), false);
                fit
            };
            let (found, wanted) = (fit(&table), fit(&again));
            let off = found.as_slice().iter().zip(wanted.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-3, "{off} at τ² = {tau2}");
        }
    }

    #[test]
    fn candidates_have_the_density_that_they_say() {
        // E[p/q] over candidates is one.
        let (mut sum, mut square, mut count) = (0.0, 0.0, 0.0);
        let rng = &mut Stream::new(3).rng();
        let others = Mat::from_vec(4, 2, normals(8, rng));
        for _ in 0..50 {
            for x in places(&[0.0, 0.0], &others, rng).iter_rows().skip(1) {
                let ratio = (ln_standard(x) - ln_places(x, &others)).exp();
                (sum, square, count) = (sum + ratio, square + ratio * ratio, count + 1.0);
            }
        }
        let (mean, error) = (sum / count, (square / count).sqrt() / f64::sqrt(count));
        assert!((mean - 1.0).abs() < 4.0 * error && error < 0.02, "{mean} ± {error}");
    }
}
