//! The standard library of `wasm32-unknown-unknown`.
//!
//! It is installed, or rustup fetches it, or Debian's compiler builds it. The last way is
//! for machines that reach package registries but not rustup's server.

mod debian;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;

use crate::process;
use debian::Sysroot;

const TARGET: &str = "wasm32-unknown-unknown";

/// LLVM's cost limit for inlining a function. The default of native programs is 250; calls
/// cost more in a guest (decision 0056).
const INLINE_THRESHOLD: u32 = 300;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StandardLibrarySource {
    /// The Rust toolchain contains it already
    Installed,
    /// `rustup target add` fetches it
    Rustup,
    /// Debian's compiler (rustc-web) builds it from rust-web-src
    Debian,
}

pub(super) struct StandardLibrary {
    /// `None` for the one of the toolchain.
    sysroot: Option<Sysroot>,
}

impl StandardLibrary {
    /// Returns the library of the first source that works, or of `only` this source.
    pub(super) fn find(only: Option<StandardLibrarySource>) -> Result<Self> {
        let may = |way| only.is_none_or(|only| only == way);
        let mut failures = Vec::new();

        if may(StandardLibrarySource::Installed) || may(StandardLibrarySource::Rustup) {
            if installed()? {
                eprintln!("{TARGET}: its standard library is installed");
                return Ok(Self { sysroot: None });
            }
            failures.push("installed: the Rust toolchain does not contain it".to_owned());
        }
        // An error is ignored here: `build` reports it below, after the cheaper ways.
        if may(StandardLibrarySource::Debian)
            && let Ok(Some(sysroot)) = Sysroot::built()
        {
            eprintln!("{TARGET}: standard library built before by Debian's compiler");
            return Ok(Self {
                sysroot: Some(sysroot),
            });
        }
        if may(StandardLibrarySource::Rustup) {
            match add_with_rustup() {
                Ok(()) => {
                    eprintln!("{TARGET}: standard library added by rustup");
                    return Ok(Self { sysroot: None });
                }
                Err(error) => failures.push(format!("rustup: {error:#}")),
            }
        }
        if may(StandardLibrarySource::Debian) {
            match Sysroot::build() {
                Ok(sysroot) => {
                    eprintln!("{TARGET}: standard library built by Debian's compiler");
                    return Ok(Self {
                        sysroot: Some(sysroot),
                    });
                }
                Err(error) => failures.push(format!("Debian: {error:#}")),
            }
        }
        bail!(
            "no standard library for {TARGET}\n  {}\n\
             Do one of these:\n  \
             install a Rust toolchain that contains it\n  \
             rustup target add {TARGET}\n  \
             on Debian, as root: apt-get install rustc-web rust-web-src",
            failures.join("\n  ")
        )
    }

    /// Makes a `cargo build` command use this library for guests. Build scripts and macros
    /// are not affected.
    pub(super) fn apply(&self, build: &mut Command) {
        let mut flags = vec![
            "-Ctarget-feature=+simd128".to_owned(),
            format!("-Cllvm-args=-inline-threshold={INLINE_THRESHOLD}"),
        ];
        if let Some(sysroot) = &self.sysroot {
            sysroot.apply(build);
            flags.push(format!("--sysroot={}", sysroot.folder.display()));
        }
        // This variable takes precedence over every other source of flags.
        build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    }
}

/// Returns whether the active toolchain contains the library.
fn installed() -> Result<bool> {
    let folder =
        process::output(Command::new("rustc").args(["--print=target-libdir", "--target", TARGET]))?;
    let Ok(entries) = PathBuf::from(folder.trim()).read_dir() else {
        return Ok(false);
    };
    Ok(entries.flatten().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    }))
}

fn add_with_rustup() -> Result<()> {
    ensure!(process::find("rustup").is_some(), "rustup is not in PATH");
    process::run(Command::new("rustup").args(["target", "add", TARGET]))?;
    if !installed()? {
        bail!("`rustup target add {TARGET}` added it to a toolchain that is not active");
    }
    Ok(())
}
