//! Fuzzing within `cargo test`, on a stable compiler. A target is a test beside the code that it
//! tests; this crate creates its inputs and keeps those that failed.
//!
//! - [`documents`] creates valid documents with changed bytes and fields, so that most pass the
//!   first line of a parser;
//! - [`values`] draws values choice by choice, for code that takes typed values.
//!
//! `corpus/<target>/` holds inputs that are tried first and unchanged: seeds and inputs that once
//! failed. A newly failing input is shrunk and stored there, so that the next run fails with it
//! first.
//!
//! A short run is the same every time: it has a fixed number of cases, drawn from the target's
//! name. With `STOPOVER_FUZZ_S`, each run differs, and each target runs for that number of seconds.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests use this crate, and a test that cannot continue fails by panicking"
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

/// Number of bytes from which the choices of one value are made. Once they are used up, every
/// choice is the first one.
const ENTROPY_BYTES: usize = 8 << 10;
/// Maximum length of a document.
const DOCUMENT_BYTES_MAX: usize = 64 << 10;

/// Tests a property of values. `property` draws a value and panics if the property does not hold.
///
/// # Panics
/// Panics if `property` does.
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

/// Creates a target that takes documents. `target` is also the name of its folder in `corpus/`.
pub const fn documents(target: &'static str) -> Documents {
    Documents {
        target,
        seeds: Vec::new(),
        tokens: &[],
    }
}

impl Documents {
    /// Adds a seed document. The documents of the corpus are always seeds.
    pub fn seed(mut self, document: impl Into<Vec<u8>>) -> Self {
        self.seeds.push(document.into());
        self
    }

    /// Adds words of the format, which are inserted into documents.
    pub const fn tokens(mut self, tokens: &'static [&'static str]) -> Self {
        self.tokens = tokens;
        self
    }

    /// Tests a property of all seeds and of `cases` mutated documents. `property` panics if the
    /// property does not hold.
    ///
    /// # Panics
    /// Panics if `property` does, or if there is no seed.
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

/// Splits a document into its first line and the rest, e.g. a header and the body that it came
/// with.
pub fn lines(document: &[u8]) -> (&[u8], &[u8]) {
    let end = document.iter().position(|byte| *byte == b'\n');
    let (first, rest) = document.split_at(end.unwrap_or(document.len()));
    (first, rest.strip_prefix(b"\n").unwrap_or(rest))
}
