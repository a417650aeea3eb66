//! A table on another processor, such as a GPU.
//!
//! What is as long as the table (Y, H, F, the noise of a trajectory) is held there, and what touches all of its cells is asked of a [`Device`].
//! Everything no larger than X and β stays here, and so do all decisions: slices, trajectories, Cholesky factors of the weights. The sampler asks by
//! way of a [`crate::table::Table`]; a device is a list of products and sums that can be tested one by one.
//!
//! Rows and columns move side by side: all rows, or all columns, propose a candidate each, the device evaluates them together, and those
//! that are not satisfied propose again.

pub mod categories;
pub mod plain;
pub mod shared;
pub mod totals;

use crate::error::{NumericalError, RunError, SpecError};
use crate::hmc::flow::{Flow, Slopes};
use crate::hmc::reference::Reference;
use crate::linalg::Mat;
use crate::model::family::{Law, Theta};
use crate::model::{Model, State};
use categories::Categories;
use std::fmt::Debug;

/// Where a column's likelihood is evaluated: f' = b + factor (f − b) − shift, with b what f is besides the weights less their prior mean, and
/// θ' as the parameters of its family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnAt {
    /// What multiplies the weights, less their prior means.
    pub factor: f64,
    /// What is subtracted.
    pub shift: f64,
    /// The parameters of the family; not used where it has none.
    pub theta: [f64; 2],
}

impl ColumnAt {
    /// Where a column is, for columns whose values are not needed.
    pub const HERE: ColumnAt = ColumnAt { factor: 1.0, shift: 0.0, theta: [1.0; 2] };
}

/// Priors of the weights of some columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Priors {
    /// Precisions, one row per column.
    pub precision: Mat,
    /// Means of the intercepts; other weights have mean zero.
    pub centre: Vec<f64>,
}

/// Turned weights: cosine and sine of each column's angle.
pub type Turns = Vec<(f64, f64)>;

/// A processor that holds a table and evaluates what touches its cells. Log-likelihoods leave out constants as [`crate::Family::ln_lik`] does.
///
/// Nothing here fails: a device with a fault continues with values that are not numbers, and says so when it is asked ([`Device::fault`]),
/// at the end of each step.
pub trait Device: Flow + Debug + Send {
    /// Its name, for people.
    fn name(&self) -> String;

    /// What went wrong, if anything did.
    fn fault(&mut self) -> Option<String>;

    /// Takes another table of the same shape with the same missing cells: for joint-distribution tests, in which data are redrawn.
    fn set_table(&mut self, model: &Model);

    /// Sets X, W and the scale s of a linear part, and computes H.
    fn set_map(&mut self, x: &Mat, w: &Mat, s: f64);

    /// Sets θ.
    fn set_parameters(&mut self, theta: &[Theta]);

    /// Sets β and computes F = o + Hβ + g.
    fn set_weights(&mut self, beta: &Mat);

    /// Sets column processes, where the model has them; F follows. The rates of categories must be set afterwards.
    fn set_paths(&mut self, g: &Mat);

    /// The sets of categories in the table, which are held as counts ([`totals`]).
    fn categories(&self) -> &[Categories];

    /// ln Σ_j e^{η_nj} of each row, over the cells of one set of categories that are not missing.
    fn ln_sums(&mut self, set: usize, out: &mut [f64]);

    /// Sets the rates of a set's rows, by their logarithms, which are then known of its f in the place of o; F follows.
    fn set_rates(&mut self, set: usize, ln_rates: &[f64]);

    /// Sets the reference of the trajectories and of [`Device::take_columns`].
    fn set_reference(&mut self, reference: &Reference);

    /// Σ of the log-likelihoods of all rows at F.
    fn ln_lik(&mut self) -> f64;

    /// The log-likelihood of each row at F.
    fn ln_lik_rows(&mut self, out: &mut [f64]);

