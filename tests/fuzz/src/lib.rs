//! Fuzzing inside of `cargo test`, on a stable compiler. A target lies beside the code
//! that it tries, as a test; this crate makes its inputs and keeps those that failed.
//!
//! - [`documents`] are valid ones, changed byte by byte and member by member, so that most
//!   come past the first line of a parser;
//! - [`values`] are drawn choice by choice, for code that takes typed values.
//!
//! `corpus/<target>/` holds inputs that are tried first and as they stand: seeds, and what
//! has failed once. An input that fails now is made smaller and kept there too, so that the
//! next run fails with it before anything else.
//!
//! A run in short is the same every time: so many cases, drawn from the target's name. With
//! `STOPOVER_FUZZ_S` it is another one every time, and each target runs for so many seconds.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests are written with it: what cannot go on fails by panicking"
)]
#![warn(missing_docs)]

mod choice;
mod corpus;
mod mutation;
mod random;
mod run;

pub use choice::Choice;
pub use random::Random;

use mutation::Mutation;
use run::Run;

/// Bytes of which the choices of one value are made; later ones are all the first choice.
const ENTROPY_BYTES: usize = 8 << 10;
/// Longest document.
const DOCUMENT_BYTES_MAX: usize = 64 << 10;

/// Tries a property of values: `property` draws one and panics where it does not hold.
///
/// # Panics
/// Where `property` does.
pub fn values(target: &str, cases: u32, property: impl Fn(&mut Choice<'_>)) {
    let run = Run::new(target, cases);
    let property = |bytes: &[u8]| property(&mut Choice::new(bytes));
    for input in run.corpus.inputs() {
        run.one(&property, &input);
    }
    run.all(&property, |entropy| entropy.to_vec());
}

/// A target that takes documents of one kind.
#[must_use]
pub struct Documents {
    target: &'static str,
    seeds: Vec<Vec<u8>>,
    tokens: &'static [&'static str],
}

/// A target that takes documents: its name is that of its folder in `corpus/`.
pub const fn documents(target: &'static str) -> Documents {
    Documents {
        target,
        seeds: Vec::new(),
        tokens: &[],
    }
}

impl Documents {
    /// Also begins from this document. Those of the corpus are seeds anyhow.
    pub fn seed(mut self, document: impl Into<Vec<u8>>) -> Self {
        self.seeds.push(document.into());
        self
    }

    /// Also writes these words into documents: what the format is made of.
    pub const fn tokens(mut self, tokens: &'static [&'static str]) -> Self {
        self.tokens = tokens;
        self
    }

    /// Tries a property of all seeds, and of so many changed ones; `property` panics where it
    /// does not hold.
    ///
    /// # Panics
    /// Where `property` does, and without any seed.
    pub fn check(self, cases: u32, property: impl Fn(&[u8])) {
        let run = Run::new(self.target, cases);
        let mut seeds = run.corpus.inputs();
        seeds.extend(self.seeds);
        assert!(!seeds.is_empty(), "{} has no seed", self.target);
        for seed in &seeds {
            run.one(&property, seed);
        }
        let mutation = Mutation::new(&seeds, self.tokens);
        run.all(&property, |entropy| {
            let mut document = mutation.draw(&mut Choice::new(entropy));
            document.truncate(DOCUMENT_BYTES_MAX);
            document
        });
    }
}

/// The first line of a document, and the rest: a header with what it came with.
pub fn lines(document: &[u8]) -> (&[u8], &[u8]) {
    let end = document.iter().position(|byte| *byte == b'\n');
    let (first, rest) = document.split_at(end.unwrap_or(document.len()));
    (first, rest.strip_prefix(b"\n").unwrap_or(rest))
}
