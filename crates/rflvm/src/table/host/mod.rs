//! A table in the memory of this processor, or the columns of it that this process has: H and F are those of the state.

mod amplitudes;

pub use amplitudes::ln_whitened;

use super::laplace::is_exact;
use super::{Along, Table, rows};
use crate::chunks::Chunk;
use crate::error::NumericalError;
use crate::hmc::flow::{Flight, Landed, fly};
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::gradient::{Joint, Layout};
use crate::hmc::hamiltonian::TrajectoryEnd;
use crate::hmc::laplace_term::LaplaceTerm;
use crate::hmc::marginal::Marginal;
use crate::hmc::noncentred::{Fixed, Noncentred};
use crate::hmc::optimise::{Limit, Optimum, maximise};
use crate::hmc::reference::Reference;
use crate::hmc::volume::Volume;
use crate::hmc::workspace::Workspace;
use crate::linalg::{Mat, View, par_mul};
use crate::model::collapsed::CollapsedData;
use crate::model::family::Shift;
use crate::model::features::{Pair, fill};
use crate::model::position::{Positions, Scratch};
use crate::model::{HalfT, Known, Lent, Model, State};
use crate::par;
use crate::rng::{Stream, StreamRng};
use crate::simd;

/// A table here; what it holds is memory that is used again, on which nothing depends.
#[derive(Debug, Default)]
pub struct Host {
    workspace: Workspace,
    /// The columns of H of the frequency that was last asked for.
    pair: Pair,
    /// H and F of the window that was last asked for.
    window: [Mat; 2],
}

impl Table for Host {
    fn is_here(&self) -> bool {
        true
    }

    fn load(&mut self, model: &Model, state: &mut State) {
        state.restore(model);
    }

    fn refresh(&mut self, model: &Model, state: &mut State) {
        state.refresh(model);
    }

    fn reset(&mut self, model: &Model, state: &mut State) {
        state.refresh(model);
    }

    fn ln_likelihood(&mut self, model: &Model, state: &State) -> f64 {
        model.ln_likelihood(state)
    }

    fn ln_lik(&mut self, model: &Model, state: &State) -> f64 {
        model.ln_lik(state)
    }

    fn ln_lik_frequency(&mut self, model: &Model, state: &State, l: usize, w: &[f64]) -> f64 {
        let (u, v) = (state.beta.row(l), state.beta.row(state.features.frequencies() + l));
        let new = &mut self.pair;
        new.fit(model.rows());
        par::rows(new.tables(), 64, |first, tables| {
            state.features.pair(w, first, tables);
            0.0
        });
        model.sum_cells(model.rows(), 2, |n, some| {
            let old = state.features.current_pair(l, n);
            let shift = Shift { a: new.sin[n] - old.0, u, b: new.cos[n] - old.1, v };
            model.ln_lik_cells_shifted(&state.theta, n, some, state.f.row(n), shift)
        })
    }

    /// F' = F + Δsin β_lᵀ + Δcos β_{L+l}ᵀ costs O(NJ), never O(NMJ).
    fn set_frequency(&mut self, state: &mut State, l: usize, w: &[f64]) {
        let (State { features, beta, f, .. }, new) = (state, &self.pair);
        let (u, v) = (beta.row(l), beta.row(features.frequencies() + l));
        let columns = f.cols();
        par::rows([(f.as_mut_slice(), columns)], columns, |first, [f]| {
            for (n, f) in (first..).zip(f.chunks_exact_mut(columns)) {
                let (sin, cos) = features.current_pair(l, n);
                simd::axpy2(new.sin[n] - sin, u, new.cos[n] - cos, v, f);
            }
            0.0
        });
        features.set_pair(l, w, new);
    }

    fn ln_lik_rows(&mut self, model: &Model, state: &State, out: &mut [f64]) {
        let sums = model.chunks().add(&mut model.chunks().own(), model.rows(), |Chunk { columns, .. }, to| {
            par::rows([(to, 1)], 2 * columns.len(), |first, [to]| {
                let rows = (first..).zip(to);
                rows.for_each(|(n, to)| *to = model.ln_lik_cells(&state.theta, n, columns, state.f.row(n)));
                0.0
            });
        });
        out.copy_from_slice(&sums);
    }

