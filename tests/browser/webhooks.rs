//! Webhooks: created, tested, rotated, recovered; deliveries: read and replayed in bulk.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{
    Database, MockResponse, MockServer, PASSWORD, Server, ServerOptions, Subscriber, eventually,
    verify_signatures,
};

#[tokio::test]
async fn webhook_is_created_tested_and_rotated() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    let upstream = MockServer::start().await;
    upstream.on("POST /hook", |_| MockResponse::empty(204));
    let url = format!("{}/hook", upstream.url);
    with_browser("webhooks", &server, async |browser| {
        browser.open("/webhooks").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.submit("Create webhook").await;
        browser.submit("Create webhook").await;
        browser.alert().await;
        browser.fill("URL", &url).await;
        browser.fill("Description", "our shop").await;
        browser.submit("Create webhook").await;
        let first = browser.test_id("signing-secret").await;
        browser.submit("Send test event").await;
        browser
            .wait_to_see("//h1[starts-with(., 'Delivery dlv_')]")
            .await;
        let received = eventually("the test event", async || upstream.received().pop()).await;
        assert_eq!(verify_signatures(&received, &[&first]), [true]);
        eventually("the delivery's state", async || {
            browser.open(&browser.path().await).await;
            let is_delivered = browser.shows("//p[contains(., 'Delivered')]").await;
            is_delivered.then_some(())
        })
        .await;
        browser.submit("Replay").await;
        eventually("the replay", async || {
            (upstream.received().len() == 2).then_some(())
        })
        .await;

        browser.open("/webhooks").await;
        browser.follow(&url).await;
        browser.press("Rotate secret").await;
        // The button that has opened the dialog has the same words and is hidden meanwhile.
        let buttons = "//button[normalize-space(.)='Rotate secret']";
        browser.wait_to_see(buttons).await;
        browser.press("Cancel").await;
        browser.press("Rotate secret").await;
        browser.submit("Rotate secret").await;
        let second = browser.test_id("signing-secret").await;
        assert_ne!(first, second);
        browser.submit("Pause").await;
        browser
            .wait_to_see("//p[@class='sub']//span[.='Paused']")
            .await;
        browser.submit("Resume").await;
        browser
            .wait_to_see("//h1[starts-with(., 'Webhook whs_')]")
            .await;
        browser.field("Recover since").await;
        browser.submit("Recover").await;
        browser
            .wait_to_see("//p[contains(., 'Enter a date')]")
            .await;
    })
    .await;
}

#[tokio::test]
async fn failed_deliveries_are_replayed_in_bulk() {
    let config = "[webhooks]\nsubscription_retry_s = [1]";
    let options = ServerOptions::on(Database::Sqlite).config(config);
    let server = Server::start_with(options).await;
    set_up(&server).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    subscriber.respond_with(|_| MockResponse::empty(500));
    for _ in 0..3 {
        subscriber.subscription.ping_until(&client, "FAILED").await;
    }
    subscriber.respond_with(|_| MockResponse::empty(204));
    with_browser("deliveries", &server, async |browser| {
        browser.open("/deliveries").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        let button = "//button[normalize-space(.)='Replay all matching']";
        assert!(browser.shows(button).await);
        let consequence = "//p[contains(., 'sends all deliveries of test mode again')]";
        assert!(browser.shows(consequence).await, "nothing is filtered");
        let ids = browser.texts("//tbody/tr/td[1]/a/code").await;
        assert!(!ids.is_empty());
        for id in ids {
            let link = format!("//td//a[@href='/deliveries/{id}']");
            assert!(browser.shows(&link).await, "{id} is not the whole id");
        }
        browser.open("/deliveries?status=FAILED").await;
        assert!(!browser.shows(consequence).await);
        browser.submit("Replay all matching").await;
        // The page follows the progress by itself.
        browser
            .wait_to_see("//section[contains(., '3 of 3 replayed')]")
            .await;
        browser
            .wait_to_see("//section[@id='bulk-replay']//span[.='Finished']")
            .await;
        browser.expect_page("Deliveries").await;
    })
    .await;
}
