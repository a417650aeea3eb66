//! A table on a card, and how it is held.

use crate::card::{Card, Fault, Form, PARTS, Values, each};
use crate::shape::Shape;
use crate::weights::Flowing;
use cudarc::driver::{CudaSlice, DeviceRepr, PushKernelArg, ValidAsZeroBits};
use rayon::prelude::*;
use rflvm::internal::chunks::Chunks;
use rflvm::internal::device::categories::{self, Categories};
use rflvm::internal::hmc::reference::RANK;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Law, Tally, Theta, Trials, Unit};
use rflvm::internal::model::{Block, Model};
use std::ops::Range;

/// How a cell is held: counts in as few bytes as their largest needs, real numbers in eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellSize {
    /// Counts up to 254.
    Byte = 1,
    /// Counts up to 65,534.
    Short = 2,
    /// Anything else.
    Real = 8,
}

impl CellSize {
    pub fn of(model: &Model) -> Self {
        let cells = model.y().as_slice().iter().filter(|y| !y.is_nan());
        let largest =
            cells.fold(0.0_f64, |most, &y| if y < 0.0 || y.fract() != 0.0 { f64::INFINITY } else { most.max(y) });
        match largest {
            ..=254.0 => CellSize::Byte,
            ..=65_534.0 => CellSize::Short,
            _ => CellSize::Real,
        }
    }
}

/// The cells on the card; missing ones have the largest value of their type, or are not numbers.
pub(crate) enum Cells {
    Byte(CudaSlice<u8>),
    Short(CudaSlice<u16>),
    Real(CudaSlice<f64>),
}

/// Where the likelihood of a column is evaluated, as the kernels read it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct At {
    pub factor: f64,
    pub shift: f64,
    pub theta: [f64; 2],
}

// SAFETY: plain numbers in C layout.
unsafe impl DeviceRepr for At {}
// SAFETY: all-zero bits are numbers.
unsafe impl ValidAsZeroBits for At {}

/// Rows whose products of features are held at a time.
pub(crate) const TILE: usize = 4096;
/// Rows that one thread sums, as in the kernels.
pub(crate) const PIECE: usize = 64;

/// A table on a card, with everything as long as it.
pub struct OnCard {
    pub(crate) card: Card,
    pub(crate) name: String,
    pub(crate) fault: Option<String>,
    pub(crate) shape: Shape,
    blocks: Vec<Block>,
    /// All columns, if several processes share them.
    pub(crate) chunks: Chunks,
    pub(crate) units: Vec<Unit>,
    is_mixed: bool,
    /// The scale of a linear part.
    pub(crate) s: f64,
    pub(crate) cells: Cells,
    /// Laws, first parameters, centres, scales, second parameters and sets of categories of the columns, each for all columns in turn.
    pub(crate) column: Values,
    /// Counts of the negative binomial columns; none of others.
    pub(crate) tallies: Vec<Option<Tally>>,
    /// Trials of each cell, where they differ from cell to cell.
    pub(crate) trials: Option<Values>,
    pub(crate) categories: Vec<Categories>,
    /// The first column of each set of categories, and the one after its last.
    pub(crate) ends: CudaSlice<i32>,
    offset: Vec<f64>,
    /// What is known of f, one number per row and group of columns.
    pub(crate) known: Values,
    /// Column processes, where they have them.
    pub(crate) paths: Option<Values>,
    pub(crate) covariates: Values,
    pub(crate) x: Values,
    pub(crate) w: Values,
    /// β of the state, or of the last evaluation of a trajectory.
    pub(crate) beta: Values,
    /// H, or √aH during a trajectory, and its slope.
    pub(crate) h: Values,
    pub(crate) dh: Values,
    /// Arguments' slopes, N×L.
    pub(crate) t: Values,
    /// Hβ, N×J, or the slope of the likelihood.
    pub(crate) product: Values,
    pub(crate) zeta: Values,
    pub(crate) momenta: Values,
    pub(crate) sum: CudaSlice<f32>,
    pub(crate) root: Values,
    pub(crate) left: Values,
    pub(crate) right: Mat,
    /// As long as the rows: log-likelihoods, changes of a sine and a cosine, gradient of X.
    pub(crate) out: Values,
    pub(crate) a: Values,
    pub(crate) b: Values,
    pub(crate) gx: Values,
    pub(crate) gw: Values,
    /// As long as the weights.
    pub(crate) weights: Values,
    pub(crate) square: Values,
    pub(crate) small: Values,
    pub(crate) numbers: CudaSlice<u32>,
    pub(crate) sums: Values,
    pub(crate) at_columns: CudaSlice<At>,
    pub(crate) some: Taken,
    pub(crate) flowing: Option<Flowing>,
}

