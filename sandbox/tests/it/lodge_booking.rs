//! Tests of booking, reading and cancelling at the hotel supplier, scenario by scenario.

use serde_json::{Value, json};

use crate::lodge::{book_request, book_room_request, booked, prebook};
use crate::market::{
    LODGE, LODGE_MINI, Market, assert_ledger, assert_refused, get, get_ok, post_ok, with,
};

const BOOKINGS: &str = "/bookings";

async fn found(market: &Market, client_ref: &str) -> Value {
    let path = format!("{BOOKINGS}?client_ref={client_ref}");
    get_ok(market, LODGE, &path).await["bookings"].clone()
}

fn of(booking: &Value, action: &str) -> String {
    format!("{BOOKINGS}/{}{action}", booking["id"].as_str().unwrap())
}

fn cancel_request(booking: &Value) -> Value {
    json!({ "client_ref": format!("{}:cancel", booking["client_ref"].as_str().unwrap()) })
}

/// Cancels and returns the booking from a response with this status.
async fn cancel(market: &Market, booking: &Value, more: Value, status: u16) -> Value {
    let body = with(cancel_request(booking), more);
    post_ok(market, LODGE, &of(booking, "/cancel"), &body, status).await
}

async fn assert_not_canceled(market: &Market, booking: &Value, status: u16, code: &str) {
    let body = cancel_request(booking);
    assert_refused(market, LODGE, &of(booking, "/cancel"), &body, status, code).await;
}

#[tokio::test]
async fn booking_is_made_readable_and_recorded_once() {
    let market = Market::open().await;
    let booking = booked(&market, "OK", 0, 2).await;
    assert_eq!(booking["total"], "400.00");
    assert_eq!(booking["rooms"][1]["no"], 2);
    assert!(booking["confirmation_no"].is_string());
    assert_eq!(found(&market, "bkg_OK").await, json!([booking]));
    assert_eq!(get_ok(&market, LODGE, &of(&booking, "")).await, booking);
    assert_ledger(&market, "bkg_OK", &[("booking", 400.0)]).await;
    let (_, ledger) = market.open_get("/control/ledger").await;
    assert_eq!(ledger[0]["supplier"], "SANDBOX_HOTELS");
    assert_eq!(ledger[0]["at"], "2026-11-21T09:00:00.000Z");
    assert_eq!(ledger[0]["currency"], "EUR");
}

#[tokio::test]
async fn accounts_do_not_see_each_others_bookings() {
    let market = Market::open().await;
    let booking = booked(&market, "OK", 0, 1).await;
    assert_eq!(get(&market, LODGE_MINI, &of(&booking, "")).await.0, 404);
    let path = format!("{BOOKINGS}?client_ref=bkg_OK");
    let answer = get_ok(&market, LODGE_MINI, &path).await;
    assert_eq!(answer["bookings"], json!([]));
}

#[tokio::test]
async fn client_reference_and_prebook_can_each_be_booked_once() {
    let market = Market::open().await;
    let first = prebook(&market, "OK", 0, 1).await;
    let second = prebook(&market, "OK", 0, 1).await;
    let body = book_request(&first, "bkg_1");
    post_ok(&market, LODGE, BOOKINGS, &body, 201).await;
    for (body, code) in [
        (body, "DUPLICATE_CLIENT_REF"),
        (book_request(&second, "bkg_1"), "DUPLICATE_CLIENT_REF"),
        (book_request(&first, "bkg_2"), "PREBOOK_USED"),
    ] {
        assert_refused(&market, LODGE, BOOKINGS, &body, 409, code).await;
    }
    assert_ledger(&market, "bkg_", &[("booking", 200.0)]).await;
}

