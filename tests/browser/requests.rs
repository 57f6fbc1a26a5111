//! An API call from the list to its supplier's calls and to the command that repeats it.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use tests::{Database, HotelBookingBuilder, PASSWORD, Server, eventually};

#[tokio::test]
async fn request_is_found_followed_and_repeated() {
    let server = Server::start(Database::Sqlite).await;
    let ada = set_up(&server).await;
    let client = server.client();
    let hotel = HotelBookingBuilder::at("OK");
    let booking = hotel.prebooked(&client).await;
    let payment = client.card_payment("tok_visa").await;
    let named = client.header("x-request-id", "our-request");
    named.book_hotel(&booking, &payment).await.expect(200);
    client
        .get("/v1/hotel/bookings/bkg_unknown")
        .await
        .expect(404);
    eventually("the calls", async || {
        let page = ada.get("/requests?status=404").await;
        page.body.contains("not_found").then_some(())
    })
    .await;
    with_browser("requests", &server, async |browser| {
        browser.open("/requests").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        browser.expect_good_page("Requests").await;
        browser.fill("Route", "/v1/hotel/bookings/{id}/book").await;
        browser.submit("Filter").await;
        let row = "//tbody/tr[contains(., 'our-request')]//a[@data-row]";
        browser.wait_to_see(row).await;
        assert!(
            !browser.shows("//tbody//b[.='GET']").await,
            "the list is filtered"
        );
        browser.open("/requests/our-request").await;
        browser.expect_good_page("Request our-request").await;
        for expected in [
            "//table[@class='waterfall']//tr[contains(., 'hotel_booking.book')]//*[name()='rect']",
            "//button[contains(., 'Copy as curl')]",
            &format!("//a[@href='/bookings/{booking}']"),
        ] {
            browser.wait_to_see(expected).await;
        }
        browser.open("/requests?status=4xx").await;
        browser.follow("GET /v1/hotel/bookings/{id}").await;
        browser
            .wait_to_see("//a[contains(@href, '/docs/errors/')]")
            .await;
    })
    .await;
}
