//! Sums over columns, in pieces that do not depend on how many processes share them.
//!
//! Columns are cut into fixed chunks, of which each process has some that adjoin each other. A sum over columns is taken within each chunk, and
//! over the chunks along a fixed binary tree: a process adds up the branches that it has to itself, and all processes complete the tree. So any
//! number of processes computes the same numbers, to the last bit.

use crate::par;
use crate::ranks::{Alone, Ranks};
use crate::rng::Stream;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most columns of a chunk: enough that its products are as fast as those of a wide table, and few enough that many processes have one.
pub const WIDTH: usize = 128;
/// Sums of more numbers than this are divided among the processes, so that each number is sent about twice, however many they are.
const LONG: usize = 4096;
/// Numbers that the first process is shown at a time of a table that it does not hold.
const TILE: usize = 1 << 20;

/// Chunk of the columns of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its number among the chunks of all processes.
    pub index: usize,
    /// Its columns, among those of this process.
    pub columns: Range<usize>,
}

/// All chunks, and the processes that share them.
#[derive(Debug, Clone)]
pub struct Chunks {
    /// Where each chunk begins in the order of all columns, and where the last one ends.
    ends: Vec<usize>,
    /// The chunks of each process.
    dealt: Vec<Range<usize>>,
    ranks: Arc<dyn Ranks>,
    tally: Arc<Tally>,
}

/// What was asked of other processes so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// Numbers in sums that every process completes by itself.
    pub short: AtomicU64,
    /// Sums that are divided among the processes, and the numbers in them.
    pub divided: AtomicU64,
    /// See `divided`.
    pub long: AtomicU64,
    /// Numbers of this process in rows of one number per column.
    pub gathered: AtomicU64,
}

impl Tally {
    fn add(count: &AtomicU64, more: usize) {
        count.fetch_add(more as u64, Ordering::Relaxed);
    }
}

impl Chunks {
    /// Of some columns; none is cut within one of the ranges `whole`.
    pub fn new(columns: usize, whole: &[Range<usize>]) -> Self {
        let count = columns.div_ceil(WIDTH).max(1);
        let width = columns.div_ceil(count).next_multiple_of(8);
        let within = |end: usize| whole.iter().find(|w| w.start < end && end < w.end);
        let mut ends = vec![0];
        for end in (1..=count).map(|c| (c * width).min(columns)) {
            let end = within(end).map_or(end, |whole| whole.end);
            if end > ends[ends.len() - 1] {
                ends.push(end);
            }
        }
        if ends.len() == 1 {
            ends.push(0);
        }
        let all = 0..ends.len() - 1;
        let dealt = vec![all];
        Chunks { ends, dealt, ranks: Arc::new(Alone), tally: Arc::default() }
    }

    /// The same, dealt out to processes; `None` if there are more processes than chunks.
    pub fn dealt(mut self, ranks: Arc<dyn Ranks>) -> Option<Self> {
        let (count, size) = (self.count(), ranks.size());
        // As many columns for each as whole chunks allow.
        let columns = self.columns();
        let mut starts: Vec<usize> = vec![0];
        for r in 1..size {
            let ideal = columns * r / size;
            let nearest = (0..=count).min_by_key(|&k| self.ends[k].abs_diff(ideal)).unwrap_or(0);
            starts.push(nearest.max(starts[r - 1] + 1).min(count.saturating_sub(size - r)));
        }
        starts.push(count);
        if count < size || starts.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        self.dealt = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        self.ranks = ranks;
        Some(self)
    }

    /// Number of chunks of all processes.
    pub fn count(&self) -> usize {
        self.ends.len() - 1
    }

    /// Number of columns of all processes.
    pub fn columns(&self) -> usize {
        self.ends[self.count()]
    }

    /// The processes.
    pub fn ranks(&self) -> &dyn Ranks {
        self.ranks.as_ref()
    }

    /// The same, to share with others.
    pub fn shared_ranks(&self) -> Arc<dyn Ranks> {
        Arc::clone(&self.ranks)
    }

    /// Whether there is only one process.
    pub fn is_alone(&self) -> bool {
        self.dealt.len() == 1
    }

    /// Whether this is the process that writes.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// What was asked of other processes so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Number of partial sums that this process contributes to a sum.
    pub fn branches(&self) -> usize {
        branches(0..self.count(), &self.dealt[self.ranks.rank()]).len()
    }

    /// The columns of process r, in the order of all columns.
    pub fn columns_of(&self, r: usize) -> Range<usize> {
        self.ends[self.dealt[r].start]..self.ends[self.dealt[r].end]
    }

