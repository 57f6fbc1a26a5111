//! Tests of a hotel booking's fields in each status, and of finding it in a list.

use super::resource_assertions::{check_instant, check_names};
use serde_json::{Value, json};
use tests::{
    BookingBuilder, Client, Database, HotelBookingBuilder, Server, days_ahead, merged, money,
    offers_request, on_both_databases, prebook_request,
};

/// Fields of a booking in a list.
const SUMMARY: [&str; 12] = [
    "id",
    "reference_id",
    "status",
    "hotel",
    "check_in",
    "check_out",
    "total",
    "created_at",
    "updated_at",
    "confirmed_at",
    "canceled_at",
    "payments",
];

/// Additional fields of a booking that is read by its id.
const DETAILS: [&str; 9] = [
    "cancellations",
    "hotel_confirmation_code",
    "hotel_remarks",
    "offer_expires_at",
    "due_at_property",
    "cancellation_policy",
    "contact",
    "loyalty",
    "rooms",
];

/// Prices offers and returns the only hotel of the response.
async fn priced(client: &Client, request: &Value) -> Value {
    let reply = client.hotel_offers(request).await.expect(200);
    reply.data()[0].clone()
}

/// Returns an offers request for two adults, and one adult with a child of seven, for two nights at
/// a hotel that returns all optional data.
fn rich_request() -> Value {
    let occupancy = json!([{"adults": 2, "children": []}, {"adults": 1, "children": [7]}]);
    let more = json!({"occupancy": occupancy, "guest_residence": "FR"});
    merged(offers_request("MANY"), more)
}

/// Prebooks the refundable offer of [`rich_request`] and returns the booking.
async fn rich_booking(client: &Client, reference: &str) -> Value {
    let row = priced(client, &rich_request()).await;
    let offer = row["offers"][1]["offer_reference"].as_str().unwrap();
    let mut request = prebook_request(offer, 2);
    request["reference_id"] = json!(reference);
    request["rooms"][1]["guests"][1]["type"] = json!("CHILD");
    let bound = client.prebook_hotel(reference, &request).await.expect(201);
    assert_eq!(bound.body["meta"], json!({"supplier": "SANDBOX_HOTELS"}));
    bound.data().clone()
}

fn check_policy(policy: &Value, fee: f64) {
    let members = [
        "version",
        "refundable",
        "deadline",
        "penalties",
        "restrictions",
    ];
    check_names("policy", policy, &members, &["refund_type"]);
    assert_eq!(policy["refund_type"], "FULL");
    assert!(policy["version"].is_u64(), "{policy}");
    assert_eq!(policy["refundable"], true);
    assert_eq!(policy["restrictions"], json!([]));
    check_instant(&policy["deadline"]);
    let penalty = json!({
        "from": policy["deadline"], "type": "AMOUNT", "amount": money(fee, "EUR"),
        "percent": 100.0, "time_zone": "Europe/London",
    });
    assert_eq!(policy["penalties"], json!([penalty]));
}

/// What a supplier may state about a room.
const ROOM_DETAILS: [&str; 4] = ["max_occupancy", "remarks", "perks", "taxes"];

/// Checks what the supplier states about a room for `guests`.
fn check_room_details(room: &Value, guests: usize) {
    assert_eq!(room["max_occupancy"], guests + 1);
    assert_eq!(room["remarks"], "The spa is closed on Mondays.");
    let perks = json!([
        {"name": "Welcome drink", "value": money(12.0, "EUR")},
        {"name": "Late check-out if available"},
    ]);
    assert_eq!(room["perks"], perks);
    let tax = |name: &str, amount, included, payable_at: &str| {
        json!({
            "description": name, "amount": money(amount, "EUR"), "included": included,
            "payable_at": payable_at,
        })
    };
    let taxes = [
        tax("Value added tax", 10.0, true, "BOOKING"),
        tax("City tax", 8.0, false, "CHECK_IN"),
    ];
    assert_eq!(room["taxes"], json!(taxes));
}

