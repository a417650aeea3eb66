//! Rows of categories as independent counts.
//!
//! y_n ~ Mult(N_n, softmax(η_n)) is what independent counts y_nj ~ Po(u_n e^{η_nj}) say about η once a rate u_n of the row is drawn:
//! (Σ_j e^{η_nj})^{−N_n} = ∫ u^{N_n − 1} e^{−u Σ_j e^{η_nj}} du / Γ(N_n). So a device holds such a table as Poisson columns with the offset ln u_n, and all
//! columns move side by side; ln u_n is redrawn at the beginning of each sweep, and belongs to no state. The last category has no weights: its η is zero.

use super::Device;
use crate::dist::{gamma, ln_gamma};
use crate::model::Model;
use crate::model::family::Law;
use crate::par;
use crate::rng::Stream;

/// Whether some columns of a model are categories.
pub fn has_categories(model: &Model) -> bool {
    model.blocks().iter().any(|block| Law::of(block.family.as_ref()) == Some(Law::Multinomial))
}

/// Totals of the rows of a table of categories; none of other tables.
pub fn of(model: &Model) -> Vec<f64> {
    let sums = || (0..model.rows()).map(|n| model.y().row(n).iter().sum()).collect();
    if has_categories(model) { sums() } else { Vec::new() }
}

/// Redraws the rates given η: Γ(N_n, Σ_j e^{η_nj}).
pub fn update(device: &mut dyn Device, stream: Stream) {
    set(device, |n, total| gamma(total, 1.0, &mut stream.at(n as u64).rng()).max(f64::MIN_POSITIVE).ln());
}

/// Sets the rates to their means given η: whatever uses them depends on the state alone then.
pub fn settle(device: &mut dyn Device) {
    set(device, |_, total| total.ln());
}

/// ln p(Y | F, θ) with all constants.
pub fn ln_likelihood(device: &mut dyn Device) -> f64 {
    settle(device);
    // At the mean rates Σ_j u e^η = N, and counts have e^{−N} N^N/N! times the likelihood of their categories.
    let seen = device.totals().iter().filter(|total| !total.is_nan());
    let besides: f64 = seen.map(|total| total - total * total.ln() + ln_gamma(total + 1.0)).sum();
    device.ln_likelihood() + besides
}

/// Sets the offset to some ln(u Σ_j e^{η_nj}) of each row, less ln Σ_j e^{η_nj}; nothing where the table has no such rows.
fn set(device: &mut dyn Device, ln_rate: impl Fn(usize, f64) -> f64 + Sync) {
    let totals = device.totals().to_vec();
    if totals.is_empty() {
        return;
    }
    let mut sums = vec![0.0; totals.len()];
    device.ln_sums(&mut sums);
    // A missing row says nothing, whatever its rate.
    let of_row = |n: usize| if totals[n].is_nan() { 0.0 } else { ln_rate(n, totals[n]) - sums[n] };
    device.set_offset(&par::map(totals.len(), 100 * totals.len(), of_row));
}
