//! PyJWT, an independent verifier of signatures for the tests of mandates. They start it
//! from `target/pyjwt`.

use anyhow::Result;

use crate::{cargo, python};

const VERSION: &str = "2.15.1";
/// Version of `cryptography`, which implements ES256 for PyJWT.
const CRYPTOGRAPHY_VERSION: &str = "50.0.2";

/// Installs PyJWT, once for each version.
pub(crate) fn install() -> Result<()> {
    let environment = cargo::target("pyjwt");
    let packages = [("pyjwt", VERSION), ("cryptography", CRYPTOGRAPHY_VERSION)];
    python::install(&environment, &packages, "PyJWT")?;
    Ok(())
}