fn check_rooms(rooms: &Value) {
    let members = [
        "id",
        "position",
        "name",
        "board",
        "board_name",
        "adults",
        "children",
        "total",
        "due_at_property",
        "cancellation_policy",
        "promotions",
        "supplier_reference_number",
        "hotel_confirmation_code",
        "canceled_at",
        "guests",
    ];
    let rooms = rooms.as_array().unwrap();
    assert_eq!(rooms.len(), 2);
    let asked = [
        (2, json!([]), ["ADULT", "ADULT"]),
        (1, json!([{"age": 7}]), ["ADULT", "CHILD"]),
    ];
    for (position, (room, (adults, children, types))) in rooms.iter().zip(asked).enumerate() {
        check_names("room", room, &members, &ROOM_DETAILS);
        check_room_details(room, 2);
        assert!(room["id"].as_str().unwrap().starts_with("room_"));
        assert_eq!(room["position"], position);
        assert_eq!(
            (&room["adults"], &room["children"]),
            (&json!(adults), &children)
        );
        assert_eq!(room["board"], "BED_AND_BREAKFAST");
        assert!(room["name"].is_string() && room["board_name"].is_string());
        assert_eq!(room["total"], money(260.0, "EUR"));
        assert_eq!(room["due_at_property"], money(8.0, "EUR"));
        assert_eq!(room["promotions"][0]["room_positions"], json!([0, 1]));
        check_policy(&room["cancellation_policy"], 260.0);
        for (at, guest) in room["guests"].as_array().unwrap().iter().enumerate() {
            let id = guest["id"].as_str().unwrap();
            assert!(id.starts_with("guest_"), "{id}");
            let names = ["Ada", "Byron"];
            let mut shape = json!({
                "id": id, "first_name": names[at], "last_name": "Lovelace",
                "type": types[at], "is_lead": at == 0,
            });
            if types[at] == "CHILD" {
                shape["age"] = json!(7);
            }
            assert_eq!(*guest, shape);
        }
    }
}

/// Checks the booking right after prebook.
fn check_ready(booking: &Value) {
    assert!(booking["id"].as_str().unwrap().starts_with("bkg_"));
    assert_eq!(booking["status"], "READY_FOR_COMPLETE");
    assert_eq!(booking["reference_id"], "trip-4711");
    assert_eq!(booking["check_in"], days_ahead(30));
    assert_eq!(booking["check_out"], days_ahead(32));
    check_names("hotel", &booking["hotel"], &["id", "name", "address"], &[]);
    assert_eq!(booking["total"], money(520.0, "EUR"));
    assert_eq!(booking["due_at_property"], money(16.0, "EUR"));
    for empty in ["payments", "cancellations"] {
        assert_eq!(booking[empty], json!([]), "{empty}");
    }
    for null in [
        "confirmed_at",
        "canceled_at",
        "hotel_confirmation_code",
        "hotel_remarks",
    ] {
        assert_eq!(booking[null], Value::Null, "{null}");
    }
    for instant in ["created_at", "updated_at", "offer_expires_at"] {
        check_instant(&booking[instant]);
    }
    assert!(booking["offer_expires_at"].as_str() > booking["created_at"].as_str());
    assert_eq!(booking["contact"], prebook_request("", 1)["contact"]);
    let loyalty = ["program", "membership_number", "points_estimate"];
    check_names("loyalty", &booking["loyalty"], &loyalty, &[]);
    let member = booking["loyalty"]["membership_number"].as_str().unwrap();
    assert!(
        member.starts_with('*') && member.ends_with("0815"),
        "{member}"
    );
    check_policy(&booking["cancellation_policy"], 520.0);
    check_rooms(&booking["rooms"]);
}

async fn hotel_booking_contains_all_fields_in_every_status(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let whole = |what: &str, booking: &Value, more: &[&str]| {
        check_names(what, booking, &[&SUMMARY[..], &DETAILS].concat(), more);
    };
    let ready = rich_booking(&client, "trip-4711").await;
    whole("ready", &ready, &[]);
    check_ready(&ready);
    let builder = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_REFUSED");
    let booking = builder.booking(&client, ready["id"].as_str().unwrap());
    assert_eq!(booking.read().await, ready);
    let card = client.card_payment("tok_visa").await;
    let booked = booking.book(&card).await.expect(200);
    whole("booked", booked.data(), &[]);
    let paid = booking.wait_for_payment("CAPTURED").await;
    whole("confirmed", &paid, &[]);
    check_instant(&paid["confirmed_at"]);
    for text in ["hotel_confirmation_code", "hotel_remarks"] {
        assert!(paid[text].is_string(), "{text}");
    }
    let payment = &paid["payments"][0];
    let of_payment = ["id", "status", "amount", "created_at"];
    check_names("payment", payment, &of_payment, &["cards"]);
    assert_eq!(payment["cards"][0]["brand"], "VISA");
    assert!(payment["id"].as_str().unwrap().starts_with("pay_"));
    assert_eq!(payment["amount"], money(520.0, "EUR"));
    let listed = client.get("/v1/hotel/bookings").await.expect(200);
    let meta = json!({"limit": 25, "offset": 0, "has_more": false});
    assert_eq!(listed.body["meta"], meta);
    let listed = &listed.data()[0];
    check_names("listed", listed, &SUMMARY, &[]);
    check_names("listed payment", &listed["payments"][0], &of_payment, &[]);
    for same in SUMMARY.iter().filter(|name| **name != "payments") {
        assert_eq!(listed[same], paid[same], "{same}");
    }
    let begun = booking.cancel().await;
    assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
    let canceled = booking.wait_for("CANCELED").await;
    whole("canceled", &canceled, &[]);
    check_instant(&canceled["canceled_at"]);
    let (refused, reply) = builder.book(&server).await;
    reply.expect_problem(422, "supplier_rejected");
    let failed = refused.read().await;
    whole("failed", &failed, &["failure"]);
    for absent in ["canceled_at", "due_at_property", "loyalty"] {
        assert!(failed[absent].is_null(), "{absent} of {failed:#}");
    }
    check_names("failure", &failed["failure"], &["code", "description"], &[]);
}

