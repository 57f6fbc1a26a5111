//! The request log: what is recorded, who sees it, and what it never contains.

use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tests::{
    Client, DashboardClient, Database, FlightBookingBuilder, HotelBookingBuilder, PageReply,
    Server, ServerOptions, binary, days_ahead, eventually, offers_request, on_both_databases,
    passenger, prebook_flight_request, prebook_request,
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

on_both_databases!(
    call_is_listed_within_seconds_with_its_suppliers_calls,
    lists_state_what_they_are_filtered_by,
    calls_belong_to_the_organization_of_their_key,
    calls_with_a_refused_header_belong_to_the_organization_of_their_key,
    recorded_rows_have_no_secret_and_no_personal_data,
    overview_shows_what_was_called,
    nothing_is_recorded_if_the_log_is_off,
    call_whose_client_hangs_up_is_recorded,
    last_calls_before_a_shutdown_are_recorded,
    calls_are_printed_as_they_come,
    admin_listener_lists_calls,
);

/// Time within which a call must be listed.
const LISTED_TIME_MAX: Duration = Duration::from_secs(5);

async fn viewer(server: &Server, organization: &str) -> DashboardClient {
    let email = format!("viewer@{organization}.example");
    let options = ["--organization", organization, "--org-role", "viewer"];
    DashboardClient::with_account(server, &email, &options).await
}

/// Waits until a page has a text and returns the page.
async fn page_with(client: &DashboardClient, path: &str, text: &str) -> PageReply {
    eventually(text, async || {
        let page = client.get(path).await;
        page.body.contains(text).then_some(page)
    })
    .await
}

async fn call_is_listed_within_seconds_with_its_suppliers_calls(database: Database) {
    let server = Server::start(database).await;
    let (client, ada) = (server.client(), viewer(&server, "demo").await);
    let booking = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let payment = client.card_payment("tok_visa").await;
    let named = client.header("x-request-id", "my.request_1");
    let begin = Instant::now();
    named.book_hotel(&booking, &payment).await.expect(200);
    let list = page_with(&ada, "/requests?method=POST", "my.request_1").await;
    assert!(begin.elapsed() < LISTED_TIME_MAX);
    assert!(list.body.contains("/v1/hotel/bookings/{id}/book"));
    let of_supplier = "/requests?method=POST&supplier=SANDBOX_PAYMENTS";
    page_with(&ada, of_supplier, "my.request_1").await;
    let of_other = ada.get("/requests?supplier=SUPPLIER_A").await;
    assert!(!of_other.body.contains("my.request_1"), "{}", of_other.body);

    let path = "/requests/my.request_1";
    let page = page_with(&ada, path, "hotel_booking.book").await;
    assert_eq!(page.heading(), "Request my.request_1");
    for expected in [
        "SANDBOX_HOTELS hotel_booking.book",
        "SANDBOX_PAYMENTS payment_processor.authorize",
        "POST http://127.0.0.1",
        &format!("href=\"/bookings/{booking}\""),
        "Copy as curl",
        "$STOPOVER_API_KEY",
        "x-idempotency-key: $(uuidgen)",
        "CONFIRMED",
    ] {
        assert!(page.body.contains(expected), "{expected}: {}", page.body);
    }
    // A second call with the same id has a page of its own, which links to the first.
    let missing = named
        .get("/v1/hotel/bookings/bkg_unknown")
        .await
        .expect(404);
    let documentation = format!("/docs/errors/{}", missing.body["code"].as_str().unwrap());
    let page = page_with(&ada, path, "Other calls with this id").await;
    for expected in [
        "404",
        documentation.as_str(),
        "/requests/my%2Erequest_1?call=rql_",
    ] {
        assert!(page.body.contains(expected), "{expected}: {}", page.body);
    }
    assert!(!page.body.contains("hotel_booking.book"));
    let list = ada.get("/requests").await.body;
    let link = "<a href=\"/requests/my%2Erequest_1\">";
    assert!(list.contains(link), "{list}");
}

async fn lists_state_what_they_are_filtered_by(database: Database) {
    let server = Server::start(database).await;
    let options = ["--role", "operator"];
    let operator = DashboardClient::with_account(&server, "op@example.com", &options).await;
    let end_of_day = "To: <b>2026-11-26T23:59:59</b>";
    for (path, expected) in [
        ("/requests?status=500", "Status: <b>500</b>"),
        (
            "/requests?supplier=SUPPLIER_A",
            "Supplier: <b>SUPPLIER_A</b>",
        ),
        ("/unresolved?organization=demo", "Organization: <b>demo</b>"),
        ("/unresolved?booking=bkg_1", "Booking: <b>bkg_1</b>"),
        ("/requests?to=2026-11-26", end_of_day),
        ("/bookings?to=2026-11-26", end_of_day),
        ("/deliveries?to=2026-11-26", end_of_day),
        ("/audit?to=2026-11-26", end_of_day),
    ] {
        let list = operator.get(path).await;
        assert!(list.body.contains(expected), "{path}: {}", list.body);
    }
}

async fn calls_belong_to_the_organization_of_their_key(database: Database) {
    let server = Server::start(database).await;
    let (ada, eve) = (
        viewer(&server, "demo").await,
        viewer(&server, "other").await,
    );
    let options = ["--role", "operator"];
    let operator = DashboardClient::with_account(&server, "op@example.com", &options).await;
    let client = server.client();
    client
        .header("x-request-id", "of-demo")
        .get("/v1/suppliers")
        .await
        .expect(200);
    let unknown_path = client.header("x-request-id", "unknown-path");
    unknown_path.get("/v1/ada-lovelace").await.expect(404);
    let unknown_key = Client::new(&server.api, "sk_test_unknown");
    let unknown_key = unknown_key.header("x-request-id", "unknown-key");
    unknown_key.get("/v1/suppliers").await.expect(401);
    page_with(&operator, "/requests", "unknown-key").await;
    for (id, statuses) in [
        ("of-demo", [200, 404, 200]),
        ("unknown-path", [404, 404, 200]),
        ("unknown-key", [404, 404, 200]),
    ] {
        for (person, status) in [&ada, &eve, &operator].into_iter().zip(statuses) {
            let reply = person.get(&format!("/requests/{id}")).await;
            assert_eq!(reply.status, status, "{id}");
            let is_listed = person.get("/requests").await.body.contains(id);
            assert_eq!(is_listed, status == 200, "{id}");
        }
    }
    assert_eq!(eve.get("/requests?organization=demo").await.status, 404);
    // The other mode has none of them and offers the switch.
    ada.post("/mode", &[("mode", "live"), ("next", "/")]).await;
    assert!(!ada.get("/requests").await.body.contains("of-demo"));
    assert_eq!(ada.get("/requests/of-demo").await.status, 404);
}

async fn calls_with_a_refused_header_belong_to_the_organization_of_their_key(database: Database) {
    let server = Server::start(database).await;
    let (ada, eve) = (
        viewer(&server, "demo").await,
        viewer(&server, "other").await,
    );
    let client = server.client();
    for (id, header, value, status, code) in [
        ("wrong-user", "x-user-id", "a b", 400, "validation_failed"),
        (
            "wrong-organization",
            "x-organization-id",
            "acme",
            403,
            "organization_mismatch",
        ),
    ] {
        let call = client.header("x-request-id", id).header(header, value);
        let refused = call.get("/v1/suppliers").await;
        refused.expect_problem(status, code);
        let page = page_with(&ada, "/requests", id).await;
        assert!(page.body.contains("/v1/suppliers"), "{}", page.body);
        let page = ada.get(&format!("/requests/{id}")).await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.body.contains("href=\"/keys/key_"), "{}", page.body);
        let stranger = eve.get(&format!("/requests/{id}")).await;
        assert_eq!(stranger.status, 404, "{}", stranger.body);
    }
}

