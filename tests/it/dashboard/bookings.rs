//! Bookings as people look for them, follow them, and read their personal data.

use serde_json::{Value, json};
use tests::{
    BookingBuilder, Client, DashboardClient, Database, FlightBookingBuilder, HotelBookingBuilder,
    PageReply, Server, ServerOptions, Subscriber, eventually, on_both_databases,
};

on_both_databases!(
    booking_is_followed_from_request_to_delivery,
    personal_data_are_masked_until_a_person_reveals_them,
    booking_is_found_by_its_references_and_filters,
    timeline_offers_to_settle_what_the_list_of_outcomes_has,
    flight_shows_its_journeys_and_masks_its_passengers,
);

/// Personal data of a booking. The name is harmful if a page interprets it.
const FIRST_NAME: &str = "Zephyrine<img src=x onerror=x1()>";
const LAST_NAME: &str = "Quixote";
const EMAIL: &str = "zephyrine@private.example";
const PHONE: &str = "+4915799887766";

/// The personal data as a page may show them.
const SECRETS: [&str; 4] = ["Zephyrine", LAST_NAME, EMAIL, PHONE];

/// Prebooks a hotel for a person with [`SECRETS`], with more members of the request. Returns the
/// booking's id.
async fn prebook(client: &Client, more: &[(&str, &str)]) -> String {
    let builder = HotelBookingBuilder::at("OK");
    let mut request = builder.request(&builder.offer(client).await);
    for (member, text) in more {
        request[*member] = json!(text);
    }
    let contact =
        json!({"first_name": FIRST_NAME, "last_name": LAST_NAME, "email": EMAIL, "phone": PHONE});
    request["contact"] = contact;
    for guest in request["rooms"][0]["guests"].as_array_mut().unwrap() {
        guest["first_name"] = json!(FIRST_NAME);
        guest["last_name"] = json!(LAST_NAME);
    }
    let key = uuid::Uuid::now_v7().to_string();
    let reply = client.prebook_hotel(&key, &request).await.expect(201);
    reply.data()["id"].as_str().unwrap().to_owned()
}

async fn account(server: &Server, name: &str, options: &[&str]) -> DashboardClient {
    let email = format!("{name}@example.com");
    DashboardClient::with_account(server, &email, options).await
}

fn member(role: &str) -> [&str; 4] {
    ["--organization", "demo", "--org-role", role]
}

/// Returns the timeline of a page.
fn timeline(page: &PageReply) -> &str {
    let (_, rest) = page.body.split_once("data-testid=\"timeline\"").unwrap();
    rest.split("</ol>").next().unwrap()
}

async fn booking_is_followed_from_request_to_delivery(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let viewer = account(&server, "viewer", &member("viewer")).await;
    let id = prebook(&client, &[]).await;
    let payment = client.card_payment("tok_visa").await;
    let booked = client.book_hotel(&id, &payment).await.expect(200);
    assert_eq!(booked.data()["status"], "CONFIRMED");
    subscriber
        .wait_for_events("hotel.booking.confirmed", 1)
        .await;
    let list = viewer.get("/bookings").await;
    assert_eq!((list.status, list.heading()), (200, "Bookings"));
    assert!(list.body.contains(&format!("href=\"/bookings/{id}\"")));
    let path = format!("/bookings/{id}");
    // The log of requests and the result of a delivery are written a moment later.
    let page = eventually("the whole timeline", async || {
        let page = viewer.get(&path).await;
        let shown = timeline(&page);
        let is_whole = [
            "POST /v1/hotel/prebook",
            "POST /v1/hotel/bookings/{id}/book",
            "Prebook confirmed",
            "Book started",
            "Authorize at ",
            "Book at SANDBOX_HOTELS: succeeded",
            "Book confirmed",
            "Capture at ",
            "hotel.booking.confirmed delivered",
            "href=\"/requests/",
            "href=\"/deliveries/dlv_",
        ];
        let is_whole = is_whole.iter().all(|text| shown.contains(text));
        is_whole.then_some(page)
    })
    .await;
    assert_eq!(page.heading(), format!("Booking {id}"));
    let times: Vec<&str> = timeline(&page)
        .split("<time datetime=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    for text in [
        "Confirmed",
        "SANDBOX_HOTELS",
        "Visa ending 4242",
        "2 nights",
        "2 adults",
        "Cancellation",
    ] {
        assert!(page.body.contains(text), "{text}");
    }
    assert!(!page.body.contains("/unresolved?booking="));
}