    /// The columns of this process, in the order of all columns.
    pub fn own_columns(&self) -> Range<usize> {
        self.columns_of(self.ranks.rank())
    }

    /// The chunks of this process.
    pub fn own(&self) -> Vec<Chunk> {
        let first = self.own_columns().start;
        let chunk = |index: usize| Chunk { index, columns: self.ends[index] - first..self.ends[index + 1] - first };
        self.dealt[self.ranks.rank()].clone().map(chunk).collect()
    }

    /// The stream of a chunk.
    pub fn stream(&self, stream: Stream, chunk: &Chunk) -> Stream {
        if self.count() == 1 { stream } else { stream.at(chunk.index as u64) }
    }

    /// The pieces of a table of this process that is stored chunk after chunk, `rows` rows each.
    pub fn cut<'a>(&self, mut table: &'a mut [f64], rows: usize) -> Vec<&'a mut [f64]> {
        let cut = |chunk: Chunk| table.split_off_mut(..rows * chunk.columns.len()).unwrap_or_default();
        self.own().into_iter().map(cut).collect()
    }

    /// Σ over chunks of one number each.
    pub fn sum(&self, f: impl Fn(&Chunk) -> f64 + Sync) -> f64 {
        self.add(&mut self.own(), 1, |chunk, to| to[0] = f(chunk))[0]
    }

    /// Σ over chunks of `len` numbers each, which `f` adds to zeros; `pieces` has one item for each chunk of this process.
    pub fn add<P: Send>(&self, pieces: &mut [P], len: usize, f: impl Fn(&mut P, &mut [f64]) + Sync) -> Vec<f64> {
        self.add_each(pieces, len, &f)
    }

    fn add_each<P: Send>(&self, pieces: &mut [P], len: usize, f: &(dyn Fn(&mut P, &mut [f64]) + Sync)) -> Vec<f64> {
        let own = self.dealt[self.ranks.rank()].clone();
        debug_assert_eq!(pieces.len(), own.len());
        let (mut rest, mut sent) = (pieces, Vec::new());
        for branch in branches(0..self.count(), &own) {
            let (these, others) = std::mem::take(&mut rest).split_at_mut(branch.len());
            rest = others;
            let sum = halves(these, len, f);
            if self.is_alone() {
                return sum;
            }
            sent.extend(sum);
        }
        self.complete(&sent, len)
    }

    /// Σ over the chunks of all processes, from the sums of this process's branches.
    fn complete(&self, sent: &[f64], len: usize) -> Vec<f64> {
        let (ranks, size) = (&self.ranks, self.dealt.len());
        let branches: Vec<Vec<Range<usize>>> = self.dealt.iter().map(|own| branches(0..self.count(), own)).collect();
        let all: Vec<Range<usize>> = branches.iter().flatten().cloned().collect();
        if len <= LONG {
            let lengths: Vec<usize> = branches.iter().map(|own| own.len() * len).collect();
            Tally::add(&self.tally.short, len);
            let received = ranks.gather(sent, &lengths);
            return tree(0..self.count(), &all, &received, len).0;
        }
        Tally::add(&self.tally.divided, 1);
        Tally::add(&self.tally.long, len);
        // Each process adds up its share of the numbers.
        let share = |r: usize| len * r / size..len * (r + 1) / size;
        let (rank, mut dealt) = (ranks.rank(), Vec::with_capacity(sent.len()));
        for r in 0..size {
            sent.chunks_exact(len).for_each(|branch| dealt.extend_from_slice(&branch[share(r)]));
        }
        let lengths = |of: &dyn Fn(usize) -> usize| (0..size).map(of).collect::<Vec<usize>>();
        let own = share(rank).len();
        let mine = branches[rank].len();
        let received =
            ranks.exchange(&dealt, &lengths(&|r| mine * share(r).len()), &lengths(&|r| branches[r].len() * own));
        let sum = if own == 0 { Vec::new() } else { tree(0..self.count(), &all, &received, own).0 };
        ranks.gather(&sum, &lengths(&|r| share(r).len()))
    }

    /// Σ over the processes of numbers that each has summed over its own columns, in their order. Unlike a sum over chunks it depends, in its last
    /// bits, on how many they are.
    pub fn over_ranks(&self, own: Vec<f64>) -> Vec<f64> {
        if self.is_alone() {
            return own;
        }
        let (ranks, size, len) = (&self.ranks, self.dealt.len(), own.len());
        let add = |parts: &[f64], len: usize| {
            let mut sum = vec![0.0; len];
            for part in parts.chunks_exact(len.max(1)) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
            sum
        };
        if len <= LONG {
            Tally::add(&self.tally.short, len);
            return add(&ranks.gather(&own, &vec![len; size]), len);
        }
        Tally::add(&self.tally.divided, 1);
        Tally::add(&self.tally.long, len);
        // Each process adds up its share of the numbers.
        let shares: Vec<usize> = (0..size).map(|r| len * (r + 1) / size - len * r / size).collect();
        let mine = shares[ranks.rank()];
        let received = ranks.exchange(&own, &shares, &vec![mine; size]);
        ranks.gather(&add(&received, mine), &shares)
    }

    /// Σ over the processes of one number each.
    pub fn total(&self, own: f64) -> f64 {
        self.over_ranks(vec![own])[0]
    }

    /// A row of numbers, one per column of this process, of all columns.
    pub fn gather(&self, own: &[f64]) -> Vec<f64> {
        if self.is_alone() {
            return own.to_vec();
        }
        Tally::add(&self.tally.gathered, own.len());
        let lengths: Vec<usize> = (0..self.dealt.len()).map(|r| self.columns_of(r).len()).collect();
        self.ranks.gather(own, &lengths)
    }

    /// Whether any process says so.
    pub fn any(&self, own: bool) -> bool {
        self.is_alone() && own || !self.is_alone() && self.sum(|_| f64::from(u8::from(own))) > 0.0
    }

    /// A table of all columns, one row after the other, on the first process; nothing on the others. `own` has those of this process.
    pub fn collect(&self, rows: usize, own: &[f64]) -> Option<Vec<f64>> {
        let (size, all) = (self.dealt.len(), self.columns());
        let lengths: Vec<usize> = (0..size).map(|r| rows * self.columns_of(r).len()).collect();
        let mut table = if self.is_first() { vec![0.0; rows * all] } else { Vec::new() };
        self.ranks.collect(own, &lengths, &mut |r, part| {
            let columns = self.columns_of(r);
            for (to, from) in table.chunks_exact_mut(all).zip(part.chunks_exact(columns.len())) {
                to[columns.clone()].copy_from_slice(from);
            }
        });
        self.is_first().then_some(table)
    }

    /// Shows the first process a table of all columns, some whole rows at a time, so that it never holds all of it; the others only send.
    /// `own` gives the numbers of this process in some rows.
    pub fn collect_rows<E>(
        &self,
        rows: usize,
        own: impl Fn(Range<usize>) -> Vec<f64>,
        mut see: impl FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let tile = (TILE / self.columns().max(1)).max(1);
        for first in (0..rows).step_by(tile) {
            let some = first..rows.min(first + tile);
            if let Some(table) = self.collect(some.len(), &own(some.clone())) {
                see(&table)?;
            }
        }
        Ok(())
    }

    /// Σ over the chunks of this process, which must be the only one, along the same tree.
    pub fn fold(&self, mut f: impl FnMut(Range<usize>) -> f64) -> f64 {
        debug_assert!(self.is_alone());
        if self.count() == 1 { f(0..self.ends[1]) } else { self.fold_part(0..self.count(), &mut f) }
    }

    fn fold_part(&self, part: Range<usize>, f: &mut impl FnMut(Range<usize>) -> f64) -> f64 {
        if part.len() == 1 {
            return f(self.ends[part.start]..self.ends[part.end]);
        }
        let middle = middle(&part);
        let left = self.fold_part(part.start..middle, f);
        left + self.fold_part(middle..part.end, f)
    }
}

