//! The test functions g(unknowns, Y). Bounded or light-tailed, so that their means have reliable standard errors;
//! averaged over rows, columns, frequencies and pairs of them, which increases power; invariant to cluster labels.

use rflvm::internal::linalg::Mat;
use rflvm::internal::model::spectral::Kernel;
use rflvm::internal::model::{Block, Model, State};

/// Values of all functions at one (state, Y), with their names.
#[derive(Debug, Default)]
pub struct Readings {
    /// What was measured, and in which block (`None` for the whole model).
    pub names: Vec<(&'static str, Option<usize>)>,
    /// The values.
    pub values: Vec<f64>,
    block: Option<usize>,
}

impl Readings {
    fn put(&mut self, name: &'static str, value: f64) {
        self.names.push((name, self.block));
        self.values.push(value);
    }

    fn mean(&mut self, name: &'static str, values: impl Iterator<Item = f64>) {
        let (mut sum, mut count) = (0.0, 0.0);
        for value in values {
            sum += value;
            count += 1.0;
        }
        self.put(name, sum / count);
    }

    /// Measures everything.
    pub fn take(&mut self, model: &Model, state: &State) {
        self.names.clear();
        self.values.clear();
        self.block = None;
        self.positions(state.features.x());
        self.paths(model, state);
        self.frequencies(state.features.w());
        self.features(state);
        if matches!(model.spec().kernel, Kernel::Learned(_)) {
            self.spectral(state);
        }
        let cells = model.y().as_slice().iter().filter(|y| !y.is_nan()).count() as f64;
        self.put("ln p(Y|F)", (0.5 * model.ln_likelihood(state) / cells).tanh());
        for (b, block) in model.blocks().iter().enumerate() {
            self.block = Some(b);
            self.weights(model, state, block);
            self.plain(model, state, block);
            self.parameters(state, b, block);
            self.pool(model, state, b, block);
            self.cells(model, state, block);
            self.column_processes(model, state, block);
        }
    }

    fn positions(&mut self, x: &Mat) {
        let (rows, dim) = (x.rows(), x.cols());
        let all = || x.as_slice().iter();
        self.mean("x", all().copied());
        self.mean("x²", all().map(|x| x * x));
        self.mean("x⁴ squashed", all().map(|x| half(x * x)));
        self.mean("x_a·x_b", pairs(rows).map(|(a, b)| dot(x.row(a), x.row(b))));
        self.mean("|x_a·x_b|", pairs(rows).map(|(a, b)| half(dot(x.row(a), x.row(b)))));
        self.mean("x_n1 x_n2", (0..rows).map(|n| x[(n, 0)] * x[(n, dim - 1)]));
        let centre = |d: usize| (0..rows).map(|n| x[(n, d)]).sum::<f64>() / rows as f64;
        self.mean("x̄²", (0..dim).map(|d| centre(d).powi(2)));
        // The first row separately: rows differ where cells are missing or offsets are unequal.
        self.put("|x_1|²", dot(x.row(0), x.row(0)));
    }

    /// Scales of the paths, and increments between neighbours in time.
    fn paths(&mut self, model: &Model, state: &State) {
        let Some(dynamics) = model.dynamics() else { return };
        let x = state.features.x();
        let scales: Vec<[f64; 2]> = state.axes.iter().map(|axis| dynamics.prior().coordinates(axis)).collect();
        for (i, names) in [["ln ℓ", "(ln ℓ)²"], ["logit ρ", "(logit ρ)²"]].into_iter().enumerate() {
            self.mean(names[0], scales.iter().map(|s| s[i]));
            self.mean(names[1], scales.iter().map(|s| s[i] * s[i]));
        }
        self.mean("ln ℓ logit ρ", scales.iter().map(|s| s[0] * s[1]));
        let times = dynamics.times();
        let joined: Vec<(usize, usize)> =
            pairs(x.rows()).filter(|&(a, b)| times.sequence[a] == times.sequence[b]).collect();
        let each = || (0..x.cols()).flat_map(|d| joined.iter().map(move |&(a, b)| (a, b, d)));
        self.mean("x_a x_b of a path", each().map(|(a, b, d)| x[(a, d)] * x[(b, d)]));
        self.mean("x_a x_b ln ℓ", each().map(|(a, b, d)| x[(a, d)] * x[(b, d)] * scales[d][0]));
        self.mean("|x_a − x_b|", each().map(|(a, b, d)| half(x[(a, d)] - x[(b, d)])));
        self.mean("|x_a − x_b| ln ℓ", each().map(|(a, b, d)| half(x[(a, d)] - x[(b, d)]) * scales[d][0]));
        self.mean("|x_a − x_b| logit ρ", each().map(|(a, b, d)| half(x[(a, d)] - x[(b, d)]) * scales[d][1]));
    }

