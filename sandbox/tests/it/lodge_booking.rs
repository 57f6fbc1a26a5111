//! Tests of booking, reading and cancelling at the hotel supplier, scenario by scenario.

use sandbox::credentials::{SANDBOX_HOTELS, SANDBOX_MINI};
use serde_json::{Value, json};

use crate::market::{Market, rows};

const BOOKINGS: &str = "/lodge/v1/bookings";

/// Returns a prebook of `rooms` rooms for two nights: room only, or the refundable plan.
async fn prebook(market: &Market, hotel: &str, plan: usize, rooms: usize) -> Value {
    let body = json!({
        "hotels": [hotel], "arrive": "2026-12-10", "depart": "2026-12-12",
        "rooms": vec![json!({ "adults": 2 }); rooms], "currency": "EUR",
    });
    let (_, answer) = market.post(SANDBOX_HOTELS, "/lodge/v1/rates", &body).await;
    let body = json!({ "rate_id": answer["hotels"][0]["rates"][plan]["rate_id"] });
    let (status, prebook) = market
        .post(SANDBOX_HOTELS, "/lodge/v1/prebooks", &body)
        .await;
    assert_eq!(status, 201, "{prebook}");
    prebook
}

fn book_request(prebook: &Value, client_ref: &str) -> Value {
    let rooms = prebook["rooms"].as_array().unwrap().len();
    let guest = json!({ "first": "Ada", "last": "Byron", "kind": "adult", "lead": true });
    json!({
        "prebook_id": prebook["prebook_id"], "client_ref": client_ref,
        "expected_total": prebook["total"],
        "holder": { "first": "Ada", "last": "Byron", "email": "a@example.com", "phone": "+4420" },
        "rooms": vec![json!({ "guests": [guest] }); rooms],
    })
}

async fn booked(market: &Market, hotel: &str, plan: usize, rooms: usize) -> Value {
    let prebook = prebook(market, hotel, plan, rooms).await;
    let body = book_request(&prebook, &format!("bkg_{hotel}"));
    let (status, booking) = market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
    assert_eq!((status, &booking["state"]), (201, &json!("CONFIRMED")));
    booking
}

async fn found(market: &Market, client_ref: &str) -> Value {
    let path = format!("{BOOKINGS}?client_ref={client_ref}");
    let (status, answer) = market.get(SANDBOX_HOTELS, &path).await;
    assert_eq!(status, 200);
    answer["bookings"].clone()
}

async fn cancel(market: &Market, booking: &Value, more: Value) -> (u16, Value) {
    let path = format!("{BOOKINGS}/{}/cancel", booking["id"].as_str().unwrap());
    let mut body =
        json!({ "client_ref": format!("{}:cancel", booking["client_ref"].as_str().unwrap()) });
    if let Some(more) = more.as_object() {
        for (name, value) in more {
            body[name] = value.clone();
        }
    }
    market.post(SANDBOX_HOTELS, &path, &body).await
}

#[tokio::test]
async fn booking_is_made_readable_and_recorded_once() {
    let market = Market::open().await;
    let booking = booked(&market, "OK", 0, 2).await;
    assert_eq!(booking["total"], "400.00");
    assert_eq!(booking["rooms"][1]["no"], 2);
    assert!(booking["confirmation_no"].is_string());
    assert_eq!(found(&market, "bkg_OK").await, json!([booking]));
    let path = format!("{BOOKINGS}/{}", booking["id"].as_str().unwrap());
    assert_eq!(market.get(SANDBOX_HOTELS, &path).await, (200, booking));
    assert_eq!(market.ledger("bkg_OK").await, rows(&[("booking", 400.0)]));
    let (_, ledger) = market.open_get("/control/ledger").await;
    assert_eq!(ledger[0]["supplier"], "SANDBOX_HOTELS");
    assert_eq!(ledger[0]["at"], "2026-11-21T09:00:00.000Z");
    assert_eq!(ledger[0]["currency"], "EUR");
}

#[tokio::test]
async fn accounts_do_not_see_each_others_bookings() {
    let market = Market::open().await;
    let booking = booked(&market, "OK", 0, 1).await;
    let path = format!("{BOOKINGS}/{}", booking["id"].as_str().unwrap());
    assert_eq!(market.get(SANDBOX_MINI, &path).await.0, 404);
    let path = format!("{BOOKINGS}?client_ref=bkg_OK");
    let (_, answer) = market.get(SANDBOX_MINI, &path).await;
    assert_eq!(answer["bookings"], json!([]));
}

