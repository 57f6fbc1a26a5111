//! One target's run: the number of cases, their inputs, and the handling of a failure.

use crate::ENTROPY_BYTES;
use crate::Random;
use crate::corpus::Corpus;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

/// Maximum number of cuts by which a failing input is shrunk.
const CUTS_MAX: u32 = 400;

pub(crate) struct Run {
    target: String,
    pub(crate) corpus: Corpus,
    cases: u32,
    /// End of a long run, which differs from run to run; `None` for a short run.
    until: Option<Instant>,
    seed: u64,
}

impl Run {
    pub(crate) fn new(target: &str, cases: u32) -> Self {
        let until = std::env::var("STOPOVER_FUZZ_S").ok().map(|text| {
            let Ok(seconds) = text.parse() else {
                panic!("STOPOVER_FUZZ_S is {text}, no number of seconds");
            };
            Instant::now() + Duration::from_secs(seconds)
        });
        let mut hasher = DefaultHasher::new();
        target.hash(&mut hasher);
        if until.is_some() {
            RandomState::new().build_hasher().finish().hash(&mut hasher);
        }
        Self {
            target: target.to_owned(),
            corpus: Corpus::of(target),
            cases,
            until,
            seed: hasher.finish(),
        }
    }

    /// Runs all cases, each made of random bytes.
    pub(crate) fn all(&self, property: &impl Fn(&[u8]), make: impl Fn(&[u8]) -> Vec<u8>) {
        let random = Random::new(self.seed);
        let mut entropy = vec![0; ENTROPY_BYTES];
        let mut done: u64 = 0;
        let goes_on = |done| match self.until {
            Some(until) => Instant::now() < until,
            None => done < u64::from(self.cases),
        };
        while goes_on(done) {
            for chunk in entropy.chunks_mut(8) {
                chunk.copy_from_slice(&random.bits64().to_le_bytes()[..chunk.len()]);
            }
            self.one(property, &make(&entropy));
            done += 1;
        }
        eprintln!("{}: {done} cases", self.target);
    }

    /// Tries one input. A failing input is shrunk and stored, and the panic continues.
    pub(crate) fn one(&self, property: &impl Fn(&[u8]), input: &[u8]) {
        let fails =
            |input: &[u8]| panic::catch_unwind(AssertUnwindSafe(|| property(input))).is_err();
        if !fails(input) {
            return;
        }
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let small = smaller(input.to_vec(), fails);
        panic::set_hook(hook);
        let file = self.corpus.keep(&small);
        eprintln!(
            "{} fails with {}, kept as {}",
            self.target,
            small.escape_ascii(),
            file.display()
        );
        property(&small);
        panic!("{} fails with this input, but not always", self.target);
    }
}

/// Removes parts of an input, large ones first, as long as it still fails.
fn smaller(mut input: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut cuts = 0;
    let mut length = input.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at < input.len() && cuts < CUTS_MAX {
            cuts += 1;
            let end = (at + length).min(input.len());
            let cut = [&input[..at], &input[end..]].concat();
            if fails(&cut) {
                input = cut;
            } else {
                at = end;
            }
        }
        length /= 2;
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;
    use crate::mutation::Mutation;

    fn run(folder: &std::path::Path, target: &str) -> Run {
        Run {
            corpus: Corpus::at(folder.to_owned()),
            ..Run::new(target, 20_000)
        }
    }

    /// Fails for a document whose `nights` is 1,000 or more.
    fn property(document: &[u8]) {
        let read: Result<serde_json::Value, _> = serde_json::from_slice(document);
        let nights = read.ok().and_then(|stay| stay.get("nights")?.as_i64());
        assert!(nights.is_none_or(|nights| nights < 1_000), "many nights");
    }

    #[test]
    fn failing_input_is_found_shrunk_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let run = run(folder.path(), "run-finds");
        let seeds = [br#"{"city":"Rome","nights":2,"rooms":[{"adults":2}]}"#.to_vec()];
        let mutation = Mutation::new(&seeds, &[]);
        let make = |entropy: &[u8]| mutation.draw(&mut Choice::new(entropy));
        let result = panic::catch_unwind(AssertUnwindSafe(|| run.all(&property, make)));
        assert!(result.is_err());
        let [kept] = <[Vec<u8>; 1]>::try_from(run.corpus.inputs()).unwrap();
        assert!(panic::catch_unwind(|| property(&kept)).is_err());
        assert!(kept.len() < 40, "{}", kept.escape_ascii());
    }

    #[test]
    fn short_run_is_repeatable_and_differs_per_target() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = |target| {
            let drawn = std::cell::RefCell::new(Vec::new());
            let run = Run {
                cases: 3,
                until: None,
                ..run(folder.path(), target)
            };
            run.all(
                &|input: &[u8]| drawn.borrow_mut().push(input.to_vec()),
                <[u8]>::to_vec,
            );
            drawn.into_inner()
        };
        let first = drawn("one");
        assert_eq!(first.len(), 3);
        assert_ne!(first[0], first[1]);
        assert_eq!(first, drawn("one"));
        assert_ne!(first, drawn("another"));
    }

    #[test]
    fn most_mutated_documents_are_still_json() {
        let seeds = [br#"{"city":"Rome","nights":2,"rooms":[{"adults":2}]}"#.to_vec()];
        let mutation = Mutation::new(&seeds, &["Rome"]);
        let folder = tempfile::tempdir().unwrap();
        let read = std::cell::Cell::new(0);
        let count = |document: &[u8]| {
            let is_read = serde_json::from_slice::<serde_json::Value>(document).is_ok();
            read.set(read.get() + u32::from(is_read && document != seeds[0]));
        };
        let run = Run {
            cases: 1_000,
            until: None,
            ..run(folder.path(), "run-json")
        };
        run.all(&count, |entropy| mutation.draw(&mut Choice::new(entropy)));
        assert!((300..950).contains(&read.get()), "{}", read.get());
    }
}