    fn frequencies(&mut self, w: &Mat) {
        self.mean("w", w.as_slice().iter().map(|w| w.tanh()));
        self.mean("1/(1+|w|²)", w.iter_rows().map(|w| 1.0 / (1.0 + dot(w, w))));
        self.mean("ln(1+|w|²)", w.iter_rows().map(|w| dot(w, w).ln_1p()));
        self.mean("w_a·w_b", pairs(w.rows()).map(|(a, b)| dot(w.row(a), w.row(b)).tanh()));
        self.mean("w_l1 w_l2", w.iter_rows().map(|w| (w[0] * w[w.len() - 1]).tanh()));
    }

    /// Interactions of x and w.
    fn features(&mut self, state: &State) {
        let (x, w) = (state.features.x(), state.features.w());
        let both = || x.iter_rows().flat_map(|x| w.iter_rows().map(move |w| (x, w)));
        self.mean("x·w", both().map(|(x, w)| dot(x, w).tanh()));
        self.mean("cos x·w", both().map(|(x, w)| dot(x, w).cos()));
        self.mean("|x|²/(1+|w|²)", both().map(|(x, w)| dot(x, x) / (1.0 + dot(w, w))));
        let kernel = |a: usize, b: usize| {
            let argument = |w: &[f64]| dot(x.row(a), w) - dot(x.row(b), w);
            w.iter_rows().map(|w| argument(w).cos()).sum::<f64>() / w.rows() as f64
        };
        self.mean("k(x_a, x_b)", pairs(x.rows()).map(|(a, b)| kernel(a, b)));
        self.mean("k(x_a, x_b)²", pairs(x.rows()).map(|(a, b)| kernel(a, b).powi(2)));
    }

    /// Clusters, looked up per frequency, so that labels and their order do not matter.
    fn spectral(&mut self, state: &State) {
        let (spectral, w) = (&state.spectral, state.features.w());
        let (alpha, clusters, frequencies) = (spectral.alpha, spectral.count() as f64, w.rows());
        let largest = (0..spectral.count()).map(|k| spectral.z.iter().filter(|&&z| z == k).count()).max();
        self.put("α/(10+α)", alpha / (10.0 + alpha));
        self.put("ln α", alpha.ln());
        self.put("(ln α)²", alpha.ln().powi(2));
        self.put("K", clusters);
        self.put("K = 1", if clusters == 1.0 { 1.0 } else { 0.0 });
        self.put("largest cluster", largest.unwrap_or(0) as f64);
        self.put("K ln α", clusters * alpha.ln());
        if !spectral.psi_rate.is_empty() {
            let scales = || spectral.psi.iter().zip(&spectral.psi_rate);
            let ln = |value: f64| (0.5 * value.ln()).tanh();
            self.mean("ln ψ", scales().map(|(psi, _)| ln(*psi)));
            self.mean("(ln ψ)²", scales().map(|(psi, _)| ln(*psi).powi(2)));
            self.mean("ln r", scales().map(|(_, rate)| ln(*rate)));
            self.mean("ln ψ ln r", scales().map(|(psi, rate)| ln(*psi) * ln(*rate)));
            self.put("ln ψ_1 ln ψ_2", ln(spectral.psi[0]) * ln(spectral.psi[1]));
            let along = |d: usize| (0..frequencies).map(move |l| half(w[(l, d)])).sum::<f64>();
            self.mean("w_d ln ψ_d", (0..2).map(|d| along(d) * ln(spectral.psi[d])));
        }
        let own = || (0..frequencies).map(|l| spectral.cluster(l));
        let ln_det = |sigma: &Mat| (sigma[(0, 0)] * sigma[(1, 1)] - sigma[(0, 1)].powi(2)).ln();
        self.mean("μ", own().map(|c| c.mu[0].tanh()));
        self.mean("1/(1+|μ|²)", own().map(|c| 1.0 / (1.0 + dot(&c.mu, &c.mu))));
        self.mean("ln|Σ|", own().map(|c| ln_det(&c.sigma)));
        self.mean("(ln|Σ|)²", own().map(|c| ln_det(&c.sigma).powi(2)));
        self.mean("correlation of Σ", own().map(|c| c.sigma[(0, 1)] / (c.sigma[(0, 0)] * c.sigma[(1, 1)]).sqrt()));
        self.mean("ln Σ_11", own().map(|c| c.sigma[(0, 0)].ln()));
        let distance = |l: usize| (0..2).map(|d| (w[(l, d)] - spectral.cluster(l).mu[d]).powi(2)).sum::<f64>();
        self.mean("ln(1+|w−μ|²)", (0..frequencies).map(|l| distance(l).ln_1p()));
        self.mean("w·μ", (0..frequencies).map(|l| dot(w.row(l), &spectral.cluster(l).mu).tanh()));
        let together = |a: usize, b: usize| if spectral.z[a] == spectral.z[b] { 1.0 } else { 0.0 };
        self.mean(
            "w_a·w_b in one cluster",
            pairs(frequencies).map(|(a, b)| together(a, b) * dot(w.row(a), w.row(b)).tanh()),
        );
    }

