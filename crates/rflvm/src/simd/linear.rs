//! Elementary functions and linear algebra on rows.
//!
//! Written by hand because rows are short (3 to a few hundred cells) and calls are many: a BLAS
//! spends longer on setting up than on the work, and plain loops without explicit lanes and
//! `target_feature` compile to scalar or SSE2 code.

use super::dispatch;
use super::math;
use super::sweep::{Cell, sweep};
use super::tile::LANES;

struct Exp;

impl Cell<1, 1, 0> for Exp {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [x]: [f64; 1]) -> ([f64; 1], [f64; 0]) {
        ([math::exp::<FMA>(x)], [])
    }
}

struct SinCos {
    scale: f64,
}

impl Cell<1, 2, 0> for SinCos {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [x]: [f64; 1]) -> ([f64; 2], [f64; 0]) {
        let (sin, cos) = math::sin_cos::<FMA>(x);
        ([self.scale * sin, self.scale * cos], [])
    }
}

struct Product;

impl Cell<2, 0, 1> for Product {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [a, b]: [f64; 2]) -> ([f64; 0], [f64; 1]) {
        ([], [a * b])
    }
}

/// out += Σ_r weights_r rows_r, each element's sum in the order of r.
#[inline(always)]
fn add_rows<const FMA: bool, const R: usize>(weights: [f64; R], rows: [&[f64]; R], out: &mut [f64]) {
    let n = out.len();
    // Whole blocks are left to LLVM's loop vectoriser, separately from the remainder, which it would
    // handle cell by cell.
    let whole = n - n % LANES;
    let (blocks, rest) = out.split_at_mut(whole);
    let mut row_blocks = [&[][..]; R];
    let mut row_rests = [&[][..]; R];
    for r in 0..R {
        assert_eq!(rows[r].len(), n);
        (row_blocks[r], row_rests[r]) = rows[r].split_at(whole);
    }
    for i in 0..blocks.len() {
        let mut sum = blocks[i];
        for r in 0..R {
            sum = math::fma::<FMA>(weights[r], row_blocks[r][i], sum);
        }
        blocks[i] = sum;
    }
    let mut done = 0;
    if rest.len() >= 4 {
        done = add_block::<FMA, R, 4>(weights, row_rests, rest, done);
    }
    if rest.len() - done >= 2 {
        done = add_block::<FMA, R, 2>(weights, row_rests, rest, done);
    }
    if rest.len() > done {
        add_block::<FMA, R, 1>(weights, row_rests, rest, done);
    }
}

/// [`add_rows`] for the `W` columns from `start`; returns the column after them.
#[inline(always)]
fn add_block<const FMA: bool, const R: usize, const W: usize>(
    weights: [f64; R],
    rows: [&[f64]; R],
    out: &mut [f64],
    start: usize,
) -> usize {
    let out: &mut [f64; W] = (&mut out[start..start + W]).try_into().unwrap();
    let mut sum = *out;
    for r in 0..R {
        let row: &[f64; W] = rows[r][start..start + W].try_into().unwrap();
        for lane in 0..W {
            sum[lane] = math::fma::<FMA>(weights[r], row[lane], sum[lane]);
        }
    }
    *out = sum;
    start + W
}

/// out += Σ_r phi_r b_r, `R` rows of b at a time, as long as that many are left.
#[inline(always)]
fn add_row_groups<const FMA: bool, const R: usize>(phi: &mut &[f64], b: &mut &[f64], out: &mut [f64]) {
    let columns = out.len();
    while let Some((weights, rest)) = phi.split_first_chunk::<R>() {
        let mut rows = [&[][..]; R];
        for row in &mut rows {
            (*row, *b) = b.split_at(columns);
        }
        add_rows::<FMA, R>(*weights, rows, out);
        *phi = rest;
    }
}

struct Turn {
    sin: f64,
    cos: f64,
}

impl Cell<2, 2, 0> for Turn {
    #[inline(always)]
    fn at<const FMA: bool>(&self, [q, p]: [f64; 2]) -> ([f64; 2], [f64; 0]) {
        let first = math::fma::<FMA>(self.cos, q, self.sin * p);
        let second = math::fma::<FMA>(self.cos, p, -self.sin * q);
        ([first, second], [])
    }
}

/// out_l = Σ_d x_d w_dl for one position.
#[inline(always)]
fn project<const FMA: bool>(x: &[f64], w: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (x, w) in x.iter().zip(w.chunks_exact(out.len())) {
        add_rows::<FMA, 1>([*x], [w], out);
    }
}

dispatch! {
    /// h = [scale·sin(Wx), scale·cos(Wx), …, one] for one position x; `w` is Wᵀ, axis after axis, and `args` scratch.
    /// What lies between the cosines and the last is left as it is.
    pub fn features(x: &[f64], w: &[f64], scale: f64, one: f64, args: &mut [f64], h: &mut [f64]) {
        project::<FMA>(x, w, args);
        let (sin, rest) = h.split_at_mut(args.len());
        let (cos, others) = rest.split_at_mut(args.len());
        sweep::<FMA, 1, 2, 0>(&SinCos { scale }, [args], [sin, cos]);
        others[others.len() - 1] = one;
    }

    /// (q, p) → (cos·q + sin·p, cos·p − sin·q) in place.
    pub fn turn(sin: f64, cos: f64, q: &mut [f64], p: &mut [f64]) {
        const AT_ONCE: usize = 512;
        let mut old = [0.0; AT_ONCE];
        let mut other = [0.0; AT_ONCE];
        for (q, p) in q.chunks_mut(AT_ONCE).zip(p.chunks_mut(AT_ONCE)) {
            let (old, other) = (&mut old[..q.len()], &mut other[..q.len()]);
            old.copy_from_slice(q);
            other.copy_from_slice(p);
            sweep::<FMA, 2, 2, 0>(&Turn { sin, cos }, [old, other], [q, p]);
        }
    }

    /// out_i = e^x_i, saturating at 1.65e308 and zero below the smallest normal number.
    pub fn exp_into(x: &[f64], out: &mut [f64]) {
        sweep::<FMA, 1, 1, 0>(&Exp, [x], [out]);
    }

    /// sin_i = scale · sin(args_i) and cos_i = scale · cos(args_i).
    pub fn sin_cos(args: &[f64], sin: &mut [f64], cos: &mut [f64], scale: f64) {
        sweep::<FMA, 1, 2, 0>(&SinCos { scale }, [args], [sin, cos]);
    }

    /// Σ a_i b_i.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        let [sum] = sweep::<FMA, 2, 0, 1>(&Product, [a, b], []);
        sum
    }

    /// y += alpha · x.
    pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
        add_rows::<FMA, 1>([alpha], [x], y)
    }

    /// out += a · x + b · y.
    pub fn axpy2(a: f64, x: &[f64], b: f64, y: &[f64], out: &mut [f64]) {
        add_rows::<FMA, 2>([a, b], [x, y], out)
    }

    /// out += phiᵀ b, for b row-major of phi.len() rows and out.len() columns.
    pub fn vecmat(phi: &[f64], b: &[f64], out: &mut [f64]) {
        assert_eq!(b.len(), phi.len() * out.len());
        let (mut phi, mut b) = (phi, b);
        add_row_groups::<FMA, 8>(&mut phi, &mut b, out);
        add_row_groups::<FMA, 4>(&mut phi, &mut b, out);
        add_row_groups::<FMA, 1>(&mut phi, &mut b, out);
    }
}
