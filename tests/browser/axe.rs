//! axe-core, which finds barriers for people with disabilities.

use crate::driver::Browser;
use sha2::{Digest, Sha256};

const AXE: &str = include_str!("vendor/axe.min.js");

/// Runs all rules and calls back with a text for each violation.
const RUN: &str = r"
const done = arguments[arguments.length - 1];
const describe = (violation) => violation.nodes.slice(0, 3)
    .map((node) => `${violation.id}: ${violation.help}: ${node.html} ${node.failureSummary}`);
axe.run().then(
    (results) => done(results.violations.flatMap(describe)),
    (error) => done([`axe failed: ${error}`]),
);
";

impl Browser {
    /// Returns the violations of axe-core's rules on the current page.
    pub(crate) async fn axe_violations(&self) -> Vec<String> {
        let is_loaded = self.driver.run("return 'axe' in window").await;
        if is_loaded != true {
            self.driver.run(AXE).await;
        }
        let violations = self.driver.run_with_callback(RUN).await;
        serde_json::from_value(violations).unwrap()
    }
}

#[test]
fn vendored_axe_has_the_sum_of_its_package() {
    let sums = include_str!("vendor/SUMS");
    let sum = hex::encode(Sha256::digest(AXE));
    let line = format!("{sum}  axe.min.js");
    assert!(sums.lines().any(|known| known.starts_with(&line)), "{sum}");
}