#[tokio::test]
async fn refused_booking_leaves_no_booking_and_no_ledger_entry() {
    let market = Market::open().await;
    let short = book_room_request(&market, "EXPIRES_SOON", "bkg_1").await;
    market.advance_ms(3_000);
    let refused = book_room_request(&market, "BOOK_REFUSED", "bkg_1").await;
    let good = book_room_request(&market, "OK", "bkg_1").await;
    let guest = &good["rooms"][0]["guests"][0];
    let crowded = json!({ "rooms": [{ "guests": [guest, guest] }] });
    let dearer = with(good.clone(), json!({ "expected_total": "199.99" }));
    let unknown = with(good.clone(), json!({ "prebook_id": "LPB-1" }));
    for (body, status, code) in [
        (short, 410, "PREBOOK_EXPIRED"),
        (dearer, 409, "PRICE_MISMATCH"),
        (with(good.clone(), crowded), 422, "INVALID_GUESTS"),
        (unknown, 404, "PREBOOK_UNKNOWN"),
        (refused, 422, "BOOKING_REFUSED"),
    ] {
        assert_refused(&market, LODGE, BOOKINGS, &body, status, code).await;
    }
    assert_eq!(found(&market, "bkg_1").await, json!([]));
    assert_ledger(&market, "bkg_", &[]).await;
}

#[tokio::test]
async fn pending_booking_is_decided_after_two_seconds() {
    let market = Market::open().await;
    for (hotel, state, ledger) in [
        ("BOOK_PENDING", "CONFIRMED", &[("booking", 200.0)][..]),
        ("BOOK_PENDING_REFUSED", "REJECTED", &[]),
    ] {
        let body = book_room_request(&market, hotel, hotel).await;
        let booking = post_ok(&market, LODGE, BOOKINGS, &body, 202).await;
        assert_eq!(booking["state"], "PENDING");
        assert_not_canceled(&market, &booking, 409, "NOT_CANCELLABLE").await;
        market.advance_ms(1_999);
        assert_eq!(found(&market, hotel).await[0]["state"], "PENDING");
        assert_ledger(&market, hotel, &[]).await;
        market.advance_ms(1);
        assert_ledger(&market, hotel, ledger).await;
        let decided = found(&market, hotel).await[0].clone();
        assert_eq!(decided["state"], state);
        assert_eq!(!decided["reject_reason"].is_null(), state == "REJECTED");
    }
}

#[tokio::test]
async fn late_decision_is_recorded_with_its_due_time() {
    let market = Market::open().await;
    let body = book_room_request(&market, "BOOK_PENDING", "bkg_1").await;
    post_ok(&market, LODGE, BOOKINGS, &body, 202).await;
    market.advance_ms(60_000);
    booked(&market, "OK", 0, 1).await;
    let (_, ledger) = market.open_get("/control/ledger").await;
    assert_eq!(ledger[0]["client_reference"], "bkg_1");
    assert_eq!(ledger[0]["at"], "2026-11-21T09:00:02.000Z");
    assert_eq!(ledger[1]["at"], "2026-11-21T09:01:00.000Z");
}

#[tokio::test]
async fn room_is_booked_although_response_is_lost_malformed_or_an_error() {
    let market = Market::open().await;
    let body = book_room_request(&market, "BOOK_LOST_ANSWER", "bkg_lost").await;
    assert!(market.post_is_cut(LODGE, BOOKINGS, &body).await);

    let body = book_room_request(&market, "BOOK_GARBAGE", "bkg_garbage").await;
    let (status, text) = market.post_raw(LODGE, BOOKINGS, &body).await;
    assert_eq!(status, 200);
    assert!(text.starts_with('{') && serde_json::from_str::<Value>(&text).is_err());

    let body = book_room_request(&market, "BOOK_500", "bkg_500").await;
    assert_refused(&market, LODGE, BOOKINGS, &body, 500, "SUPPLIER_FAILURE").await;

    for client_ref in ["bkg_lost", "bkg_garbage", "bkg_500"] {
        assert_eq!(found(&market, client_ref).await[0]["state"], "CONFIRMED");
        assert_ledger(&market, client_ref, &[("booking", 200.0)]).await;
    }
}

