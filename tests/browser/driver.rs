//! A browser of its own for each test: Chromium, driven by chromedriver.

use crate::webdriver::WebDriver;
use futures::FutureExt;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, resume_unwind};
use tests::{DashboardClient, Server, target_dir};
use tokio::sync::Semaphore;

/// Browsers that run at the same time. Each of them keeps a core busy.
static BROWSERS: Semaphore = Semaphore::const_new(2);

/// A running browser with one window.
pub(crate) struct Browser {
    pub(crate) driver: WebDriver,
    /// The dashboard under test, without a trailing slash.
    pub(crate) base: String,
    /// Other sites to which pages may lead, without a trailing slash.
    pub(crate) other_sites: Vec<String>,
    /// Events of the network that were read.
    pub(crate) network: RefCell<Vec<Value>>,
}

/// Runs a test in a browser. After it, nothing may have broken a rule that holds for every page.
///
/// # Panics
/// Panics if the test does, after it has stored a screenshot under the test's name.
pub(crate) async fn with_browser(name: &str, server: &Server, test: impl AsyncFnOnce(&Browser)) {
    let base = DashboardClient::new(server).base;
    with_browser_at(name, base, &[], test).await;
}

/// Runs a test as [`with_browser`] does, at this address of the dashboard. Its pages may lead to
/// other sites.
///
/// # Panics
/// Panics if the test does.
pub(crate) async fn with_browser_at(
    name: &str,
    base: String,
    other_sites: &[&str],
    test: impl AsyncFnOnce(&Browser),
) {
    let _permit = BROWSERS.acquire().await.unwrap();
    let browser = Browser {
        driver: WebDriver::start(&capabilities()).await,
        base,
        other_sites: other_sites.iter().map(ToString::to_string).collect(),
        network: RefCell::default(),
    };
    let steps = async {
        test(&browser).await;
        let violations = browser.violations().await;
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    };
    let outcome = AssertUnwindSafe(steps).catch_unwind().await;
    if outcome.is_err() {
        // A browser that does not respond any more must not hide the failure of the test.
        let _no_evidence = AssertUnwindSafe(browser.keep_evidence(name))
            .catch_unwind()
            .await;
    }
    browser.driver.quit().await;
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

impl Browser {
    /// Stores what the browser shows.
    async fn keep_evidence(&self, name: &str) {
        let folder = target_dir().join("browser");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{name}.png"));
        std::fs::write(&file, self.driver.screenshot().await).unwrap();
        let source = self.driver.source().await;
        std::fs::write(file.with_extension("html"), source).unwrap();
        let url = self.driver.url().await;
        tests::print_line(&format!("{name} failed at {url}: {}", file.display()));
    }
}

fn capabilities() -> Value {
    let options = json!({
        "args": [
            "--headless=new",
            // Tests run as root in a container with little shared memory.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--disable-background-networking",
            "--hide-scrollbars",
            "--no-first-run",
            // Pages must not need another host.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            "--lang=en-GB",
        ],
    });
    json!({
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
    })
}
