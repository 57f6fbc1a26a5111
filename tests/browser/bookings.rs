//! A booking from the list to its personal data; watches and mandates from the list to their end.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use serde_json::json;
use tests::{
    Client, Database, FlightBookingBuilder, HotelBookingBuilder, PASSWORD, Server, Subscriber,
};

/// Last name of the guests of the bookings that tests make.
const LAST_NAME: &str = "Lovelace";

#[tokio::test]
async fn booking_is_found_followed_and_revealed() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let flight = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let hotel = HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    subscriber
        .wait_for_events("hotel.booking.confirmed", 1)
        .await;
    with_browser("bookings", &server, async |browser| {
        browser.open("/bookings").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_page("Bookings").await;
        browser.fill("Search", &hotel).await;
        browser.submit("Filter").await;
        let row = |id: &str| format!("//tbody/tr//a[@href='/bookings/{id}']");
        browser.wait_to_see(&row(&hotel)).await;
        assert!(!browser.shows(&row(&flight)).await, "the list is filtered");
        browser.driver.press_keys("j").await;
        let focused = "return document.activeElement.getAttribute('href')";
        let path = format!("/bookings/{hotel}");
        assert_eq!(browser.driver.run(focused).await, path.as_str());
        browser.open(&path).await;
        let heading = format!("Booking {hotel}");
        browser.expect_good_page(&heading).await;
        let item = "//ol[@data-testid='timeline']/li[contains(., 'Book confirmed')]//time";
        browser.wait_to_see(item).await;
        let source = browser.driver.source().await;
        assert!(!source.contains(LAST_NAME), "names are masked");
        browser.submit("Reveal").await;
        browser.expect_good_page(&heading).await;
        assert!(browser.driver.source().await.contains(LAST_NAME));
        browser.follow("Mask them").await;
        browser.expect_page(&heading).await;
        assert!(!browser.driver.source().await.contains(LAST_NAME));
        browser.open(&format!("/bookings/{flight}")).await;
        browser.expect_good_page(&format!("Booking {flight}")).await;
        browser.open("/bookings?status=EXPIRED").await;
        browser.expect_good_page("Bookings").await;
    })
    .await;
}

/// Issues a mandate of the organization and returns its id.
async fn issue_mandate(client: &Client) -> String {
    let card = client.store_card("tok_visa").await;
    let body = json!({
        "user_id": "org",
        "payment_amount": tests::money(250.5, "EUR"),
        "payment_instrument": {"id": card, "type": "CARD"},
    });
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    issued.data()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn watch_is_canceled_and_mandate_revoked() {
    let server = Server::start(Database::Sqlite).await;
    set_up(&server).await;
    let client = server.client();
    let watch = client.watch_hotel("OK", 100.0, json!({})).await;
    let watch = watch["id"].as_str().unwrap();
    let mandate = issue_mandate(&client).await;
    with_browser("watches", &server, async |browser| {
        browser.open("/watches").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_page("Watches").await;
        browser.open(&format!("/watches/{watch}")).await;
        browser.expect_good_page(&format!("Watch {watch}")).await;
        browser.press("Cancel").await;
        browser.submit("Cancel watch").await;
        browser.expect_good_page(&format!("Watch {watch}")).await;
        let notice = "//*[@role='status'][contains(., 'canceled')]";
        assert!(browser.shows(notice).await);
        browser.open("/mandates").await;
        browser.expect_good_page("Mandates").await;
        let heading = format!("Mandate {mandate}");
        browser
            .open(&format!("/mandates/{mandate}?confirm=revoke"))
            .await;
        browser.expect_good_page(&heading).await;
        browser.open(&format!("/mandates/{mandate}")).await;
        browser.press("Revoke").await;
        browser.submit("Revoke mandate").await;
        browser.expect_good_page(&heading).await;
        let notice = "//*[@role='status'][contains(., 'revoked')]";
        assert!(browser.shows(notice).await);
    })
    .await;
}
