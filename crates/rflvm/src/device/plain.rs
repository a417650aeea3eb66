//! A device that is this processor: each operation in the plainest form, from the functions that the rest of the library is tested with. The steps of
//! this folder are tested on it, and other devices are compared with it.

mod curvature;
mod flow;

use super::categories::{self, Categories};
use super::{ColumnAt, Device, Priors, Turns};
use crate::chunks::Chunks;
use crate::dist::canonical::Canonical;
use crate::dist::{ln_gamma, ln_sum_exp};
use crate::hmc::flow::{Frame, Slopes};
use crate::hmc::reference::Reference;
use crate::hmc::slope::{At, SlopeScratch};
use crate::linalg::{Mat, Symmetric, gram, par_mul};
use crate::model::family::{Law, Theta};
use crate::model::features::{Features, fill_weighted};
use crate::model::plain::Plain;
use crate::model::position::Positions;
use crate::model::{Block, Known, Model, predictor};
use curvature::{information_of, law};

/// This processor as a device.
#[derive(Debug)]
pub struct OnHost {
    /// With counts in the place of categories.
    model: Model,
    /// All columns, if several processes share them.
    chunks: Chunks,
    fault: Option<String>,
    categories: Vec<Categories>,
    /// ln of the rates of their rows.
    rates: Vec<Vec<f64>>,
    /// Column processes, if they have them.
    paths: Mat,
    /// What is known of f besides o; empty where that is nothing.
    beside: Mat,
    theta: Vec<Theta>,
    plain: Plain,
    x: Mat,
    w: Mat,
    beta: Mat,
    h: Mat,
    f: Mat,
    reference: Option<Reference>,
    weighted: Mat,
    zeta: Mat,
    momenta: Mat,
    /// In single precision, as a checkpoint holds it.
    sum: Vec<f32>,
    columns: Vec<usize>,
    /// f and the auxiliary of the columns whose weights are being redrawn, one row per column.
    at: Mat,
    aim: Mat,
    /// The Gaussians fitted to them.
    laws: Vec<Canonical>,
    /// The weights' half of a trajectory.
    frame: Option<Frame>,
    xi: Mat,
    xi_momenta: Mat,
    du: Mat,
    turning_beta: Mat,
}

impl OnHost {
    /// For a model.
    pub fn new(model: &Model) -> Self {
        let table = || Mat::zeros(model.rows(), model.columns());
        OnHost {
            theta: model.start_parameters(),
            plain: model.plain(0.0),
            x: Mat::default(),
            w: Mat::default(),
            beta: Mat::default(),
            h: Mat::default(),
            f: table(),
            reference: None,
            weighted: Mat::zeros(model.rows(), model.width()),
            zeta: table(),
            momenta: table(),
            sum: vec![0.0; model.rows() * model.columns()],
            columns: Vec::new(),
            at: Mat::default(),
            aim: Mat::default(),
            laws: Vec::new(),
            frame: None,
            xi: Mat::default(),
            xi_momenta: Mat::default(),
            du: Mat::default(),
            turning_beta: Mat::default(),
            rates: Vec::new(),
            paths: Mat::default(),
            beside: Mat::default(),
            categories: categories::of(model),
            fault: None,
            model: model.as_counts().alone(),
            chunks: model.chunks().clone(),
        }
    }

    /// Pretends that something went wrong.
    #[cfg(test)]
    pub(super) fn fail(&mut self, reason: &str) {
        self.fault = Some(reason.into());
    }

    /// ln of the rates of a set of categories.
    #[cfg(test)]
    pub(super) fn rates(&self, set: usize) -> &[f64] {
        &self.rates[set]
    }