/// Returns the ids of a page and whether there is more.
async fn page(client: &Client, query: &str) -> (Vec<Value>, bool) {
    let path = format!("/v1/hotel/bookings?{query}");
    let listed = client.get(&path).await.expect(200);
    let ids = listed.list().iter().map(|booking| booking["id"].clone());
    (
        ids.collect(),
        listed.body["meta"]["has_more"].as_bool().unwrap(),
    )
}

async fn hotel_list_is_newest_first_and_filtered_exactly(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let longest = "r".repeat(200);
    let way = HotelBookingBuilder::at("OK");
    let mut made = Vec::new();
    for reference in ["Trip-1", "trip-1", "Trip-1", &longest] {
        let request = way.request(&way.offer(&client).await);
        let request = merged(request, json!({"reference_id": reference}));
        let key = made.len().to_string();
        let bound = client.prebook_hotel(&key, &request).await.expect(201);
        made.push(bound.data()["id"].clone());
    }
    for (query, expected, has_more) in [
        ("", &[3, 2, 1, 0][..], false),
        ("limit=3", &[3, 2, 1], true),
        ("limit=3&offset=1", &[2, 1, 0], false),
        ("status=CONFIRMED", &[], false),
        ("reference_id=Trip-1", &[2, 0], false),
        ("reference_id=trip-1", &[1], false),
        ("reference_id=Trip-", &[], false),
        (&format!("reference_id={longest}"), &[3], false),
        (
            "reference_id=Trip-1&status=READY_FOR_COMPLETE",
            &[2, 0],
            false,
        ),
        ("reference_id=Trip-1&status=CONFIRMED", &[], false),
        ("limit=100", &[3, 2, 1, 0], false),
        ("offset=100000", &[], false),
    ] {
        let expected = expected.iter().map(|at: &usize| made[*at].clone());
        let expected = (expected.collect(), has_more);
        assert_eq!(page(&client, query).await, expected, "{query}");
    }
    let too_long = format!("/v1/hotel/bookings?reference_id={longest}r");
    let refused = client.get(&too_long).await;
    refused.expect_problem(400, "validation_failed");
    let stranger = client.user("stranger");
    let nothing = page(&stranger, "reference_id=Trip-1").await;
    assert_eq!(nothing, (vec![], false));
}

/// The list accepts the name of every status and no other name.
#[tokio::test]
async fn booking_list_accepts_every_status_as_filter() {
    const COMMON: [&str; 9] = [
        "CREATED",
        "PREBOOK_IN_PROGRESS",
        "READY_FOR_COMPLETE",
        "COMPLETE_IN_PROGRESS",
        "CONFIRMED",
        "CANCEL_IN_PROGRESS",
        "CANCELED",
        "FAILED",
        "EXPIRED",
    ];
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for (product, partly) in [("hotel", 200), ("flight", 400)] {
        let list = async |status: &str| {
            let path = format!("/v1/{product}/bookings?status={status}");
            client.get(&path).await
        };
        for status in COMMON {
            assert_eq!(list(status).await.expect(200).data(), &json!([]));
        }
        list("PARTIALLY_CANCELED").await.expect(partly);
        list("REFUNDED").await.expect(400);
    }
}