    fn weights(&mut self, model: &Model, state: &State, block: &Block) {
        let (x, w, beta) = (state.features.x(), state.features.w(), &state.beta);
        let (frequencies, last) = (w.rows(), beta.rows() - 1);
        let free: Vec<usize> = block.columns.clone().filter(|&j| model.is_free(j)).collect();
        let free = || free.iter().copied();
        let each = || free().flat_map(|j| (0..last).map(move |m| (m, j)));
        let twins = || free().flat_map(|j| (0..frequencies).map(move |l| (l, frequencies + l, j)));
        let intercept = |j: usize| beta[(last, j)] - model.units()[j].centre;
        self.mean("β", each().map(|at| beta[at].tanh()));
        self.mean("β²", each().map(|at| half(beta[at])));
        self.mean("ln(1+λβ²)", each().map(|at| (model.weight_scale(&state.theta, at.1) * beta[at].powi(2)).ln_1p()));
        self.mean("β_sin β_cos", twins().map(|(a, b, j)| (beta[(a, j)] * beta[(b, j)]).tanh()));
        self.mean("β_sin² − β_cos²", twins().map(|(a, b, j)| half(beta[(a, j)]) - half(beta[(b, j)])));
        self.mean("c", free().map(|j| intercept(j).tanh()));
        self.mean("c²", free().map(|j| half(intercept(j))));
        self.mean("ln(1+λc²)", free().map(|j| (model.weight_scale(&state.theta, j) * intercept(j).powi(2)).ln_1p()));
        let weight = |l: usize, j: usize| beta[(l, j)].powi(2) + beta[(frequencies + l, j)].powi(2);
        self.mean("|β_l|²|w_l|²", twins().map(|(l, _, j)| half(weight(l, j) * dot(w.row(l), w.row(l)))));
        self.mean(
            "|β|²|x|²",
            twins()
                .map(|(l, _, j)| half(weight(l, j)) * x.iter_rows().map(|x| half(x[0])).sum::<f64>() / x.rows() as f64),
        );
        self.mean(
            "β_sin x·w",
            twins().map(|(l, _, j)| {
                x.iter_rows().map(|x| (beta[(l, j)] * dot(x, w.row(l))).tanh()).sum::<f64>() / x.rows() as f64
            }),
        );
        if free().count() > 1 {
            let columns: Vec<usize> = free().collect();
            let both = pairs(columns.len()).map(|(a, b)| (columns[a], columns[b]));
            self.mean(
                "β_i·β_j",
                both.map(|(i, j)| (0..=last).map(|m| beta[(m, i)] * beta[(m, j)]).sum::<f64>().tanh()),
            );
        }
        if model.amplitude(block).prior().is_some() {
            self.mean("ln τ²", free().map(|j| state.tau2[j].ln()));
            self.mean("(ln τ²)²", free().map(|j| state.tau2[j].ln().powi(2)));
            self.mean("1/(1+τ²)", free().map(|j| 1.0 / (1.0 + state.tau2[j])));
            self.mean("β² ln τ²", each().map(|at| half(beta[at]) * state.tau2[at.1].ln()));
            self.mean("c² ln τ²", free().map(|j| half(intercept(j)) * state.tau2[j].ln()));
            let scale = |j: usize| model.weight_scale(&state.theta, j);
            self.mean("ln(1+λβ²/τ²)", each().map(|at| (scale(at.1) * beta[at].powi(2) / state.tau2[at.1]).ln_1p()));
        }
    }