    fn ln_lik_rows_at(&mut self, model: &Model, state: &State, rows: &[u32], x: &[f64], out: &mut [f64]) {
        let (positions, dim) = (positions(model, state), model.latent_dim());
        let mut own = model.chunks().own();
        let chunks = own.len();
        let mut parts = vec![0.0; rows.len() * chunks];
        par::rows([(&mut parts[..], chunks)], 2 * model.width() * model.columns(), |first, [parts]| {
            let mut scratch: Scratch = positions.scratch();
            let candidates = rows[first..].iter().zip(x[first * dim..].chunks_exact(dim));
            for (parts, (&n, x)) in parts.chunks_exact_mut(chunks).zip(candidates) {
                positions.place(n as usize, x, &mut scratch);
                let of_chunk = |chunk: &Chunk| positions.ln_lik_placed(n as usize, &chunk.columns, &scratch);
                parts.iter_mut().zip(&own).for_each(|(part, chunk)| *part = of_chunk(chunk));
            }
            0.0
        });
        let first = own[0].index;
        let sums = model.chunks().add(&mut own, rows.len(), |chunk, to| {
            to.iter_mut().zip(parts.chunks_exact(chunks)).for_each(|(to, parts)| *to = parts[chunk.index - first]);
        });
        out.copy_from_slice(&sums);
    }

    fn set_rows(&mut self, model: &Model, state: &mut State, rows: &[u32], x: &[f64]) {
        let dim = model.latent_dim();
        let of = |i: usize| &x[i * dim..][..dim];
        let placing = positions(model, state);
        let found = par::map(rows.len(), 2 * rows.len() * model.width() * model.columns(), |i| {
            let mut scratch = placing.scratch();
            placing.place(rows[i] as usize, of(i), &mut scratch);
            (scratch.h, scratch.f)
        });
        for (i, (h, f)) in found.into_iter().enumerate() {
            state.features.set_row(rows[i] as usize, of(i), &h);
            state.f.row_mut(rows[i] as usize).copy_from_slice(&f);
        }
    }

    fn slice_rows(&mut self, model: &Model, state: &mut State, stream: Stream) -> Result<u32, NumericalError> {
        // One row after the other while it is near; several processes exchange one number per row and round.
        if model.chunks().is_alone() { rows::each(model, state, stream) } else { rows::all(self, model, state, stream) }
    }

    fn ln_lik_window(&mut self, model: &Model, state: &State, rows: &[usize]) -> f64 {
        let of_row = |i: usize, some: &_| model.ln_lik_cells(&state.theta, rows[i], some, state.f.row(rows[i]));
        model.sum_cells(rows.len(), 4, of_row)
    }

    fn ln_lik_window_at(&mut self, model: &Model, state: &State, rows: &[usize], x: &Mat) -> f64 {
        let [h, f] = &mut self.window;
        h.fit(rows.len(), model.width());
        f.fit(rows.len(), model.columns());
        fill(x, state.features.w(), &state.features.plain().of_rows(rows), h);
        rows.iter().enumerate().for_each(|(i, &n)| model.known(state).fill(n, f.row_mut(i)));
        par_mul(f, h.view(), state.beta.view(), true);
        model.sum_cells(rows.len(), 4, |i, some| model.ln_lik_cells(&state.theta, rows[i], some, f.row(i)))
    }

    fn set_window(&mut self, state: &mut State, rows: &[usize], x: &Mat) {
        let [h, f] = &self.window;
        for (i, &n) in rows.iter().enumerate() {
            state.features.set_row(n, x.row(i), h.row(i));
            state.f.row_mut(n).copy_from_slice(f.row(i));
        }
    }