    /// The log-likelihoods of some rows at other positions, one after the other in `x`.
    fn ln_lik_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]);

    /// The log-likelihoods of new rows at given positions, each row any number of times: of categories, whose rates have not been drawn, it is that without the rates.
    fn ln_lik_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]);

    /// Its gradient g in x, and the information Σ_j i_j ∂f_j ∂f_jᵀ about x, i_j that of cell j about its f: for each row one after the other g_d, then the
    /// information of axes (d, e) for e ≤ d.
    fn slope_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]);

    /// ln p(y_n | f, θ) of each row at F with all constants; of categories, given their rates.
    fn ln_density_rows(&mut self, out: &mut [f64]);

    /// Σ of the log-likelihoods if frequency l were `w`.
    fn ln_lik_frequency(&mut self, l: usize, w: &[f64]) -> f64;

    /// Sets frequency l, and H and F with it.
    fn set_frequency(&mut self, l: usize, w: &[f64]);

    /// The log-likelihood of each column elsewhere, including what depends on a dispersion or a share of zeros.
    fn ln_lik_columns(&mut self, at: &[ColumnAt], out: &mut [f64]);

    /// ln p(Y | F, θ) with all constants.
    fn ln_likelihood(&mut self) -> f64;

    /// Σ_j shares_j Λ_nj for each row, Λ_nj the information of a cell about its f, at F; missing cells have none. Of categories, whose rates must be at their
    /// means, it is that without the rates. A trajectory must not be under way.
    fn information_rows(&mut self, shares: &[f64], out: &mut [f64]);

    /// Begins a redraw of the weights of some columns, from the f of the reference.
    fn take_columns(&mut self, columns: &[u32]);

    /// Fits a Gaussian to each such column: its prior, times its likelihood as a Gaussian with the slope and the information of its cells at the present f.
    /// Moves the present f to its mean. Returns the means, one row per column. Where the fit would overflow or is not positive definite, it is the prior.
    fn fit_columns(&mut self, priors: &Priors) -> Mat;

    /// Sets the directions in which these columns turn about their present f: L⁻ᵀz, with LLᵀ the precision of the last fit and z a row of `normals`.
    /// Returns them, and with d a row of `from_mean`, the squares |Lᵀd|², (Lᵀd)·z and z·z of each column.
    fn aim_columns(&mut self, normals: &Mat, from_mean: &Mat) -> (Mat, Vec<[f64; 3]>);

    /// The log-likelihood of each of these columns at f_mean + cos (F − f_mean) + sin H·auxiliary.
    fn ln_lik_turned(&mut self, turns: &Turns, out: &mut [f64]);

    /// ln p(Y | F) at X, W and β; its gradients in `dbeta`, and added to `to`. H and F are undefined afterwards.
    fn slope(&mut self, x: &Mat, w: &Mat, s: f64, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64;

    /// Adds F, in units of the columns, to a sum.
    fn add_to_sum(&mut self);

    /// A reference about the mean of what was added, the number of times that it was; or about F. Forgets what was added. Where several processes share the
    /// table it is that of the whole table, and all of them ask for it.
    fn refer(&mut self, added: Option<f64>) -> Reference;

    /// What was added since, in single precision, for a checkpoint.
    fn sum(&mut self) -> Vec<f32>;

    /// Sets it; nothing has been added if it is empty.
    fn set_sum(&mut self, sum: Vec<f32>);

    /// F.
    fn f(&mut self, f: &mut Mat);
}

/// Opens a device with the table of a model, or with the columns of this process, for the chain of this number.
pub type Open<'a> = dyn Fn(&Model, usize) -> Result<Box<dyn Device>, RunError> + Send + Sync + 'a;

/// An error if the device has one.
pub fn check(device: &mut dyn Device) -> Result<(), NumericalError> {
    match device.fault() {
        None => Ok(()),
        Some(reason) => Err(NumericalError::Device { name: device.name(), reason }),
    }
}

/// Gives a state to the device, and releases the memory of its H and F here.
pub fn load(device: &mut dyn Device, state: &mut State) {
    drop(state.lend());
    device.set_parameters(&state.theta);
    if state.column_process.g.rows() > 0 {
        device.set_paths(&state.column_process.g);
    }
    refresh(device, state);
    totals::settle(device);
}

/// H and F of a state.
pub fn refresh(device: &mut dyn Device, state: &State) {
    let features = &state.features;
    device.set_map(features.x(), features.w(), features.plain().s());
    device.set_weights(&state.beta);
}

/// What of a model no device can do yet, as an error that says what to do instead.
pub fn supports(model: &Model) -> Result<(), SpecError> {
    let no = |what: &str| {
        let rule = format!("it cannot yet fit {what}; let device be cpu");
        Err(SpecError::Setting { setting: "device", value: "cuda".into(), rule })
    };
    match model.blocks().iter().find(|block| Law::of(block.family.as_ref()).is_none()) {
        Some(block) => no(&format!("the family {}", block.family.name())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
