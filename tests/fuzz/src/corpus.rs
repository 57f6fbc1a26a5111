//! Inputs on disk, one folder for each target.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

pub(crate) struct Corpus(PathBuf);

impl Corpus {
    pub(crate) fn of(target: &str) -> Self {
        let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        Self::at(all.join(target))
    }

    pub(crate) const fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Returns the inputs in the order of their names; an empty list if the folder does not exist.
    pub(crate) fn inputs(&self) -> Vec<Vec<u8>> {
        let Ok(folder) = fs::read_dir(&self.0) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let read = |file: &PathBuf| match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => panic!("{}: {error}", file.display()),
        };
        files.iter().map(read).collect()
    }

    /// Stores a failing input and returns its path.
    pub(crate) fn keep(&self, input: &[u8]) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        let file = self.0.join(format!("found-{:016x}", hasher.finish()));
        let kept = fs::create_dir_all(&self.0).and_then(|()| fs::write(&file, input));
        if let Err(error) = kept {
            eprintln!("{} could not be written: {error}", file.display());
        }
        file
    }
}