#[tokio::test]
async fn client_reference_and_prebook_can_each_be_booked_once() {
    let market = Market::open().await;
    let first = prebook(&market, "OK", 0, 1).await;
    let second = prebook(&market, "OK", 0, 1).await;
    let body = book_request(&first, "bkg_1");
    assert_eq!(market.post(SANDBOX_HOTELS, BOOKINGS, &body).await.0, 201);
    for (body, code) in [
        (body, "DUPLICATE_CLIENT_REF"),
        (book_request(&second, "bkg_1"), "DUPLICATE_CLIENT_REF"),
        (book_request(&first, "bkg_2"), "PREBOOK_USED"),
    ] {
        let (status, answer) = market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
        assert_eq!((status, &answer["error"]["code"]), (409, &json!(code)));
    }
    assert_eq!(market.ledger("bkg_").await.len(), 1);
}

#[tokio::test]
async fn booking_that_does_not_fit_its_prebook_is_refused() {
    let market = Market::open().await;
    let short = prebook(&market, "EXPIRES_SOON", 0, 1).await;
    market.advance_ms(3_000);
    let good = book_request(&prebook(&market, "OK", 0, 1).await, "bkg_1");
    let mut dearer = good.clone();
    dearer["expected_total"] = json!("199.99");
    let mut crowded = good.clone();
    let guest = &good["rooms"][0]["guests"][0];
    crowded["rooms"] = json!([{ "guests": [guest, guest] }]);
    let mut unknown = good.clone();
    unknown["prebook_id"] = json!("LPB-1");
    for (body, status, code) in [
        (book_request(&short, "bkg_1"), 410, "PREBOOK_EXPIRED"),
        (dearer, 409, "PRICE_MISMATCH"),
        (crowded, 422, "INVALID_GUESTS"),
        (unknown, 404, "PREBOOK_UNKNOWN"),
    ] {
        let answer = market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
        assert_eq!(answer.0, status);
        assert_eq!(&answer.1["error"]["code"], &json!(code));
    }
    assert_eq!(market.ledger("bkg_").await, rows(&[]));
}

#[tokio::test]
async fn refused_booking_leaves_no_booking_and_no_ledger_entry() {
    let market = Market::open().await;
    let body = book_request(&prebook(&market, "BOOK_REFUSED", 0, 1).await, "bkg_1");
    let (status, answer) = market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
    assert_eq!(status, 422);
    assert_eq!(&answer["error"]["code"], &json!("BOOKING_REFUSED"));
    assert_eq!(found(&market, "bkg_1").await, json!([]));
    assert_eq!(market.ledger("bkg_").await, rows(&[]));
}

#[tokio::test]
async fn pending_booking_is_decided_after_two_seconds() {
    let market = Market::open().await;
    for (hotel, state, ledger) in [
        ("BOOK_PENDING", "CONFIRMED", rows(&[("booking", 200.0)])),
        ("BOOK_PENDING_REFUSED", "REJECTED", rows(&[])),
    ] {
        let body = book_request(&prebook(&market, hotel, 0, 1).await, hotel);
        let (status, booking) = market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
        assert_eq!((status, &booking["state"]), (202, &json!("PENDING")));
        let (early, _) = cancel(&market, &booking, json!({})).await;
        assert_eq!(early, 409);
        market.advance_ms(1_999);
        assert_eq!(found(&market, hotel).await[0]["state"], "PENDING");
        assert_eq!(market.ledger(hotel).await, rows(&[]));
        market.advance_ms(1);
        assert_eq!(market.ledger(hotel).await, ledger);
        assert_eq!(found(&market, hotel).await[0]["state"], state);
        let refused = !found(&market, hotel).await[0]["reject_reason"].is_null();
        assert_eq!(refused, state == "REJECTED");
    }
}

