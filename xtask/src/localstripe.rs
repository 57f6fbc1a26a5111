//! localstripe, a Stripe on this machine, against which the tests of its adapter
//! run. They start it themselves, from where this puts it.

use anyhow::Result;

use crate::{cargo, python};

const VERSION: &str = "1.15.10";

/// Installs it, once for each version.
pub(crate) fn install() -> Result<()> {
    let environment = cargo::target("localstripe");
    python::install(&environment, &[("localstripe", VERSION)], "localstripe")?;
    Ok(())
}