/// The columns whose weights are being redrawn.
pub(crate) struct Taken {
    pub numbers: CudaSlice<u32>,
    pub count: usize,
    pub at: Values,
    pub aim: Values,
    pub weight: Values,
    pub response: Values,
    pub tile: Values,
    pub grams: Values,
    pub turns: Values,
    /// Prior precisions and means, factors and means of the fits, normals and distances from the means, directions and squares.
    pub precision: Values,
    pub centre: Values,
    pub factors: Values,
    pub means: Values,
    pub normals: Values,
    pub from_mean: Values,
    pub directions: Values,
    pub squares: Values,
}

impl std::fmt::Debug for OnCard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnCard").field("name", &self.name).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl OnCard {
    /// The table of a model on card number `ordinal`.
    pub(crate) fn new(model: &Model, ordinal: usize, is_mixed: bool) -> Result<Self, Fault> {
        let size = CellSize::of(model);
        let categories = categories::of(model);
        let shape = Shape {
            rows: model.rows(),
            columns: model.columns(),
            dim: model.latent_dim(),
            frequencies: model.frequencies(),
            covariates: model.covariates().cols(),
            linear: model.linear().len(),
            width: model.width(),
            sets: categories.len(),
            groups: groups(model),
        };
        let card = Card::open(ordinal, form(model, shape, size, is_mixed))?;
        let Shape { rows, columns, dim, frequencies, width, .. } = shape;
        let (pitch, triangle) = (shape.pitch(), shape.triangle());
        let at_least = shape.candidates();
        let together = columns.min(256);
        let pieces = rows.div_ceil(PIECE);
        let some = Taken {
            numbers: card.zeros(together)?,
            count: 0,
            at: card.zeros(rows * together)?,
            aim: card.zeros(rows * together)?,
            weight: card.zeros(rows * together)?,
            response: card.zeros(rows * together)?,
            tile: card.zeros(TILE.min(rows) * triangle)?,
            grams: card.zeros(together * triangle)?,
            turns: card.zeros(2 * together)?,
            precision: card.zeros(together * width)?,
            centre: card.zeros(together)?,
            factors: card.zeros(together * width * (width + 1))?,
            means: card.zeros(together * pitch)?,
            normals: card.zeros(together * width)?,
            from_mean: card.zeros(together * width)?,
            directions: card.zeros(together * pitch)?,
            squares: card.zeros(3 * together)?,
        };
        let mut table = OnCard {
            name: format!("{} (cuda:{ordinal})", card.context.name()?),
            fault: None,
            shape,
            cells: cells(&card, model, size)?,
            is_mixed,
            s: 0.0,
            column: card.zeros(6 * columns)?,
            ends: card.stream.clone_htod(&ends(&categories))?,
            categories,
            tallies: tallies(model),
            trials: trials(&card, model)?,
            offset: model.offset().to_vec(),
            known: card.zeros(rows * shape.groups)?,
            paths: model.column_process().map(|_| card.zeros(shape.cells())).transpose()?,
            covariates: card.zeros(rows * shape.covariates)?,
            x: card.zeros(rows * dim)?,
            w: card.zeros(frequencies * dim)?,
            beta: card.zeros(pitch * columns)?,
            h: card.zeros(rows * pitch)?,
            dh: card.zeros(at_least * pitch)?,
            t: card.zeros(at_least * frequencies.max(dim + 1))?,
            product: card.zeros(shape.cells())?,
            zeta: card.zeros(at_least * columns)?,
            momenta: card.zeros(at_least * columns)?,
            sum: card.zeros(shape.cells())?,
            root: card.zeros(rows)?,
            left: card.zeros(1)?,
            right: Mat::zeros(0, 0),
            out: card.zeros(at_least.max(PARTS))?,
            a: card.zeros(at_least * shape.sets.max(1))?,
            b: card.zeros(at_least * shape.sets.max(1))?,
            gx: card.zeros(at_least * dim)?,
            gw: card.zeros(frequencies * dim)?,
            weights: card.zeros(pitch * columns)?,
            square: card.zeros(pitch * pitch)?,
            // Weights of all columns, or the right factor of a reference.
            small: card.zeros(pitch.max(RANK) * columns.max(64) + dim)?,
            numbers: card.zeros(at_least)?,
            sums: card.zeros(pieces * columns + columns)?,
            at_columns: card.zeros(columns)?,
            some,
            flowing: None,
            blocks: model.blocks().to_vec(),
            chunks: model.chunks().clone(),
            units: model.units().to_vec(),
            card,
        };
        table.know_offsets()?;
        table.card.put(model.covariates().as_slice(), &mut table.covariates)?;
        table.describe_columns(&[])?;
        Ok(table)
    }

    /// Another table of the same shape.
    pub(crate) fn replace(&mut self, model: &Model) -> Result<(), Fault> {
        let size = match self.cells {
            Cells::Byte(_) => CellSize::Byte,
            Cells::Short(_) => CellSize::Short,
            Cells::Real(_) => CellSize::Real,
        };
        let larger = CellSize::of(model);
        if larger as usize > size as usize {
            *self = OnCard::new(model, self.card.context.ordinal(), self.is_mixed)?;
            return Ok(());
        }
        self.cells = cells(&self.card, model, size)?;
        (self.categories, self.tallies) = (categories::of(model), tallies(model));
        self.blocks = model.blocks().to_vec();
        self.units = model.units().to_vec();
        Ok(())
    }

    /// Laws, parameters and units of the columns.
    pub(crate) fn describe_columns(&mut self, theta: &[Theta]) -> Result<(), Fault> {
        let columns = self.shape.columns;
        let mut known = vec![0.0; 6 * columns];
        for (b, block) in self.blocks.iter().enumerate() {
            for (local, j) in block.columns.clone().enumerate() {
                let own = |p: usize| theta.get(b).filter(|t| t.values.rows() > p).map(|t| t.values[(p, local)]);
                let first = match Law::of(block.family.as_ref()) {
                    Some(Law::Binomial(trials)) => Some(trials.of(0, local)),
                    Some(_) => own(0),
                    None => return Err(Fault(format!("the family {} is not known there", block.family.name()))),
                };
                let unit = self.units[j];
                known[j] = f64::from(number(Law::of(block.family.as_ref())));
                known[columns + j] = first.unwrap_or(1.0);
                known[2 * columns + j] = unit.centre;
                known[3 * columns + j] = unit.scale;
                known[4 * columns + j] = own(1).unwrap_or(1.0);
                known[5 * columns + j] = self.set_of(j).map_or(-1.0, |set| set as f64);
            }
        }
        self.card.put(&known, &mut self.column)
    }

    /// The set of categories to which a column belongs.
    fn set_of(&self, j: usize) -> Option<usize> {
        self.categories.iter().position(|set| set.columns.contains(&j))
    }

    /// Sets what is known of the f of neighbouring columns: a number per row, besides their paths.
    pub(crate) fn know(&mut self, columns: Range<usize>, values: &[f64]) -> Result<(), Fault> {
        let groups = self.group(columns.start)..self.group(columns.end - 1) + 1;
        let OnCard { card, shape, .. } = self;
        card.put(values, &mut self.a)?;
        let (rows, first, last, none) = (shape.rows as u64, groups.start as i32, groups.end as i32, 0_u64);
        let mut launch = card.stream.launch_builder(card.kernel("set_known"));
        launch.arg(&rows).arg(&first).arg(&last).arg(&self.a);
        push_option!(launch, self.paths, none);
        launch.arg(&mut self.known);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(each(shape.rows * groups.len()))? };
        Ok(())
    }

    /// The group of a column, as in the kernels.
    fn group(&self, j: usize) -> usize {
        match self.shape.groups {
            1 => 0,
            groups if groups == self.shape.columns => j,
            _ => self.set_of(j).unwrap_or(self.categories.len()),
        }
    }

    /// The offsets of the rows are known of all columns that are not categories.
    fn know_offsets(&mut self) -> Result<(), Fault> {
        let offset = self.offset.clone();
        let columns: Vec<usize> = (0..self.shape.columns).filter(|&j| self.set_of(j).is_none()).collect();
        columns.chunk_by(|a, b| a + 1 == *b).try_for_each(|run| self.know(run[0]..run[run.len() - 1] + 1, &offset))
    }

    /// Column processes; the rates of categories follow.
    pub(crate) fn column_processes(&mut self, g: &Mat) -> Result<(), Fault> {
        if let Some(paths) = &mut self.paths {
            self.card.put(g.as_slice(), paths)?;
        }
        self.know_offsets()
    }

    /// Notes a fault, if there is one: the first is the cause of all others.
    pub(crate) fn note<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault.get_or_insert(fault.0);
                None
            }
        }
    }
}

