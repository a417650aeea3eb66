//! A trajectory on the plain device.

use super::OnHost;
use crate::dist::fill_normals;
use crate::hmc::flow::{Flow, Frame, Slopes};
use crate::hmc::slope::{At, SlopeScratch};
use crate::linalg::{Cholesky, Mat, gram, par_mul, par_mul_into};
use crate::model::features::fill_weighted;
use crate::rng::Stream;

/// What gives the weights of a trajectory: A⁻¹ and ln|A| of each group, u and A⁻¹u.
struct Coloured {
    inverses: Vec<Mat>,
    ln_dets: Vec<f64>,
    u: Mat,
    t: Mat,
}

impl OnHost {
    fn frame(&self) -> &Frame {
        self.frame.as_ref().expect("a trajectory has begun")
    }

    /// √aH, and β from the noise, at X and W; `None` where A is not positive definite.
    fn colour(&mut self, x: &Mat, w: &Mat) -> Option<Coloured> {
        (self.x, self.w) = (x.clone(), w.clone());
        let (reference, frame) = (self.reference().clone(), self.frame().clone());
        fill_weighted(x, w, &self.plain, &reference.root, &mut self.weighted);
        let (width, columns) = (self.weighted.cols(), self.zeta.cols());
        let mut left = Mat::zeros(width, frame.right.rows());
        par_mul(&mut left, self.weighted.view().transpose(), reference.left.view(), false);
        let (mut response, mut u) = (Mat::zeros(width, columns), Mat::zeros(width, columns));
        par_mul(&mut response, left.view(), frame.right.view(), false);
        par_mul(&mut u, self.weighted.view().transpose(), self.zeta.view(), false);
        let square = gram(&self.weighted, None, &vec![0.0; width]);
        let d = |r: usize| if r + 1 == width { frame.intercept } else { 1.0 };
        let diagonal: Vec<f64> = (0..width).map(d).collect();
        let (mut inverses, mut ln_dets, mut t) = (Vec::new(), Vec::new(), Mat::zeros(width, columns));
        for (range, rho) in &frame.groups {
            let cholesky = Cholesky::new(square.scaled_plus(*rho, &diagonal), "gradient").ok()?;
            let inverse = cholesky.inverse();
            for k in range.clone() {
                let c = frame.order[k];
                for r in 0..width {
                    u[(r, k)] = rho.sqrt() * u[(r, k)] + d(r).sqrt() * self.xi[(r, k)];
                }
                for r in 0..width {
                    t[(r, k)] = (0..width).map(|i| inverse[(r, i)] * u[(i, k)]).sum();
                    let mean: f64 = (0..width).map(|i| inverse[(r, i)] * rho * response[(i, k)]).sum();
                    let centre = if r + 1 == width { self.model.units()[c].centre } else { 0.0 };
                    self.turning_beta[(r, c)] = centre + mean + frame.scale[k] * t[(r, k)];
                }
            }
            inverses.push(inverse);
            ln_dets.push(cholesky.ln_det());
        }
        Some(Coloured { inverses, ln_dets, u, t })
    }
}

impl Flow for OnHost {
    fn begin(&mut self, frame: &Frame) {
        self.frame = Some(frame.clone());
    }

    fn gather(&mut self, x: &Mat, w: &Mat, beta: &Mat, [of_zeta, of_xi]: [Stream; 2]) {
        let (width, columns) = (beta.rows(), beta.cols());
        for noise in [&mut self.xi, &mut self.xi_momenta, &mut self.du, &mut self.turning_beta] {
            *noise = Mat::zeros(width, columns);
        }
        fill_normals(self.zeta.as_mut_slice(), of_zeta);
        fill_normals(self.xi.as_mut_slice(), of_xi);
        if self.colour(x, w).is_none() {
            // The trajectory will find the same, and is rejected.
            return;
        }
        let frame = self.frame().clone();
        let mut delta = Mat::zeros(width, columns);
        for (range, rho) in &frame.groups {
            for k in range.clone() {
                for r in 0..width {
                    let away = (beta[(r, frame.order[k])] - self.turning_beta[(r, frame.order[k])]) / frame.scale[k];
                    self.xi[(r, k)] += if r + 1 == width { frame.intercept.sqrt() } else { 1.0 } * away;
                    delta[(r, k)] = rho.sqrt() * away;
                }
            }
        }
        par_mul(&mut self.zeta, self.weighted.view(), delta.view(), true);
    }

