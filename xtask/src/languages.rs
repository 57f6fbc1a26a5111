//! Python and Node.js, in which some of `examples/` are written. Their tests start
//! them by name.

use anyhow::Result;

use crate::{apt, process};

/// Installs those that are missing. Any version will do that Debian has.
pub(crate) fn install() -> Result<()> {
    for (program, package) in [("python3", "python3"), ("node", "nodejs")] {
        if process::find(program).is_none() {
            apt::install(&[package], "tests of the examples")?;
        }
    }
    Ok(())
}