/// The number of a law in the kernels.
fn number(law: Option<Law<'_>>) -> i32 {
    match law {
        Some(Law::Gaussian(_) | Law::Isotropic(_)) => 0,
        // Given the rates of their rows.
        Some(Law::Poisson | Law::Multinomial) => 1,
        Some(Law::Binomial(_)) => 2,
        Some(Law::NegativeBinomial(_)) => 3,
        Some(Law::StudentT(_)) => 4,
        Some(Law::ZeroInflatedPoisson(_)) => 5,
        None => -1,
    }
}

/// The law of all columns; -1 if they differ.
fn law_of_all(model: &Model) -> i32 {
    // Where several processes share the columns, this one may have none of a block.
    let blocks = model.blocks().iter().filter(|block| !block.columns.is_empty());
    let mut laws = blocks.map(|block| number(Law::of(block.family.as_ref())));
    let first = laws.next().unwrap_or(-1);
    if laws.all(|law| law == first) { first } else { -1 }
}

fn form(model: &Model, shape: Shape, size: CellSize, is_mixed: bool) -> Form {
    let Shape { columns, sets, groups, .. } = shape;
    Form { cell: size as usize, columns, law: law_of_all(model), sets, groups, is_mixed }
}

/// Groups of columns that share what is known of their f: each column is one if columns have processes, and otherwise each set of categories, whose rows
/// have rates, and all other columns together.
pub(crate) fn groups(model: &Model) -> usize {
    let sets = categories::of(model);
    let others = model.columns() - sets.iter().map(|set| set.columns.len()).sum::<usize>();
    if model.column_process().is_some() { model.columns() } else { sets.len() + others.min(1) }
}

