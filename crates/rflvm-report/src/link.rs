//! The mean of a cell as a function of f, for the page, which cannot call a family: E[y | f] = a·g(f) with g one of four functions.
//!
//! Which of them is found by evaluating the family at a few f, so that a family need not be known here.

use rflvm::internal::model::Block;
use rflvm::internal::model::family::{Row, Theta};

/// g.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// f.
    Identity,
    /// e^f.
    Exp,
    /// 1/(1 + e^−f).
    Logistic,
    /// e^f_j / Σ_k e^f_k over the columns of the block.
    Softmax,
}

impl Link {
    /// Its name in the page.
    pub fn name(self) -> &'static str {
        match self {
            Link::Identity => "identity",
            Link::Exp => "exp",
            Link::Logistic => "logistic",
            Link::Softmax => "softmax",
        }
    }

    /// g of every column of a row.
    fn apply(self, f: &[f64]) -> Vec<f64> {
        let logistic = |f: &f64| 1.0 / (1.0 + (-f).exp());
        match self {
            Link::Identity => f.to_vec(),
            Link::Exp => f.iter().map(|f| f.exp()).collect(),
            Link::Logistic => f.iter().map(logistic).collect(),
            Link::Softmax => {
                let sum: f64 = f.iter().map(|f| f.exp()).sum();
                f.iter().map(|f| f.exp() / sum).collect()
            }
        }
    }
}

/// g of a block, and a of each of its columns under θ, for a row that is not in the table; `None` if no such g is found.
pub fn link(block: &Block, theta: &Theta, rows: usize) -> Option<(Link, Vec<f64>)> {
    let columns = block.columns.len();
    let unseen = vec![f64::NAN; columns];
    let mean = |f: &[f64]| {
        let mut out = vec![0.0; columns];
        block.family.mean(Row { n: rows, first: 0, y: &unseen, theta }, f, &mut out);
        out
    };
    // Different in each column, so that a softmax is not taken for anything else.
    let probe = |shift: f64| (0..columns).map(|j| shift + 0.1 * (j % 5) as f64).collect::<Vec<f64>>();
    let probes = [-0.8, 0.35, 1.1].map(|shift| (probe(shift), mean(&probe(shift))));
    [Link::Identity, Link::Exp, Link::Logistic, Link::Softmax].into_iter().find_map(|link| {
        let factor: Vec<f64> = link.apply(&probes[0].0).iter().zip(&probes[0].1).map(|(g, mean)| mean / g).collect();
        let holds = probes.iter().all(|(f, mean)| {
            let expected = link.apply(f);
            let close = |j: usize| (factor[j] * expected[j] - mean[j]).abs() <= 1e-9 * mean[j].abs();
            (0..columns).all(close)
        });
        holds.then_some((link, factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::internal::linalg::Mat;
    use rflvm::internal::model::family::{Gaussian, REGISTRY};
    use rflvm::internal::model::{Block, Priors};
    use std::sync::Arc;

    #[test]
    fn every_family_has_one_of_the_functions() {
        for about in REGISTRY {
            let trials = about.cells.have_trials().then_some(rflvm::internal::model::family::Trials::Same(7));
            let family = (about.new)(trials, &Priors::default()).unwrap();
            let parameters: Vec<Vec<f64>> = (0..3).map(|j| family.example(j)).collect();
            let values = Mat::from_fn(family.parameters().len(), 3, |p, j| parameters[j][p]);
            let block = Block { columns: 0..3, family };
            let found = link(&block, &Theta { values, hyper: Vec::new() }, 10);
            if about.cells.are_levels() {
                assert!(found.is_none(), "the mean level is a sum of logistic functions");
                continue;
            }
            let (link, factor) = found.unwrap_or_else(|| panic!("{}", about.name));
            let expected = match about.name {
                "gaussian" | "isotropic" | "student-t" => Link::Identity,
                "bernoulli" | "binomial" => Link::Logistic,
                "multinomial" => Link::Softmax,
                _ => Link::Exp,
            };
            assert_eq!(link, expected, "{}", about.name);
            let seven = if about.cells.have_trials() { 7.0 } else { 1.0 };
            assert!(matches!(link, Link::Exp) || factor.iter().all(|a| (a - seven).abs() < 1e-9), "{factor:?}");
        }
        let lone = Block { columns: 0..1, family: Arc::new(Gaussian::default()) };
        let theta = Theta { values: Mat::from_vec(1, 1, vec![2.0]), hyper: Vec::new() };
        assert_eq!(super::link(&lone, &theta, 3).unwrap().0, Link::Identity);
    }
}