    fn known(&self) -> Known<'_> {
        Known::new(self.model.offset(), &self.beside)
    }

    fn positions(&self) -> Positions<'_> {
        let positions = Positions::new(&self.model, &self.theta, &self.beta, (&self.w, self.plain.s()));
        positions.beside(self.known())
    }

    /// The set of categories to which a column belongs.
    fn set_of(&self, j: usize) -> Option<&Categories> {
        self.categories.iter().find(|set| set.columns.contains(&j))
    }

    /// Rates in the place of o, and paths.
    fn beside(&mut self) {
        self.beside = match self.paths.rows() {
            0 => Mat::zeros(self.model.rows(), self.model.columns()),
            _ => self.paths.clone(),
        };
        for (set, rates) in self.categories.iter().zip(&self.rates) {
            for (n, (rate, offset)) in rates.iter().zip(self.model.offset()).enumerate() {
                self.beside.row_mut(n)[set.columns.clone()].iter_mut().for_each(|to| *to += rate - offset);
            }
        }
        let beta = std::mem::take(&mut self.beta);
        if beta.rows() > 0 {
            self.set_weights(&beta);
        }
    }

    /// HᵀΩH, Ω the information of the cells of each column at its present f, and the response Hᵀ(Ω(f − known) + ∂f), one row per column.
    fn curvature(&self) -> (Vec<Symmetric>, Mat) {
        let (rows, m) = (self.model.rows(), self.h.cols());
        let mut responses = Mat::zeros(self.columns.len(), m);
        let mut grams = Vec::new();
        for (i, &j) in self.columns.iter().enumerate() {
            let (b, block) = self.block(j);
            let local = j - block.columns.start;
            let (mut weights, mut slope) = (vec![0.0; rows], vec![0.0; rows]);
            for n in (0..rows).filter(|&n| !self.model.y()[(n, j)].is_nan()) {
                let mut f = vec![0.0; block.columns.len()];
                f[local] = self.at[(i, n)];
                let mut g = f.clone();
                let row = self.model.row(block, n, &self.theta[b]);
                block.family.gradient(row, &f, &mut g);
                (weights[n], slope[n]) = (information_of(block, row, local, f[local]), g[local]);
            }
            for n in 0..rows {
                let response = weights[n] * (self.at[(i, n)] - self.known().at(n, j)) + slope[n];
                responses.row_mut(i).iter_mut().zip(self.h.row(n)).for_each(|(to, h)| *to += response * h);
            }
            grams.push(gram(&self.h, Some(&weights), &vec![0.0; m]));
        }
        (grams, responses)
    }

    fn information(&self, n: usize, j: usize, f: f64) -> f64 {
        let (b, block) = self.block(j);
        information_of(block, self.model.row(block, n, &self.theta[b]), j - block.columns.start, f)
    }

    fn reference(&self) -> &Reference {
        self.reference.as_ref().expect("a reference is set before it is needed")
    }

    fn block(&self, j: usize) -> (usize, &Block) {
        let b = self.model.blocks().partition_point(|block| block.columns.end <= j);
        (b, &self.model.blocks()[b])
    }

    /// The part of ln p(y | f) that depends on f or on θ, of a cell.
    fn cell(&self, n: usize, j: usize, f: f64, theta: Option<[f64; 2]>) -> f64 {
        let (b, block) = self.block(j);
        let (y, local) = (self.model.y()[(n, j)], j - block.columns.start);
        if y.is_nan() {
            return 0.0;
        }
        let mut moved = Theta { values: self.theta[b].values.clone(), hyper: self.theta[b].hyper.clone() };
        if let Some(theta) = theta {
            (0..moved.values.rows()).for_each(|p| moved.values[(p, local)] = theta[p]);
        }
        let mut row = vec![f64::NAN; block.columns.len()];
        row[local] = y;
        let mut every = vec![0.0; block.columns.len()];
        every[local] = f;
        let ln_lik = block.family.ln_lik(crate::model::family::Row { n, first: 0, y: &row, theta: &moved }, &every);
        match (theta, Law::of(block.family.as_ref())) {
            (Some([r, _]), Some(Law::NegativeBinomial(_))) => ln_lik + ln_gamma(y + r) - ln_gamma(r),
            _ => ln_lik,
        }
    }

    fn slopes(&mut self, roots: &[f64], beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        let at = At { x: &self.x, w: &self.w, plain: &self.plain, h: &self.weighted, roots, known: self.known() };
        SlopeScratch::default().likelihood(
            &self.model,
            &self.theta,
            at,
            (&(0..beta.cols()), beta.view()),
            dbeta.as_mut_slice(),
            to,
        )
    }
}

