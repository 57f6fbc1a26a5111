//! The programs that tests start.

use anyhow::Result;

use crate::{apt, cargo, python};

/// A local Stripe server. The tests of the Stripe adapter start it from `target/localstripe`.
const LOCALSTRIPE: (&str, &str) = ("localstripe", "1.15.10");

/// An independent verifier of signatures with its implementation of ES256. The tests of
/// mandates start it from `target/pyjwt`.
const PYJWT: [(&str, &str); 2] = [("pyjwt", "2.15.1"), ("cryptography", "50.0.2")];

pub(crate) fn install() -> Result<()> {
    // Any version of these languages that Debian packages runs the examples.
    apt::require("python3", "python3", "tests of the examples")?;
    apt::require("node", "nodejs", "tests of the examples")?;
    apt::require(
        "pgbouncer",
        "pgbouncer",
        "tests of PostgreSQL behind PgBouncer",
    )?;
    let browser = "tests of the dashboard in a browser";
    apt::require("chromium", "chromium", browser)?;
    apt::require("chromedriver", "chromium-driver", browser)?;
    python::install(&cargo::target("localstripe"), &[LOCALSTRIPE], "localstripe")?;
    python::install(&cargo::target("pyjwt"), &PYJWT, "PyJWT")?;
    Ok(())
}