#[tokio::test]
async fn late_decision_is_recorded_with_its_due_time() {
    let market = Market::open().await;
    let body = book_request(&prebook(&market, "BOOK_PENDING", 0, 1).await, "bkg_1");
    market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
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
    let body = book_request(
        &prebook(&market, "BOOK_LOST_ANSWER", 0, 1).await,
        "bkg_lost",
    );
    assert!(market.post_is_cut(SANDBOX_HOTELS, BOOKINGS, &body).await);

    let body = book_request(&prebook(&market, "BOOK_GARBAGE", 0, 1).await, "bkg_garbage");
    let (status, text) = market.post_raw(SANDBOX_HOTELS, BOOKINGS, &body).await;
    assert_eq!(status, 200);
    assert!(text.starts_with('{') && serde_json::from_str::<Value>(&text).is_err());

    let body = book_request(&prebook(&market, "BOOK_500", 0, 1).await, "bkg_500");
    let (status, answer) = market.post(SANDBOX_HOTELS, BOOKINGS, &body).await;
    assert_eq!(status, 500);
    assert_eq!(&answer["error"]["code"], &json!("SUPPLIER_FAILURE"));

    for client_ref in ["bkg_lost", "bkg_garbage", "bkg_500"] {
        assert_eq!(found(&market, client_ref).await[0]["state"], "CONFIRMED");
        assert_eq!(market.ledger(client_ref).await, rows(&[("booking", 200.0)]));
    }
}

#[tokio::test]
async fn lost_request_books_nothing() {
    let market = Market::open().await;
    let body = book_request(&prebook(&market, "BOOK_LOST_REQUEST", 0, 1).await, "bkg_1");
    assert!(market.post_is_cut(SANDBOX_HOTELS, BOOKINGS, &body).await);
    assert_eq!(found(&market, "bkg_1").await, json!([]));
    assert_eq!(market.ledger("bkg_").await, rows(&[]));
}

#[tokio::test]
async fn reads_of_booking_with_unknown_outcome_hang() {
    let market = Market::open().await;
    let body = book_request(&prebook(&market, "BOOK_NEVER_KNOWN", 0, 1).await, "bkg_1");
    assert!(market.post_is_cut(SANDBOX_HOTELS, BOOKINGS, &body).await);
    assert!(market.post_is_cut(SANDBOX_HOTELS, BOOKINGS, &body).await);
    let path = format!("{BOOKINGS}?client_ref=bkg_1");
    assert!(market.get_hangs(SANDBOX_HOTELS, &path).await);
    let (_, ledger) = market.open_get("/control/ledger").await;
    assert_eq!(ledger.as_array().unwrap().len(), 1);
    let path = format!("{BOOKINGS}/{}", ledger[0]["reference"].as_str().unwrap());
    assert!(market.get_hangs(SANDBOX_HOTELS, &path).await);
}

#[tokio::test]
async fn cancellation_fee_follows_the_terms() {
    let market = Market::open().await;
    let free = booked(&market, "PRICE_UP", 1, 1).await;
    let (status, canceled) = cancel(&market, &free, json!({})).await;
    assert_eq!((status, &canceled["state"]), (200, &json!("CANCELLED")));
    assert_eq!(canceled["cancellation"]["fee"], "0.00");
    assert_eq!(canceled["cancellation"]["refund"], "286.00");
    let (status, again) = cancel(&market, &free, json!({})).await;
    assert_eq!(status, 409);
    assert_eq!(&again["error"]["code"], &json!("ALREADY_CANCELLED"));
    assert_eq!(
        market.ledger("bkg_PRICE_UP").await,
        rows(&[("booking", 286.0), ("cancellation", 286.0)])
    );

    let strict = booked(&market, "OK", 0, 1).await;
    let (_, canceled) = cancel(&market, &strict, json!({})).await;
    assert_eq!(canceled["cancellation"]["fee"], "200.00");
    assert_eq!(canceled["cancellation"]["refund"], "0.00");

    let late = booked(&market, "MANY", 1, 1).await;
    market.advance_ms(18 * 24 * 3_600_000);
    let (_, canceled) = cancel(&market, &late, json!({})).await;
    assert_eq!(canceled["cancellation"]["fee"], "260.00");
}

