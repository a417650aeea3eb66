//! The reference of the trajectories, as [`Reference::new`] computes it, from a table that stays on the card.

use crate::card::{Extent, Fault, Values, each, plain, transposed, warps};
use crate::columns::pieces;
use crate::table::OnCard;
use cudarc::driver::PushKernelArg;
use rflvm::internal::dist::fill_normals;
use rflvm::internal::hmc::reference::{PASSES, RANK, ROUNDS, Reference, column_share, row_share};
use rflvm::internal::linalg::{Mat, orthonormalise_of};
use rflvm::internal::rng::Stream;

/// Memory for a basis and the scores of the rows on it.
type Workspace = (Values, Values);

impl OnCard {
    /// About the mean of what was added, or about F. It uses the memory of the noise, which only a trajectory needs.
    ///
    /// Processes that share the table take sums over all columns together: a step that fails is noted, and the others follow all the same.
    pub(crate) fn reference(&mut self, added: Option<f64>) -> Reference {
        let done = self.begun(added);
        self.note(done);
        let (row, mut column) = self.product_form();
        column.iter_mut().zip(&self.units).for_each(|(b, unit)| *b /= unit.scale.powi(2));
        let root: Vec<f64> = row.iter().map(|a| a.sqrt()).collect();
        let (left, mut right) = self.low_rank(&root);
        for r in 0..right.rows() {
            right.row_mut(r).iter_mut().zip(&self.units).for_each(|(right, unit)| *right *= unit.scale);
        }
        Reference { root, column, left, right }
    }

    /// Where the reference is, in the place of ζ, and the information there.
    fn begun(&mut self, added: Option<f64>) -> Result<(), Fault> {
        match added {
            Some(count) => self.averaged(count)?,
            None => self.whole_f()?,
        }
        self.card.stream.memset_zeros(&mut self.sum)?;
        self.information(false)
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

    /// a and b of the information; a is from the columns of all processes.
    fn product_form(&mut self) -> (Vec<f64>, Vec<f64>) {
        let (mut row, mut column) = (vec![1.0; self.shape.rows], vec![0.0; self.shape.columns]);
        for _ in 0..PASSES {
            let done = self.pass(&mut row, &mut column);
            self.note(done);
            row = self.chunks.over_ranks(row);
            row.iter_mut().for_each(|a| *a = row_share(*a / self.chunks.columns() as f64));
        }
        (row, column)
    }

    /// b given a, and the sums of the rows over b.
    fn pass(&mut self, row: &mut [f64], column: &mut [f64]) -> Result<(), Fault> {
        let OnCard { card, .. } = self;
        let (rows, columns) = (row.len(), column.len());
        let rows_ = rows as u64;
        card.put(row, &mut self.root)?;
        let mut launch = card.stream.launch_builder(card.kernel("column_shares"));
        launch.arg(&rows_).arg(&self.momenta).arg(&self.root).arg(&mut self.sums);
        // SAFETY: as above.
        unsafe { launch.launch(pieces(rows, columns))? };
        self.gather_pieces(columns, column)?;
        column.iter_mut().for_each(|b| *b = column_share(*b / rows as f64));
        self.row_shares(column, row)
    }

    /// √a_n times ζ, less what is known of it and in units of the columns, as a product of low rank, whose left factor is from the columns of
    /// all processes.
    fn low_rank(&mut self, root: &[f64]) -> (Mat, Mat) {
        let (rows, columns) = (self.shape.rows, self.shape.columns);
        let rank = RANK.min(rows).min(self.chunks.columns());
        let (mut left, mut basis) = (Mat::zeros(rows, rank), Mat::zeros(rank, columns));
        fill_normals(basis.as_mut_slice(), Stream::new(0).at(self.chunks.ranks().rank() as u64));
        let workspace = self.weighed_by(root, rank);
        let mut workspace = self.note(workspace);
        for round in 0..=ROUNDS {
            orthonormalise_of(&self.chunks, &mut basis);
            let done = workspace.as_mut().map_or(Ok(()), |workspace| self.scored(&basis, workspace, &mut left));
            self.note(done);
            left = Mat::from_vec(rows, rank, self.chunks.over_ranks(left.into_vec()));
            if round < ROUNDS {
                let done = workspace.as_mut().map_or(Ok(()), |workspace| self.spanned(&left, workspace, &mut basis));
                self.note(done);
            }
        }
        (left, basis)
    }

    /// Weighs ζ, and finds a workspace for a basis and scores of this rank.
    fn weighed_by(&mut self, root: &[f64], rank: usize) -> Result<Workspace, Fault> {
        let OnCard { card, shape, .. } = self;
        let count = shape.cells() as u64;
        card.put(root, &mut self.root)?;
        let mut launch = card.stream.launch_builder(card.kernel("weigh"));
        launch.arg(&count).arg(&self.root).arg(&self.known).arg(&self.column).arg(&mut self.zeta);
        // SAFETY: as above.
        unsafe { launch.launch(each(shape.cells()))? };
        Ok((card.zeros(rank * shape.columns)?, card.zeros(rank * shape.rows)?))
    }

    /// The scores of the rows on a basis.
    fn scored(&mut self, basis: &Mat, (right, scores): &mut Workspace, left: &mut Mat) -> Result<(), Fault> {
        let (rank, columns) = (basis.rows(), basis.cols());
        self.card.put(basis.as_slice(), right)?;
        let factors = (plain(&self.zeta, columns), transposed(right, columns));
        self.card.multiply(
            Extent { rows: left.rows(), columns: rank, inner: columns },
            factors.0,
            factors.1,
            false,
            scores,
        )?;
        self.card.get(scores, left.as_mut_slice())
    }

    /// The basis that scores span.
    fn spanned(&mut self, left: &Mat, (right, scores): &mut Workspace, basis: &mut Mat) -> Result<(), Fault> {
        let (rank, columns) = (basis.rows(), basis.cols());
        self.card.put(left.as_slice(), scores)?;
        let factors = (transposed(scores, rank), plain(&self.zeta, columns));
        self.card.multiply(Extent { rows: rank, columns, inner: left.rows() }, factors.0, factors.1, false, right)?;
        self.card.get(right, basis.as_mut_slice())
    }
}
