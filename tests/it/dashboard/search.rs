//! The search leads to the page of an id or of a reference.

use tests::{Booking, BookingBuilder, DashboardClient, Database, Server, on_both_databases};

on_both_databases!(
    id_leads_to_its_page,
    reference_leads_to_the_booking_of_the_own_organizations,
);

/// Returns the path to which a search leads, or the heading of its own page.
async fn search(client: &DashboardClient, q: &str) -> String {
    let encoded: String = q.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let reply = client.get(&format!("/search?q={encoded}")).await;
    match reply.status {
        303 => reply.header("location").to_owned(),
        200 => reply.heading().to_owned(),
        other => panic!("{q}: {other} {}", reply.body),
    }
}

async fn id_leads_to_its_page(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    for (q, expected) in [
        ("bkg_1", "/bookings/bkg_1"),
        (" bkg_1 ", "/bookings/bkg_1"),
        ("req_1", "/requests/req_1"),
        (
            "req_../../keys?a=b",
            "/requests/req_%2E%2E%2F%2E%2E%2Fkeys%3Fa%3Db",
        ),
        ("dlv_1", "/deliveries/dlv_1"),
        ("evt_1", "/events/evt_1"),
        ("whs_1", "/webhooks/whs_1"),
        ("wtc_1", "/watches/wtc_1"),
        ("mnd_1", "/mandates/mnd_1"),
        ("key_1", "/keys/key_1"),
        ("pay_1-2", "/bookings/bkg_1"),
        ("pay_1", "Search"),
        ("bkg_", "Search"),
        ("bkg_//evil.example", "Search"),
        ("\\\\evil.example", "Search"),
        ("nothing", "Search"),
        ("", "Search"),
    ] {
        assert_eq!(search(&ada, q).await, expected, "{q}");
    }
}

async fn reference_leads_to_the_booking_of_the_own_organizations(database: Database) {
    let server = Server::start(database).await;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let options = ["--organization", "other", "--org-role", "admin"];
    let stranger = DashboardClient::with_account(&server, "eve@example.com", &options).await;
    let [_, flight] = BookingBuilder::of_each_kind();
    let booking: Booking = flight.book_captured(&server).await;
    let page = format!("/bookings/{}", booking.id);
    let facts = booking.read().await;
    let payment = facts["payments"][0]["id"].as_str().unwrap();
    let reference = facts["supplier_reference"].as_str().unwrap();
    assert_eq!(search(&operator, payment).await, page);
    assert_eq!(search(&operator, reference).await, page);
    assert_eq!(search(&stranger, reference).await, "Search");
    operator.post("/mode", &[("mode", "live")]).await;
    assert_eq!(search(&operator, reference).await, "Search");
}
