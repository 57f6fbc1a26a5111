//! localstripe, a local Stripe server. The tests of the Stripe adapter start it from
//! `target/localstripe`.

use anyhow::Result;

use crate::{cargo, python};

const VERSION: &str = "1.15.10";

/// Installs localstripe, once for each version.
pub(crate) fn install() -> Result<()> {
    let environment = cargo::target("localstripe");
    python::install(&environment, &[("localstripe", VERSION)], "localstripe")?;
    Ok(())
}
