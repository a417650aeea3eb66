//! Rows of categories as independent counts.
//!
//! y_n ~ Mult(N_n, softmax(η_n)) is what independent counts y_nj ~ Po(u_n e^{η_nj}) say about η once a rate u_n of the row is drawn:
//! (Σ_j e^{η_nj})^{−N_n} = ∫ u^{N_n − 1} e^{−u Σ_j e^{η_nj}} du / Γ(N_n). So a device holds such columns as Poisson columns with the offset ln u_n, and all
//! columns move side by side; ln u_n is redrawn at the beginning of each sweep, and belongs to no state. The last category has no weights: its η is zero.

use super::Device;
use super::categories::Categories;
use crate::dist::{gamma, ln_gamma};
use crate::model::Model;
use crate::par;
use crate::rng::Stream;

/// Redraws the rates given η: Γ(N_n, Σ_j e^{η_nj}).
pub fn update(device: &mut dyn Device, stream: Stream) {
    let draw = |set: usize, n: usize, total: f64| gamma(total, 1.0, &mut stream.at(set as u64).at(n as u64).rng());
    set(device, |set, n, total| draw(set, n, total).max(f64::MIN_POSITIVE).ln());
}

/// Sets the rates to their means given η: whatever uses them depends on the state alone then.
pub fn settle(device: &mut dyn Device) {
    set(device, |_, _, total| total.ln());
}

/// ln p(Y | F, θ) with all constants.
pub fn ln_likelihood(device: &mut dyn Device, model: &Model) -> f64 {
    settle(device);
    // At the mean rates Σ_j u e^η = N, and counts have e^{−N} N^N/N! times the likelihood of their categories.
    let seen = device.categories().iter().flat_map(|set| &set.totals).filter(|total| !total.is_nan());
    let besides: f64 = seen.map(|total| total - total * total.ln() + ln_gamma(total + 1.0)).sum();
    device.ln_likelihood() + model.chunks().total(besides)
}

/// Sets the rates of each set of categories from some ln(u Σ_j e^{η_nj}) of set, row and total.
fn set(device: &mut dyn Device, ln_rate: impl Fn(usize, usize, f64) -> f64 + Sync) {
    for set in 0..device.categories().len() {
        let Categories { number, totals, .. } = device.categories()[set].clone();
        let mut sums = vec![0.0; totals.len()];
        device.ln_sums(set, &mut sums);
        // A missing row says nothing, whatever its rate.
        let of_row = |n: usize| if totals[n].is_nan() { 0.0 } else { ln_rate(number, n, totals[n]) - sums[n] };
        device.set_rates(set, &par::map(totals.len(), 100 * totals.len(), of_row));
    }
}