/// An offer's own fields repeat those of its first room or sum up all rooms.
#[tokio::test]
async fn hotel_offer_sums_up_its_rooms() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let reply = client.hotel_offers(&rich_request()).await.expect(200);
    assert_eq!(reply.body["meta"]["supplier"], "SANDBOX_HOTELS");
    assert_eq!(reply.header("x-supplier"), Some("SANDBOX_HOTELS"));
    let row = &reply.data()[0];
    let of_row = ["hotel_id", "supplier_hotel_id", "offers"];
    check_names("row", row, &of_row, &[]);
    assert!(row["hotel_id"].as_str().unwrap().starts_with("htl_"));
    assert_eq!(row["supplier_hotel_id"], "MANY");
    let members = [
        "offer_reference",
        "total",
        "rooms",
        "room_type",
        "board",
        "refundable",
        "cancellation_policy",
        "promotions",
        "expires_at",
    ];
    let of_room = [
        "position",
        "adults",
        "children",
        "room_type",
        "board",
        "refundable",
        "cancellation_policy",
    ];
    for offer in row["offers"].as_array().unwrap() {
        check_names("offer", offer, &members, &["payment_types", "package_only"]);
        assert_eq!(offer["payment_types"], json!(["PREPAID"]));
        assert_eq!(offer["package_only"], false);
        check_instant(&offer["expires_at"]);
        let rooms = offer["rooms"].as_array().unwrap();
        for (position, room) in rooms.iter().enumerate() {
            check_names("room", room, &of_room, &ROOM_DETAILS);
            check_room_details(room, 2);
            assert_eq!(room["position"], position);
        }
        assert_eq!(rooms[0]["adults"], 2);
        assert_eq!(rooms[1]["children"], json!([7]));
        for field in ["room_type", "board", "refundable"] {
            assert_eq!(offer[field], rooms[0][field], "{field}");
        }
        let promotions = offer["promotions"].as_array().unwrap();
        assert_eq!(promotions.len(), 1, "listed once for all its rooms");
        assert_eq!(promotions[0]["room_positions"], json!([0, 1]));
    }
    let [plain, flexible] = row["offers"].as_array().unwrap().as_slice() else {
        panic!("{row:#}");
    };
    assert_eq!(plain["refundable"], false);
    assert_eq!(plain["total"], money(400.0, "EUR"));
    assert_eq!(flexible["refundable"], true);
    assert_eq!(flexible["total"], money(520.0, "EUR"));
    check_policy(&flexible["cancellation_policy"], 520.0);
    check_policy(&flexible["rooms"][0]["cancellation_policy"], 260.0);
    let mut one = rich_request();
    one["max_offers_per_hotel"] = json!(1);
    let cheapest = priced(&client, &one).await["offers"].clone();
    assert_eq!(cheapest.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn package_rate_is_offered_only_if_requested() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let packages = async |more: Value| {
        let row = priced(&client, &merged(rich_request(), more)).await;
        let offers = row["offers"].as_array().unwrap().clone();
        let packages = offers.iter().map(|offer| offer["package_only"].clone());
        packages.collect::<Vec<_>>()
    };
    let no = vec![json!(false), json!(false)];
    assert_eq!(packages(json!({})).await, no);
    assert_eq!(packages(json!({"include_package_rates": false})).await, no);
    let included = packages(json!({"include_package_rates": true})).await;
    assert_eq!(included, [no, vec![json!(true)]].concat());
    // A plugin of version 1.0 states no details.
    let other = json!({"supplier": "SANDBOX_MINI"});
    let row = priced(&client, &merged(rich_request(), other)).await;
    for offer in row["offers"].as_array().unwrap() {
        for absent in ["package_only", "payment_types"] {
            assert!(offer.get(absent).is_none(), "{absent} of {offer:#}");
        }
        for absent in ROOM_DETAILS {
            assert!(offer["rooms"][0].get(absent).is_none(), "{absent}");
        }
        let policy = &offer["cancellation_policy"];
        assert!(policy.get("refund_type").is_none(), "{policy:#}");
    }
}

/// The limits are ten hotels with 25 offers each, all of one supplier.
#[tokio::test]
async fn offers_of_ten_hotels_of_one_supplier_are_priced_at_once() {
    const HOTELS: [&str; 11] = [
        "OK",
        "MANY",
        "NO_OFFERS",
        "PRICE_UP",
        "PRICE_DOWN",
        "BOOK_REFUSED",
        "BOOK_PENDING",
        "CANCEL_REFUSED",
        "RESTRICTED",
        "QUOTE_PREVIEW",
        "QUOTE_FAILS",
    ];
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for (hotels, offers, status) in [(10, 25, 200), (10, 26, 400), (11, 1, 400), (9, 27, 200)] {
        let limits =
            json!({"supplier_hotel_ids": HOTELS[..hotels], "max_offers_per_hotel": offers});
        let request = merged(offers_request("OK"), limits);
        let reply = client.hotel_offers(&request).await.expect(status);
        if status == 200 {
            let field = reply.list().iter().map(|row| &row["supplier_hotel_id"]);
            let field: Vec<&Value> = field.collect();
            assert_eq!(field, HOTELS[..hotels], "in the order of the request");
        }
    }
    let mut mixed = offers_request("OK");
    let of_one = client.hotel_id("OK").await;
    mixed["supplier"] = json!("SANDBOX_MINI");
    let of_another = priced(&client, &mixed).await["hotel_id"].clone();
    let members = mixed.as_object_mut().unwrap();
    members.retain(|name, _| !name.starts_with("supplier"));
    mixed["hotel_ids"] = json!([of_one, of_another]);
    let refused = client.hotel_offers(&mixed).await;
    refused.expect_problem(400, "validation_failed");
}

on_both_databases! {
    hotel_booking_contains_all_fields_in_every_status,
    hotel_list_is_newest_first_and_filtered_exactly,
}
