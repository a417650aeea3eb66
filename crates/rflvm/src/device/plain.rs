//! A device that is this processor: each operation in the plainest form, from the functions that the rest of the library is tested with. The steps of
//! this folder are tested on it, and other devices are compared with it.

use super::{ColumnAt, Device, Turns};
use crate::dist::{fill_normals, ln_gamma};
use crate::hmc::reference::Reference;
use crate::hmc::rows::{Rows, Slopes};
use crate::hmc::slope::{At, SlopeScratch};
use crate::linalg::{Mat, Symmetric, gram, par_mul, par_mul_into};
use crate::model::family::{Law, Theta};
use crate::model::features::{Features, fill_weighted};
use crate::model::plain::Plain;
use crate::model::{Block, Known, Model, predictor};
use crate::rng::Stream;

/// This processor as a device.
#[derive(Debug)]
pub struct OnHost {
    model: Model,
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
    sum: Mat,
    columns: Vec<usize>,
    /// f, y and the auxiliary of the columns whose weights are being redrawn, one row per column.
    at: Mat,
    aim: Mat,
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
            sum: table(),
            columns: Vec::new(),
            at: Mat::default(),
            aim: Mat::default(),
            model: model.clone(),
        }
    }

    fn known(&self) -> Known<'_> {
        Known::of(&self.model)
    }

    fn roots(&self) -> &[f64] {
        self.reference.as_ref().map_or(&[], |reference| &reference.root)
    }

    fn block(&self, j: usize) -> (usize, &Block) {
        let b = self.model.blocks().partition_point(|block| block.columns.end <= j);
        (b, &self.model.blocks()[b])
    }

    /// The part of ln p(y | f) that depends on f or on θ, of a cell.
    fn cell(&self, n: usize, j: usize, f: f64, theta: Option<f64>) -> f64 {
        let (b, block) = self.block(j);
        let (y, local) = (self.model.y()[(n, j)], j - block.columns.start);
        if y.is_nan() {
            return 0.0;
        }
        let own = (self.theta[b].values.rows() > 0).then(|| self.theta[b].values[(0, local)]);
        let at = theta.or(own).unwrap_or(1.0);
        let mut moved = Theta { values: self.theta[b].values.clone(), hyper: self.theta[b].hyper.clone() };
        if moved.values.rows() > 0 {
            moved.values[(0, local)] = at;
        }
        let mut row = vec![f64::NAN; block.columns.len()];
        row[local] = y;
        let mut every = vec![0.0; block.columns.len()];
        every[local] = f;
        let ln_lik = block.family.ln_lik(crate::model::family::Row { n, y: &row, theta: &moved }, &every);
        match (theta, block.family.law()) {
            (Some(r), Some(Law::NegativeBinomial(_))) => ln_lik + ln_gamma(y + r) - ln_gamma(r),
            _ => ln_lik,
        }
    }

    fn slopes(&mut self, roots: &[f64], beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        let at = At { x: &self.x, w: &self.w, plain: &self.plain, h: &self.weighted, roots, known: self.known() };
        SlopeScratch::default().likelihood(&self.model, &self.theta, at, beta.view(), dbeta.as_mut_slice(), to)
    }
}

impl Rows for OnHost {
    fn settle(&mut self, x: &Mat, w: &Mat, left: &mut Mat) -> Symmetric {
        (self.x, self.w) = (x.clone(), w.clone());
        let reference = self.reference.as_ref().expect("a reference is set before a trajectory");
        fill_weighted(x, w, &self.plain, &reference.root, &mut self.weighted);
        par_mul(left, self.weighted.view().transpose(), reference.left.view(), false);
        gram(&self.weighted, None, &vec![0.0; self.weighted.cols()])
    }

    fn response(&mut self, u: &mut Mat) {
        par_mul(u, self.weighted.view().transpose(), self.zeta.view(), false);
    }

    fn shift(&mut self, delta: &Mat) {
        par_mul(&mut self.zeta, self.weighted.view(), delta.view(), true);
    }

    fn kick(&mut self, du: &Mat) {
        par_mul(&mut self.momenta, self.weighted.view(), du.view(), true);
    }

    fn likelihood(&mut self, beta: &Mat, dbeta: &mut Mat, to: Slopes<'_>) -> f64 {
        self.slopes(&self.roots().to_vec(), beta, dbeta, to)
    }

    fn carry(&mut self, du: &Mat, ds: &Mat, left: &Mat, to: Slopes<'_>) {
        let reference = self.reference.as_ref().expect("a reference is set before a trajectory");
        let (x, w, plain, h) = (&self.x, &self.w, &self.plain, &self.weighted);
        let at = At { x, w, plain, h, roots: &reference.root, known: self.known() };
        SlopeScratch::default().carry(at, self.model.columns(), to, |rows, dh| {
            let tables = [&self.zeta, &self.weighted, &reference.left];
            let [zeta, h, z] = tables.map(|table| table.view().subrows(rows.start, rows.len()));
            par_mul_into(dh, zeta, du.view().transpose(), false);
            par_mul_into(dh, h, ds.view(), true);
            par_mul_into(dh, z, left.view().transpose(), true);
        });
    }