#[tokio::test]
async fn single_rooms_are_cancelled_at_one_hotel_only() {
    let market = Market::open().await;
    let booking = booked(&market, "OK", 1, 2).await;
    let (status, part) = cancel(&market, &booking, json!({ "rooms": [2] })).await;
    assert_eq!((status, &part["state"]), (200, &json!("PART_CANCELLED")));
    assert_eq!(part["rooms"][0]["cancelled"], false);
    assert_eq!(part["rooms"][1]["cancelled"], true);
    assert_eq!(part["total"], "520.00");
    assert_eq!(part["cancellation"]["refund"], "260.00");
    let (status, _) = cancel(&market, &booking, json!({ "rooms": [2] })).await;
    assert_eq!(status, 409);
    let (status, _) = cancel(&market, &booking, json!({ "rooms": [3] })).await;
    assert_eq!(status, 400);
    let (_, whole) = cancel(&market, &booking, json!({})).await;
    assert_eq!(whole["state"], "CANCELLED");
    assert_eq!(whole["cancellation"]["refund"], "520.00");
    assert_eq!(
        market.ledger("bkg_OK").await,
        rows(&[
            ("booking", 520.0),
            ("cancellation", 260.0),
            ("cancellation", 260.0)
        ])
    );

    let other = booked(&market, "MANY", 1, 2).await;
    let (status, answer) = cancel(&market, &other, json!({ "rooms": [1] })).await;
    assert_eq!(status, 422);
    assert_eq!(&answer["error"]["code"], &json!("ROOMS_NOT_SEPARABLE"));
}

#[tokio::test]
async fn cancellation_at_each_scenario_hotel_ends_as_specified() {
    let market = Market::open().await;
    for hotel in ["CANCEL_REFUSED", "RESTRICTED"] {
        let booking = booked(&market, hotel, 1, 1).await;
        let (status, answer) = cancel(&market, &booking, json!({})).await;
        assert_eq!(status, 409);
        assert_eq!(&answer["error"]["code"], &json!("NOT_CANCELLABLE"));
        assert_eq!(
            found(&market, &format!("bkg_{hotel}")).await[0]["state"],
            "CONFIRMED"
        );
    }

    let booking = booked(&market, "CANCEL_PENDING", 1, 1).await;
    let (status, pending) = cancel(&market, &booking, json!({})).await;
    assert_eq!((status, &pending["state"]), (202, &json!("CANCELLING")));
    market.advance_ms(2_000);
    let now = found(&market, "bkg_CANCEL_PENDING").await;
    assert_eq!(now[0]["state"], "CANCELLED");
    assert_eq!(now[0]["cancellation"]["refund"], "260.00");

    let booking = booked(&market, "CANCEL_LOST_ANSWER", 1, 1).await;
    let path = format!("{BOOKINGS}/{}/cancel", booking["id"].as_str().unwrap());
    let body = json!({ "client_ref": "bkg_CANCEL_LOST_ANSWER:cancel" });
    assert!(market.post_is_cut(SANDBOX_HOTELS, &path, &body).await);
    assert_eq!(
        found(&market, "bkg_CANCEL_LOST_ANSWER").await[0]["state"],
        "CANCELLED"
    );
    for hotel in ["CANCEL_PENDING", "CANCEL_LOST_ANSWER"] {
        assert_eq!(
            market.ledger(&format!("bkg_{hotel}")).await,
            rows(&[("booking", 260.0), ("cancellation", 260.0)])
        );
    }
}

#[tokio::test]
async fn cancellation_preview_works_only_at_the_preview_hotel() {
    let market = Market::open().await;
    let preview = async |booking: &Value| {
        let path = format!(
            "{BOOKINGS}/{}/cancel-preview",
            booking["id"].as_str().unwrap()
        );
        market.get(SANDBOX_HOTELS, &path).await
    };
    let booking = booked(&market, "QUOTE_PREVIEW", 1, 1).await;
    let (status, answer) = preview(&booking).await;
    assert_eq!(status, 200);
    assert_eq!(answer["fee"], "25.00");
    assert_eq!(answer["refund"], "235.00");
    let (_, canceled) = cancel(&market, &booking, json!({})).await;
    assert_eq!(canceled["cancellation"]["fee"], "25.00");

    for (hotel, status, code) in [
        ("QUOTE_FAILS", 500, "SUPPLIER_FAILURE"),
        ("OK", 404, "PREVIEW_NOT_OFFERED"),
    ] {
        let answer = preview(&booked(&market, hotel, 1, 1).await).await;
        assert_eq!(answer.0, status);
        assert_eq!(&answer.1["error"]["code"], &json!(code));
    }
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
    for hotel in [
        "TRAP",
        "SPIN",
        "HOARD",
        "FLOOD",
        "CALENDAR_LIMITED",
        "CONTENT_DOWN",
    ] {
        assert_eq!(booked(&market, hotel, 0, 1).await["total"], "200.00");
    }
}
