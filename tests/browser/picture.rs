//! Pictures for `docs/dashboard.md`. Each run takes them, so that a page that cannot be shown fails
//! a test. `STOPOVER_TEST_WRITE_PICTURES=1` stores them in `docs/dashboard`.

use crate::driver::{Browser, with_browser};
use crate::page::{DESKTOP, TELEPHONE};
use crate::{EMAIL, set_up};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::path::Path;
use tests::{Database, PASSWORD, Server, eventually};

const VARIABLE: &str = "STOPOVER_TEST_WRITE_PICTURES";

/// Returns the path of the first row of a list.
const FIRST_ROW: &str = "return document.querySelector('a[data-row]').getAttribute('href')";

#[tokio::test]
async fn pictures_of_the_documentation_can_be_taken() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    person.post("/sample-data", &[]).await;
    // The key with which the data is made is revoked at the end.
    eventually("the end of the sample data", async || {
        let keys = person.get("/keys?status=revoked").await;
        keys.body.contains("sample data</a>").then_some(())
    })
    .await;
    with_browser("picture", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.open("/bookings?status=CONFIRMED&kind=hotel").await;
        let booking = browser.driver.run(FIRST_ROW).await;
        take_pictures(browser, booking.as_str().unwrap()).await;
    })
    .await;
}

async fn take_pictures(browser: &Browser, booking: &str) {
    for (name, path, size, scheme) in [
        ("overview", "/?window=day", DESKTOP, "light"),
        ("overview-dark", "/?window=day", DESKTOP, "dark"),
        ("requests", "/requests", DESKTOP, "light"),
        ("booking", booking, DESKTOP, "light"),
        ("booking-telephone", booking, TELEPHONE, "dark"),
        ("unresolved", "/unresolved", DESKTOP, "light"),
        ("deliveries", "/deliveries", DESKTOP, "light"),
    ] {
        browser.show_as(size, scheme).await;
        browser.open(path).await;
        let picture = browser.picture().await;
        assert!(picture.len() > 1000, "{name}");
        if std::env::var_os(VARIABLE).is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dashboard");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("{name}.webp")), picture).unwrap();
        }
    }
}

impl Browser {
    /// Returns a picture of the window in the format WebP.
    async fn picture(&self) -> Vec<u8> {
        let format = json!({ "format": "webp", "quality": 80 });
        let taken = self.driver.devtools("Page.captureScreenshot", format).await;
        STANDARD.decode(taken["data"].as_str().unwrap()).unwrap()
    }
}
