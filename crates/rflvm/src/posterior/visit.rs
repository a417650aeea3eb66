//! What is computed from each of some draws.

use super::fitted::Fitted;
use super::parameters::{Parameters, Stored};
use crate::error::RunError;
use crate::par;

impl Fitted<'_> {
    /// Passes what `compute` makes of each of these draws, and of its chain and its number, to `take`, in their order.
    pub(super) fn each_draw<T: Send>(
        &self,
        draws: &[(usize, usize)],
        compute: impl Fn(&Parameters, (usize, usize)) -> T + Sync,
        take: impl FnMut(T),
    ) -> Result<(), RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        let mut take = take;
        // Reading is one task; processing a draw is one task per draw.
        for part in draws.chunks(rayon::current_num_threads()) {
            let read = |&(chain, draw): &(usize, usize)| Ok((stored.at(chain, draw)?, (chain, draw)));
            let parameters = part.iter().map(read).collect::<Result<Vec<_>, RunError>>()?;
            par::collect(&parameters, 1, |(parameters, place)| compute(parameters, *place))
                .into_iter()
                .for_each(&mut take);
        }
        Ok(())
    }
}