    /// Effects of covariates, and the linear part.
    fn plain(&mut self, model: &Model, state: &State, block: &Block) {
        let (x, beta, plain) = (state.features.x(), &state.beta, state.features.plain());
        let free: Vec<usize> = block.columns.clone().filter(|&j| model.is_free(j)).collect();
        let free = || free.iter().copied();
        if plain.count() > 0 {
            let first = model.spec().features;
            self.mean("γ", free().map(|j| beta[(first, j)].tanh()));
            self.mean("γ²", free().map(|j| half(beta[(first, j)])));
            let product = |n: usize, j: usize| plain.covariates(n)[0] * beta[(first, j)];
            let each = || free().flat_map(|j| (0..x.rows()).map(move |n| (n, j)));
            self.mean("uγ f", each().map(|(n, j)| (product(n, j) * state.f[(n, j)]).tanh()));
            self.mean("uγ x", each().map(|(n, j)| product(n, j).tanh() * x[(n, 0)]));
        }
        if plain.is_linear() {
            let ln = plain.s().ln();
            let slopes = || free().flat_map(|j| model.linear().map(move |m| (m, j)));
            self.put("ln s", ln);
            self.put("(ln s)²", ln * ln);
            self.put("1/(1+s²)", 1.0 / (1.0 + plain.s().powi(2)));
            self.mean("b", slopes().map(|at| beta[at].tanh()));
            self.mean("b²", slopes().map(|at| half(beta[at])));
            self.mean("b² ln s", slopes().map(|at| half(beta[at]) * ln));
            let last = beta.rows() - 1;
            self.mean("b c", slopes().map(|at| (beta[at] * (beta[(last, at.1)] - model.units()[at.1].centre)).tanh()));
            let along =
                |n: usize, j: usize| model.linear().enumerate().map(|(d, m)| x[(n, d)] * beta[(m, j)]).sum::<f64>();
            let each = || free().flat_map(|j| (0..x.rows()).map(move |n| (n, j)));
            self.mean("x·b", each().map(|(n, j)| along(n, j).tanh()));
            self.mean("(x·b)²", each().map(|(n, j)| half(along(n, j))));
            self.mean("s x·b f", each().map(|(n, j)| (plain.s() * along(n, j) * state.f[(n, j)]).tanh()));
            self.mean("|x|² ln s", x.iter_rows().map(|x| half(dot(x, x)) * ln));
        }
    }

