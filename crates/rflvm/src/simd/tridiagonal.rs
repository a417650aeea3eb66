//! One tridiagonal matrix with many shifts of its diagonal, one per column of a table: columns lie side by side, so that eight are
//! solved at once.

use super::dispatch;
use super::tile::LANES;

/// T + I/τ_j² for every column j.
#[derive(Debug, Clone, Copy)]
pub struct Shifted<'a> {
    /// The diagonal of T.
    pub diagonal: &'a [f64],
    /// The values next to it, one fewer.
    pub off: &'a [f64],
    /// τ_j².
    pub tau2: &'a [f64],
}

/// Pivots under one logarithm: few enough for their product to stay finite.
const FACTORS: usize = 8;

/// Of a sum over columns, compared with that on the diagonal.
const NEGLIGIBLE: f64 = 1e-20;

dispatch! {
    /// Solves (T + I/τ_j²) z_j = c_j for every column j of `z`, which holds C (M×J) on entry.
    ///
    /// Elimination runs upwards: with pivots d_m = t_m + 1/τ² − e_m²/d_{m+1}, `ratio` gets −e_{m−1}/d_m and `gain` gets 1/d_m, from which
    /// [`tridiagonal_inverses`] makes the inverses; `ln_det` gets ln |I + τ_j² T|. A matrix that is not positive definite gives NaN.
    pub fn tridiagonal_solves(t: Shifted<'_>, z: &mut [f64], ratio: &mut [f64], gain: &mut [f64], ln_det: &mut [f64]) {
        let Shifted { diagonal, off, tau2 } = t;
        let (order, columns) = (diagonal.len(), tau2.len());
        assert!(off.len() + 1 == order && ln_det.len() == columns);
        assert!([z.len(), ratio.len(), gain.len()] == [order * columns; 3]);
        ln_det.fill(0.0);
        let mut product = vec![1.0; columns];
        let mut carried = vec![0.0; columns];
        for m in (0..order).rev() {
            let here = m * columns..(m + 1) * columns;
            let before = if m > 0 { off[m - 1] } else { 0.0 };
            let t = diagonal[m];
            let (gain, ratio) = (&mut gain[here.clone()], &mut ratio[here.clone()]);
            for j in 0..columns {
                // `carried` is e_m²/d_{m+1}.
                let pivot = t + 1.0 / tau2[j] - carried[j];
                // Two negative pivots under one logarithm would hide each other.
                let pivot = if pivot > 0.0 { pivot } else { f64::NAN };
                gain[j] = 1.0 / pivot;
                ratio[j] = -before * gain[j];
                carried[j] = -before * ratio[j];
                product[j] *= pivot * tau2[j];
            }
            if m > 0 {
                let (above, here) = z[here.start - columns..here.end].split_at_mut(columns);
                for j in 0..columns {
                    above[j] += ratio[j] * here[j];
                }
            }
            if m % FACTORS == 0 {
                for j in 0..columns {
                    ln_det[j] += product[j].ln();
                    product[j] = 1.0;
                }
            }
        }
        for j in 0..columns {
            z[j] *= gain[j];
        }
        for m in 1..order {
            let (done, here) = z[(m - 1) * columns..(m + 1) * columns].split_at_mut(columns);
            let (gain, ratio) = (&gain[m * columns..(m + 1) * columns], &ratio[m * columns..(m + 1) * columns]);
            for j in 0..columns {
                here[j] = here[j] * gain[j] + ratio[j] * done[j];
            }
        }
    }

    /// Σ_j (T + I/τ_j²)⁻¹, order×order, from the `ratio` and `gain` of [`tridiagonal_solves`]; `gain` is overwritten.
    pub fn tridiagonal_inverses(order: usize, ratio: &[f64], gain: &mut [f64], sum: &mut [f64]) {
        let columns = ratio.len() / order;
        assert!(ratio.len() == order * columns && gain.len() == ratio.len() && sum.len() == order * order);
        // The diagonal: (T + I/τ²)⁻¹_mm = 1/d_m + (e_{m−1}/d_m)² (T + I/τ²)⁻¹_{m−1,m−1}.
        for m in 1..order {
            let (before, here) = gain[(m - 1) * columns..(m + 1) * columns].split_at_mut(columns);
            let ratio = &ratio[m * columns..][..columns];
            for j in 0..columns {
                here[j] += ratio[j] * ratio[j] * before[j];
            }
        }
        // To its right, each value is the one before times a ratio. At one place all columns have the same sign, so that a small sum means
        // small values; the rest is left out, also because values this small are slow to multiply.
        sum.fill(0.0);
        for m in 0..order {
            let row = &mut gain[m * columns..][..columns];
            let at_diagonal = lanes(row);
            sum[m * order + m] = at_diagonal;
            for k in m + 1..order {
                let total = times(row, &ratio[k * columns..][..columns]);
                if total.abs() < NEGLIGIBLE * at_diagonal {
                    break;
                }
                (sum[m * order + k], sum[k * order + m]) = (total, total);
            }
        }
    }
}

/// Σ v, in fixed lanes.
#[inline(always)]
fn lanes(v: &[f64]) -> f64 {
    let (blocks, rest) = v.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += block[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// v ← v∘r, and its sum in fixed lanes.
#[inline(always)]
fn times(v: &mut [f64], r: &[f64]) -> f64 {
    let ((blocks, rest), (ratios, last)) = (v.as_chunks_mut::<LANES>(), r.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (block, ratio) in blocks.iter_mut().zip(ratios) {
        for lane in 0..LANES {
            block[lane] *= ratio[lane];
            sums[lane] += block[lane];
        }
    }
    let mut total = sums.iter().sum::<f64>();
    for (v, r) in rest.iter_mut().zip(last) {
        *v *= r;
        total += *v;
    }
    total
}
