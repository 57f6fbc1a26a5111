//! Tests of watches: creating, reading, listing, confirming and deleting them.

use super::resource_assertions::{check_refused_get, ids, violations};
use serde_json::{Value, json};
use tests::{
    Client, Database, Server, TRIP_WATCHES, WATCHES, auto_book, days_ahead, merged, money,
    on_both_databases, trip_watch_request, watch_request,
};

on_both_databases! {
    created_watch_shows_what_was_requested,
    watches_are_listed_newest_first,
    watch_of_another_user_or_organization_returns_404,
    deleted_watch_stays_readable_as_canceled,
    confirmed_watch_is_armed_with_a_mandate,
    watch_request_names_every_violation,
    trip_watch_requires_one_area_and_refuses_auto_book,
}

/// Waits until the price of a watched hotel was checked and returns the watch.
async fn checked(client: &Client, id: &Value) -> Value {
    let is_checked = |watch: &Value| !watch["last_checked_at"].is_null();
    let what = "the price to be checked";
    client.wait_for_watch(what, id, is_checked).await
}

async fn created_watch_shows_what_was_requested(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().user("ada");
    let hotel_id = client.hotel_id("OK").await;
    let watch = client.watch_hotel("OK", 150.5, json!({})).await;
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
    let checked = checked(&client, &id).await;
    assert_eq!(checked["last_total"], money(200.0, "EUR"));
}

async fn watches_are_listed_newest_first(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut made = Vec::new();
    for amount in [10.0, 20.0, 30.0] {
        made.push(client.watch_hotel("OK", amount, json!({})).await["id"].clone());
    }
    client.delete_watch(&made[1]).await.expect(204);
    for (query, expected, limit, offset, has_more, total) in [
        ("", &[2, 1, 0][..], 20, 0, false, 3),
        ("?limit=2", &[2, 1], 2, 0, true, 3),
        ("?limit=1&offset=2", &[0], 1, 2, false, 3),
        ("?status=active", &[2, 0], 20, 0, false, 2),
        ("?status=canceled", &[1], 20, 0, false, 1),
    ] {
        let listed = client.get(&format!("{WATCHES}{query}")).await.expect(200);
        let expected: Vec<&Value> = expected.iter().map(|at: &usize| &made[*at]).collect();
        assert_eq!(ids(listed.data()), expected, "{query}");
        let pagination =
            json!({"limit": limit, "offset": offset, "has_more": has_more, "total": total});
        assert_eq!(listed.body["meta"]["pagination"], pagination, "{query}");
    }
    for (query, violation) in [
        ("status=ACTIVE", "/status not_allowed"),
        ("limit=0", "/limit too_small"),
        ("limit=101", "/limit too_large"),
        ("offset=100001", "/offset too_large"),
        ("order=asc", "/order unknown_field"),
    ] {
        let refused = client.get(&format!("{WATCHES}?{query}")).await;
        assert_eq!(violations(refused), violation);
    }
}

async fn watch_of_another_user_or_organization_returns_404(database: Database) {
    let server = Server::start(database).await;
    let owner = server.client().user("ada");
    let watch = owner.watch_hotel("OK", 10.0, json!({})).await;
    let id = &watch["id"];
    let path = format!("{WATCHES}/{}", id.as_str().unwrap());
    for other in [
        server.client(),
        server.client().user("byron"),
        server.client_for("acme").await,
    ] {
        check_refused_get(&other, &path, 404, "watch_not_found").await;
        let deleted = other.delete_watch(id).await;
        deleted.expect_problem(404, "watch_not_found");
        let confirmed = other.post_purchase_confirmation(id).await;
        confirmed.expect_problem(404, "watch_not_found");
        assert_eq!(other.get(WATCHES).await.expect(200).data(), &json!([]));
    }
    assert_eq!(owner.read_watch(id).await["status"], "active");
    let nonsense = format!("{WATCHES}/nonsense");
    check_refused_get(&owner, &nonsense, 400, "validation_failed").await;
}

