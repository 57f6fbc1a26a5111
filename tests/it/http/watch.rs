//! Tests of watches: creating, reading, listing, confirming and deleting them.

use serde_json::{Value, json};
use tests::{
    Client, Database, Server, WATCHES, auto_book, days_ahead, money, on_both_databases,
    watch_request,
};

on_both_databases! {
    created_watch_shows_what_was_requested,
    repeated_create_with_one_key_makes_one_watch,
    watches_are_listed_newest_first,
    watch_of_another_user_or_organization_returns_404,
    deleted_watch_stays_readable_as_canceled,
    confirmed_watch_is_armed_with_a_mandate,
    watch_request_names_every_violation,
    trip_watch_requires_one_area_and_refuses_auto_book,
}

const TRIPS: &str = "/v1/watcher/travel/hotel/trip-watches";

async fn created_watch_shows_what_was_requested(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().user("ada");
    let hotel_id = client.hotel_id("OK").await;
    let made = client.post(WATCHES, &watch_request(&hotel_id, 150.5)).await;
    let made = made.expect(201);
    let watch = made.data();
    let expected = json!({
        "kind": "HOTEL", "status": "active", "user_id": "ada", "hotel_id": hotel_id,
        "place_id": null, "location": null, "filters": null,
        "check_in": days_ahead(30), "check_out": days_ahead(32), "currency": "EUR",
        "guest_nationality": "DE", "guest_residence": null,
        "occupancy": [{"adults": 2, "children": []}],
        "trigger": {"type": "below_total", "amount": 150.5},
        "auto_book": null, "armed": false, "mandate_draft": null, "mandate_id": null,
        "last_checked_at": null, "last_total": null, "booking_id": null,
        "expires_at": format!("{}T12:00:00.000Z", days_ahead(31)),
    });
    let mut shown = watch.as_object().unwrap().clone();
    assert_eq!(shown.remove("created_at"), shown.remove("updated_at"));
    let id = shown.remove("id").unwrap();
    assert!(id.as_str().unwrap().starts_with("wtc_"));
    assert_eq!(Value::from(shown), expected);
    let what = "the price to be checked";
    let seen = client.wait_for_watch(what, &id, |watch| !watch["last_checked_at"].is_null());
    assert_eq!(seen.await["last_total"], money(200.0, "EUR"));
}

async fn repeated_create_with_one_key_makes_one_watch(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let request = watch_request(&client.hotel_id("OK").await, 150.0);
    let keyed = client.header("x-idempotency-key", "watch-1");
    let first = keyed.post(WATCHES, &request).await.expect(201);
    let again = keyed.post(WATCHES, &request).await.expect(200);
    assert_eq!(again.data()["id"], first.data()["id"]);
    let mut other = request.clone();
    other["trigger"]["amount"] = json!(151);
    let refused = keyed.post(WATCHES, &other).await;
    refused.expect_problem(422, "idempotency_key_reused");
    // A failed request does not consume its key.
    let unknown = client.header("x-idempotency-key", "watch-2");
    other["hotel_id"] = json!("htl_unknown");
    let refused = unknown.post(WATCHES, &other).await;
    refused.expect_problem(404, "hotel_not_found");
    let _made = unknown.post(WATCHES, &request).await.expect(201);
}

async fn watches_are_listed_newest_first(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut ids = Vec::new();
    for amount in [10.0, 20.0, 30.0] {
        ids.push(client.watch_hotel("OK", amount, json!({})).await["id"].clone());
    }
    let deleted = format!("{WATCHES}/{}", ids[1].as_str().unwrap());
    client.delete(&deleted).await.expect(204);
    let listed = async |query: &str| {
        let listed = client.get(&format!("{WATCHES}{query}")).await.expect(200);
        let page = listed.data().as_array().unwrap().iter();
        let page: Vec<Value> = page.map(|watch| watch["id"].clone()).collect();
        (page, listed.body["meta"]["pagination"].clone())
    };
    let of = |expected: &[usize]| {
        expected
            .iter()
            .map(|at| ids[*at].clone())
            .collect::<Vec<_>>()
    };
    for (query, expected, pagination) in [
        (
            "",
            of(&[2, 1, 0]),
            json!({"limit": 20, "offset": 0, "has_more": false, "total": 3}),
        ),
        (
            "?limit=2",
            of(&[2, 1]),
            json!({"limit": 2, "offset": 0, "has_more": true, "total": 3}),
        ),
        (
            "?limit=1&offset=2",
            of(&[0]),
            json!({"limit": 1, "offset": 2, "has_more": false, "total": 3}),
        ),
        (
            "?status=active",
            of(&[2, 0]),
            json!({"limit": 20, "offset": 0, "has_more": false, "total": 2}),
        ),
        (
            "?status=canceled",
            of(&[1]),
            json!({"limit": 20, "offset": 0, "has_more": false, "total": 1}),
        ),
    ] {
        assert_eq!(listed(query).await, (expected, pagination), "{query}");
    }
    for query in [
        "?status=ACTIVE",
        "?limit=0",
        "?limit=101",
        "?offset=100001",
        "?order=asc",
    ] {
        let refused = client.get(&format!("{WATCHES}{query}")).await;
        refused.expect_problem(400, "validation_failed");
    }
}

