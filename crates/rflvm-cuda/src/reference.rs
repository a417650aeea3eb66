//! The reference of the trajectories, as [`Reference::new`] computes it, from a table that stays on the card.

use crate::card::{Fault, each, plain, transposed, warps};
use crate::columns::pieces;
use crate::table::OnCard;
use cudarc::driver::PushKernelArg;
use rflvm::dist::fill_normals;
use rflvm::hmc::reference::{PASSES, RANK, ROUNDS, Reference, column_share, row_share};
use rflvm::linalg::{Mat, orthonormalise};
use rflvm::rng::Stream;

impl OnCard {
    /// About the mean of what was added, or about F. It uses the memory of the noise, which only a trajectory needs.
    pub(crate) fn reference(&mut self, added: Option<f64>) -> Result<Reference, Fault> {
        match added {
            Some(count) => self.averaged(count)?,
            None => self.whole_f()?,
        }
        self.card.stream.memset_zeros(&mut self.sum)?;
        let (row, mut column) = self.product_form()?;
        column.iter_mut().zip(&self.units).for_each(|(b, unit)| *b /= unit.scale.powi(2));
        let root: Vec<f64> = row.iter().map(|a| a.sqrt()).collect();
        let (left, mut right) = self.low_rank(&root)?;
        for r in 0..right.rows() {
            right.row_mut(r).iter_mut().zip(&self.units).for_each(|(right, unit)| *right *= unit.scale);
        }
        Ok(Reference { root, column, left, right })
    }

    /// The mean of what was added, as f, in the place of ζ.
    fn averaged(&mut self, added: f64) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (count, columns) = (shape.cells() as u64, shape.columns as i32);
        let mut launch = card.stream.launch_builder(card.kernel("take_mean"));
        launch.arg(&count).arg(&columns).arg(&added).arg(&self.column).arg(&self.sum).arg(&mut self.zeta);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(each(shape.cells()))? };
        Ok(())
    }

    /// The information of the cells at F, summed over the columns with these shares.
    pub(crate) fn informed(&mut self, shares: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        self.whole_f()?;
        self.information(true)?;
        // The information on the card is in units of the columns.
        let over: Vec<f64> = shares.iter().zip(&self.units).map(|(share, unit)| unit.scale.powi(2) / share).collect();
        self.row_shares(&over, out)
    }

    /// The information at ζ, in the place of the momenta, in units of the columns; of categories, given the rates of their rows or without them.
    fn information(&mut self, without_rates: bool) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let (count, none) = (shape.cells() as u64, 0_u64);
        let of_categories = without_rates && !self.categories.is_empty();
        if of_categories {
            let totals = (0..shape.rows).flat_map(|n| self.categories.iter().map(move |set| set.totals[n]));
            card.put(&totals.collect::<Vec<f64>>(), &mut self.a)?;
        }
        let mut launch = card.stream.launch_builder(card.kernel("information"));
        launch.arg(&count).arg(&self.zeta);
        push_cells!(launch, self.cells);
        launch.arg(&self.column);
        push_option!(launch, self.trials, none);
        if of_categories {
            launch.arg(&self.a);
        } else {
            launch.arg(&none);
        }
        launch.arg(&mut self.momenta);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        Ok(())
    }

    /// Sums of the rows of the information over a number per column.
    fn row_shares(&mut self, over: &[f64], out: &mut [f64]) -> Result<(), Fault> {
        let OnCard { card, shape, .. } = self;
        let rows = shape.rows as u64;
        card.put(over, &mut self.small)?;
        let mut launch = card.stream.launch_builder(card.kernel("row_shares"));
        launch.arg(&rows).arg(&self.momenta).arg(&self.small).arg(&mut self.out);
        // SAFETY: as above.
        unsafe { launch.launch(warps(shape.rows))? };
        card.get(&self.out, out)
    }

    /// a and b of the information at ζ.
    fn product_form(&mut self) -> Result<(Vec<f64>, Vec<f64>), Fault> {
        self.information(false)?;
        let shape = self.shape;
        let (rows, columns, rows_) = (shape.rows, shape.columns, shape.rows as u64);
        let (mut row, mut column) = (vec![1.0; rows], vec![0.0; columns]);
        for _ in 0..PASSES {
            let OnCard { card, .. } = self;
            card.put(&row, &mut self.root)?;
            let mut launch = card.stream.launch_builder(card.kernel("column_shares"));
            launch.arg(&rows_).arg(&self.momenta).arg(&self.root).arg(&mut self.sums);
            // SAFETY: as above.
            unsafe { launch.launch(pieces(rows, columns))? };
            self.gather_pieces(columns, &mut column)?;
            column.iter_mut().for_each(|b| *b = column_share(*b / rows as f64));
            self.row_shares(&column, &mut row)?;
            row.iter_mut().for_each(|a| *a = row_share(*a / columns as f64));
        }
        Ok((row, column))
    }

    /// √a_n times ζ, less what is known of it and in units of the columns, as a product of low rank.
    fn low_rank(&mut self, root: &[f64]) -> Result<(Mat, Mat), Fault> {
        let OnCard { card, shape, .. } = self;
        let (rows, columns, count) = (shape.rows, shape.columns, shape.cells() as u64);
        let rank = RANK.min(rows).min(columns);
        card.put(root, &mut self.root)?;
        let mut launch = card.stream.launch_builder(card.kernel("weigh"));
        launch.arg(&count).arg(&self.root).arg(&self.known).arg(&self.column).arg(&mut self.zeta);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        let mut basis = Mat::zeros(rank, columns);
        fill_normals(basis.as_mut_slice(), Stream::new(0));
        let (mut right, mut scores) = (card.zeros(rank * columns)?, card.zeros(rows * rank)?);
        for round in 0..=ROUNDS {
            orthonormalise(&mut basis);
            card.put(basis.as_slice(), &mut right)?;
            let factors = (plain(&self.zeta, columns), transposed(&right, columns));
            card.multiply((rows, rank, columns), factors.0, factors.1, false, &mut scores)?;
            if round < ROUNDS {
                let factors = (transposed(&scores, rank), plain(&self.zeta, columns));
                card.multiply((rank, columns, rows), factors.0, factors.1, false, &mut right)?;
                card.get(&right, basis.as_mut_slice())?;
            }
        }
        let mut left = Mat::zeros(rows, rank);
        card.get(&scores, left.as_mut_slice())?;
        Ok((left, basis))
    }
}