#[tokio::test]
async fn lost_request_books_nothing() {
    let market = Market::open().await;
    let body = book_room_request(&market, "BOOK_LOST_REQUEST", "bkg_1").await;
    assert!(market.post_is_cut(LODGE, BOOKINGS, &body).await);
    assert_eq!(found(&market, "bkg_1").await, json!([]));
    assert_ledger(&market, "bkg_", &[]).await;
}

#[tokio::test]
async fn reads_of_booking_with_unknown_outcome_hang() {
    let market = Market::open().await;
    let body = book_room_request(&market, "BOOK_NEVER_KNOWN", "bkg_1").await;
    for _ in 0..2 {
        assert!(market.post_is_cut(LODGE, BOOKINGS, &body).await);
    }
    let path = format!("{BOOKINGS}?client_ref=bkg_1");
    assert!(market.get_hangs(LODGE, &path).await);
    let (_, ledger) = market.open_get("/control/ledger").await;
    assert_eq!(ledger.as_array().unwrap().len(), 1);
    let path = format!("{BOOKINGS}/{}", ledger[0]["reference"].as_str().unwrap());
    assert!(market.get_hangs(LODGE, &path).await);
}

#[tokio::test]
async fn cancellation_fee_follows_the_terms() {
    let market = Market::open().await;
    let free = booked(&market, "PRICE_UP", 1, 1).await;
    let canceled = cancel(&market, &free, json!({}), 200).await;
    assert_eq!(canceled["state"], "CANCELLED");
    assert_eq!(canceled["cancellation"]["fee"], "0.00");
    assert_eq!(canceled["cancellation"]["refund"], "286.00");
    assert_not_canceled(&market, &free, 409, "ALREADY_CANCELLED").await;
    let ledger = [("booking", 286.0), ("cancellation", 286.0)];
    assert_ledger(&market, "bkg_PRICE_UP", &ledger).await;

    let strict = booked(&market, "OK", 0, 1).await;
    let canceled = cancel(&market, &strict, json!({}), 200).await;
    assert_eq!(canceled["cancellation"]["fee"], "200.00");
    assert_eq!(canceled["cancellation"]["refund"], "0.00");

    let late = booked(&market, "MANY", 1, 1).await;
    market.advance_ms(18 * 24 * 3_600_000);
    let canceled = cancel(&market, &late, json!({}), 200).await;
    assert_eq!(canceled["cancellation"]["fee"], "260.00");
}

#[tokio::test]
async fn single_rooms_are_canceled_at_one_hotel_only() {
    let market = Market::open().await;
    let booking = booked(&market, "OK", 1, 2).await;
    let part = cancel(&market, &booking, json!({ "rooms": [2] }), 200).await;
    assert_eq!(part["state"], "PART_CANCELLED");
    assert_eq!(part["rooms"][0]["cancelled"], false);
    assert_eq!(part["rooms"][1]["cancelled"], true);
    assert_eq!(part["total"], "520.00");
    assert_eq!(part["cancellation"]["refund"], "260.00");
    cancel(&market, &booking, json!({ "rooms": [2] }), 409).await;
    cancel(&market, &booking, json!({ "rooms": [3] }), 400).await;
    let whole = cancel(&market, &booking, json!({}), 200).await;
    assert_eq!(whole["state"], "CANCELLED");
    assert_eq!(whole["cancellation"]["refund"], "520.00");
    let ledger = [
        ("booking", 520.0),
        ("cancellation", 260.0),
        ("cancellation", 260.0),
    ];
    assert_ledger(&market, "bkg_OK", &ledger).await;

    let other = booked(&market, "MANY", 1, 2).await;
    let refused = cancel(&market, &other, json!({ "rooms": [1] }), 422).await;
    assert_eq!(refused["error"]["code"], "ROOMS_NOT_SEPARABLE");
}

