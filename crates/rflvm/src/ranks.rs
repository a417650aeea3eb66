//! The processes that advance one chain together, each with some of the columns. A program that runs on many machines implements
//! [`Ranks`]; everything else runs [`Alone`].

use std::fmt::Debug;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Processes that call the same functions in the same order.
pub trait Ranks: Debug + Send + Sync {
    /// Number of this process, counted from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Number of this process among those of its machine, counted from 0, and how many they are.
    fn place(&self) -> (usize, usize) {
        (self.rank(), self.size())
    }

    /// The numbers of all processes, one after the other; `lengths` are theirs, and the same on all processes.
    fn gather(&self, own: &[f64], lengths: &[usize]) -> Vec<f64>;

    /// Sends `sent[r]` of the numbers to process r, and returns those received, `received[r]` from process r.
    fn exchange(&self, own: &[f64], sent: &[usize], received: &[usize]) -> Vec<f64>;

    /// Shows the first process the numbers of each, one process at a time: its number, and its numbers. Nothing is shown to the others.
    fn collect(&self, own: &[f64], lengths: &[usize], see: &mut dyn FnMut(usize, &[f64]));
}

/// One process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, own: &[f64], _lengths: &[usize]) -> Vec<f64> {
        own.to_vec()
    }

    fn exchange(&self, own: &[f64], _sent: &[usize], _received: &[usize]) -> Vec<f64> {
        own.to_vec()
    }

    fn collect(&self, own: &[f64], _lengths: &[usize], see: &mut dyn FnMut(usize, &[f64])) {
        see(0, own);
    }
}

/// Threads of one process that play several, to try out how those work together. All must live until the last has received what it waits for.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    to: Vec<Sender<Vec<f64>>>,
    from: Vec<Mutex<Receiver<Vec<f64>>>>,
}

impl Threads {
    /// One for each of some threads.
    pub fn connected(size: usize) -> Vec<Arc<dyn Ranks>> {
        let mut from: Vec<Vec<Mutex<Receiver<Vec<f64>>>>> = (0..size).map(|_| Vec::new()).collect();
        let mut to: Vec<Vec<Sender<Vec<f64>>>> = (0..size).map(|_| Vec::new()).collect();
        for sender in &mut to {
            for receiver in &mut from {
                let (send, receive) = channel();
                sender.push(send);
                receiver.push(Mutex::new(receive));
            }
        }
        let of_rank = |(rank, (to, from))| Arc::new(Threads { rank, to, from }) as Arc<dyn Ranks>;
        to.into_iter().zip(from).enumerate().map(of_rank).collect()
    }

    fn send(&self, to: usize, numbers: &[f64]) {
        // To a thread that has ended there is nothing to say.
        let _ = self.to[to].send(numbers.to_vec());
    }

    /// What each has sent; nothing from one that has ended.
    fn receive(&self) -> Vec<Vec<f64>> {
        let next = |from: &Mutex<Receiver<Vec<f64>>>| from.lock().unwrap_or_else(PoisonError::into_inner).recv();
        self.from.iter().map(|from| next(from).unwrap_or_default()).collect()
    }
}

impl Ranks for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn gather(&self, own: &[f64], lengths: &[usize]) -> Vec<f64> {
        debug_assert_eq!(own.len(), lengths[self.rank]);
        (0..self.to.len()).for_each(|r| self.send(r, own));
        self.receive().concat()
    }

    fn exchange(&self, own: &[f64], sent: &[usize], received: &[usize]) -> Vec<f64> {
        let mut rest = own;
        for (r, &count) in sent.iter().enumerate() {
            let (these, others) = rest.split_at(count);
            self.send(r, these);
            rest = others;
        }
        let parts = self.receive();
        debug_assert!(rest.is_empty() && parts.iter().map(Vec::len).eq(received.iter().copied()));
        parts.concat()
    }

    fn collect(&self, own: &[f64], lengths: &[usize], see: &mut dyn FnMut(usize, &[f64])) {
        let all = self.gather(own, lengths);
        let mut rest = &all[..];
        for (r, &length) in lengths.iter().enumerate().filter(|_| self.rank == 0) {
            let (these, others) = rest.split_at(length);
            see(r, these);
            rest = others;
        }
    }
}
