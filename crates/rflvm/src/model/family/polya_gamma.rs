//! Weights under Pólya-gamma augmentation: likelihood ∝ e^{aψ}/(1+e^ψ)^b, ψ = f − shift (Polson, Scott & Windle 2013).
//! κ = a − b/2, ω ~ PG(b, ψ), V⁻¹ = HᵀΩH + B0⁻¹, β ~ N(V(Hᵀ(κ − Ω·known) + B0⁻¹b_0), V).

use super::Column;
use crate::dist::canonical::Canonical;
use crate::error::NumericalError;
use crate::linalg::gram;

/// The conditional of β_j given ω_j. `known` is the part of ψ besides Hβ_j: o for a row offset, o − ξ for a multinomial.
/// A missing cell has ω = κ = 0.
pub fn weights_given_omega(
    column: &Column<'_>,
    omega: &[f64],
    kappa: &[f64],
    known: &[f64],
) -> Result<Canonical, NumericalError> {
    let mut shift = column.prior_shift();
    let response: Vec<f64> = omega.iter().zip(kappa).zip(known).map(|((o, k), known)| k - o * known).collect();
    crate::simd::vecmat(&response, column.h.as_slice(), &mut shift);
    let precision = gram(column.h, Some(omega), &column.precision);
    Canonical::new(precision, shift, 1.0, "weights")
}