    fn fly(&mut self, model: &Model, state: &mut State, flight: Flight<'_>, rng: &mut StreamRng) -> TrajectoryEnd {
        let lent = state.lend();
        let fixed = Fixed {
            theta: &state.theta,
            tau2: &state.tau2,
            known: Known::new(model.offset(), &state.column_process.g),
            plain: state.features.plain(),
        };
        let workspace = std::mem::take(&mut self.workspace);
        let mut flow = Noncentred::new(model, fixed, flight.reference, lent, workspace);
        let (end, landed) = fly(&mut flow, model, state, flight, rng);
        let lent;
        (self.workspace, lent) = flow.finish();
        let q = landed.map(|Landed { q, beta }| {
            state.beta = beta;
            q
        });
        let moved = q.as_ref().map(|q| q.split_at(model.rows() * model.latent_dim()));
        state.take_back(model, lent, moved);
        end
    }

    fn collapsed(&mut self, model: &Model) -> Option<&mut Workspace> {
        model.is_collapsed().then_some(&mut self.workspace)
    }

    fn refer(&mut self, model: &Model, state: &State) -> Reference {
        self.workspace.table.clone_from(&state.f);
        Reference::new(model, &state.theta, model.known(state), &mut self.workspace.table)
    }

    fn refer_to_sums(&mut self, model: &Model, state: &State, sums: &mut Vec<f32>, count: f64) -> Reference {
        let (mean, known) = (&mut self.workspace.table, model.known(state));
        mean.fit(model.rows(), model.columns());
        for (n, sum) in sums.chunks_exact(model.columns()).enumerate() {
            let cells = mean.row_mut(n).iter_mut().zip(sum).zip(model.units()).enumerate();
            cells.for_each(|(j, ((mean, sum), u))| {
                *mean = u.centre + u.scale * f64::from(*sum) / count + known.own(n, j);
            });
        }
        sums.fill(0.0);
        Reference::new(model, &state.theta, known, mean)
    }

    fn add_to_sums(&mut self, model: &Model, state: &State, sums: &mut Vec<f32>) {
        let (columns, known) = (model.columns(), model.known(state));
        sums.resize(model.rows() * columns, 0.0);
        par::rows([(&mut sums[..], columns)], 2 * columns, |first, [sums]| {
            for (i, sum) in sums.chunks_exact_mut(columns).enumerate() {
                let cells = sum.iter_mut().zip(state.f.row(first + i)).zip(model.units()).enumerate();
                cells.for_each(|(j, ((sum, f), unit))| {
                    *sum += ((f - known.own(first + i, j) - unit.centre) / unit.scale) as f32;
                });
            }
            0.0
        });
    }

    /// A family may redraw more. Gaussian columns with column processes are left to [`crate::steps::column_process`], which integrates these out.
    fn draw_weights(
        &mut self,
        model: &Model,
        state: &mut State,
        share: f64,
        stream: Stream,
    ) -> Result<(), NumericalError> {
        for (b, block) in model.blocks().iter().enumerate() {
            if model.column_process().is_some() && block.family.as_gaussian().is_some() {
                continue;
            }
            block.family.update(&mut model.block_view(b, state, share), stream.at(b as u64))?;
        }
        state.refresh(model);
        Ok(())
    }

    fn draw_parameters(&mut self, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
        for (b, block) in model.blocks().iter().enumerate() {
            block.family.update_parameters(&mut model.block_view(b, state, 1.0), stream.at(b as u64))?;
        }
        state.refresh(model);
        Ok(())
    }

    fn maximise_parameters(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        for (b, block) in model.blocks().iter().enumerate() {
            block.family.maximise_parameters(&mut model.block_view(b, state, 1.0));
        }
        state.refresh(model);
        Ok(())
    }

    fn slice_amplitudes(
        &mut self,
        model: &Model,
        state: &mut State,
        b: usize,
        prior: HalfT,
        stream: Stream,
    ) -> Result<(), NumericalError> {
        amplitudes::each(model, state, b, prior, stream)
    }

