//! The one loop behind every kernel that treats cells independently: eight lanes at a time, any
//! number of inputs, outputs and sums.
//!
//! Written by hand because LLVM never reorders float additions, so a sum vectorises only if its
//! lanes are written out; its order is then the same on every machine. LLVM's
//! straight-line vectoriser turns the lanes into whole registers as long as masks are loaded
//! rather than compared lane by lane, no lane is special, arrays are walked by index (`map`
//! is not always inlined) and [`total`] is a call. Benchmark every change here.

use super::tile::LANES;

/// The computation in one cell from `I` inputs: `O` outputs and `S` terms to be summed.
pub trait Cell<const I: usize, const O: usize, const S: usize> {
    fn at<const FMA: bool>(&self, input: [f64; I]) -> ([f64; O], [f64; S]);
}

static ZEROS: [f64; LANES] = [0.0; LANES];

/// Eight lanes on, with eight off on either side: read from `n`, a mask of a block's last n
/// lanes, and read from 2 `LANES` − n, of its first n.
static MASKS: [u64; 3 * LANES] = {
    let mut masks = [0; 3 * LANES];
    let mut lane = 0;
    while lane < LANES {
        masks[LANES + lane] = !0;
        lane += 1;
    }
    masks
};

/// Applies `cell` along slices of equal length, writing its outputs and returning its sums.
///
/// The last block of eight is moved back to end with the slice, so that its first lanes are
/// cells already done: they are written again with the same values and excluded from the sums.
/// A slice shorter than a block is copied into one.
#[inline(always)]
pub fn sweep<const FMA: bool, const I: usize, const O: usize, const S: usize>(
    cell: &impl Cell<I, O, S>,
    input: [&[f64]; I],
    mut output: [&mut [f64]; O],
) -> [f64; S] {
    let n = input[0].len();
    for x in input {
        assert_eq!(x.len(), n);
    }
    for x in &output {
        assert_eq!(x.len(), n);
    }
    if n == 0 {
        return [0.0; S];
    }
    let short = n < LANES;
    let mut wide_input = [[0.0; LANES]; I];
    let mut wide_output = [[0.0; LANES]; O];
    let mut sources = input;
    if short {
        for i in 0..I {
            wide_input[i] = widened(input[i]);
        }
        for i in 0..I {
            sources[i] = &wide_input[i];
        }
    }
    let targets = if short { wide_output.each_mut().map(|x| &mut x[..]) } else { output.each_mut().map(|x| &mut **x) };
    let sums = blocks::<FMA, I, O, S>(cell, n, sources, targets);
    if short {
        for o in 0..O {
            output[o].copy_from_slice(&wide_output[o][..n]);
        }
    }
    sums
}

/// A short slice's elements at the beginning of a block, then copies of the last: eight loads
/// rather than a copy, whose many narrow stores could not be read back at once.
#[inline(always)]
fn widened(x: &[f64]) -> [f64; LANES] {
    let mut wide = [0.0; LANES];
    for lane in 0..LANES {
        wide[lane] = x[lane.min(x.len() - 1)];
    }
    wide
}

/// [`sweep`] over `n` cells of slices at least one block long.
#[inline(always)]
fn blocks<const FMA: bool, const I: usize, const O: usize, const S: usize>(
    cell: &impl Cell<I, O, S>,
    n: usize,
    input: [&[f64]; I],
    output: [&mut [f64]; O],
) -> [f64; S] {
    let mut sums = [[0.0; LANES]; S];
    let mut done = 0;
    while done < n {
        let live = LANES.min(n - done);
        let start = (done + live).saturating_sub(LANES);
        let mask = if n < LANES { 2 * LANES - n } else { live };
        let mask: &[u64; LANES] = MASKS[mask..mask + LANES].try_into().unwrap();
        let mut block = [&ZEROS; I];
        for i in 0..I {
            block[i] = input[i][start..start + LANES].try_into().unwrap();
        }
        let mut results = [[0.0; LANES]; O];
        for lane in 0..LANES {
            let mut arguments = [0.0; I];
            for i in 0..I {
                arguments[i] = block[i][lane];
            }
            let (values, terms) = cell.at::<FMA>(arguments);
            for o in 0..O {
                results[o][lane] = values[o];
            }
            for s in 0..S {
                // Not a product: an excluded term may be infinite.
                sums[s][lane] += f64::from_bits(terms[s].to_bits() & mask[lane]);
            }
        }
        for o in 0..O {
            output[o][start..start + LANES].copy_from_slice(&results[o]);
        }
        done += LANES;
    }
    sums.each_ref().map(total)
}

/// The sum of the lanes, in a fixed order.
#[inline(never)]
fn total(lanes: &[f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = *lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
