//! Components to machine code, once: compiled code is kept on disk by the
//! component's digest and the engine's compatibility. Only what this host wrote,
//! into a folder that only its user may write, is ever taken from there.

use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wasmtime::Engine;
use wasmtime::component::Component;

/// Largest component file. One in JavaScript or Python has 12 to 18 MB.
const COMPONENT_BYTES_MAX: u64 = 64 << 20;
const EXTENSION: &str = "compiled";

/// A component that cannot be made ready to run.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// Which.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is too large.
    #[error("{file} is larger than {COMPONENT_BYTES_MAX} bytes")]
    TooLarge {
        /// Which.
        file: PathBuf,
    },
    /// It is not a component that this engine takes.
    #[error("not a component that can run here: {0}")]
    Invalid(String),
}

/// A component's bytes and what they are.
pub(crate) struct ComponentFile {
    pub(crate) bytes: Vec<u8>,
    /// SHA-256, hexadecimal.
    pub(crate) digest: String,
}

impl ComponentFile {
    pub(crate) fn read(file: &Path) -> Result<Self, CompileError> {
        let failed = |source| CompileError::Read {
            file: file.to_owned(),
            source,
        };
        if fs::metadata(file).map_err(failed)?.len() > COMPONENT_BYTES_MAX {
            return Err(CompileError::TooLarge {
                file: file.to_owned(),
            });
        }
        let bytes = fs::read(file).map_err(failed)?;
        let digest = hex::encode(Sha256::digest(&bytes));
        Ok(Self { bytes, digest })
    }
}

/// Where the code of a component came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeSource {
    /// It was compiled now.
    Compiled,
    /// It was compiled before and kept.
    Cached,
}

/// Compiled code on disk; without a folder everything is compiled each time.
#[derive(Debug, Clone)]
pub(crate) struct CodeCache {
    folder: Option<PathBuf>,
}

impl CodeCache {
    /// Makes the folder if need be, and refuses one that others may write.
    pub(crate) fn open(folder: Option<PathBuf>) -> io::Result<Self> {
        if let Some(folder) = &folder {
            create_private(folder)?;
            if !is_private_to_user(folder)? {
                let message = format!(
                    "{} may be written by others than the user that runs the gateway",
                    folder.display()
                );
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
        }
        Ok(Self { folder })
    }

    /// Takes kept code, or compiles and keeps it. Slow: not for an async task.
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
            tracing::warn!(%error, "compiled code could not be kept; it will be compiled again at the next start");
        }
        Ok((component, CodeSource::Compiled))
    }

    fn load(&self, engine: &Engine, stem: &str) -> Option<Component> {
        let file = find(self.folder.as_deref()?, stem)?;
        let component = is_intact(&file).then(|| {
            // SAFETY: the file is in a folder that only this user can write, its name
            // holds the digest of its content, which was just compared, and it was
            // written by `keep` from an engine of the same compatibility.
            #[expect(unsafe_code, reason = "code that this host compiled and wrote itself")]
            unsafe {
                Component::deserialize_file(engine, &file)
            }
        });
        match component {
            Some(Ok(component)) => Some(component),
            Some(Err(_)) | None => {
                tracing::warn!(file = %file.display(), "kept code is damaged; it is compiled again");
                let _ = fs::remove_file(&file);
                None
            }
        }
    }

    /// Written aside, flushed, then renamed: a crash leaves all of it or nothing.
    fn store(&self, stem: &str, component: &Component) -> io::Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let code = component
            .serialize()
            .map_err(|error| io::Error::other(format!("{error:#}")))?;
        let name = format!("{stem}.{}.{EXTENSION}", hex::encode(Sha256::digest(&code)));
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
    let wanted = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with(stem)
            && path
                .extension()
                .is_some_and(|extension| extension == EXTENSION)
    };
    entries.map(|entry| entry.path()).find(wanted)
}

/// Whether the content is what the name says.
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

/// The user is known by what a file becomes that this process makes.
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
fn is_ours_alone(_folder: &Path) -> io::Result<bool> {
    Ok(true)
}
