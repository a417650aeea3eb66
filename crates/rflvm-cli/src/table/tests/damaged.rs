//! A storm of damaged files.

use std::path::Path;
use std::time::{Duration, Instant};

use super::npy::npy as array;
use super::options;
use crate::table::{csv, npy};

#[test]
fn damaged_files_never_panic() {
    let text = b"\xEF\xBB\xBFid,\"a \"\"q\"\"\",b\r\nx,1.5,NA\r\ny,-2e5,\"3\"\r\n";
    let saved = array("'<f4'", "True", "(2, 3)", &[1; 24]);
    let pieces: [&[u8]; 12] =
        [b",", b"\"", b"\n", b"\r", b"(", b"]", b"'", b"1e999", b"99999999999999999999", b"\xff", b"{", b"\0"];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let choices = [options("-", "-", "-"), options("id", "b", "-"), options("id", "-", "b")];
    let path = Path::new("fuzz");
    let start = Instant::now();
    for _ in 0..200_000 {
        let mut bytes = match next(3) {
            0 => text.to_vec(),
            1 => saved.clone(),
            _ => (0..next(80)).map(|_| next(256) as u8).collect(),
        };
        for _ in 0..next(5) {
            let at = next(bytes.len() + 1);
            match next(4) {
                0 => bytes.truncate(at),
                1 => {
                    bytes.splice(at..at, pieces[next(pieces.len())].iter().copied());
                }
                2 if at < bytes.len() => bytes[at] = next(256) as u8,
                _ => {
                    bytes.drain(at..(at + next(6)).min(bytes.len()));
                }
            }
        }
        let choice = &choices[next(choices.len())];
        for outcome in [
            csv::parse(path, &bytes, b',', choice),
            csv::parse(path, &bytes, b'\t', choice),
            npy::parse(path, &bytes, choice),
        ] {
            match outcome {
                Ok(t) => assert_eq!(t.values.len(), t.rows * t.columns.len()),
                Err(e) => assert!(!e.to_string().contains('\n')),
            }
        }
        if start.elapsed() > Duration::from_secs(2) {
            break;
        }
    }
}
