//! The checklist before going live is ticked by what really happened.

use tests::{
    Booking, DashboardClient, Database, HotelBookingBuilder, Server, Subscriber, eventually,
    on_both_databases,
};

on_both_databases!(
    item_is_ticked_when_it_has_happened,
    checklist_is_of_one_organization,
);

/// Waits until an item of organization `demo` is ticked. Names are those of the page.
async fn wait_for_item(client: &DashboardClient, title: &str) {
    eventually(title, async || {
        is_done(client, "/go-live?organization=demo", title)
            .await
            .then_some(())
    })
    .await;
}

/// Returns whether the checklist at a path has ticked an item.
async fn is_done(client: &DashboardClient, path: &str, title: &str) -> bool {
    let page = client.get(path).await;
    assert_eq!(
        (page.status, page.heading()),
        (200, "Go-live checklist"),
        "{}",
        page.body
    );
    let mut items = page.body.split("data-testid=\"checklist-item\"").skip(1);
    let item = items.find(|item| item.contains(title));
    item.unwrap_or_else(|| panic!("no item {title}: {}", page.body))
        .trim_start()
        .starts_with("data-state=\"done\"")
}

async fn book(server: &Server, hotel: &str) -> Booking {
    let booking = HotelBookingBuilder::at(hotel);
    tests::BookingBuilder::Hotel(booking).book(server).await.0
}

async fn item_is_ticked_when_it_has_happened(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    wait_for_item(&ada, "Create a test key").await;
    for title in [
        "Call the API",
        "Make a booking",
        "Cancel a booking",
        "Live through an unknown outcome",
        "Receive a webhook",
        "Turn on two-factor authentication",
        "Create a live key that expires",
    ] {
        let path = "/go-live?organization=demo";
        assert!(!is_done(&ada, path, title).await, "{title}");
    }
    let program = server.client();
    let subscriber = Subscriber::start(&program).await;
    wait_for_item(&ada, "Call the API").await;
    let booking = book(&server, "OK").await;
    booking.wait_for("CONFIRMED").await;
    wait_for_item(&ada, "Make a booking").await;
    booking.wait_for_payment("CAPTURED").await;
    booking.cancel().await;
    booking.wait_for("CANCELED").await;
    wait_for_item(&ada, "Cancel a booking").await;
    subscriber
        .wait_for_events("hotel.booking.canceled", 1)
        .await;
    wait_for_item(&ada, "Receive a webhook").await;
    let lost = book(&server, "BOOK_LOST_ANSWER").await;
    lost.wait_for("CONFIRMED").await;
    wait_for_item(&ada, "Live through an unknown outcome").await;
    let live_key = ["--mode", "live", "--expires", "2099-01-31"];
    server.client_with("demo", &live_key).await;
    wait_for_item(&ada, "Create a live key that expires").await;
}

async fn checklist_is_of_one_organization(database: Database) {
    let server = Server::start(database).await;
    let options = ["--organization", "acme", "--org-role", "viewer"];
    let ada = DashboardClient::with_account(&server, "ada@example.com", &options).await;
    assert!(!is_done(&ada, "/go-live", "Create a test key").await);
    assert_eq!(ada.get("/go-live?organization=demo").await.status, 404);
    server.client_with("acme", &["--mode", "test"]).await;
    assert!(is_done(&ada, "/go-live", "Create a test key").await);
}