    fn ln_lik_grown(&mut self, model: &Model, state: &State, b: usize, factor: f64) -> f64 {
        let (own, beside) = (model.blocks()[b].columns.clone(), model.known(state));
        let centre = |j: usize| if model.is_free(j) { model.units()[j].centre } else { 0.0 };
        let centres: Vec<f64> = own.clone().map(centre).collect();
        model.chunks().sum(|chunk| {
            let some = chunk.columns.start.max(own.start)..chunk.columns.end.min(own.end);
            if some.is_empty() {
                return 0.0;
            }
            par::sum(model.rows(), 4 * some.len(), |rows| {
                let mut f = vec![0.0; own.end];
                let of_row = |n: usize| {
                    for (j, from) in some.clone().zip(&state.f.row(n)[some.clone()]) {
                        let known = beside.at(n, j) + centres[j - own.start];
                        f[j] = known + factor * (from - known);
                    }
                    model.ln_lik_cells(&state.theta, n, &some, &f)
                };
                rows.map(of_row).sum()
            })
        })
    }

    fn along_s<'a>(&'a mut self, model: &'a Model, state: &'a State) -> Along<'a> {
        let slope = slopes(model, state);
        Box::new(move |v| {
            let more = (0.5 * v).exp() - state.features.plain().s();
            model.chunks().sum(|Chunk { columns: some, .. }| {
                par::sum(model.rows(), 4 * some.len(), |rows| {
                    let mut f = vec![0.0; some.end];
                    let of_row = |n: usize| {
                        let cells = f[some.clone()].iter_mut().zip(&state.f.row(n)[some.clone()]);
                        let cells = cells.zip(&slope.row(n)[some.clone()]);
                        cells.for_each(|((to, from), slope)| *to = from + more * slope);
                        model.ln_lik_cells(&state.theta, n, some, &f)
                    };
                    rows.map(of_row).sum()
                })
            })
        })
    }

    fn climb(
        &mut self,
        model: &Model,
        state: &mut State,
        q: &mut Vec<f64>,
        is_integrated: bool,
        limit: Limit<'_>,
    ) -> Result<Optimum, NumericalError> {
        let paths = model.paths(state)?;
        if is_integrated && is_exact(model) {
            let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
            let (target, layout) = (CollapsedData::new(model, &state.theta), Layout::new(model, false));
            let marginal = Marginal::new(&target, &state.tau2, given, layout).along(paths.as_ref());
            return Ok(maximise(&mut Volume::new(marginal, model), q, limit));
        }
        let laplace_term = if is_integrated { Some(self.laplace_term(model, state)?) } else { None };
        // L-BFGS stores many vectors and does not need F: its memory is released meanwhile.
        let Lent { h, f } = state.lend();
        drop(f);
        let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
        let mut joint = Joint::within(model, &state.theta, &state.tau2, given, paths.as_ref(), h);
        let (optimum, h) = match &laplace_term {
            None => (maximise(&mut joint, q, limit), joint.finish()),
            Some(laplace_term) => {
                let mut joint = Volume::new(joint.with_laplace_term(laplace_term), model);
                (maximise(&mut joint, q, limit), joint.finish().finish())
            }
        };
        state.take_back(model, Lent { h, f: Mat::default() }, None);
        Ok(optimum)
    }

    fn laplace_term(&mut self, model: &Model, state: &State) -> Result<LaplaceTerm, NumericalError> {
        Ok(LaplaceTerm::new(model, state))
    }
}

/// The rows of a state at any positions.
fn positions<'a>(model: &'a Model, state: &'a State) -> Positions<'a> {
    Positions::new(model, &state.theta, &state.beta, (state.features.w(), state.features.plain().s()))
}

/// X b, N×J.
fn slopes(model: &Model, state: &State) -> Mat {
    let (linear, columns) = (model.linear(), model.columns());
    let b =
        View::new(&state.beta.as_slice()[linear.start * columns..linear.end * columns], linear.len(), columns, columns);
    let mut slopes = Mat::zeros(model.rows(), columns);
    par_mul(&mut slopes, state.features.x().view(), b, false);
    slopes
}
