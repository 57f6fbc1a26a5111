//! `cargo xtask release`: builds the files of an installation into `target/dist`.
//!
//! The folder can be copied as it is: the program loads plugins from `plugins` beside itself.
//! It includes the plugins of the demo, so that an installed `stopover serve --demo` works.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::{apt, cargo, files, phase, plugins, process, run};

const PROGRAM: &str = "stopover";
const DEBUG_FILE: &str = "stopover.debug";
const CONFIGURATION: &str = "host/application/src/config.default.toml";

/// Builds the gateway for production and the plugins at the same time, and copies both to
/// `target/dist`.
pub(crate) fn release() -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        "`cargo xtask release` separates debug information with objcopy, which needs ELF \
         files: run it on Linux"
    );
    cargo::check_lock_file()?;
    apt::require("objcopy", "binutils", "separating debug information")?;
    let names = plugins::shipped()?;
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    let gateway = phase::run_beside(plugins::background(&arguments)?, || {
        run::build_gateway(true)
    })?;

    let dist = cargo::target("dist");
    phase::run("target/dist", "seconds", || {
        files::recreate_folder(&dist)?;
        separate_debug_info(&gateway, &dist)?;
        let plugins_folder = dist.join("plugins");
        files::create_folder(&plugins_folder)?;
        for name in &names {
            let file = format!("{name}.wasm");
            files::copy(&plugins::folder().join(&file), &plugins_folder.join(&file))?;
        }
        let configuration = cargo::root().join(CONFIGURATION);
        files::copy(&configuration, &dist.join("config.default.toml"))
    })?;
    print_files(&dist)
}

/// Writes a stripped program and a file with its symbols and line tables.
///
/// The program contains a link to that file. Backtraces and debuggers use it if both are in
/// one folder. Cargo's `split-debuginfo` does not help: on Linux it leaves line tables in the
/// program, and the release profile has no other debug information. Cargo's `strip` removes
/// the tables before they can be copied.
fn separate_debug_info(program: &Path, dist: &Path) -> Result<()> {
    process::run(
        objcopy(dist)
            .arg("--only-keep-debug")
            .arg(program)
            .arg(DEBUG_FILE),
    )?;
    // Runs in the folder of the debug file: the link contains its checksum, but no folder.
    process::run(
        objcopy(dist)
            .arg("--strip-all")
            .arg(format!("--add-gnu-debuglink={DEBUG_FILE}"))
            .arg(program)
            .arg(PROGRAM),
    )
}

/// Returns a command for the objcopy of binutils. The one of the Rust toolchain finds its
/// LLVM library only when rustc starts it.
fn objcopy(folder: &Path) -> Command {
    let mut command = Command::new("objcopy");
    command.current_dir(folder);
    command
}

fn print_files(dist: &Path) -> Result<()> {
    for folder in [dist.to_path_buf(), dist.join("plugins")] {
        for file in files::list(&folder)? {
            if file.is_dir() {
                continue;
            }
            let bytes = files::read(&file)?.len();
            let path = file.strip_prefix(cargo::root()).unwrap_or(&file);
            eprintln!("{:>12}  {}", size(bytes), path.display());
        }
    }
    Ok(())
}

/// Formats a size as `812 KB` or `41.3 MB`.
fn size(bytes: usize) -> String {
    let kilobytes = bytes.div_ceil(1000);
    if kilobytes < 1000 {
        format!("{kilobytes} KB")
    } else {
        format!("{}.{} MB", kilobytes / 1000, kilobytes % 1000 / 100)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sizes_are_printed_in_megabytes_from_one_megabyte_on() {
        assert_eq!(size(1), "1 KB");
        assert_eq!(size(811_700), "812 KB");
        assert_eq!(size(41_320_000), "41.3 MB");
    }

    #[test]
    fn stripped_program_links_to_its_debug_file() {
        let _guard = process::only_test_that_runs_programs();
        let dist = tempfile::tempdir().unwrap();
        let tests = std::env::current_exe().unwrap();
        separate_debug_info(&tests, dist.path()).unwrap();
        let program = fs::read(dist.path().join(PROGRAM)).unwrap();
        let link = DEBUG_FILE.as_bytes();
        assert!(program.windows(link.len()).any(|bytes| bytes == link));
        let debug_info = fs::metadata(dist.path().join(DEBUG_FILE)).unwrap().len();
        assert!(debug_info > program.len() as u64 / 10);
    }
}