async fn deleted_watch_stays_readable_as_canceled(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let watch = client.watch_hotel("OK", 10.0, json!({})).await;
    let id = &watch["id"];
    let checked = checked(&client, id).await;
    client.delete_watch(id).await.expect(204);
    let canceled = client.read_watch(id).await;
    assert_eq!(canceled["status"], "canceled");
    for kept in ["last_checked_at", "last_total"] {
        assert_eq!(canceled[kept], checked[kept], "{kept}");
    }
    let deleted = client.delete_watch(id).await;
    deleted.expect_problem(409, "watch_state_conflict");
    let confirmed = client.post_purchase_confirmation(id).await;
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
    let guests = &watch["auto_book"]["rooms"][0]["guests"];
    assert_eq!(guests[1]["first_name"], "Byron");
    let confirm = format!("{WATCHES}/{}/confirm-purchase", id.as_str().unwrap());
    let refused = client.post(&confirm, &json!({"amount": 1})).await;
    assert_eq!(violations(refused), "/amount unknown_field");
    let armed = client.confirm_purchase(id).await;
    let again = client.confirm_purchase(id).await;
    assert_eq!(again["mandate_id"], armed["mandate_id"]);
    let mandate = client.mandate_of(&armed).await;
    assert_eq!(mandate["status"], "ACTIVE");
    for (member, value) in draft.as_object().unwrap() {
        assert_eq!(mandate[member], *value, "{member}");
    }
    client.delete_watch(id).await.expect(204);
    assert_eq!(client.mandate_of(&armed).await["status"], "REVOKED");
    let without_purchase = client.watch_hotel("OK", 150.0, json!({})).await;
    let id = &without_purchase["id"];
    let confirmed = client.post_purchase_confirmation(id).await;
    confirmed.expect_problem(409, "watch_state_conflict");
}

async fn watch_request_names_every_violation(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let hotel_id = client.hotel_id("OK").await;
    let auto_book = auto_book(&client.store_card("tok_visa").await);
    let rooms = json!([{"guests": [{"first_name": "A", "last_name": "B"}]}]);
    let trigger = |side: &str, amount: f64| {
        let kind = format!("{side}_total");
        json!({"trigger": {"type": kind, "amount": amount}})
    };
    for (more, violation) in [
        (trigger("below", 0.5), "/trigger/amount too_small"),
        (trigger("below", 10.001), "/trigger/amount not_allowed"),
        (trigger("above", 10.0), "/trigger/type not_allowed"),
        (
            json!({"currency": "QQQ", "guest_nationality": "XX"}),
            "/currency not_allowed, /guest_nationality not_allowed",
        ),
        (
            json!({"check_in": days_ahead(-3), "occupancy": []}),
            "/check_in in_the_past, /occupancy too_few",
        ),
        (
            json!({"check_out": days_ahead(30)}),
            "/check_out not_after_check_in",
        ),
        (
            json!({"supplier": "SANDBOX_HOTELS"}),
            "/supplier unknown_field",
        ),
        (
            json!({"occupancy": [{"adults": 2}, {"adults": 1}], "auto_book": auto_book}),
            "/auto_book/rooms other_than_offered",
        ),
        (
            json!({"occupancy": [{"adults": 3}], "auto_book": auto_book}),
            "/auto_book/rooms/0/guests other_than_offered",
        ),
        (
            json!({"auto_book": merged(auto_book.clone(), json!({"rooms": rooms}))}),
            "/auto_book/rooms/0/guests one_adult_lead_required, /auto_book/rooms/0/guests other_than_offered",
        ),
        (
            json!({"occupancy": [{"adults": 3}], "auto_book": auto_book, "currency": "QQQ"}),
            "/auto_book/rooms/0/guests other_than_offered, /currency not_allowed",
        ),
        (
            json!({"occupancy": [{"adults": true}], "auto_book": auto_book}),
            "/occupancy/0/adults type",
        ),
    ] {
        let request = merged(watch_request(&hotel_id, 150.0), more.clone());
        let refused = client.post(WATCHES, &request).await;
        assert_eq!(violations(refused), violation, "{more}");
    }
    let foreign = server.client().user("byron").store_card("tok_visa").await;
    let more = json!({"auto_book": tests::auto_book(&foreign)});
    let request = merged(watch_request(&hotel_id, 150.0), more);
    let refused = client.post(WATCHES, &request).await;
    refused.expect_problem(422, "payment_instrument_invalid");
}

async fn trip_watch_requires_one_area_and_refuses_auto_book(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let auto_book = auto_book(&client.store_card("tok_visa").await);
    let point = json!({"latitude": 1, "longitude": 1, "radius": 1});
    for (more, violation) in [
        (json!({}), "/place_id required"),
        (
            json!({"place_id": "plc_unknown", "auto_book": auto_book}),
            "/auto_book unknown_field",
        ),
        (
            json!({"place_id": "plc_unknown", "location": point}),
            "/location exclusive",
        ),
    ] {
        let request = merged(trip_watch_request(150.0), more);
        let refused = client.post(TRIP_WATCHES, &request).await;
        assert_eq!(violations(refused), violation);
    }
    let unknown = json!({"place_id": "plc_unknown"});
    let request = merged(trip_watch_request(150.0), unknown);
    let refused = client.post(TRIP_WATCHES, &request).await;
    refused.expect_problem(404, "place_not_found");
}