async fn personal_data_are_masked_until_a_person_reveals_them(database: Database) {
    let server = Server::start(database).await;
    let id = prebook(&server.client(), &[]).await;
    let path = format!("/bookings/{id}");
    let reveal = format!("{path}/reveal");
    let is_secret = |body: &str| SECRETS.iter().any(|secret| body.contains(secret));
    for (name, options, read, revealed) in [
        ("viewer", &member("viewer")[..], 200, 403),
        ("developer", &member("developer"), 200, 403),
        ("admin", &member("admin"), 200, 200),
        ("operator", &["--role", "operator"], 200, 200),
        (
            "stranger",
            &["--organization", "other", "--org-role", "admin"],
            404,
            404,
        ),
    ] {
        let person = account(&server, name, options).await;
        let page = person.get(&path).await;
        assert_eq!(page.status, read, "{name}");
        assert!(!is_secret(&page.body), "{name}: {}", page.body);
        let offers = page.body.contains(&format!("action=\"{reveal}\""));
        assert_eq!(offers, revealed == 200, "{name}");
        let list = person.get("/bookings").await;
        assert!(!is_secret(&list.body), "{name}: {}", list.body);
        assert_eq!(list.body.contains(&id), read == 200, "{name}");
        let reply = person.post(&reveal, &[]).await;
        assert_eq!(reply.status, revealed, "{name}: {}", reply.body);
        for secret in SECRETS {
            assert_eq!(reply.body.contains(secret), revealed == 200, "{secret}");
        }
        // The response has its own entry.
        let is_named = reply.body.contains("Personal data revealed");
        assert_eq!(is_named, revealed == 200, "{name}: {}", reply.body);
        assert!(!reply.body.contains("<img src=x"), "{}", reply.body);
        assert_eq!(reply.header("cache-control"), "no-store");
        assert!(!is_secret(&person.get(&path).await.body), "{name}: once");
    }
    let log = server.command("audit", &["list", "--json"]).await;
    let entries = log.lines().map(serde_json::from_str);
    let entries: Vec<Value> = entries.map(Result::unwrap).collect();
    let revealed = entries
        .iter()
        .filter(|entry| entry["action"] == "booking.revealed");
    let mut actors: Vec<&str> = revealed
        .map(|entry| {
            assert_eq!(entry["target"], json!({"type": "booking", "id": id}));
            assert_eq!(entry["organization"], "demo");
            entry["actor"]["name"].as_str().unwrap()
        })
        .collect();
    actors.sort_unstable();
    assert_eq!(actors, ["admin@example.com", "operator@example.com"]);
    assert!(!is_secret(&log), "{log}");
    let operator = account(&server, "second", &["--role", "operator"]).await;
    eventually("the person in the timeline", async || {
        let page = operator.get(&path).await;
        let shown = timeline(&page);
        let is_named =
            shown.contains("Personal data revealed") && shown.contains("admin@example.com");
        is_named.then_some(())
    })
    .await;
    operator.post("/mode", &[("mode", "live")]).await;
    let other = operator.get(&path).await;
    assert_eq!(other.status, 404);
    assert!(other.body.contains("Switch to test mode"));
}