    fn evaluate(&mut self, x: &Mat, w: &Mat, (gx, gw): Slopes<'_>) -> f64 {
        let Some(Coloured { inverses, ln_dets, u, t }) = self.colour(x, w) else { return f64::NAN };
        let (frame, reference) = (self.frame().clone(), self.reference().clone());
        let (beta, centres) = (self.turning_beta.clone(), self.model.units().to_vec());
        let (width, columns, rank) = (beta.rows(), beta.cols(), frame.right.rows());
        let from_centre = |r: usize, c: usize| beta[(r, c)] - if r + 1 == width { centres[c].centre } else { 0.0 };
        let mut dbeta = Mat::zeros(width, columns);
        let mut ln_density = self.slopes(&reference.root, &beta, &mut dbeta, (gx, gw));
        for r in 0..width {
            for c in 0..columns {
                let p = frame.precision[c] * if r + 1 == width { frame.intercept } else { 1.0 };
                dbeta[(r, c)] -= p * from_centre(r, c);
                ln_density -= 0.5 * p * from_centre(r, c).powi(2);
            }
        }
        // With V = A⁻¹∂β and t = A⁻¹u: ∂u = sV + t, ∂A = −V(β − b_0)ᵀ − ½ttᵀ − ½kA⁻¹, symmetrised.
        let (mut v, mut ds) = (Mat::zeros(width, columns), Mat::zeros(width, width));
        for ((range, rho), (inverse, ln_det)) in frame.groups.iter().zip(inverses.iter().zip(ln_dets)) {
            ln_density -= 0.5 * range.len() as f64 * ln_det;
            let mut da = Mat::from_fn(width, width, |i, k| 0.5 * range.len() as f64 * inverse[(i, k)]);
            for k in range.clone() {
                let c = frame.order[k];
                for r in 0..width {
                    v[(r, k)] = (0..width).map(|i| inverse[(r, i)] * dbeta[(i, c)]).sum();
                    ln_density += 0.5 * u[(r, k)] * t[(r, k)];
                }
                for i in 0..width {
                    for r in 0..width {
                        da[(i, r)] += v[(i, k)] * from_centre(r, c) + 0.5 * t[(i, k)] * t[(r, k)];
                    }
                }
            }
            for i in 0..width {
                (0..width).for_each(|k| ds[(i, k)] -= rho * (da[(i, k)] + da[(k, i)]));
            }
            for k in range.clone() {
                for r in 0..width {
                    self.du[(r, k)] = rho.sqrt() * (frame.scale[k] * v[(r, k)] + t[(r, k)]);
                    v[(r, k)] *= rho;
                }
            }
        }
        let mut left = Mat::zeros(width, rank);
        par_mul(&mut left, v.view(), frame.right.view().transpose(), false);
        let (x, w, plain, h) = (&self.x, &self.w, &self.plain, &self.weighted);
        let at = At { x, w, plain, h, roots: &reference.root, known: self.known() };
        SlopeScratch::default().carry(at, columns, (gx, gw), |rows, dh| {
            let tables = [&self.zeta, &self.weighted, &reference.left];
            let [zeta, h, z] = tables.map(|table| table.view().subrows(rows.start, rows.len()));
            par_mul_into(dh, zeta, self.du.view().transpose(), false);
            par_mul_into(dh, h, ds.view(), true);
            par_mul_into(dh, z, left.view().transpose(), true);
        });
        ln_density
    }

    fn kick(&mut self, step: f64) {
        let (frame, width) = (self.frame().clone(), self.du.rows());
        self.du.as_mut_slice().iter_mut().for_each(|du| *du *= step);
        for (range, rho) in &frame.groups {
            for k in range.clone() {
                for r in 0..width {
                    let d = if r + 1 == width { frame.intercept.sqrt() } else { 1.0 };
                    self.xi_momenta[(r, k)] += d / rho.sqrt() * self.du[(r, k)];
                }
            }
        }
        par_mul(&mut self.momenta, self.weighted.view(), self.du.view(), true);
    }

    fn draw_momenta(&mut self, [of_zeta, of_xi]: [Stream; 2]) {
        fill_normals(self.momenta.as_mut_slice(), of_zeta);
        fill_normals(self.xi_momenta.as_mut_slice(), of_xi);
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        for (q, p) in [(&mut self.zeta, &mut self.momenta), (&mut self.xi, &mut self.xi_momenta)] {
            for (q, p) in q.as_mut_slice().iter_mut().zip(p.as_mut_slice()) {
                (*q, *p) = (cos * *q + sin * *p, cos * *p - sin * *q);
            }
        }
    }

    fn energy(&mut self) -> f64 {
        let all = [&self.zeta, &self.momenta, &self.xi, &self.xi_momenta];
        0.5 * all.iter().flat_map(|table| table.as_slice()).map(|v| v * v).sum::<f64>()
    }

    fn beta(&mut self, beta: &mut Mat) {
        beta.clone_from(&self.turning_beta);
    }
}
