//! Compilation of components and the cache of compiled code. Compiled code is stored on disk under
//! the component's digest and the engine's compatibility hash. Code is only loaded if this host
//! wrote it, into a folder that only its user may write to.

use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wasmtime::Engine;
use wasmtime::component::Component;

/// Maximum size of a component file. Components in JavaScript or Python have 12 to 18 MB.
const COMPONENT_BYTES_MAX: u64 = 64 << 20;
const EXTENSION: &str = ".compiled";

/// An error that prevents a component from being prepared.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The file cannot be read.
    #[error("cannot read {0}")]
    Read(PathBuf, #[source] io::Error),
    /// The file exceeds the maximum size.
    #[error("{0} is larger than {COMPONENT_BYTES_MAX} bytes")]
    TooLarge(PathBuf),
    /// The file is not a component that this engine supports.
    #[error("the file is not a component that this runtime supports: {0}")]
    Invalid(String),
}

pub(crate) struct ComponentFile {
    pub(crate) bytes: Vec<u8>,
    /// SHA-256 in hexadecimal.
    pub(crate) digest: String,
}

impl ComponentFile {
    pub(crate) fn read(file: &Path) -> Result<Self, CompileError> {
        let failed = |source| CompileError::Read(file.to_owned(), source);
        if fs::metadata(file).map_err(failed)?.len() > COMPONENT_BYTES_MAX {
            return Err(CompileError::TooLarge(file.to_owned()));
        }
        let bytes = fs::read(file).map_err(failed)?;
        let digest = hex::encode(Sha256::digest(&bytes));
        Ok(Self { bytes, digest })
    }
}

/// The origin of a component's compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeSource {
    /// The code was compiled during this load.
    Compiled,
    /// The code came from the cache.
    Cached,
}

/// A cache of compiled code on disk. Without a folder, every load compiles the component.
#[derive(Debug, Clone)]
pub(crate) struct CodeCache {
    folder: Option<PathBuf>,
}

impl CodeCache {
    /// Creates the folder if it is missing, and returns an error if others may write to it.
    pub(crate) fn open(folder: Option<PathBuf>) -> io::Result<Self> {
        if let Some(folder) = &folder {
            create_private(folder)?;
            if !is_private_to_user(folder)? {
                let message = format!(
                    "other users than the one that runs the gateway may write to {}; restrict its permissions",
                    folder.display()
                );
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
        }
        Ok(Self { folder })
    }

    /// Loads the code from the cache, or compiles it and stores it there. This call is slow and
    /// must not run on an async task.
    pub(crate) fn load_or_compile(
        &self,
        engine: &Engine,
        file: &ComponentFile,
    ) -> Result<(Component, CodeSource), CompileError> {
        let stem = format!("{}-{}", file.digest, compatibility(engine));
        if let Some(component) = self.load(engine, &stem) {
            return Ok((component, CodeSource::Cached));
        }
        let component = Component::from_binary(engine, &file.bytes)
            .map_err(|error| CompileError::Invalid(format!("{error:#}")))?;
        if let Err(error) = self.store(&stem, &component) {
            tracing::warn!(%error, "compiled code could not be stored; the next start compiles it again");
        }
        Ok((component, CodeSource::Compiled))
    }

    fn load(&self, engine: &Engine, stem: &str) -> Option<Component> {
        let file = find(self.folder.as_deref()?, stem)?;
        let component = is_intact(&file).then(|| {
            // SAFETY: the file is in a folder that only this user can write to. Its name holds the
            // digest of its content, which `is_intact` has just compared. `store` wrote it from an
            // engine with the same compatibility hash.
            #[expect(unsafe_code, reason = "the code was compiled and written by this host")]
            unsafe {
                Component::deserialize_file(engine, &file)
            }
        });
        match component {
            Some(Ok(component)) => Some(component),
            Some(Err(_)) | None => {
                tracing::warn!(file = %file.display(), "cached code is damaged; compiling the component again");
                let _ = fs::remove_file(&file);
                None
            }
        }
    }

    /// Writes the code to a temporary file, flushes it and renames it, so that a crash leaves the
    /// complete file or none.
    fn store(&self, stem: &str, component: &Component) -> io::Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let code = component
            .serialize()
            .map_err(|error| io::Error::other(format!("{error:#}")))?;
        let name = format!("{stem}.{}{EXTENSION}", hex::encode(Sha256::digest(&code)));
        let aside = folder.join(format!(".{name}.{}", std::process::id()));
        let mut file = fs::File::create(&aside)?;
        file.write_all(&code)?;
        file.sync_all()?;
        fs::rename(&aside, folder.join(name))
    }
}

fn compatibility(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn find(folder: &Path, stem: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let is_compiled_code = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with(stem) && name.ends_with(EXTENSION))
    };
    entries.map(|entry| entry.path()).find(is_compiled_code)
}

/// Returns whether the digest of the content matches the one in the file name.
fn is_intact(file: &Path) -> bool {
    let named = file
        .file_stem()
        .and_then(|stem| Path::new(stem).extension())
        .and_then(|digest| digest.to_str());
    let content = fs::read(file).map(|code| hex::encode(Sha256::digest(&code)));
    matches!((named, content), (Some(named), Ok(content)) if named == content)
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Determines the current user from the owner of a probe file and compares it with the folder's
/// owner.
#[cfg(unix)]
fn is_private_to_user(folder: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let probe = folder.join(format!(".owner.{}", std::process::id()));
    fs::write(&probe, [])?;
    let ours = fs::metadata(&probe)?.uid();
    fs::remove_file(&probe)?;
    let folder = fs::metadata(folder)?;
    Ok(folder.uid() == ours && folder.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_private_to_user(_folder: &Path) -> io::Result<bool> {
    Ok(true)
}