fn middle(part: &Range<usize>) -> usize {
    part.start + part.len() / 2
}

/// The largest branches of the tree over `part` that lie within `own`, in order.
fn branches(part: Range<usize>, own: &Range<usize>) -> Vec<Range<usize>> {
    if own.start <= part.start && part.end <= own.end {
        return vec![part];
    }
    if part.end <= own.start || own.end <= part.start {
        return Vec::new();
    }
    let middle = middle(&part);
    let mut found = branches(part.start..middle, own);
    found.extend(branches(middle..part.end, own));
    found
}

/// The sum of the two halves, each in its own task.
fn halves<P: Send>(pieces: &mut [P], len: usize, f: &(dyn Fn(&mut P, &mut [f64]) + Sync)) -> Vec<f64> {
    if let [piece] = pieces {
        let mut sum = vec![0.0; len];
        f(piece, &mut sum);
        return sum;
    }
    let (left, right) = pieces.split_at_mut(pieces.len() / 2);
    let (mut sum, other) = par::join(|| halves(left, len, f), || halves(right, len, f));
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
    sum
}

/// The sum over `part` from those of its branches, `len` numbers each; and how many branches that took.
fn tree(part: Range<usize>, branches: &[Range<usize>], sums: &[f64], len: usize) -> (Vec<f64>, usize) {
    if branches[0] == part {
        return (sums[..len].to_vec(), 1);
    }
    let middle = middle(&part);
    let (mut sum, left) = tree(part.start..middle, branches, sums, len);
    let (other, right) = tree(middle..part.end, &branches[left..], &sums[left * len..], len);
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
    (sum, left + right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Threads;

    #[test]
    fn sums_are_the_same_to_the_bit_for_any_number_of_processes() {
        let number = |i: usize, j: usize| ((i * 31 + j * 17) as f64).sin() * 1e3_f64.powi((j % 5) as i32 - 2);
        for columns in [129, 700, 1000, 2500] {
            for len in [1, 3, LONG + 11] {
                let of = |chunks: Chunks| {
                    let first = chunks.own_columns().start;
                    chunks.add(&mut chunks.own(), len, |chunk, to| {
                        for j in chunk.columns.clone() {
                            to.iter_mut().enumerate().for_each(|(i, to)| *to += number(i, first + j));
                        }
                    })
                };
                let alone = of(Chunks::new(columns, &[]));
                for size in 2..=Chunks::new(columns, &[]).count().min(7) {
                    let sums: Vec<Vec<f64>> = std::thread::scope(|scope| {
                        let one = |ranks| scope.spawn(move || of(Chunks::new(columns, &[]).dealt(ranks).unwrap()));
                        let all: Vec<_> = Threads::connected(size).into_iter().map(one).collect();
                        all.into_iter().map(|thread| thread.join().unwrap()).collect()
                    });
                    assert!(sums.iter().all(|sum| *sum == alone), "{columns} columns, {len} numbers, {size} processes");
                }
            }
        }
    }

    #[test]
    fn numbers_of_processes_are_added_in_their_order() {
        for len in [0, 1, 5, LONG + 11] {
            let number = |i: usize, r: usize| (i as f64 + 1.0).sqrt() * 3.0_f64.powi(r as i32);
            let sums: Vec<Vec<f64>> = std::thread::scope(|scope| {
                let one = |ranks: Arc<dyn Ranks>| {
                    let chunks = Chunks::new(700, &[]).dealt(ranks).unwrap();
                    let r = chunks.ranks().rank();
                    scope.spawn(move || chunks.over_ranks((0..len).map(|i| number(i, r)).collect()))
                };
                let all: Vec<_> = Threads::connected(3).into_iter().map(one).collect();
                all.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let expected: Vec<f64> = (0..len).map(|i| number(i, 0) + number(i, 1) + number(i, 2)).collect();
            assert!(sums.iter().all(|sum| *sum == expected), "{len} numbers");
        }
        assert_eq!(Chunks::new(700, &[]).total(3.0), 3.0);
    }

    #[test]
    fn rows_are_gathered_in_order_and_whole_ranges_are_not_cut() {
        let chunks = Chunks::new(600, &[100..300, 500..600]);
        assert!(chunks.ends.iter().all(|end| !(101..300).contains(end) && !(501..600).contains(end)));
        assert_eq!((chunks.columns(), chunks.ends[0]), (600, 0));
        let all: Vec<f64> = (0..600).map(f64::from).collect();
        let gathered = std::thread::scope(|scope| {
            let one = |ranks| {
                let (chunks, all) = (&chunks, &all);
                scope.spawn(move || {
                    let chunks = chunks.clone().dealt(ranks).unwrap();
                    // Twice the same row.
                    let own = [&all[chunks.own_columns()]; 2].concat();
                    let collected = chunks.collect(2, &own);
                    assert_eq!(collected, chunks.is_first().then(|| [&all[..]; 2].concat()));
                    chunks.gather(&all[chunks.own_columns()])
                })
            };
            let threads: Vec<_> = Threads::connected(2).into_iter().map(one).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(gathered.iter().all(|row| *row == all));
        assert!(Chunks::new(128, &[]).dealt(Threads::connected(2).remove(0)).is_none());
        // Chunks are of nearly equal width.
        assert_eq!(Chunks::new(257, &[]).ends, [0, 88, 176, 257]);
    }
}