fn ends(categories: &[Categories]) -> Vec<i32> {
    // A card allocates no empty list.
    let none = [0, 0].iter().copied().filter(|_| categories.is_empty());
    categories.iter().flat_map(|set| [set.columns.start as i32, set.columns.end as i32]).chain(none).collect()
}

fn cells(card: &Card, model: &Model, size: CellSize) -> Result<Cells, Fault> {
    let y = model.y().as_slice();
    Ok(match size {
        CellSize::Byte => {
            let narrow: Vec<u8> = y.iter().map(|y| if y.is_nan() { u8::MAX } else { *y as u8 }).collect();
            Cells::Byte(card.stream.clone_htod(&narrow)?)
        }
        CellSize::Short => {
            let narrow: Vec<u16> = y.iter().map(|y| if y.is_nan() { u16::MAX } else { *y as u16 }).collect();
            Cells::Short(card.stream.clone_htod(&narrow)?)
        }
        CellSize::Real => Cells::Real(card.stream.clone_htod(y)?),
    })
}

/// Counts of the negative binomial columns.
fn tallies(model: &Model) -> Vec<Option<Tally>> {
    let mut tallies = vec![None; model.columns()];
    for block in model.blocks() {
        if let Some(Law::NegativeBinomial(_)) = Law::of(block.family.as_ref()) {
            let own = tallies[block.columns.clone()].par_iter_mut().zip(block.columns.clone());
            own.for_each(|(tally, j)| *tally = Some(Tally::new(&model.y().col(j))));
        }
    }
    tallies
}

/// Trials of all cells, if those of any block differ from cell to cell.
fn trials(card: &Card, model: &Model) -> Result<Option<Values>, Fault> {
    let of_block = |law: Option<Law<'_>>| matches!(law, Some(Law::Binomial(Trials::Each(_))));
    if !model.blocks().iter().any(|block| of_block(Law::of(block.family.as_ref()))) {
        return Ok(None);
    }
    let mut all = Mat::zeros(model.rows(), model.columns());
    for block in model.blocks() {
        if let Some(Law::Binomial(trials)) = Law::of(block.family.as_ref()) {
            for n in 0..model.rows() {
                block.columns.clone().enumerate().for_each(|(local, j)| all[(n, j)] = trials.of(n, local));
            }
        }
    }
    Ok(Some(card.stream.clone_htod(all.as_slice())?))
}
