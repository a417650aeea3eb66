//! The columns of one process, where several advance a chain together.

use super::block::Part;
use super::{Block, Model};
use crate::chunks::{Chunk, Chunks};
use crate::linalg::Mat;
use crate::ranks::Ranks;
use std::ops::Range;
use std::sync::Arc;

impl Model {
    /// The chunks of the columns of all processes.
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    /// The columns of one of several processes; `None` if there are fewer chunks than processes. Everything that depends on all columns is that
    /// of the whole model.
    pub fn part(&self, ranks: Arc<dyn Ranks>) -> Option<Model> {
        let chunks = self.chunks.clone().dealt(ranks)?;
        let own = chunks.own_columns();
        let y = Mat::from_fn(self.rows(), own.len(), |n, j| self.y[(n, own.start + j)]);
        Some(self.part_of(chunks, y))
    }

    /// Its part with these chunks; `y` has the columns of this process.
    pub(super) fn part_of(&self, chunks: Chunks, y: Mat) -> Model {
        let own = chunks.own_columns();
        let of_block = |(block, part): (&Block, &Part)| {
            // A block of which this process has nothing is empty, between its neighbours.
            let [start, end] = [block.columns.start, block.columns.end].map(|at| at.clamp(own.start, own.end));
            let first = if start < end { start - block.columns.start } else { 0 };
            let some = first..first + end - start;
            let family = block.family.of_columns(some).unwrap_or_else(|| Arc::clone(&block.family));
            (Block { columns: start - own.start..end - own.start, family }, Part { first, ..*part })
        };
        let (blocks, parts) = self.blocks.iter().zip(&self.parts).map(of_block).unzip();
        Model {
            y,
            blocks,
            parts,
            chunks,
            units: self.units[own.clone()].to_vec(),
            names: self.names[own.clone()].to_vec(),
            order: self.order[own].to_vec(),
            offset: self.offset.clone(),
            covariates: self.covariates.clone(),
            covariate_names: self.covariate_names.clone(),
            spec: self.spec.clone(),
            missing: self.missing,
            dynamics: self.dynamics.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// The columns of this process as if there were no others.
    pub(crate) fn alone(&self) -> Model {
        let (chunks, parts) = super::block::whole(&self.y, &self.blocks);
        Model { chunks, parts, ..self.clone() }
    }

    /// Lets go of the table, where another process or a part of the model has it. Nothing may be asked of its cells any more.
    pub fn forget_table(&mut self) {
        self.y = Mat::from_vec(0, self.y.cols(), Vec::new());
    }

    /// Number of column j of this process among the columns of all.
    pub fn number(&self, j: usize) -> usize {
        self.chunks.own_columns().start + j
    }

    /// Number of column j of this process within its whole block b.
    pub fn number_in_block(&self, b: usize, j: usize) -> usize {
        self.parts[b].first + j - self.blocks[b].columns.start
    }

    /// Number of columns of a whole block.
    pub fn all_of_block(&self, b: usize) -> usize {
        self.parts[b].all
    }

    /// Σ over the columns of a whole block, counted within what this process has of it.
    pub fn sum_block(&self, b: usize, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        let own = self.blocks[b].columns.clone();
        let within = |some: &Range<usize>| some.start.max(own.start)..some.end.min(own.end);
        self.chunks.sum(|Chunk { columns, .. }| within(columns).map(|j| f(j - own.start)).sum())
    }

    /// Σ over the columns that have their own weights.
    pub fn sum_free(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        self.chunks.sum(|Chunk { columns, .. }| columns.clone().filter(|&j| self.is_free(j)).map(&f).sum())
    }

    /// Number of columns of all processes that have their own weights.
    pub fn all_free(&self) -> usize {
        (0..self.blocks.len()).map(|b| self.free_of_block(b)).sum()
    }

    /// The columns of all processes that have their own weights.
    pub fn free_columns(&self) -> Vec<usize> {
        let of_block = |(part, block): (&Part, &Block)| {
            let (Part { start, all, .. }, family) = (*part, Arc::clone(&block.family));
            (0..all).filter(move |&j| family.is_free(j, all)).map(move |j| start + j)
        };
        self.parts.iter().zip(&self.blocks).flat_map(of_block).collect()
    }

    /// Number of columns of a whole block that have their own weights.
    pub fn free_of_block(&self, b: usize) -> usize {
        let (all, family) = (self.parts[b].all, &self.blocks[b].family);
        (0..all).filter(|&j| family.is_free(j, all)).count()
    }

    /// τ² of a whole block, where it is shared.
    pub fn shared_tau2(&self, tau2: &[f64], b: usize) -> f64 {
        let (own, first) = (self.blocks[b].columns.start, self.parts[b].first);
        if self.chunks.is_alone() {
            return tau2[own];
        }
        self.sum_block(b, |j| if first + j == 0 { tau2[own + j] } else { 0.0 })
    }
}
