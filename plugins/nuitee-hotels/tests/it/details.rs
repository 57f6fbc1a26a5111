//! Details of offers, prebooks and bookings.

use serde_json::{Value, json};
use stopover_sdk::detailed_hotel_pricing::DetailedOffer;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::time;
use stopover_sdk::types::Money;
use stopover_sdk::types::hotel_details::{
    PaymentPoint, PaymentType, Perk, PolicyDetails, RefundType, Tax,
};

use crate::ask;

/// A rate for one room of 200 euros in total, with every detail that Nuitee documents.
fn rate() -> Value {
    json!({
        "occupancyNumber": 1,
        "name": "Double",
        "maxOccupancy": 3,
        "boardType": "RO",
        "remarks": "<p>Deposit of EUR 50<br/>on arrival.</p>",
        "retailRate": {
            "total": [{"amount": 200, "currency": "EUR"}],
            "taxesAndFees": [
                {"included": true, "description": "VAT", "amount": 20, "currency": "EUR"},
                {"included": false, "description": "City tax", "amount": 4.5, "currency": "EUR"},
                {"description": "Resort fee", "amount": 10, "currency": "EUR"},
            ],
        },
        "cancellationPolicies": {
            "cancelPolicyInfos": [
                {"cancelTime": "2027-05-20 10:00:00", "amount": 12.5, "type": "percent", "timezone": ""},
                {"cancelTime": "2027-05-25 10:00:00", "amount": 200, "currency": "EUR", "type": "amount", "timezone": "GMT"},
            ],
            "hotelRemarks": ["Cancel by <b>noon</b>.", {}],
            "refundableTag": "RFN",
        },
        "paymentTypes": ["NUITEE_PAY", "PROPERTY_PAY", "VOUCHER"],
        "perks": [
            {"perkId": 10, "name": "Daily breakfast", "amount": 40, "currency": "USD", "level": "HOTEL"},
            {"perkId": 6, "name": "Early check-in", "amount": 0, "currency": "USD", "level": "HOTEL"},
            {"perkId": 7, "name": ""},
            "odd",
        ],
    })
}

/// Returns a response with one offer of each rate type, each with these rates.
fn response(rates: &[Value], rate_types: &[&str]) -> String {
    let room_type = |kind| json!({"offerId": "O-1", "rates": rates, "rateType": kind});
    let room_types: Vec<Value> = rate_types.iter().map(room_type).collect();
    json!({"data": [{"hotelId": "lpown1", "roomTypes": room_types}]}).to_string()
}

/// Returns the offers of the next response for this number of rooms.
fn priced(
    gateway: &MockGateway,
    rooms: usize,
    max_offers: u16,
    includes_packages: bool,
) -> Vec<DetailedOffer> {
    let mut request = ask::price_request();
    request.stay.occupancies.truncate(rooms);
    request.max_offers_per_hotel = max_offers;
    let response = ask::detailed_price(gateway, request, includes_packages).unwrap();
    let offers = response.hotels.into_iter().flat_map(|hotel| hotel.offers);
    offers.collect()
}

/// Returns the offer with these rates, one for each room, at this time.
fn offer_at(time: &str, rates: &[Value]) -> DetailedOffer {
    let gateway = MockGateway::new()
        .now_ms(time::parse_timestamp(time).unwrap())
        .respond_with(200, response(rates, &["standard"]));
    priced(&gateway, rates.len(), 1, false).remove(0)
}

fn offer(rate: &Value) -> DetailedOffer {
    offer_at("2027-05-01", std::slice::from_ref(rate))
}

