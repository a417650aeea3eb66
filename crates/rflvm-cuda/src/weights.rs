//! The weights of a trajectory on a card.

use crate::card::{Card, Fault, Values, blocks};
use crate::shape::Shape;
use cudarc::driver::{CudaSlice, PushKernelArg};
use rflvm::internal::hmc::flow::Frame;

/// The weights of a trajectory, M×J, and what does not change along it.
pub(crate) struct Flowing {
    pub frame: Frame,
    pub order: CudaSlice<u32>,
    pub rho: Values,
    pub scale: Values,
    pub precision: Values,
    pub right: Values,
    /// HᵀaL, M×R, and later its slope.
    pub left: Values,
    pub xi: Values,
    pub xi_momenta: Values,
    pub response: Values,
    pub u: Values,
    pub mean: Values,
    /// A⁻¹u, and later ∂u.
    pub t: Values,
    /// ρ of each group, its A⁻¹ and ln |A|.
    pub group_rho: Values,
    pub inverses: Values,
    pub ln_dets: Values,
    pub da: Values,
    pub ds: Values,
}

impl Flowing {
    pub fn new(card: &Card, shape: Shape, frame: &Frame, reused: Option<Flowing>) -> Result<Self, Fault> {
        let (width, pitch) = (shape.width, shape.pitch());
        let (weights, square) = (pitch * shape.columns, width * width);
        let rank = frame.right.rows();
        let order: Vec<u32> = frame.order.iter().map(|&c| c as u32).collect();
        let mut rho = vec![1.0; shape.columns];
        frame.groups.iter().for_each(|(range, own)| rho[range.clone()].fill(*own));
        let mut flowing = match reused {
            Some(flowing) if flowing.frame.right.rows() == rank => flowing,
            _ => Flowing {
                frame: frame.clone(),
                order: card.zeros(shape.columns)?,
                rho: card.zeros(shape.columns)?,
                scale: card.zeros(shape.columns)?,
                precision: card.zeros(shape.columns)?,
                right: card.zeros(rank * shape.columns)?,
                left: card.zeros(pitch * rank)?,
                xi: card.zeros(weights)?,
                xi_momenta: card.zeros(weights)?,
                response: card.zeros(weights)?,
                u: card.zeros(weights)?,
                mean: card.zeros(weights)?,
                t: card.zeros(weights)?,
                group_rho: card.zeros(0)?,
                inverses: card.zeros(0)?,
                ln_dets: card.zeros(0)?,
                da: card.zeros(square)?,
                ds: card.zeros(pitch * pitch)?,
            },
        };
        let groups: Vec<f64> = frame.groups.iter().map(|(_, rho)| *rho).collect();
        if flowing.inverses.len() < groups.len() * square {
            flowing.group_rho = card.zeros(groups.len())?;
            flowing.inverses = card.zeros(groups.len() * square)?;
            flowing.ln_dets = card.zeros(groups.len())?;
        }
        card.put(&groups, &mut flowing.group_rho)?;
        flowing.frame = frame.clone();
        card.put(&order, &mut flowing.order)?;
        card.put(&rho, &mut flowing.rho)?;
        card.put(&frame.scale, &mut flowing.scale)?;
        card.put(&frame.precision, &mut flowing.precision)?;
        card.put(frame.right.as_slice(), &mut flowing.right)?;
        Ok(flowing)
    }

    /// A⁻¹ and ln |A| of each group, given HᵀaH.
    pub fn invert(&mut self, card: &Card, shape: Shape, square: &Values) -> Result<(), Fault> {
        let (m, pitch) = (shape.width as i32, shape.pitch() as i32);
        let config = blocks(self.frame.groups.len(), 1024);
        let mut launch = card.stream.launch_builder(card.kernel("invert"));
        launch.arg(&m).arg(&pitch).arg(&self.frame.intercept).arg(&self.group_rho).arg(square);
        launch.arg(&mut self.inverses).arg(&mut self.ln_dets);
        // SAFETY: the arguments are those of the kernel, and as long as it expects.
        unsafe { launch.launch(config)? };
        Ok(())
    }

    /// Σ ln |A| over the columns; not a number if one of them is not positive definite.
    pub fn ln_det(&self, card: &Card) -> Result<f64, Fault> {
        let mut ln_dets = vec![0.0; self.frame.groups.len()];
        card.get(&self.ln_dets, &mut ln_dets)?;
        Ok(self.frame.groups.iter().zip(ln_dets).map(|((range, _), ln)| range.len() as f64 * ln).sum())
    }

    pub fn root_intercept(&self) -> f64 {
        self.frame.intercept.sqrt()
    }
}