    fn draw_noise(&mut self, stream: Stream) {
        fill_normals(self.zeta.as_mut_slice(), stream);
    }

    fn draw_momenta(&mut self, stream: Stream) {
        fill_normals(self.momenta.as_mut_slice(), stream);
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        for (q, p) in self.zeta.as_mut_slice().iter_mut().zip(self.momenta.as_mut_slice()) {
            (*q, *p) = (cos * *q + sin * *p, cos * *p - sin * *q);
        }
    }

    fn energy(&mut self) -> f64 {
        0.5 * self.zeta.as_slice().iter().chain(self.momenta.as_slice()).map(|v| v * v).sum::<f64>()
    }
}

impl Device for OnHost {
    fn name(&self) -> String {
        "this processor".into()
    }

    fn fault(&mut self) -> Option<String> {
        None
    }

    fn set_table(&mut self, model: &Model) {
        self.model = model.clone();
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
        let positions = crate::model::position::Positions::new(&self.model, &self.theta, &self.beta, (&self.w, self.plain.s()));
        let (mut scratch, dim) = (positions.scratch(), self.model.latent_dim());
        for ((out, &n), x) in out.iter_mut().zip(rows).zip(x.chunks_exact(dim)) {
            *out = positions.ln_lik(n as usize, x, &mut scratch);
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

    fn take_columns(&mut self, columns: &[u32]) {
        self.columns = columns.iter().map(|&j| j as usize).collect();
        let reference = self.reference.as_ref().expect("a reference is set before weights are redrawn");
        let f = |i: usize, n: usize| {
            let j = self.columns[i];
            let away: f64 = (0..reference.right.rows()).map(|r| reference.left[(n, r)] * reference.right[(r, j)]).sum();
            self.known().at(n, j) + self.model.units()[j].centre + away / reference.root[n]
        };
        self.at = Mat::from_fn(columns.len(), self.model.rows(), f);
    }

    fn curvature(&mut self) -> (Vec<Symmetric>, Mat) {
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
                let (mut g, mut information) = (f.clone(), f.clone());
                let row = self.model.row(block, n, &self.theta[b]);
                block.family.gradient(row, &f, &mut g);
                information_of(block, row, &f, &mut information);
                (weights[n], slope[n]) = (information[local], g[local]);
            }
            for n in 0..rows {
                let response = weights[n] * (self.at[(i, n)] - self.known().at(n, j)) + slope[n];
                responses.row_mut(i).iter_mut().zip(self.h.row(n)).for_each(|(to, h)| *to += response * h);
            }
            grams.push(gram(&self.h, Some(&weights), &vec![0.0; m]));
        }
        (grams, responses)
    }

    fn move_columns(&mut self, beta: &Mat) {
        for (i, &j) in self.columns.iter().enumerate() {
            for n in 0..self.model.rows() {
                let product: f64 = self.h.row(n).iter().zip(beta.row(i)).map(|(h, b)| h * b).sum();
                self.at[(i, n)] = Known::of(&self.model).at(n, j) + product;
            }
        }
    }

    fn aim_columns(&mut self, auxiliary: &Mat) {
        self.aim = Mat::zeros(self.columns.len(), self.model.rows());
        par_mul(&mut self.aim, auxiliary.view(), self.h.view().transpose(), false);
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
        for n in 0..self.f.rows() {
            for (j, unit) in units.iter().enumerate() {
                self.sum[(n, j)] += (self.f[(n, j)] - unit.centre) / unit.scale;
            }
        }
    }

    fn take_mean(&mut self, count: f64, mean: &mut Mat) {
        let units = self.model.units();
        *mean = Mat::from_fn(self.sum.rows(), self.sum.cols(), |n, j| {
            units[j].centre + units[j].scale * self.sum[(n, j)] / count
        });
        self.sum.as_mut_slice().fill(0.0);
    }

    fn sum(&mut self) -> Vec<f32> {
        self.sum.as_slice().iter().map(|&v| v as f32).collect()
    }

    fn set_sum(&mut self, sum: Vec<f32>) {
        self.sum.as_mut_slice().fill(0.0);
        self.sum.as_mut_slice().iter_mut().zip(sum).for_each(|(to, from)| *to = f64::from(from));
    }

    fn f(&mut self, f: &mut Mat) {
        f.clone_from(&self.f);
    }
}

/// The information of a likelihood with a known second derivative; exact, where [`crate::Family::information`] may be a difference quotient.
fn information_of(block: &Block, row: crate::model::family::Row<'_>, f: &[f64], out: &mut [f64]) {
    for (j, out) in out.iter_mut().enumerate() {
        let logistic = 1.0 / (1.0 + (-f[j]).exp());
        *out = match block.family.law() {
            Some(Law::Gaussian(_)) => row.theta.values[(0, j)],
            Some(Law::Poisson) => f[j].min(690.0).exp(),
            Some(Law::Binomial(trials)) => trials.of(row.n, j) * logistic * (1.0 - logistic),
            Some(Law::NegativeBinomial(_)) => (row.y[j] + row.theta.values[(0, j)]) * logistic * (1.0 - logistic),
            None => f64::NAN,
        };
    }
}