#[test]
fn offer_has_every_documented_detail() {
    let DetailedOffer { offer, details } = offer(&rate());
    assert_eq!(offer.policy.penalties[0].amount, 2_500);
    let [room] = &details.rooms[..] else {
        panic!("not one room");
    };
    let remarks = "Deposit of EUR 50\non arrival.\nCancel by noon.";
    assert_eq!(room.remarks.as_deref(), Some(remarks));
    let perk = |name: &str, value| Perk {
        name: name.to_owned(),
        value,
    };
    let breakfast = perk("Daily breakfast", Some(Money::new(4_000, "USD")));
    assert_eq!(room.perks, [breakfast, perk("Early check-in", None)]);
    let tax = |description: &str, amount, payable_at| Tax {
        description: description.to_owned(),
        amount: Money::new(amount, "EUR"),
        payable_at,
    };
    let taxes = [
        tax("VAT", 2_000, PaymentPoint::Booking),
        tax("City tax", 450, PaymentPoint::CheckIn),
        tax("Resort fee", 1_000, PaymentPoint::Property),
    ];
    assert_eq!(room.taxes, taxes);
    assert_eq!(room.max_occupancy, Some(3));
    assert_eq!(room.policy.refund_type, Some(RefundType::Full));
    let penalties = room.policy.penalties.iter().map(|penalty| {
        let start = time::parse_timestamp("2027-05-20 10:00:00").unwrap();
        let days = (penalty.start - start) / 86_400_000;
        (days, penalty.basis_points, penalty.time_zone.as_deref())
    });
    let expected = [(0, Some(1_250), Some("GMT")), (5, None, Some("GMT"))];
    assert!(penalties.eq(expected));
    assert_eq!(details.policy, room.policy);
    let types = [
        PaymentType::Prepaid,
        PaymentType::PayAtProperty,
        PaymentType::Other("VOUCHER".to_owned()),
    ];
    assert_eq!(details.payment_types, types);
    assert!(!details.package_only);
}

#[test]
fn room_without_a_name_has_that_of_its_room_type() {
    let mut unnamed = rate();
    unnamed["name"] = json!(null);
    unnamed["occupancyNumber"] = json!(2);
    let rates = [rate(), unnamed];
    for (name, expected) in [
        (json!("Suite &amp; terrace"), ["Double", "Suite & terrace"]),
        (json!(null), ["Double", ""]),
        (json!({"odd": true}), ["Double", ""]),
    ] {
        let room_type = json!({"offerId": "O-1", "name": name, "rates": rates});
        let body = json!({"data": [{"hotelId": "lpown1", "roomTypes": [room_type]}]});
        let gateway = MockGateway::new().respond_with(200, body.to_string());
        let offers = priced(&gateway, 2, 1, false);
        let names = offers[0].offer.rooms.iter().map(|room| &*room.name);
        assert!(names.eq(expected), "{name}");
    }
}

#[test]
fn terms_of_a_prebook_follow_the_remarks_of_each_room() {
    for (terms, expected) in [
        (
            json!("<p>No smoking.</p>"),
            [Some("Ring twice.\nNo smoking."), Some("No smoking.")],
        ),
        (
            json!("Ring twice."),
            [Some("Ring twice."), Some("Ring twice.")],
        ),
        (json!(""), [Some("Ring twice."), None]),
        (json!({"odd": true}), [Some("Ring twice."), None]),
    ] {
        let mut document: Value = serde_json::from_str(&ask::fixture("prebook.json")).unwrap();
        let data = &mut document["data"];
        data["termsAndConditions"] = terms.clone();
        // The second rate is that of the first room.
        data["roomTypes"][0]["rates"][1]["remarks"] = json!("Ring twice.");
        let gateway = MockGateway::new()
            .respond_with(200, document.to_string())
            .respond_with(200, ask::fixture("hotel.json"));
        let bound = ask::detailed_prebook(&gateway, ask::prebook_request()).unwrap();
        let remarks = bound.details.rooms.iter();
        assert!(
            remarks.map(|room| room.remarks.as_deref()).eq(expected),
            "{terms}"
        );
    }
}

#[test]
fn odd_details_never_cost_the_offer() {
    for (field, odd) in [
        ("maxOccupancy", json!(-1)),
        ("maxOccupancy", json!(0)),
        ("maxOccupancy", json!(1_000)),
        ("remarks", json!({"text": "odd"})),
        ("remarks", json!(null)),
        (
            "perks",
            json!([7, {"name": {}}, {"name": "X", "amount": "odd"}]),
        ),
        ("perks", json!(null)),
        ("paymentTypes", json!([7, null])),
        ("paymentTypes", json!("")),
    ] {
        let mut odd_rate = rate();
        odd_rate[field] = odd.clone();
        let DetailedOffer { offer, details } = offer(&odd_rate);
        assert_eq!(offer.total, 20_000, "{field} {odd}");
        let room = &details.rooms[0];
        match field {
            "maxOccupancy" => assert_eq!(room.max_occupancy, None),
            "remarks" => assert_eq!(room.remarks.as_deref(), Some("Cancel by noon.")),
            "perks" => assert!(room.perks.iter().all(|perk| perk.value.is_none())),
            _ => assert!(details.payment_types.is_empty()),
        }
    }
}

