//! PyJWT, with which the tests of mandates verify signatures as a stranger would.
//! They start it themselves, from where this puts it.

use anyhow::Result;

use crate::{cargo, python};

const VERSION: &str = "2.15.1";
/// What it verifies ES256 with.
const CRYPTOGRAPHY_VERSION: &str = "50.0.2";

/// Installs it, once for each version.
pub(crate) fn install() -> Result<()> {
    let environment = cargo::target("pyjwt");
    let packages = [("pyjwt", VERSION), ("cryptography", CRYPTOGRAPHY_VERSION)];
    python::install(&environment, &packages, "PyJWT")?;
    Ok(())
}