/// A part of each text that must not be recorded.
const MARKER: &str = "marker";

/// Replaces the texts about people in a request.
fn mark(request: &mut Value) {
    match request {
        Value::Array(items) => items.iter_mut().for_each(mark),
        Value::Object(members) => {
            for (name, value) in members {
                match name.as_str() {
                    "first_name" | "last_name" => *value = json!("Marker"),
                    "number" => *value = json!("marker-1"),
                    "email" => *value = json!("marker@marker.example"),
                    "phone" => *value = json!("+442079464711"),
                    _ => mark(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Sends requests that are refused. They have texts about people where none are expected.
async fn send_refused_requests(client: &Client, offer: &str) {
    // A code may be a name: what the people of a request are called is hidden everywhere.
    let mut request = prebook_request(offer, 1);
    mark(&mut request);
    request["status"] = json!("marker");
    let refused = client.prebook_hotel("marker-key-3", &request).await;
    refused.expect_problem(400, "validation_failed");
    // Calls that are refused may have anything anywhere.
    let mut invalid = offers_request("OK");
    invalid["guest_nationality"] = json!("Ada Marker");
    invalid["check_in"] = json!(days_ahead(-1));
    invalid["Ada Marker"] = json!({"marker@marker.example": "Marker"});
    client.post("/v1/hotel/offers", &invalid).await.expect(400);
    client
        .post_bytes("/v1/hotel/offers", b"Marker".to_vec())
        .await
        .expect(400);
    client
        .get("/v1/hotel/places?query=Marker&limit=marker")
        .await;
    client.get("/v1/hotel/bookings/marker").await;
    client.get("/v1/hotel/bookings?Marker=marker").await;
    client.get("/v1/Marker").await;
}

async fn recorded_rows_have_no_secret_and_no_personal_data(database: Database) {
    let server = Server::start(database).await;
    let (client, ada) = (server.client(), viewer(&server, "demo").await);
    let hotel = HotelBookingBuilder::at("OK");
    let offer = hotel.offer(&client).await;
    let mut request = prebook_request(&offer, 1);
    mark(&mut request);
    let prebooked = client
        .prebook_hotel("marker-key-1", &request)
        .await
        .expect(201);
    let booking = prebooked.data()["id"].as_str().unwrap().to_owned();
    let payment = client.card_payment("tok_visa").await;
    client.book_hotel(&booking, &payment).await.expect(200);
    client.cancel_hotel(&booking, &json!({})).await;
    let fare = FlightBookingBuilder::on("LHR-JFK").offer(&client).await;
    let mut request = prebook_flight_request(&fare, &[passenger(json!({}))]);
    mark(&mut request);
    client
        .prebook_flight("marker-key-2", &request)
        .await
        .expect(201);
    send_refused_requests(&client, &offer).await;
    let subscription = json!({
        "url": "https://shop.example/hooks", "event_types": ["*"],
    });
    let subscription = client.post("/v1/hotel/webhook-subscriptions", &subscription);
    let subscription = subscription.await.expect(201);
    let secret = subscription.data()["signing_secret"].as_str().unwrap();
    let last = client.header("x-request-id", "the-last-one");
    last.get("/v1/suppliers").await.expect(200);
    page_with(&ada, "/requests", "the-last-one").await;

    let rows = server.dump_tables(&RECORDED_TABLES).await;
    assert!(
        rows.contains(&booking) && rows.contains("hotel_booking"),
        "{rows}"
    );
    let rows = rows.to_lowercase();
    let secrets = [
        MARKER,
        "2079464711",
        "1990-12-10",
        "tok_visa",
        &server.key,
        &offer,
        &fare,
        secret,
    ];
    for text in secrets.map(str::to_lowercase) {
        let found = rows.lines().find(|row| row.contains(&text));
        assert_eq!(found, None, "{text}");
    }
}

/// The tables that a recording writes.
const RECORDED_TABLES: [&str; 8] = [
    "request_log",
    "request_log_body",
    "call_log",
    "statistics",
    "booked_amount",
    "remarkable_call",
    "audit_pending",
    "audit_log",
];

async fn overview_shows_what_was_called(database: Database) {
    let server = Server::start(database).await;
    let (client, ada) = (server.client(), viewer(&server, "demo").await);
    HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    // The page keeps its statistics for some seconds, so they may be older than the amount.
    let overview = eventually("the booked amount and the statistics", async || {
        let page = ada.get("/").await;
        let texts = ["1 booking<", "/v1/hotel/prebook"];
        let is_complete = texts.iter().all(|text| page.body.contains(text));
        is_complete.then_some(page)
    })
    .await;
    for expected in [
        "Requests a second",
        "Error rate",
        "POST /v1/hotel/prebook",
        "hotel_booking.book",
        "Spend by currency",
        "?window=week",
    ] {
        assert!(
            overview.body.contains(expected),
            "{expected}: {}",
            overview.body
        );
    }
    let eve = viewer(&server, "other").await;
    let overview = eve.get("/?window=day").await;
    assert!(!overview.body.contains("/v1/hotel/prebook"));
}

async fn nothing_is_recorded_if_the_log_is_off(database: Database) {
    let options = ServerOptions::on(database).config("[requests]\ndays = 0");
    let server = Server::start_with(options).await;
    let ada = viewer(&server, "demo").await;
    HotelBookingBuilder::at("OK")
        .book_confirmed(&server.client())
        .await;
    assert!(ada.get("/requests").await.body.contains("No requests yet"));
    assert_eq!(server.dump_tables(&RECORDED_TABLES[..6]).await, "");
}

async fn call_whose_client_hangs_up_is_recorded(database: Database) {
    let server = Server::start(database).await;
    let (client, ada) = (server.client(), viewer(&server, "demo").await);
    let slow = HotelBookingBuilder::at("SLOW_1000");
    let booking = slow.prebooked(&client).await;
    let payment = slow.payment(&client).await;
    let impatient = client.header("x-request-id", "impatient");
    let path = format!("/v1/hotel/bookings/{booking}");
    let caller = tokio::spawn({
        let booking = booking.clone();
        async move { impatient.book_hotel(&booking, &payment).await }
    });
    eventually("the booking to begin", async || {
        let status = client.get(&path).await.expect(200).data()["status"].clone();
        (status != "READY_FOR_COMPLETE").then_some(())
    })
    .await;
    caller.abort();
    page_with(&ada, "/requests?status=499", "impatient").await;
    let page = ada.get("/requests/impatient").await;
    assert!(page.body.contains(&format!("href=\"/bookings/{booking}\"")));
}

async fn last_calls_before_a_shutdown_are_recorded(database: Database) {
    let mut server = Server::start(database).await;
    let client = server.client();
    HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let last = client.header("x-request-id", "the-last-one");
    last.get("/v1/suppliers").await.expect(200);
    assert!(server.terminate().await.success());
    let rows = server.dump_tables(&RECORDED_TABLES).await;
    for expected in ["the-last-one", "EUR", "slow"] {
        assert!(rows.contains(expected), "{expected}: {rows}");
    }
}

fn tail(server: &Server, key: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    let tail = ["logs", "tail", "--json", "--url", &server.api];
    command.args(tail).args(arguments);
    command
        .env("STOPOVER_API_KEY", key)
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    command
}

async fn calls_are_printed_as_they_come(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut following = tail(&server, &server.key, &["--follow", "--status", "4xx"]);
    let mut following = following.spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    for id in ["first", "second"] {
        client.get("/v1/suppliers").await.expect(200);
        let named = client.header("x-request-id", id);
        named
            .get("/v1/hotel/bookings/bkg_unknown")
            .await
            .expect(404);
        let line = lines.next_line().await.unwrap().unwrap();
        let call: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&call["request_id"], &call["status"]),
            (&json!(id), &json!(404))
        );
    }
    // Another organization's key shows its own calls.
    let options = ["create", "--organization", "acme", "--mode", "test"];
    let foreign = server.command("keys", &options).await;
    let output = tail(&server, foreign.trim(), &[]).output().await.unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
}

async fn admin_listener_lists_calls(database: Database) {
    let server = Server::start(database).await;
    let named = server.client().header("x-request-id", "for-admins");
    named
        .get("/v1/hotel/bookings/bkg_unknown")
        .await
        .expect(404);
    let admin = Client::new(&server.admin, "");
    let path = "/requests?organization=demo&status=404&limit=1";
    let call = eventually("the call", async || {
        let listed = admin.get(path).await.expect(200);
        listed.body["data"].get(0).cloned()
    })
    .await;
    assert_eq!(call["request_id"], "for-admins");
    assert_eq!(call["route"], "/v1/hotel/bookings/{id}");
    admin.get("/requests?status=unknown").await.expect(400);
}
