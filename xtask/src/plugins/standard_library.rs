//! Where the standard library of `wasm32-unknown-unknown` comes from.
//!
//! It is there, or rustup fetches it, or Debian's compiler builds it. The last
//! is for machines that reach package registries but not rustup's server.

mod debian;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::process;
use debian::Sysroot;

const TARGET: &str = "wasm32-unknown-unknown";

/// How large a function the compiler may put in its caller's place. Calls cost more in a
/// guest than in a native program, whose default is 250: see decision 0056.
const INLINE_THRESHOLD: u32 = 300;

/// How the standard library can be had.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// The Rust toolchain holds it already
    Installed,
    /// `rustup target add` fetches it
    Rustup,
    /// Debian's packages rustc-web and rust-web-src build it
    Debian,
}

/// A standard library to build guests with.
pub(super) struct StandardLibrary {
    /// `None`: the toolchain's own.
    sysroot: Option<Sysroot>,
}

impl StandardLibrary {
    /// Takes the first way that works, or only the one asked for.
    pub(super) fn find(only: Option<Way>) -> Result<Self> {
        let may = |way| only.is_none_or(|only| only == way);
        let mut failures = Vec::new();

        if may(Way::Installed) || may(Way::Rustup) {
            if installed()? {
                eprintln!("{TARGET}: its standard library is installed");
                return Ok(Self { sysroot: None });
            }
            failures.push("installed: the Rust toolchain does not hold it".to_owned());
        }
        // Why it is not usable, `build` says below, after cheaper ways were tried.
        if may(Way::Debian)
            && let Ok(Some(sysroot)) = Sysroot::built()
        {
            eprintln!("{TARGET}: standard library built before by Debian's compiler");
            return Ok(Self {
                sysroot: Some(sysroot),
            });
        }
        if may(Way::Rustup) {
            match add_with_rustup() {
                Ok(()) => {
                    eprintln!("{TARGET}: standard library added by rustup");
                    return Ok(Self { sysroot: None });
                }
                Err(error) => failures.push(format!("rustup: {error:#}")),
            }
        }
        if may(Way::Debian) {
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
             Any of these three helps:\n  \
             a Rust toolchain that comes with it\n  \
             rustup target add {TARGET}\n  \
             on Debian, as root: apt-get install rustc-web rust-web-src",
            failures.join("\n  ")
        )
    }

    /// Makes a `cargo build` command use this library, for guests only: flags
    /// do not reach what runs while building.
    pub(super) fn apply(&self, build: &mut Command) {
        let mut flags = vec![
            "-Ctarget-feature=+simd128".to_owned(),
            format!("-Cllvm-args=-inline-threshold={INLINE_THRESHOLD}"),
        ];
        if let Some(sysroot) = &self.sysroot {
            sysroot.apply(build);
            flags.push(format!("--sysroot={}", sysroot.folder.display()));
        }
        // The one variable that goes before every other way to give flags.
        build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    }
}

/// Whether the active toolchain holds the library.
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
    if process::find("rustup").is_none() {
        bail!("there is no rustup in PATH");
    }
    process::run(Command::new("rustup").args(["target", "add", TARGET]))?;
    if !installed()? {
        bail!("`rustup target add {TARGET}` succeeded, but the active toolchain is another");
    }
    Ok(())
}
