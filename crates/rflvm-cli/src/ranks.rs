//! The processes that `mpirun` started, if it did: they advance each chain together, and the first of them writes.

#[cfg(feature = "mpi")]
mod mpi;

use crate::args::Command;
use crate::console::{Console, note};
use crate::failure::Failure;
use std::sync::Arc;

/// Variables by which launchers tell a process how many there are.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The processes.
pub struct Ranks {
    #[cfg(feature = "mpi")]
    world: Option<mpi::World>,
}

impl Ranks {
    /// Joins the others, if there are any. A command that they cannot share is refused.
    pub fn join(command: &Command) -> Result<Self, Failure> {
        let size = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok()).unwrap_or(1);
        if size > 1 && !matches!(command, Command::Fit(_) | Command::Resume(_)) {
            let problem = "only fit and resume can run as several processes; run this command without mpirun";
            return Err(Failure::Ranks { problem: problem.into() });
        }
        Self::of(size)
    }

    #[cfg(feature = "mpi")]
    fn of(size: usize) -> Result<Self, Failure> {
        // `mpirun -n 1` is one process like any other.
        Ok(Ranks { world: if size > 1 { Some(mpi::World::join()?) } else { None } })
    }

    #[cfg(not(feature = "mpi"))]
    fn of(size: usize) -> Result<Self, Failure> {
        if size > 1 {
            let problem = format!(
                "mpirun started {size} processes, but this program was built without MPI; build it with `cargo build --release -p rflvm-cli \
                 --features mpi`, or run it without mpirun"
            );
            return Err(Failure::Ranks { problem });
        }
        Ok(Ranks {})
    }

    /// The processes, if there are several.
    pub fn all(&self) -> Option<Arc<dyn rflvm::internal::ranks::Ranks>> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return Some(world.ranks());
        }
        None
    }

    /// Refuses what several processes cannot do together.
    pub fn check_alone(&self, what: &str) -> Result<(), Failure> {
        match self.all() {
            Some(_) => Err(Failure::Ranks { problem: format!("{what} runs as one process; run it without mpirun") }),
            None => Ok(()),
        }
    }

    /// Whether this is the process that writes.
    pub fn is_first(&self) -> bool {
        self.all().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// The console of this process: only the first speaks.
    pub fn console(&self, console: Console) -> Console {
        if self.is_first() { console } else { Console { quiet: true, ..Console::default() } }
    }

    /// Waits for the others.
    pub fn wait(&self) {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            world.wait();
        }
    }

    /// What was sent so far, in words.
    pub fn traffic(&self) -> Option<String> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return Some(world.traffic());
        }
        None
    }

    /// Says what failed, and ends all processes.
    pub fn abandon(&self, _code: u8, sentence: Option<&str>) {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.abandon(_code, sentence);
        }
        if let Some(sentence) = sentence {
            note(&format!("rflvm: {sentence}"));
        }
    }
}