    /// Column processes and their scales.
    fn column_processes(&mut self, model: &Model, state: &State, block: &Block) {
        if model.column_process().is_none() {
            return;
        }
        let (g, scales, rows) = (&state.column_process.g, &state.column_process.scales, model.rows());
        let free: Vec<usize> = block.columns.clone().filter(|&j| model.is_free(j)).collect();
        let free = || free.iter().copied();
        let share = |j: usize| (0.5 * scales[j].share.ln()).tanh();
        let length = |j: usize| scales[j].length_scale.ln();
        let size = |j: usize| 1.0 / (1.0 + scales[j].share);
        self.mean("ln s", free().map(share));
        self.mean("(ln s)²", free().map(|j| share(j).powi(2)));
        self.mean("1/(1+s²)", free().map(size));
        self.mean("ln ℓ_j", free().map(length));
        self.mean("(ln ℓ_j)²", free().map(|j| length(j).powi(2)));
        self.mean("ln s ln ℓ_j", free().map(|j| share(j) * length(j)));
        let each = || free().flat_map(|j| (0..rows).map(move |n| (n, j)));
        let joined = || free().flat_map(|j| pairs(rows).map(move |(a, b)| ((a, j), (b, j))));
        self.mean("g", each().map(|at| g[at].tanh()));
        self.mean("g²", each().map(|at| half(g[at])));
        self.mean("g² ln s", each().map(|at| half(g[at]) * share(at.1)));
        self.mean("g/s", each().map(|at| half(g[at] / scales[at.1].share.sqrt())));
        self.mean("g_a g_b", joined().map(|(a, b)| (g[a] * g[b]).tanh()));
        self.mean("g_a g_b ln ℓ_j", joined().map(|(a, b)| (g[a] * g[b]).tanh() * length(a.1)));
        self.mean("|g_a − g_b| ln ℓ_j", joined().map(|(a, b)| half(g[a] - g[b]) * length(a.1)));
        self.mean("g Hβ", each().map(|at| (g[at] * (state.f[at] - g[at])).tanh()));
        self.mean("g |x|²", each().map(|at| half(g[at]) * half(state.features.x()[(at.0, 0)])));
        self.mean("g c", each().map(|at| (g[at] * state.beta[(state.beta.rows() - 1, at.1)]).tanh()));
        let seen = |at: &(usize, usize)| !model.y()[*at].is_nan();
        self.mean("g y", each().filter(seen).map(|at| g[at].tanh() * model.y()[at].atan()));
    }

    fn parameters(&mut self, state: &State, b: usize, block: &Block) {
        let theta = &state.theta[b];
        if theta.values.rows() == 0 {
            return;
        }
        // Precisions, dispersions and degrees of freedom are positive, so take logarithms; other parameters are unconstrained.
        let names = block.family.parameters();
        let unconstrained = |p: usize, j: usize| match names[p] {
            "precision" | "r" | "dof" => theta.values[(p, j)].ln(),
            _ => theta.values[(p, j)],
        };
        let value = |j: usize| unconstrained(0, j);
        let all = || (0..block.columns.len()).map(value);
        self.mean("θ", all());
        self.mean("θ²", all().map(|t| t * t));
        self.mean("logistic θ", all().map(|t| 1.0 / (1.0 + (-t).exp())));
        let last = state.beta.rows() - 1;
        let intercept = |j: usize| state.beta[(last, block.columns.start + j)];
        self.mean("θ c", (0..block.columns.len()).map(|j| value(j) * intercept(j).tanh()));
        let size = |j: usize| (0..last).map(|m| half(state.beta[(m, block.columns.start + j)])).sum::<f64>();
        self.mean("θ|β|²", (0..block.columns.len()).map(|j| value(j) * size(j)));
        if theta.values.rows() > 1 {
            let dof = |j: usize| unconstrained(1, j);
            self.mean("ln ν", (0..block.columns.len()).map(dof));
            self.mean("(ln ν)²", (0..block.columns.len()).map(|j| dof(j).powi(2)));
            self.mean("θ ln ν", (0..block.columns.len()).map(|j| value(j) * dof(j)));
        }
        if let [h] = theta.hyper[..] {
            self.put("ln h", h.ln());
            self.put("(ln h)²", h.ln().powi(2));
            self.mean("θ ln h", all().map(|t| t * h.ln()));
        }
    }

