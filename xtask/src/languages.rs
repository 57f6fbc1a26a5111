//! Python and Node.js, in which some of `examples/` are written. Their tests start
//! them by name.

use anyhow::Result;

use crate::apt;

/// Installs those that are missing. Any version will do that Debian has.
pub(crate) fn install() -> Result<()> {
    apt::need("python3", "python3", "tests of the examples")?;
    apt::need("node", "nodejs", "tests of the examples")
}
