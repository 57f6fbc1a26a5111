//! Python and Node.js, the languages of some examples. Tests start them by name.

use anyhow::Result;

use crate::apt;

/// Installs the missing ones. Any version that Debian packages is sufficient.
pub(crate) fn install() -> Result<()> {
    apt::require("python3", "python3", "tests of the examples")?;
    apt::require("node", "nodejs", "tests of the examples")
}