async fn booking_is_found_by_its_references_and_filters(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let hotel = prebook(&client.user("ann"), &[("reference_id", "order-77")]).await;
    let flight = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let operator = account(&server, "operator", &["--role", "operator"]).await;
    let (both, none) = ([true, true], [false, false]);
    let (only_hotel, only_flight) = ([true, false], [false, true]);
    for (query, expected) in [
        ("", both),
        ("?q=order-77", only_hotel),
        (&format!("?q={flight}"), only_flight),
        ("?q=order", none),
        ("?q=%00%27%22", none),
        ("?q=%00", both),
        ("?kind=hotel", only_hotel),
        ("?kind=flight", only_flight),
        ("?kind=nonsense", none),
        ("?status=nonsense", none),
        ("?status=READY_FOR_COMPLETE", both),
        ("?status=CONFIRMED", none),
        ("?supplier=SANDBOX_HOTELS", only_hotel),
        ("?supplier=sandbox_hotels", only_hotel),
        ("?supplier=NO_SUCH", none),
        ("?supplier=no+name", none),
        ("?user=ann", only_hotel),
        ("?user=bob", none),
        ("?from=2020-01-01", both),
        ("?to=2020-01-01", none),
        ("?from=tomorrow", none),
        ("?organization=demo&user=ann&kind=hotel", only_hotel),
        ("?organization=acme", none),
        ("?after=1.bkg_1", none),
        ("?after=nonsense", both),
    ] {
        let page = operator.get(&format!("/bookings{query}")).await;
        assert_eq!(page.status, 200, "{query}: {}", page.body);
        let is_listed = |id: &str| page.body.contains(&format!("href=\"/bookings/{id}\""));
        let found = [is_listed(&hotel), is_listed(&flight)];
        assert_eq!(found, expected, "{query}");
        let is_wrong = ["nonsense", "tomorrow", "no+name"];
        let is_wrong = is_wrong.iter().any(|text| query.ends_with(*text));
        let is_wrong = is_wrong && !query.starts_with("?after");
        assert_eq!(page.body.contains("-problem\""), is_wrong, "{query}");
        let has_chip = page.body.contains("Filtered by");
        let is_filtered = !["", "?q=%00", "?after=1.bkg_1", "?after=nonsense"].contains(&query);
        assert_eq!(has_chip, is_filtered, "{query}");
    }
    for path in ["/bookings/bkg_1", "/bookings/nonsense"] {
        assert_eq!(operator.get(path).await.status, 404, "{path}");
    }
}

async fn timeline_offers_to_settle_what_the_list_of_outcomes_has(database: Database) {
    let options = ServerOptions::on(database).without_reconciliation();
    let server = Server::start_with(options).await;
    let operator = account(&server, "operator", &["--role", "operator"]).await;
    let never_known = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let (booking, reply) = never_known.book(&server).await;
    reply.expect_problem(500, "result_unknown");
    let list = format!("/unresolved?booking={}", booking.id);
    let path = format!("/bookings/{}", booking.id);
    let edit = async |change: &str| {
        let change = format!("UPDATE remote_call_attempt SET {change} WHERE step = 'book'");
        server.try_edit(&change).await.unwrap();
    };
    let button = "Settle the unknown outcome";
    for (change, is_open, shown) in [
        (
            "outcome = outcome",
            true,
            "Book at SANDBOX_HOTELS: outcome unknown",
        ),
        // A call under way, and one whose response was lost long ago.
        (
            "outcome = 'sent', finished_at = NULL",
            false,
            "Book at SANDBOX_HOTELS: sent, no answer yet",
        ),
        (
            "last_sent_at = last_sent_at - 300001",
            true,
            "Book at SANDBOX_HOTELS: sent, no answer yet",
        ),
        (
            "outcome = 'unknown', step = 'prebook', attempt_number = 9",
            false,
            "Prebook at SANDBOX_HOTELS: outcome unknown",
        ),
    ] {
        edit(change).await;
        let page = operator.get(&path).await;
        assert!(timeline(&page).contains(shown), "{change}: {}", page.body);
        let link = format!("href=\"{list}\"");
        assert_eq!(timeline(&page).contains(&link), is_open, "{change}");
        assert_eq!(page.body.contains(button), is_open, "{change}");
        let page = operator.get(&list).await.body;
        let is_listed = !page.contains("No open outcome matches");
        assert_eq!(is_listed, is_open, "{change}: {page}");
    }
}

async fn flight_shows_its_journeys_and_masks_its_passengers(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let booking = client.get(&format!("/v1/flight/bookings/{id}")).await;
    let passenger = booking.expect(200).data()["passengers"][0].clone();
    let admin = account(&server, "admin", &member("admin")).await;
    let page = admin.get(&format!("/bookings/{id}")).await;
    for text in ["LHR → JFK", "Flights", "Refund", "Change"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let revealed = admin.post(&format!("/bookings/{id}/reveal"), &[]).await;
    let last_name = passenger["last_name"].as_str().unwrap();
    assert!(!page.body.contains(last_name));
    assert!(revealed.body.contains(last_name));
}
