//! A private sysroot, built once by Debian's compiler from Debian's sources.
//!
//! rustup's compiler cannot build it: the sources of the standard library must match the
//! compiler's commit, and only rustup's server has them. Debian packages both. Its
//! compiler also builds the guests, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::TARGET;
use crate::{apt, cargo, files, process};

const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Debian's compiler and the standard library that it built.
pub(super) struct Sysroot {
    pub(super) folder: PathBuf,
    compiler: PathBuf,
    linker: PathBuf,
}

impl Sysroot {
    /// Returns the sysroot of an earlier run if this compiler built it.
    pub(super) fn built() -> Result<Option<Self>> {
        let Some(compiler) = compiler() else {
            return Ok(None);
        };
        let sysroot = Self::of(compiler)?;
        let stamp = fs::read_to_string(sysroot.stamp()).ok();
        let complete = stamp == Some(version(&sysroot.compiler)?);
        Ok(complete.then_some(sysroot))
    }

    /// Installs missing packages and builds the library. Takes about a minute.
    pub(super) fn build() -> Result<Self> {
        if compiler().is_none() {
            apt::install(&PACKAGES, "the WebAssembly standard library")?;
        }
        let compiler =
            compiler().context("Debian's rustc-web installed no compiler and sources")?;
        let sysroot = Self::of(compiler)?;
        let source = cargo::target("wasm-sysroot/build");
        sysroot.compile_library(&source)?;
        sysroot.install_library(&source.join(format!("target/{TARGET}/release/deps")))?;
        fs::remove_dir_all(&source)
            .with_context(|| format!("cannot remove {}", source.display()))?;
        files::write(&sysroot.stamp(), version(&sysroot.compiler)?)?;
        Ok(sysroot)
    }

    /// Makes a `cargo build` command use Debian's compiler.
    pub(super) fn apply(&self, build: &mut Command) {
        build
            .env("RUSTC", &self.compiler)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &self.linker);
    }

    fn of(compiler: PathBuf) -> Result<Self> {
        Ok(Self {
            folder: cargo::target("wasm-sysroot"),
            compiler,
            linker: linker()?,
        })
    }

    /// Returns the file that is written last. A sysroot without it is incomplete.
    fn stamp(&self) -> PathBuf {
        self.folder.join("compiler")
    }

    /// Builds the library as a dependency of an empty crate.
    fn compile_library(&self, source: &Path) -> Result<()> {
        let manifest = "[package]\nname = \"empty\"\nedition = \"2024\"\n\n\
                        [profile.release]\npanic = \"abort\"\n\n[workspace]\n";
        files::create_folder(&source.join("src"))?;
        files::write(&source.join("Cargo.toml"), manifest)?;
        files::write(&source.join("src/lib.rs"), "#![no_std]\n")?;
        let mut command = cargo::command();
        command
            .current_dir(source)
            .args(["build", "--quiet", "--release", "--target", TARGET])
            .args(["--target-dir", "target", "-Zbuild-std=std,panic_abort"])
            // Lets a stable compiler accept `-Z`. Guests are built without it.
            .env("RUSTC_BOOTSTRAP", "1")
            // Link-time optimisation of guests needs the library's bitcode.
            .env("CARGO_ENCODED_RUSTFLAGS", "-Cembed-bitcode=yes");
        self.apply(&mut command);
        process::run(&mut command)
    }

    fn install_library(&self, built: &Path) -> Result<()> {
        let library = self.folder.join(format!("lib/rustlib/{TARGET}/lib"));
        files::recreate_folder(&library)?;
        let mut copied = 0;
        for file in files::list(built)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".rlib") && !name.starts_with("libempty-") {
                files::copy(&file, &library.join(&*name))?;
                copied += 1;
            }
        }
        ensure!(copied > 0, "cargo built no library in {}", built.display());
        Ok(())
    }
}

/// Returns Debian's compiler if it and the sources are installed.
fn compiler() -> Option<PathBuf> {
    process::find("dpkg-query")?;
    let mut list = Command::new("dpkg-query");
    list.arg("--listfiles").args(PACKAGES);
    if !process::exits_successfully(&mut list) {
        return None;
    }
    let files = process::output(list.stdout(Stdio::piped())).ok()?;
    let owned = |end: &str| {
        files
            .lines()
            .map(PathBuf::from)
            .find(|file| file.ends_with(end))
    };
    owned("library/std/src/lib.rs")?;
    owned("bin/rustc")
}

fn version(compiler: &Path) -> Result<String> {
    process::output(Command::new(compiler).arg("-vV"))
}

/// Returns the WebAssembly linker of rustup's toolchain, or Debian's.
fn linker() -> Result<PathBuf> {
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let version = version(Path::new("rustc"))?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("`rustc -vV` names no host")?;
    let bundled = PathBuf::from(sysroot.trim()).join(format!("lib/rustlib/{host}/bin/rust-lld"));
    if bundled.is_file() {
        return Ok(bundled);
    }
    process::find("wasm-ld").with_context(|| {
        format!(
            "no WebAssembly linker: neither {} nor wasm-ld exists; install Debian's lld",
            bundled.display()
        )
    })
}
