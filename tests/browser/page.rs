//! Checks of a page: heading, title, width, barriers.

use crate::driver::Browser;
use serde_json::{Value, json};
use tests::eventually;

/// Width and height of a telephone.
pub(crate) const TELEPHONE: (u32, u32) = (390, 844);
/// Width and height of a desktop.
pub(crate) const DESKTOP: (u32, u32) = (1280, 900);

/// Width and height of a large monitor.
const MONITOR: (u32, u32) = (1920, 1080);

const SIZES: [(u32, u32); 2] = [TELEPHONE, DESKTOP];

/// Width and height of a printed sheet without its margins.
const SHEET: (u32, u32) = (680, 960);

const SCHEMES: [&str; 2] = ["light", "dark"];

/// Returns what can be seen of the page as a whole.
const FACTS: &str = r"
const root = document.documentElement;
const outside = [...document.querySelectorAll('body *')]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map((element) => element.outerHTML.slice(0, 120));
return {
    headings: [...document.querySelectorAll('h1')].map((heading) => heading.textContent.trim()),
    width: Math.max(root.scrollWidth, document.body.scrollWidth),
    outside,
};
";

/// Calls back with what the page's loading cost: the movements of its elements, the size of the page
/// and its assets as they are sent, the number of assets, and the URLs of those that came from the
/// server and not from the browser's cache.
const LOADING: &str = r"
const done = arguments[arguments.length - 1];
const isAsset = (entry) => new URL(entry.name).pathname.startsWith('/assets/');
const assets = performance.getEntriesByType('resource').filter(isAsset);
const pages = performance.getEntriesByType('navigation');
const moved = [];
const nameOf = ({ node }) => (node?.outerHTML ?? node?.textContent ?? '').slice(0, 80);
const add = (list) => {
    for (const { value, sources } of list.getEntries()) moved.push([value, ...sources.map(nameOf)]);
};
new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
const report = () => done({
    moved,
    bytes: [...pages, ...assets].reduce((sum, entry) => sum + entry.encodedBodySize, 0),
    assets: assets.length,
    fetched: assets.filter((entry) => entry.transferSize > 0).map((entry) => entry.name),
});
requestAnimationFrame(() => requestAnimationFrame(report));
";

/// Most movement that a page may show while it loads. Rows that come while a list is opened move the
/// others.
const SHIFT_MAX: f64 = 0.01;

/// Most bytes that a page with its assets may have.
const PAGE_BYTES_MAX: u64 = 60 * 1024;

/// The dialog that is on every page.
const HELP: &str = "shortcuts";

/// Returns the ids of the page's dialogs.
const DIALOGS: &str = "return [...document.querySelectorAll('dialog')].map((dialog) => dialog.id)";

/// Returns whether the open dialog is within the window.
const IS_DIALOG_VISIBLE: &str = r"
const { left, top, right, bottom } = document.querySelector('dialog[open]').getBoundingClientRect();
return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
";

impl Browser {
    /// Opens a page in all sizes and checks what its loading costs. Checks that it and its dialogs
    /// are good in all sizes and colour schemes.
    ///
    /// # Panics
    /// Panics if it is not.
    pub(crate) async fn open_good_page(&self, path: &str, heading: &str) {
        self.open_light_page(path, heading).await;
        self.expect_good_page(heading).await;
        let dialogs = self.driver.run(DIALOGS).await;
        let dialogs: Vec<String> = serde_json::from_value(dialogs).unwrap();
        // The help is the same everywhere.
        let dialogs = dialogs.iter().filter(|id| *id != HELP || path == "/");
        for id in dialogs {
            let dialog = format!("document.getElementById('{id}')");
            self.driver.run(&format!("{dialog}.showModal()")).await;
            self.expect_good_page(heading).await;
            self.driver.run(&format!("{dialog}.close()")).await;
        }
    }

    /// Opens a page in all sizes. Checks that nothing on it moves, that it is small, and that it
    /// takes no asset from the server twice.
    ///
    /// # Panics
    /// Panics if it is not so.
    pub(crate) async fn open_light_page(&self, path: &str, heading: &str) {
        for (turn, size) in SIZES.into_iter().enumerate() {
            self.show_as(size, SCHEMES[0]).await;
            self.open(path).await;
            self.wait_for(heading).await;
            let loading = self.driver.run_with_callback(LOADING).await;
            let bytes = loading["bytes"].as_u64().unwrap();
            let moved = loading["moved"].as_array().unwrap().iter();
            let moved: f64 = moved.map(|shift| shift[0].as_f64().unwrap()).sum();
            let is_light = moved <= SHIFT_MAX
                && bytes <= PAGE_BYTES_MAX
                && loading["assets"] != 0
                && (turn == 0 || loading["fetched"] == json!([]));
            assert!(is_light, "{path} at {} px: {loading}", size.0);
        }
    }