async fn watch_of_another_user_or_organization_returns_404(database: Database) {
    let server = Server::start(database).await;
    let owner = server.client().user("ada");
    let watch = owner.watch_hotel("OK", 10.0, json!({})).await;
    let path = format!("{WATCHES}/{}", watch["id"].as_str().unwrap());
    let confirm = format!("{path}/confirm-purchase");
    for other in [
        server.client(),
        server.client().user("byron"),
        server.client_for("acme").await,
    ] {
        other
            .get(&path)
            .await
            .expect_problem(404, "watch_not_found");
        other
            .delete(&path)
            .await
            .expect_problem(404, "watch_not_found");
        let confirmed = other.post(&confirm, &json!({})).await;
        confirmed.expect_problem(404, "watch_not_found");
        assert_eq!(other.get(WATCHES).await.expect(200).data(), &json!([]));
    }
    assert_eq!(owner.read_watch(&watch["id"]).await["status"], "active");
    let ill_formed = owner.get(&format!("{WATCHES}/nonsense")).await;
    ill_formed.expect_problem(400, "validation_failed");
}

async fn deleted_watch_stays_readable_as_canceled(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let watch = client.watch_hotel("OK", 10.0, json!({})).await;
    let id = &watch["id"];
    let path = format!("{WATCHES}/{}", id.as_str().unwrap());
    let what = "the price to be checked";
    let seen = client.wait_for_watch(what, id, |watch| !watch["last_checked_at"].is_null());
    let seen = seen.await;
    client.delete(&path).await.expect(204);
    let canceled = client.read_watch(id).await;
    assert_eq!(canceled["status"], "canceled");
    for kept in ["last_checked_at", "last_total"] {
        assert_eq!(canceled[kept], seen[kept], "{kept}");
    }
    client
        .delete(&path)
        .await
        .expect_problem(409, "watch_state_conflict");
    let confirmed = client
        .post(&format!("{path}/confirm-purchase"), &json!({}))
        .await;
    confirmed.expect_problem(409, "watch_state_conflict");
}

async fn confirmed_watch_is_armed_with_a_mandate(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().user("ada");
    let instrument = client.store_card("tok_visa").await;
    let more = json!({"auto_book": auto_book(&instrument)});
    let watch = client.watch_hotel("OK", 150.0, more).await;
    let id = &watch["id"];
    let draft = json!({
        "user_id": "ada", "payment_amount": money(150.0, "EUR"),
        "payment_instrument": {"id": instrument, "type": "CARD"},
        "scope": {
            "kind": "HOTEL_WATCH", "watch_id": id, "hotel_id": watch["hotel_id"],
            "check_in": watch["check_in"], "check_out": watch["check_out"],
        },
        "expires_at": watch["expires_at"],
    });
    assert_eq!(watch["mandate_draft"], draft);
    assert_eq!(watch["auto_book"]["payment_instrument_id"], *instrument);
    assert_eq!(
        watch["auto_book"]["rooms"][0]["guests"][1]["first_name"],
        "Byron"
    );
    let path = format!("{WATCHES}/{}", id.as_str().unwrap());
    let confirm = format!("{path}/confirm-purchase");
    let more = client.post(&confirm, &json!({"amount": 1})).await;
    more.expect_problem(400, "validation_failed");
    let armed = client.post(&confirm, &json!({})).await.expect(200);
    assert_eq!(armed.data()["armed"], true);
    assert_eq!(armed.data()["mandate_draft"], Value::Null);
    let mandate_id = armed.data()["mandate_id"].as_str().unwrap().to_owned();
    let again = client.post(&confirm, &json!({})).await.expect(200);
    assert_eq!(again.data()["mandate_id"], *mandate_id);
    let mandate = client
        .get(&format!("/v1/mandate/{mandate_id}"))
        .await
        .expect(200);
    assert_eq!(mandate.data()["status"], "ACTIVE");
    for told in [
        "user_id",
        "payment_amount",
        "payment_instrument",
        "scope",
        "expires_at",
    ] {
        assert_eq!(mandate.data()[told], draft[told], "{told}");
    }
    client.delete(&path).await.expect(204);
    let mandate = client
        .get(&format!("/v1/mandate/{mandate_id}"))
        .await
        .expect(200);
    assert_eq!(mandate.data()["status"], "REVOKED");
    let only_told = client.watch_hotel("OK", 150.0, json!({})).await;
    let path = format!(
        "{WATCHES}/{}/confirm-purchase",
        only_told["id"].as_str().unwrap()
    );
    let confirmed = client.post(&path, &json!({})).await;
    confirmed.expect_problem(409, "watch_state_conflict");
}