#[tokio::test]
async fn cancellation_at_each_scenario_hotel_ends_as_specified() {
    let market = Market::open().await;
    for hotel in ["CANCEL_REFUSED", "RESTRICTED", "REMARKS_LATER"] {
        let booking = booked(&market, hotel, 1, 1).await;
        assert_not_canceled(&market, &booking, 409, "NOT_CANCELLABLE").await;
        let now = found(&market, &format!("bkg_{hotel}")).await;
        assert_eq!(now[0]["state"], "CONFIRMED");
    }

    let booking = booked(&market, "CANCEL_PENDING", 1, 1).await;
    let pending = cancel(&market, &booking, json!({}), 202).await;
    assert_eq!(pending["state"], "CANCELLING");
    market.advance_ms(2_000);

    let booking = booked(&market, "CANCEL_LOST_ANSWER", 1, 1).await;
    let (path, body) = (of(&booking, "/cancel"), cancel_request(&booking));
    assert!(market.post_is_cut(LODGE, &path, &body).await);
    for client_ref in ["bkg_CANCEL_PENDING", "bkg_CANCEL_LOST_ANSWER"] {
        let now = found(&market, client_ref).await[0].clone();
        assert_eq!(now["state"], "CANCELLED");
        assert_eq!(now["cancellation"]["refund"], "260.00");
        let ledger = [("booking", 260.0), ("cancellation", 260.0)];
        assert_ledger(&market, client_ref, &ledger).await;
    }
}

#[tokio::test]
async fn cancellation_preview_works_only_at_the_preview_hotel() {
    let market = Market::open().await;
    let booking = booked(&market, "QUOTE_PREVIEW", 1, 1).await;
    let preview = get_ok(&market, LODGE, &of(&booking, "/cancel-preview")).await;
    assert_eq!(preview["fee"], "25.00");
    assert_eq!(preview["refund"], "235.00");
    let canceled = cancel(&market, &booking, json!({}), 200).await;
    assert_eq!(canceled["cancellation"]["fee"], "25.00");

    for (hotel, status, code) in [
        ("QUOTE_FAILS", 500, "SUPPLIER_FAILURE"),
        ("OK", 404, "PREVIEW_NOT_OFFERED"),
    ] {
        let path = of(&booked(&market, hotel, 1, 1).await, "/cancel-preview");
        let (actual, answer) = get(&market, LODGE, &path).await;
        assert_eq!((actual, &answer["error"]["code"]), (status, &json!(code)));
    }
}

#[tokio::test]
async fn remarks_can_come_after_the_booking() {
    let market = Market::open().await;
    let booking = booked(&market, "REMARKS_LATER", 1, 1).await;
    assert_eq!(booking["remarks"], Value::Null);
    let now = get_ok(&market, LODGE, &of(&booking, "")).await;
    assert!(now["remarks"].is_string());
}

#[tokio::test]
async fn terms_can_be_restricted_or_unreadable() {
    let market = Market::open().await;
    let booking = booked(&market, "RESTRICTED", 1, 1).await;
    let restriction = &booking["terms"]["restrictions"][0];
    assert_eq!(restriction["code"], "NO_CANCELLATION");
    assert_eq!(restriction["from"], "2026-11-21T09:00:00.000Z");
    assert_eq!(restriction["until"], Value::Null);
    let booking = booked(&market, "QUOTE_UNREADABLE", 1, 1).await;
    assert!(booking["terms"].is_string());
}

#[tokio::test]
async fn hotels_whose_scenario_is_in_the_caller_or_content_book_normally() {
    let market = Market::open().await;
    let adapter_scenarios = ["TRAP", "SPIN", "HOARD", "FLOOD"];
    for hotel in adapter_scenarios
        .iter()
        .chain(&["CALENDAR_LIMITED", "CONTENT_DOWN"])
    {
        assert_eq!(booked(&market, hotel, 0, 1).await["total"], "200.00");
    }
}