    /// Checks heading and title of the current page.
    ///
    /// # Panics
    /// Panics if the page has other headings of the first level than this one.
    pub(crate) async fn expect_page(&self, heading: &str) {
        self.wait_for(heading).await;
        let facts = self.driver.run(FACTS).await;
        self.check_headings(&facts, heading).await;
    }

    /// Checks the current page in all sizes and colour schemes.
    ///
    /// # Panics
    /// Panics if it has another heading, scrolls sideways or has barriers.
    pub(crate) async fn expect_good_page(&self, heading: &str) {
        // Nothing but the space differs from the desktop.
        self.show_as(MONITOR, SCHEMES[0]).await;
        self.check_layout(heading, MONITOR.0).await;
        for (size, scheme) in SIZES
            .into_iter()
            .flat_map(|size| SCHEMES.map(|scheme| (size, scheme)))
        {
            self.show_as(size, scheme).await;
            self.check_layout(heading, size.0).await;
            if self.shows("//dialog[@open]").await {
                let is_visible = self.driver.run(IS_DIALOG_VISIBLE).await;
                assert_eq!(is_visible, true, "the dialog at {} px", size.0);
            }
            let violations = self.axe_violations().await;
            let place = format!("{} at {} px, {scheme}", self.path().await, size.0);
            assert!(violations.is_empty(), "{place}: {}", violations.join("\n"));
        }
    }

    /// Checks that the current page prints its content on the width of a sheet, without what only a
    /// screen needs.
    ///
    /// # Panics
    /// Panics if it does not.
    pub(crate) async fn expect_good_print(&self, heading: &str) {
        self.show_as(SHEET, SCHEMES[0]).await;
        let print = json!({ "media": "print" });
        self.driver
            .devtools("Emulation.setEmulatedMedia", print)
            .await;
        self.check_layout(heading, SHEET.0).await;
        let path = self.path().await;
        for control in [".side", ".top", "form[role=search]", "dialog"] {
            let shown = format!(
                "return [...document.querySelectorAll('{control}')].some((e) => e.checkVisibility())"
            );
            let is_shown = self.driver.run(&shown).await;
            assert_eq!(is_shown, false, "{control} of {path} is printed");
        }
        self.show_as(DESKTOP, SCHEMES[0]).await;
    }

    /// Checks the current page in all sizes, without a script of its own.
    pub(crate) async fn expect_good_layout(&self, heading: &str) {
        for size in SIZES {
            self.show_as(size, SCHEMES[0]).await;
            self.check_layout(heading, size.0).await;
        }
    }

    /// Waits for the page, because a pressed button takes a moment to lead there.
    async fn wait_for(&self, heading: &str) {
        let title = format!("{heading} · Stopover");
        eventually(&format!("the page \"{title}\""), async || {
            let found = self.driver.title().await;
            (found == title).then_some(())
        })
        .await;
    }

    async fn check_layout(&self, heading: &str, width: u32) {
        self.wait_for(heading).await;
        let facts = self.driver.run(FACTS).await;
        self.check_headings(&facts, heading).await;
        let needed = facts["width"].as_u64().unwrap();
        let path = self.path().await;
        assert!(needed <= width.into(), "{path} at {width} px: {facts}");
    }

    async fn check_headings(&self, facts: &Value, heading: &str) {
        let path = self.path().await;
        assert_eq!(facts["headings"], json!([heading]), "{path}");
    }

    /// Sets the size of the window and the person's choice of colours, and stops animations.
    pub(crate) async fn show_as(&self, (width, height): (u32, u32), scheme: &str) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.driver
            .devtools("Emulation.setDeviceMetricsOverride", size)
            .await;
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        let media = json!({ "media": "", "features": features });
        self.driver
            .devtools("Emulation.setEmulatedMedia", media)
            .await;
    }

    /// Lets pages run no scripts from now on.
    pub(crate) async fn turn_scripts_off(&self) {
        let off = json!({ "value": true });
        self.driver
            .devtools("Emulation.setScriptExecutionDisabled", off)
            .await;
    }
}