/// Posts an invalid request and returns the sorted pointers of its violations.
async fn refused(client: &Client, path: &str, request: &Value) -> Vec<String> {
    let reply = client.post(path, request).await;
    let reply = reply.expect_problem(400, "validation_failed");
    let errors = reply.body["errors"].as_array().unwrap().iter();
    let mut pointers: Vec<String> = errors
        .map(|error| error["pointer"].as_str().unwrap().to_owned())
        .collect();
    pointers.sort();
    pointers
}

async fn watch_request_names_every_violation(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let hotel_id = client.hotel_id("OK").await;
    let instrument = client.store_card("tok_visa").await;
    let request = |more: Value| {
        let mut request = watch_request(&hotel_id, 150.0);
        let members = request.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        request
    };
    let booked = |more: Value| {
        let mut auto_book = auto_book(&instrument);
        let members = auto_book.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!({ "auto_book": auto_book })
    };
    let trigger = |amount: f64| json!({"trigger": {"type": "below_total", "amount": amount}});
    for (more, pointers) in [
        (trigger(0.5), vec!["/trigger/amount"]),
        (trigger(10.001), vec!["/trigger/amount"]),
        (
            json!({"trigger": {"type": "above_total", "amount": 10}}),
            vec!["/trigger/type"],
        ),
        (
            json!({"currency": "QQQ", "guest_nationality": "XX"}),
            vec!["/currency", "/guest_nationality"],
        ),
        (
            json!({"check_in": days_ahead(-3), "occupancy": []}),
            vec!["/check_in", "/occupancy"],
        ),
        (json!({"check_out": days_ahead(30)}), vec!["/check_out"]),
        (json!({"supplier": "SANDBOX_HOTELS"}), vec!["/supplier"]),
        (
            json!({"occupancy": [{"adults": 2}, {"adults": 1}], "auto_book": auto_book(&instrument)}),
            vec!["/auto_book/rooms"],
        ),
        (
            json!({"occupancy": [{"adults": 3}], "auto_book": auto_book(&instrument)}),
            vec!["/auto_book/rooms/0/guests"],
        ),
        (
            booked(json!({"rooms": [{"guests": [{"first_name": "A", "last_name": "B"}]}]})),
            vec!["/auto_book/rooms/0/guests"],
        ),
    ] {
        assert_eq!(
            refused(&client, WATCHES, &request(more.clone())).await,
            pointers,
            "{more}"
        );
    }
    let another = server.client().user("byron").store_card("tok_visa").await;
    let charged = request(json!({"auto_book": auto_book(&another)}));
    let reply = client.post(WATCHES, &charged).await;
    reply.expect_problem(422, "payment_instrument_invalid");
}

async fn trip_watch_requires_one_area_and_refuses_auto_book(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let instrument = client.store_card("tok_visa").await;
    let mut trip = watch_request("", 150.0);
    trip.as_object_mut().unwrap().remove("hotel_id");
    assert_eq!(refused(&client, TRIPS, &trip).await, ["/place_id"]);
    trip["auto_book"] = auto_book(&instrument);
    trip["place_id"] = json!("plc_unknown");
    assert_eq!(refused(&client, TRIPS, &trip).await, ["/auto_book"]);
    trip.as_object_mut().unwrap().remove("auto_book");
    client
        .post(TRIPS, &trip)
        .await
        .expect_problem(404, "place_not_found");
    trip["location"] = json!({"latitude": 1, "longitude": 1, "radius": 1});
    assert_eq!(refused(&client, TRIPS, &trip).await, ["/location"]);
}