#[test]
fn refund_type_is_that_of_the_lowest_fee() {
    let policies = |tag: &str, penalties: Value| {
        let mut rate = rate();
        rate["cancellationPolicies"] =
            json!({"refundableTag": tag, "cancelPolicyInfos": penalties});
        offer(&rate).details.policy
    };
    let from = |time: &str, amount: f64| json!([{"cancelTime": time, "amount": amount}]);
    let always = "0001-01-01T00:00:00Z";
    for (tag, penalties, expected) in [
        ("RFN", from("2027-05-20", 0.0), Some(RefundType::Full)),
        ("RFN", from("2027-05-20", 200.0), Some(RefundType::Full)),
        ("RFN", from(always, 50.0), Some(RefundType::Partial)),
        // The tag and the penalty contradict each other.
        ("RFN", from(always, 200.0), None),
        ("NRFN", json!([]), Some(RefundType::None)),
        ("NRFN", from("2027-05-20", 50.0), Some(RefundType::None)),
    ] {
        let read = policies(tag, penalties.clone());
        assert_eq!(read.refund_type, expected, "{tag} {penalties}");
    }
    // The fees that count are those from the time of the call on.
    for (time, expected) in [
        ("2027-05-20T09:59:59Z", Some(RefundType::Full)),
        ("2027-05-20T10:00:00Z", Some(RefundType::Partial)),
        // Nothing is returned any more, which contradicts the tag.
        ("2027-05-25T10:00:00Z", None),
    ] {
        let DetailedOffer { details, .. } = offer_at(time, &[rate()]);
        assert_eq!(details.policy.refund_type, expected, "{time}");
    }
    // The substitute for an unreadable policy has no details, because Nuitee does not state it.
    for (tag, penalties) in [
        ("", from("2027-05-20", 5.0)),
        ("RFN", from("soon", 5.0)),
        ("RFN", json!([])),
    ] {
        assert_eq!(policies(tag, penalties), PolicyDetails::default());
    }
}

/// The offer is sold as not refundable, and the loss is counted.
#[test]
fn unusable_policy_of_a_rate_is_counted() {
    let penalty = |amount: f64| json!([{"cancelTime": "2027-05-20", "amount": amount}]);
    for (policies, is_refundable, count) in [
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": penalty(5.0)}),
            true,
            0,
        ),
        (
            json!({"refundableTag": "NRFN", "cancelPolicyInfos": penalty(-5.0)}),
            false,
            0,
        ),
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": penalty(-5.0)}),
            false,
            1,
        ),
        (json!({"refundableTag": "MAYBE"}), false, 1),
        // Nuitee states free cancellation as a penalty of 0. Without penalties, nothing is stated.
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": penalty(0.0)}),
            true,
            0,
        ),
        (json!({"refundableTag": "RFN"}), false, 1),
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": null}),
            false,
            1,
        ),
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": ""}),
            false,
            1,
        ),
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": []}),
            false,
            1,
        ),
        (
            json!({"refundableTag": "RFN", "cancelPolicyInfos": [null]}),
            false,
            1,
        ),
        (json!(null), false, 1),
    ] {
        let mut rate = rate();
        rate["cancellationPolicies"] = policies.clone();
        rate["perks"] = json!([]);
        let body = response(&[rate], &["standard"]);
        let gateway = MockGateway::new().respond_with(200, body);
        let offers = priced(&gateway, 1, 1, false);
        assert_eq!(
            offers[0].offer.policy.refundable, is_refundable,
            "{policies}"
        );
        let counts = gateway.dropped_items();
        let dropped: u32 = counts.iter().map(|(_, count)| count).sum();
        assert_eq!(dropped, count, "{policies}");
    }
}

#[test]
fn refund_type_of_several_rooms_needs_that_of_each() {
    let mut second = rate();
    second["occupancyNumber"] = json!(2);
    for (tag, expected) in [
        ("RFN", Some(RefundType::Full)),
        ("NRFN", Some(RefundType::Partial)),
        ("MAYBE", None),
    ] {
        second["cancellationPolicies"]["refundableTag"] = json!(tag);
        let DetailedOffer { details, .. } = offer_at("2027-05-01", &[rate(), second.clone()]);
        assert_eq!(details.policy.refund_type, expected, "{tag}");
        assert!(!details.policy.penalties.is_empty(), "{tag}");
    }
}