impl Device for OnHost {
    fn name(&self) -> String {
        "this processor".into()
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.clone()
    }

    fn set_table(&mut self, model: &Model) {
        (self.categories, self.model) = (categories::of(model), model.as_counts().alone());
    }

    fn set_paths(&mut self, g: &Mat) {
        self.paths = g.clone();
        self.beside();
    }

    fn categories(&self) -> &[Categories] {
        &self.categories
    }

    fn ln_sums(&mut self, set: usize, out: &mut [f64]) {
        // Not from F, whose rounding depends on the rates.
        let mut eta = Mat::zeros(self.f.rows(), self.f.cols());
        if self.paths.rows() > 0 {
            eta.clone_from(&self.paths);
        }
        par_mul(&mut eta, self.h.view(), self.beta.view(), true);
        for (n, out) in out.iter_mut().enumerate() {
            let columns = self.categories[set].columns.clone();
            let seen = columns.filter(|&j| !self.model.y()[(n, j)].is_nan());
            *out = ln_sum_exp(&seen.map(|j| eta[(n, j)]).collect::<Vec<f64>>());
        }
    }

    fn set_rates(&mut self, set: usize, ln_rates: &[f64]) {
        self.rates.resize(self.categories.len(), vec![0.0; ln_rates.len()]);
        self.rates[set].copy_from_slice(ln_rates);
        self.beside();
    }

    fn set_map(&mut self, x: &Mat, w: &Mat, s: f64) {
        self.plain = self.model.plain(s);
        (self.x, self.w) = (x.clone(), w.clone());
        self.h = Features::with(x.clone(), w.clone(), self.plain.clone()).h().clone();
    }

    fn set_parameters(&mut self, theta: &[Theta]) {
        self.theta = theta.to_vec();
    }

    fn set_weights(&mut self, beta: &Mat) {
        self.beta = beta.clone();
        let mut f = std::mem::take(&mut self.f);
        predictor(&self.h, beta.view(), self.known(), &mut f);
        self.f = f;
    }

    fn set_reference(&mut self, reference: &Reference) {
        self.reference = Some(reference.clone());
    }

    fn ln_lik(&mut self) -> f64 {
        (0..self.model.rows()).map(|n| self.model.ln_lik_row(&self.theta, n, self.f.row(n))).sum()
    }

    fn ln_lik_rows(&mut self, out: &mut [f64]) {
        for (n, out) in out.iter_mut().enumerate() {
            *out = self.model.ln_lik_row(&self.theta, n, self.f.row(n));
        }
    }

