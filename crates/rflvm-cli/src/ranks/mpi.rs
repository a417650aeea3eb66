//! Processes connected by MPI.

use crate::console::note;
use crate::failure::Failure;
use ::mpi::Threading;
use ::mpi::datatype::{Partition, PartitionMut};
use ::mpi::environment::Universe;
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use rflvm::internal::ranks::Ranks;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most numbers of one message: MPI counts them in 32 bits.
const MOST: usize = 1 << 26;

/// How long a process waits before it says that it failed: long enough for the first to end all, if it failed too.
const ALIKE: Duration = Duration::from_secs(5);

/// All processes that `mpirun` started.
pub struct World {
    members: Arc<Members>,
    /// MPI ends when it is dropped.
    _universe: Universe,
}

/// What a chain knows of them.
#[derive(Debug)]
struct Members {
    rank: usize,
    size: usize,
    /// Number of this process on its machine, and how many there are.
    place: (usize, usize),
    /// One call at a time, from whichever thread.
    turn: Mutex<()>,
    /// Calls, bytes sent to other processes, and nanoseconds spent, including those spent waiting for others.
    calls: AtomicU64,
    sent: AtomicU64,
    spent: AtomicU64,
}

impl World {
    /// Joins the others.
    pub fn join() -> Result<Self, Failure> {
        let started = ::mpi::initialize_with_threading(Threading::Serialized);
        let Some((universe, threading)) = started else {
            return Err(Failure::Ranks { problem: "MPI cannot be started twice in one process".into() });
        };
        if threading < Threading::Serialized {
            let problem =
                "this MPI library does not allow calls from several threads (MPI_THREAD_SERIALIZED); use one that does";
            return Err(Failure::Ranks { problem: problem.into() });
        }
        // A process that panics would leave the others waiting.
        let said = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            said(panic);
            SimpleCommunicator::world().abort(101);
        }));
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        let neighbours = world.split_shared(rank as i32);
        let place = (neighbours.rank() as usize, neighbours.size() as usize);
        let (calls, sent, spent) = Default::default();
        let members = Arc::new(Members { rank, size, place, turn: Mutex::new(()), calls, sent, spent });
        Ok(World { members, _universe: universe })
    }

    /// The processes.
    pub fn ranks(&self) -> Arc<dyn Ranks> {
        Arc::<Members>::clone(&self.members)
    }

    /// Waits for all.
    pub fn wait(&self) {
        let _turn = self.members.turn();
        SimpleCommunicator::world().barrier();
    }

    /// What this process sent so far, in words.
    pub fn traffic(&self) -> String {
        let Members { size, calls, sent, spent, .. } = &*self.members;
        let [calls, sent, spent] = [calls, sent, spent].map(|count| count.load(Ordering::Relaxed));
        format!("{size} processes; the first sent {sent} bytes in {calls} calls, {:.3} s", spent as f64 * 1e-9)
    }

    /// Says what failed, and ends all processes.
    pub fn abandon(&self, code: u8, sentence: Option<&str>) {
        let Members { rank, size, .. } = &*self.members;
        if *rank > 0 {
            // If all fail alike, the first says why, and ends this one.
            std::thread::sleep(ALIKE);
        }
        if let Some(sentence) = sentence {
            let who = if *rank > 0 { format!("process {} of {size}: ", rank + 1) } else { String::new() };
            note(&format!("rflvm: {who}{sentence}"));
        }
        SimpleCommunicator::world().abort(i32::from(code));
    }
}

/// Counts, and where each part begins.
fn places(lengths: &[usize]) -> (Vec<i32>, Vec<i32>) {
    let starts = lengths.iter().scan(0, |sum, &length| {
        let start = *sum;
        *sum += length;
        Some(start as i32)
    });
    (lengths.iter().map(|&length| length as i32).collect(), starts.collect())
}

impl Members {
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One call that sends some numbers.
    fn call<T>(&self, numbers: usize, call: impl FnOnce(&SimpleCommunicator) -> T) -> T {
        let _turn = self.turn();
        let begun = Instant::now();
        let result = call(&SimpleCommunicator::world());
        let elapsed = begun.elapsed().as_nanos() as u64;
        for (count, more) in [(&self.calls, 1), (&self.sent, 8 * numbers as u64), (&self.spent, elapsed)] {
            count.fetch_add(more, Ordering::Relaxed);
        }
        result
    }
}

impl Ranks for Members {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn place(&self) -> (usize, usize) {
        self.place
    }

    fn gather(&self, own: &[f64], lengths: &[usize]) -> Vec<f64> {
        let mut all = vec![0.0; lengths.iter().sum()];
        let (counts, starts) = places(lengths);
        self.call(own.len() * (self.size - 1), |world| {
            world.all_gather_varcount_into(own, &mut PartitionMut::new(&mut all[..], counts, starts));
        });
        all
    }

    fn exchange(&self, own: &[f64], sent: &[usize], received: &[usize]) -> Vec<f64> {
        let mut all = vec![0.0; received.iter().sum()];
        let ((counts, starts), (counts_in, starts_in)) = (places(sent), places(received));
        self.call(own.len() - sent[self.rank], |world| {
            let parts = Partition::new(own, counts, starts);
            world.all_to_all_varcount_into(&parts, &mut PartitionMut::new(&mut all[..], counts_in, starts_in));
        });
        all
    }

    fn collect(&self, own: &[f64], lengths: &[usize], see: &mut dyn FnMut(usize, &[f64])) {
        if self.rank > 0 {
            self.call(own.len(), |world| own.chunks(MOST).for_each(|piece| world.process_at_rank(0).send(piece)));
            return;
        }
        see(0, own);
        // One at a time: the first process does not hold them all twice.
        for (r, &length) in lengths.iter().enumerate().skip(1) {
            let mut part = vec![0.0; length];
            self.call(0, |world| {
                for piece in part.chunks_mut(MOST) {
                    world.process_at_rank(r as i32).receive_into(piece);
                }
            });
            see(r, &part);
        }
    }
}