#[test]
fn package_rates_are_left_out_unless_asked_for() {
    // Nuitee limits the rates before the package rates are left out.
    for (includes_packages, requested, expected) in [
        (false, 6, &[false][..]),
        (false, 7, &[false, false]),
        (true, 6, &[true]),
        (true, 7, &[true, false]),
    ] {
        let body = response(&[rate()], &["PACKAGE", "standard", "", "package"]);
        let gateway = MockGateway::new().respond_with(200, body);
        let max_offers = u16::try_from(expected.len()).unwrap();
        let offers = priced(&gateway, 1, max_offers, includes_packages);
        let found = offers.iter().map(|offer| offer.details.package_only);
        assert!(found.eq(expected.iter().copied()), "{requested}");
        let body = gateway.request_json(0);
        assert_eq!(body["maxRatesPerHotel"], requested);
    }
    let gateway = MockGateway::new().respond_with(200, response(&[rate()], &["package"]));
    assert!(priced(&gateway, 1, 1, false).is_empty());
}

/// The price of a room that is paid at the hotel must not be collected when the offer is booked.
#[test]
fn offer_with_a_room_that_is_paid_at_the_hotel_is_left_out() {
    for (first, second, is_offered) in [
        (json!(["NUITEE_PAY"]), json!(["NUITEE_PAY"]), true),
        (json!(["PROPERTY_PAY", "NUITEE_PAY"]), json!([]), true),
        (json!(["PROPERTY_PAY"]), json!(["NUITEE_PAY"]), false),
        (
            json!(["NUITEE_PAY"]),
            json!(["VOUCHER", "PROPERTY_PAY"]),
            false,
        ),
        (json!([]), json!(["PROPERTY_PAY"]), false),
    ] {
        let mut rates = [rate(), rate()];
        for (index, types) in [&first, &second].into_iter().enumerate() {
            rates[index]["occupancyNumber"] = json!(index + 1);
            rates[index]["paymentTypes"] = types.clone();
        }
        let gateway = MockGateway::new().respond_with(200, response(&rates, &["standard"]));
        let offers = priced(&gateway, 2, 1, false);
        assert_eq!(!offers.is_empty(), is_offered, "{first} {second}");
    }
}

#[test]
fn details_of_rooms_are_in_requested_order_and_shared_by_all_rates() {
    let gateway = ask::fixtures(&["rates.json"]);
    let response = ask::detailed_price(&gateway, ask::price_request(), false).unwrap();
    let DetailedOffer { offer, details } = &response.hotels[0].offers[0];
    // Nuitee sends the second room first.
    let occupancies: Vec<_> = details
        .rooms
        .iter()
        .map(|room| room.max_occupancy)
        .collect();
    assert_eq!(occupancies, [Some(2), Some(3)]);
    let taxes = details.rooms.iter().map(|room| room.taxes.len());
    assert!(taxes.eq([0, 3]));
    // Only one of the rates names its payment types.
    assert!(details.payment_types.is_empty());
    let starts = details.policy.penalties.iter().map(|penalty| penalty.start);
    assert!(starts.eq(offer.policy.penalties.iter().map(|penalty| penalty.start)));
}

#[test]
fn prebook_and_booking_keep_details() {
    let gateway = ask::fixtures(&["prebook.json", "hotel.json"]);
    let bound = ask::detailed_prebook(&gateway, ask::prebook_request()).unwrap();
    let details = &bound.details;
    let city_tax = &details.rooms[1].taxes[0];
    assert_eq!(city_tax.payable_at, PaymentPoint::CheckIn);
    assert_eq!(details.policy.refund_type, Some(RefundType::Full));
    assert!(!details.package_only);
    let document = ask::fixture("booking.json");
    let gateway = MockGateway::with_responses(&[(200, &document)]);
    let booked = ask::detailed_book(&gateway).unwrap();
    let policy = booked.booking.policy.unwrap();
    assert_eq!(booked.policy.penalties.len(), policy.penalties.len());
    let mut zones = booked.policy.penalties.iter();
    assert!(zones.all(|penalty| penalty.time_zone.as_deref() == Some("GMT")));
}
