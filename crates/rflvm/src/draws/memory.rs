//! Draws in memory: of one chain while it runs, and of all chains for reading.

use super::quantity::{Described, Kept, quantities};
use super::traced::Traced;
use super::{Cursor, Draw, Draws, Source};
use crate::error::StoreError;
use crate::model::Model;

/// All draws of one chain: the quantities needed for predictions and convergence diagnostics.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    arrays: Vec<(Described, Vec<f64>)>,
    traced: Option<Traced>,
    draws: usize,
}

impl Memory {
    /// Number of draws so far.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// All draws of an array such as `posterior/x`, concatenated; `None` if there is no such array.
    pub fn array(&self, name: &str) -> Option<&[f64]> {
        self.arrays.iter().find(|(described, _)| described.path() == name).map(|(_, values)| values.as_slice())
    }

    /// All values of all arrays.
    pub fn numbers(&self) -> impl Iterator<Item = &f64> {
        self.arrays.iter().flat_map(|(_, values)| values)
    }
}

impl Draws for Memory {
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        if self.arrays.is_empty() {
            self.arrays = quantities(draw.model, &Kept::DEFAULT).into_iter().map(|d| (d, Vec::new())).collect();
        }
        let traced = self.traced.get_or_insert_with(|| Traced::of(draw.model));
        let mut bytes = Vec::new();
        for (described, values) in &mut self.arrays {
            bytes.clear();
            described.quantity.write(draw, traced, &mut bytes);
            let number = |word: &[u8; 8]| match described.is_integer {
                true => i64::from_le_bytes(*word) as f64,
                false => f64::from_le_bytes(*word),
            };
            values.extend(bytes.as_chunks::<8>().0.iter().map(number));
        }
        self.draws += 1;
        Ok(())
    }
}

/// The chains of a run in memory.
#[derive(Debug, Clone)]
pub struct Chains(pub Vec<Memory>);

impl Chains {
    fn find(&self, name: &str) -> Option<usize> {
        self.0.first()?.arrays.iter().position(|(described, _)| described.path() == name)
    }
}

impl Source for Chains {
    fn size(&self) -> Result<(usize, usize), StoreError> {
        Ok((self.0.len(), self.0.iter().map(Memory::draws).min().unwrap_or(0)))
    }

    fn names(&self, group: &str) -> Vec<String> {
        let all = self.0.first().into_iter().flat_map(|chain| &chain.arrays);
        all.filter(|(described, _)| described.group == group).map(|(described, _)| described.name.clone()).collect()
    }

    fn is_drawn(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn cursor<'a>(&'a self, name: &str) -> Result<Box<dyn Cursor + 'a>, StoreError> {
        let place = self.find(name).ok_or_else(|| missing(name))?;
        let axes = &self.0[0].arrays[place].0.axes;
        Ok(Box::new(Held { chains: &self.0, place, shape: axes.iter().map(|axis| axis.1).collect() }))
    }

    fn is_of(&self, _model: &Model) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn foreign(&self) -> StoreError {
        missing("the model's quantities")
    }
}

fn missing(name: &str) -> StoreError {
    StoreError::Damaged { path: "draws in memory".into(), problem: format!("there are no draws of {name}") }
}

#[derive(Debug)]
struct Held<'a> {
    chains: &'a [Memory],
    place: usize,
    shape: Vec<usize>,
}

impl Cursor for Held<'_> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn at(&mut self, chain: usize, draw: usize) -> Result<&[f64], StoreError> {
        let numbers: usize = self.shape.iter().product();
        Ok(&self.chains[chain].arrays[self.place].1[draw * numbers..][..numbers])
    }
}