    /// The level and spread of pooled columns.
    fn pool(&mut self, model: &Model, state: &State, b: usize, block: &Block) {
        let theta = &state.theta[b];
        let [shape, rate] = theta.hyper[..] else { return };
        let (level, spread) = ((rate / shape).ln(), -shape.ln());
        self.put("ln level²", level);
        self.put("(ln level²)²", (0.3 * level).tanh().powi(2));
        self.put("1/(1+level²)", 1.0 / (1.0 + level.exp()));
        self.put("ln spread²", spread);
        self.put("(ln spread²)²", (0.3 * spread).tanh().powi(2));
        self.put("1/(1+spread²)", 1.0 / (1.0 + spread.exp()));
        self.put("ln level² ln spread²", (0.3 * level).tanh() * (0.3 * spread).tanh());
        let unit = |j: usize| &model.units()[block.columns.start + j];
        let value = |j: usize| block.family.standardised(0, theta.values[(0, j)], unit(j)).ln();
        let all = || (0..block.columns.len()).map(value);
        self.mean("θ ln level²", all().map(|t| (0.3 * t).tanh() * (0.3 * level).tanh()));
        self.mean("θ level²", all().map(|t| (t + level).tanh()));
        self.mean("(θ level²)² ln spread²", all().map(|t| half(t + level) * (0.3 * spread).tanh()));
        let centre = all().sum::<f64>() / block.columns.len() as f64;
        self.mean("spread of θ", all().map(|t| half(t - centre)));
        self.mean("spread of θ, ln spread²", all().map(|t| half(t - centre) * (0.3 * spread).tanh()));
    }

    fn cells(&mut self, model: &Model, state: &State, block: &Block) {
        let (y, f, x) = (model.y(), &state.f, state.features.x());
        let rows = model.rows();
        let columns = || block.columns.clone();
        let real = block.family.about().is_none_or(|about| !about.cells.are_counts());
        let seen = |&(n, j): &(usize, usize)| !y[(n, j)].is_nan();
        let every = || columns().flat_map(|j| (0..rows).map(move |n| (n, j)));
        let first = |at: (usize, usize)| if real { y[at].atan() } else { y[at].ln_1p() };
        let second = |at: (usize, usize)| match real {
            true => half(y[at]),
            false => f64::from(u8::from(y[at] == block.family.any_cell())),
        };
        self.mean("f", every().map(|at| f[at].tanh()));
        self.mean("f²", every().map(|at| half(f[at])));
        if every().any(|at| !seen(&at)) {
            self.mean("f of missing cells", every().filter(|at| !seen(at)).map(|at| f[at].tanh()));
            self.mean("f² of missing cells", every().filter(|at| !seen(at)).map(|at| half(f[at])));
        }
        let of_rows = || columns().flat_map(|j| pairs(rows).map(move |(a, b)| ((a, j), (b, j))));
        self.mean("f_aj f_bj", of_rows().map(|(a, b)| (f[a] * f[b]).tanh()));
        self.mean("f² |x|²", every().map(|at| half(f[at]) * half(x[(at.0, 0)])));
        self.mean("y", every().filter(seen).map(first));
        self.mean("y second", every().filter(seen).map(second));
        self.mean("y f", every().filter(seen).map(|at| first(at) * f[at].tanh()));
        self.mean("y second f²", every().filter(seen).map(|at| second(at) * half(f[at])));
        self.mean("y_aj y_bj", of_rows().filter(|(a, b)| seen(a) && seen(b)).map(|(a, b)| first(a) * first(b)));
        self.mean("y_aj f_bj", of_rows().filter(|(a, _)| seen(a)).map(|(a, b)| first(a) * f[b].tanh()));
        self.mean("y |x|²", every().filter(seen).map(|at| first(at) * half(x[(at.0, 0)])));
        if real {
            self.mean("(y−f)²", every().filter(seen).map(|at| half(y[at] - f[at])));
            self.mean("(y−f) f", every().filter(seen).map(|at| ((y[at] - f[at]) * f[at]).tanh()));
        }
        if block.columns.len() > 1 {
            let across = || {
                (0..rows).flat_map(|n| {
                    let start = block.columns.start;
                    pairs(block.columns.len()).map(move |(i, j)| ((n, start + i), (n, start + j)))
                })
            };
            self.mean("f_ni f_nj", across().map(|(a, b)| (f[a] * f[b]).tanh()));
            self.mean("y_ni y_nj", across().filter(|(a, b)| seen(a) && seen(b)).map(|(a, b)| first(a) * first(b)));
        }
    }
}

/// x²/(1+x²): a second moment that always exists.
fn half(x: f64) -> f64 {
    x * x / (1.0 + x * x)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// All (a, b) with a < b.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}