    fn ln_lik_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        let (positions, dim) = (self.positions(), self.model.latent_dim());
        let mut scratch = positions.scratch();
        for ((out, &n), x) in out.iter_mut().zip(rows).zip(x.chunks_exact(dim)) {
            *out = positions.ln_lik(n as usize, x, &mut scratch);
        }
    }

    fn ln_lik_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        if self.categories.is_empty() {
            return self.ln_lik_rows_at(rows, x, out);
        }
        let (positions, dim) = (self.positions(), self.model.latent_dim());
        let mut scratch = positions.scratch();
        for ((out, &n), x) in out.iter_mut().zip(rows).zip(x.chunks_exact(dim)) {
            let n = n as usize;
            positions.place(n, x, &mut scratch);
            let others = (0..self.model.columns()).filter(|&j| self.set_of(j).is_none());
            *out = others.map(|j| self.cell(n, j, scratch.f[j], None)).sum();
            for Categories { columns, totals, .. } in self.categories.iter().filter(|set| !set.totals[n].is_nan()) {
                let (f, y) = (&scratch.f[columns.clone()], &self.model.y().row(n)[columns.clone()]);
                *out += y.iter().zip(f).map(|(y, f)| y * f).sum::<f64>() - totals[n] * ln_sum_exp(f);
            }
        }
    }

    fn slope_new_rows_at(&mut self, rows: &[u32], x: &[f64], out: &mut [f64]) {
        let (positions, dim) = (self.positions(), self.model.latent_dim());
        let mut scratch = positions.scratch();
        for ((out, &n), x) in out.chunks_exact_mut(dim * (dim + 3) / 2).zip(rows).zip(x.chunks_exact(dim)) {
            let n = n as usize;
            positions.place(n, x, &mut scratch);
            let y = self.model.y().row(n);
            let mut g = vec![0.0; y.len()];
            self.model.gradient_cells(&self.theta, n, &(0..y.len()), &scratch.f, &mut g);
            let of_cell = |j: usize| if y[j].is_nan() { 0.0 } else { self.information(n, j, scratch.f[j]) };
            let mut information: Vec<f64> = (0..y.len()).map(of_cell).collect();
            for Categories { columns, totals, .. } in self.categories.iter().filter(|set| !set.totals[n].is_nan()) {
                let (top, total) = (ln_sum_exp(&scratch.f[columns.clone()]), totals[n]);
                for j in columns.clone() {
                    let p = (scratch.f[j] - top).exp();
                    (g[j], information[j]) = (y[j] - total * p, total * p * (1.0 - p));
                }
            }
            let slope = positions.slope_of(&g, &information, &scratch);
            let (gradient, information) = out.split_at_mut(dim);
            gradient.copy_from_slice(&slope.gradient);
            let pairs = (0..dim).flat_map(|d| (0..=d).map(move |e| (d, e)));
            information.iter_mut().zip(pairs).for_each(|(to, pair)| *to = slope.information[pair]);
        }
    }

    fn ln_density_rows(&mut self, out: &mut [f64]) {
        for (n, out) in out.iter_mut().enumerate() {
            *out = self.model.ln_density_row(&self.theta, n, self.f.row(n));
        }
    }

    fn ln_lik_frequency(&mut self, l: usize, w: &[f64]) -> f64 {
        let (before, beta) = (self.w.clone(), self.beta.clone());
        self.set_frequency(l, w);
        let ln_lik = self.ln_lik();
        let x = self.x.clone();
        self.set_map(&x, &before, self.plain.s());
        self.set_weights(&beta);
        ln_lik
    }

    fn set_frequency(&mut self, l: usize, w: &[f64]) {
        let (x, mut all, beta) = (self.x.clone(), self.w.clone(), self.beta.clone());
        all.row_mut(l).copy_from_slice(w);
        self.set_map(&x, &all, self.plain.s());
        self.set_weights(&beta);
    }

    fn ln_lik_columns(&mut self, at: &[ColumnAt], out: &mut [f64]) {
        for (j, (out, at)) in out.iter_mut().zip(at).enumerate() {
            let moved = |n: usize| {
                let base = self.known().at(n, j) + self.model.units()[j].centre;
                base + at.factor * (self.f[(n, j)] - base) - at.shift
            };
            *out = (0..self.model.rows()).map(|n| self.cell(n, j, moved(n), Some(at.theta))).sum();
        }
    }

    fn ln_likelihood(&mut self) -> f64 {
        (0..self.model.rows()).map(|n| self.model.ln_density_row(&self.theta, n, self.f.row(n))).sum()
    }

    fn information_rows(&mut self, shares: &[f64], out: &mut [f64]) {
        for (n, out) in out.iter_mut().enumerate() {
            let cells = shares.iter().enumerate().filter(|&(j, _)| !self.model.y()[(n, j)].is_nan());
            let of_counts = |j: usize| self.information(n, j, self.f[(n, j)]);
            // A category of N trials has the information Np(1 − p).
            let of_cell = |j: usize| match self.set_of(j) {
                Some(set) => of_counts(j) * (1.0 - of_counts(j) / set.totals[n]),
                None => of_counts(j),
            };
            *out = cells.map(|(j, share)| share * of_cell(j)).sum();
        }
    }

    fn take_columns(&mut self, columns: &[u32]) {
        self.columns = columns.iter().map(|&j| j as usize).collect();
        let reference = self.reference();
        let f = |i: usize, n: usize| {
            let j = self.columns[i];
            let away: f64 = (0..reference.right.rows()).map(|r| reference.left[(n, r)] * reference.right[(r, j)]).sum();
            self.known().at(n, j) + self.model.units()[j].centre + away / reference.root[n]
        };
        self.at = Mat::from_fn(columns.len(), self.model.rows(), f);
    }

    fn fit_columns(&mut self, priors: &Priors) -> Mat {
        let (curvature, response) = self.curvature();
        let fit = |i: usize| law(&curvature[i], response.row(i), priors.precision.row(i), priors.centre[i]);
        self.laws = (0..self.columns.len()).map(fit).collect();
        let means = self.laws.iter().flat_map(Canonical::mean).collect();
        let means = Mat::from_vec(self.columns.len(), self.h.cols(), means);
        for (i, &j) in self.columns.iter().enumerate() {
            for n in 0..self.model.rows() {
                let product: f64 = self.h.row(n).iter().zip(means.row(i)).map(|(h, b)| h * b).sum();
                self.at[(i, n)] = Known::new(self.model.offset(), &self.beside).at(n, j) + product;
            }
        }
        means
    }

    fn aim_columns(&mut self, normals: &Mat, from_mean: &Mat) -> (Mat, Vec<[f64; 3]>) {
        let mut auxiliary = normals.clone();
        let squares = |(i, law): (usize, &Canonical)| {
            law.colour(auxiliary.row_mut(i));
            let (from, aux) = (from_mean.row(i), auxiliary.row(i));
            [law.product(from, from), law.product(from, aux), law.product(aux, aux)]
        };
        let squares = self.laws.iter().enumerate().map(squares).collect();
        self.aim = Mat::zeros(self.columns.len(), self.model.rows());
        par_mul(&mut self.aim, auxiliary.view(), self.h.view().transpose(), false);
        (auxiliary, squares)
    }

    fn ln_lik_turned(&mut self, turns: &Turns, out: &mut [f64]) {
        for (i, (out, (cos, sin))) in out.iter_mut().zip(turns).enumerate() {
            let j = self.columns[i];
            let f = |n: usize| self.at[(i, n)] + cos * (self.f[(n, j)] - self.at[(i, n)]) + sin * self.aim[(i, n)];
            *out = (0..self.model.rows()).map(|n| self.cell(n, j, f(n), None)).sum();
        }
    }

    fn slope(&mut self, x: &Mat, w: &Mat, s: f64, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        self.plain = self.model.plain(s);
        (self.x, self.w) = (x.clone(), w.clone());
        fill_weighted(x, w, &self.plain, &[], &mut self.weighted);
        self.slopes(&[], beta, dbeta, to)
    }

    fn add_to_sum(&mut self) {
        let units = self.model.units();
        for (i, (sum, f)) in self.sum.iter_mut().zip(self.f.as_slice()).enumerate() {
            let unit = units[i % units.len()];
            *sum += ((f - unit.centre) / unit.scale) as f32;
        }
    }

    fn refer(&mut self, added: Option<f64>) -> Reference {
        let units = self.model.units();
        let columns = units.len();
        let mut f = match added {
            None => self.f.clone(),
            Some(count) => Mat::from_fn(self.model.rows(), columns, |n, j| {
                units[j].centre + units[j].scale * f64::from(self.sum[n * columns + j]) / count
            }),
        };
        self.sum.fill(0.0);
        Reference::with(&self.model, &self.chunks, self.known(), &mut f, |n, some, f, out| {
            for (j, out) in some.clone().zip(out) {
                *out = if self.model.y()[(n, j)].is_nan() { 0.0 } else { self.information(n, j, f[j - some.start]) };
            }
        })
    }

    fn sum(&mut self) -> Vec<f32> {
        self.sum.clone()
    }

    fn set_sum(&mut self, sum: Vec<f32>) {
        self.sum.fill(0.0);
        self.sum.iter_mut().zip(sum).for_each(|(to, from)| *to = from);
    }

    fn f(&mut self, f: &mut Mat) {
        f.clone_from(&self.f);
    }
}
