//! Responses that do not prove what they seem to say: values that decide and cannot be read, and values
//! that contradict each other or the request.

use serde_json::{Value, json};
use stopover_sdk::hotel_booking::PrebookResponse;
use stopover_sdk::testing::Outcome::{Refused, Unknown};
use stopover_sdk::testing::{MockGateway, outcome, refusal, with_values};
use stopover_sdk::types::hotel::SupplierBooking;
use stopover_sdk::types::{BookingStatus, Money};
use stopover_sdk::{ChangeError, RefusalReason};

use crate::ask;

type Edits<'a> = &'a [(&'a str, Value)];

fn edited(fixture: &str, edits: Edits<'_>) -> String {
    let document = serde_json::from_str(&ask::fixture(fixture)).unwrap();
    with_values(document, edits).to_string()
}

fn prebook(edits: Edits<'_>) -> Result<PrebookResponse, ChangeError> {
    let document = edited("prebook.json", edits);
    ask::prebook(&MockGateway::with_responses(&[(200, &document), (204, "")]))
}

fn book(edits: Edits<'_>) -> Result<SupplierBooking, ChangeError> {
    ask::book(&MockGateway::new().respond_with(200, edited("booking.json", edits)))
}

fn dropped(gateway: &MockGateway) -> u32 {
    let counts = gateway.dropped_items();
    counts.iter().map(|(_, count)| count).sum()
}

/// The forms of a list that states nothing.
fn no_list() -> [Value; 3] {
    [json!(null), json!(""), json!([])]
}

#[test]
fn refundable_prebook_without_penalties_is_not_free() {
    for list in no_list() {
        let path = |rate: u8| {
            format!("/data/roomTypes/0/rates/{rate}/cancellationPolicies/cancelPolicyInfos")
        };
        let bound = prebook(&[(&path(0), list.clone()), (&path(1), list.clone())]).unwrap();
        let policies = bound.rooms.iter().map(|room| &room.policy);
        let mut policies = policies.chain([&bound.policy]);
        assert!(policies.all(|policy| !policy.refundable), "{list}");
    }
}

#[test]
fn policy_of_a_booking_replaces_that_of_a_room_without_penalties() {
    for list in no_list() {
        let room = "/data/bookedRooms/1/rate/cancellationPolicies/cancelPolicyInfos";
        let own = "/data/cancellationPolicies/cancelPolicyInfos";
        let document = edited("booking.json", &[(room, list.clone())]);
        let gateway = MockGateway::new().respond_with(200, document);
        let policy = ask::book(&gateway).unwrap().policy.unwrap();
        let amounts = policy.penalties.iter().map(|penalty| penalty.amount);
        assert!(policy.refundable && amounts.eq([100]), "{list}");
        assert_eq!(dropped(&gateway), 1, "{list}");

        let document = edited("booking.json", &[(room, list.clone()), (own, list.clone())]);
        let gateway = MockGateway::new().respond_with(200, document);
        let booked = ask::book(&gateway).unwrap();
        assert_eq!(booked.status, BookingStatus::Confirmed, "{list}");
        assert_eq!((booked.policy, dropped(&gateway)), (None, 2), "{list}");
    }
}

/// The price of the example is 460.50 for the rooms, plus 70 of add-ons, minus a voucher of 20.
const PRICE: &str = "/data/price";
const ADDONS: &str = "/data/addonsTotalAmount";
const ADDONS_LIST: &str = "/data/addonsRequest";
const VOUCHERS: &str = "/data/voucherTotalAmount";
const VOUCHER_CODE: &str = "/data/voucherCode";

fn with_extras() -> Vec<(&'static str, Value)> {
    vec![
        (PRICE, json!(510.5)),
        (ADDONS, json!(70)),
        (
            ADDONS_LIST,
            json!([{"addon": "uber", "value": 70, "currency": "EUR"}]),
        ),
        (VOUCHERS, json!("20")),
        (VOUCHER_CODE, json!("own-voucher")),
    ]
}

#[test]
fn prebook_with_unknown_add_ons_or_vouchers_is_not_a_higher_price() {
    let prebook_with = |more: Edits<'_>| prebook(&[&with_extras()[..], more].concat());
    assert_eq!(prebook_with(&[]).unwrap().total, 46050);
    for amount in [ADDONS, VOUCHERS] {
        for odd in [json!(null), json!(""), json!("x"), json!({}), json!(1)] {
            let result = prebook_with(&[(amount, odd.clone())]);
            assert_eq!(outcome(&result), Unknown, "{amount} {odd}: {result:?}");
        }
    }
    // The add-ons or the voucher are stated only by the list or by the code.
    let missing = [(ADDONS, json!(null)), (VOUCHERS, json!(null))];
    for stated in [
        vec![(VOUCHER_CODE, json!("")), (PRICE, json!(530.5))],
        vec![(ADDONS_LIST, json!([])), (PRICE, json!(440.5))],
        vec![(VOUCHER_CODE, json!("")), (ADDONS_LIST, json!({}))],
        vec![(VOUCHER_CODE, json!(7)), (ADDONS_LIST, json!(null))],
    ] {
        let result = prebook_with(&[&missing[..], &stated[..]].concat());
        assert_eq!(outcome(&result), Unknown, "{stated:?}: {result:?}");
    }
}

#[test]
fn rooms_decide_the_price_of_a_prebook_whatever_its_add_ons_are() {
    for odd in [json!(null), json!("x"), json!({})] {
        let edits = [(ADDONS, odd.clone()), (VOUCHERS, odd.clone())];
        assert_eq!(prebook(&edits).unwrap().total, 46050, "{odd}");
        let listed = [(PRICE, json!(460.5)), (ADDONS, odd.clone())];
        let bound = prebook(&[with_extras(), listed.to_vec()].concat()).unwrap();
        assert_eq!(bound.total, 46050, "{odd}");
    }
    // Without add-ons and vouchers, the price itself counts.
    let none = [
        (ADDONS, json!(0)),
        (ADDONS_LIST, json!([])),
        (VOUCHERS, json!("0")),
        (VOUCHER_CODE, json!("")),
        (PRICE, json!(469.99)),
    ];
    let expected = RefusalReason::PriceChanged(Money::new(46999, "EUR"));
    assert_eq!(refusal(prebook(&none)).reason, expected);
    // The price of a room rose, beside add-ons that are known.
    let total = "/data/roomTypes/0/rates/0/retailRate/total/0/amount";
    let risen = [(PRICE, json!(520.5)), (total, json!(220.4))];
    let result = prebook(&[with_extras(), risen.to_vec()].concat());
    assert_eq!(outcome(&result), Refused("price changed"), "{result:?}");
}

/// What Nuitee does when it books is documented: it confirms. A lookup states a later cancellation.
#[test]
fn response_to_book_of_a_canceled_booking_is_unknown() {
    for status in ["CANCELED", "CANCELLED_WITH_CHARGES"] {
        let edits = [("/data/status", json!(status))];
        let result = book(&edits);
        assert_eq!(outcome(&result), Unknown, "{status}: {result:?}");
        let found = ask::found(&edited("booking.json", &edits));
        assert_eq!(found.status, BookingStatus::Canceled, "{status}");
    }
}

#[test]
fn unreadable_flag_of_a_prebook_makes_it_unknown() {
    for flag in ["boardChanged", "cancellationChanged", "isPackageRate"] {
        let pointer = format!("/data/{flag}");
        for odd in [json!({}), json!("yes"), json!(2), json!([true])] {
            let result = prebook(&[(&pointer, odd.clone())]);
            assert_eq!(outcome(&result), Unknown, "{flag} {odd}: {result:?}");
        }
        for no in [json!(null), json!(0), json!("false"), json!("")] {
            assert!(prebook(&[(&pointer, no.clone())]).is_ok(), "{flag} {no}");
        }
    }
}

/// An unreadable type of a rate is not `standard`, and an unreadable flag is not "no".
#[test]
fn offer_with_unreadable_terms_is_left_out() {
    let penalty = "/data/1/roomTypes/0/rates/1/cancellationPolicies/cancelPolicyInfos/0";
    let (kind, currency) = (format!("{penalty}/type"), format!("{penalty}/currency"));
    for pointer in [
        "/data/1/roomTypes/0/rateType",
        "/data/1/roomTypes/0/loyaltyMembershipIdRequired",
        kind.as_str(),
        currency.as_str(),
    ] {
        for odd in [json!({}), json!([]), json!(2)] {
            let document = edited("rates.json", &[(pointer, odd.clone())]);
            let gateway = MockGateway::new().respond_with(200, document);
            let response = ask::price(&gateway).unwrap();
            let [offer] = &response.hotels[0].offers[..] else {
                panic!("{pointer} {odd}: not one offer");
            };
            assert_eq!(offer.supplier_offer, "OFFER-GARDEN", "{pointer} {odd}");
            // Three offers of the fixture cannot be sold.
            assert_eq!(dropped(&gateway), 4, "{pointer} {odd}");
        }
    }
}

#[test]
fn penalty_of_unreadable_type_or_currency_is_no_amount() {
    let penalty = "/cancellationPolicies/cancelPolicyInfos/0";
    for field in ["type", "currency"] {
        for odd in [json!({}), json!([]), json!(2)] {
            let pointer = format!("/data/roomTypes/0/rates/0{penalty}/{field}");
            let result = prebook(&[(&pointer, odd.clone())]);
            assert_eq!(outcome(&result), Unknown, "{field} {odd}: {result:?}");
            let pointer = format!("/data/bookedRooms/0{penalty}/{field}");
            let policy = book(&[(&pointer, odd.clone())]).unwrap().policy.unwrap();
            let amounts = policy.penalties.iter().map(|penalty| penalty.amount);
            assert!(amounts.eq([100]), "{field} {odd}: not the booking's own");
        }
    }
}

/// Returns the positions of the rooms of a confirmed booking that has this list of rooms.
fn positions(rooms: Value) -> Vec<u8> {
    let booked = book(&[("/data/bookedRooms", rooms)]).unwrap();
    assert_eq!(booked.status, BookingStatus::Confirmed);
    booked.rooms.iter().map(|room| room.position).collect()
}

/// The gateway takes a confirmed booking only if it has all requested rooms and no others.
#[test]
fn number_of_rooms_proves_a_booking_and_not_their_numbers() {
    let room = |number: Value| {
        let total = json!({"amount": 230.25, "currency": "EUR"});
        json!({"occupancy_number": number, "rate": {"retailRate": {"total": total}}})
    };
    let first = || room(json!(1));
    for rooms in [
        json!([first(), room(json!(2))]),
        json!([first(), first()]),
        json!([room(json!({})), room(json!(null))]),
        json!([first(), 7]),
        json!([null, first()]),
        json!([{}, {"occupancy_number": 2}]),
    ] {
        assert_eq!(positions(rooms.clone()), [0, 1], "{rooms}");
    }
    for rooms in [json!([first()]), json!(first()), json!([room(json!({}))])] {
        assert_eq!(positions(rooms.clone()), [0], "{rooms}");
    }
    for rooms in [
        json!([first(), first(), first()]),
        json!([first(), room(json!(2)), null]),
    ] {
        assert_eq!(positions(rooms.clone()), [0, 1, 2], "{rooms}");
    }
    assert_eq!(positions(json!([first(), room(json!(3))])), [0, 2]);
    // Nothing in these lists is a room.
    for rooms in [
        json!(null),
        json!([]),
        json!([null, 5]),
        json!([{}, {}]),
        json!([{"occupancy_number": {}}, 7]),
        json!({}),
        json!("x"),
    ] {
        assert_eq!(positions(rooms.clone()), Vec::<u8>::new(), "{rooms}");
    }
}

#[test]
fn cancellation_logs_what_it_leaves_out_once() {
    let odd = [
        ("/data/status", json!("CANCELED")),
        ("/data/remarks", json!(7)),
        ("/data/checkin", json!({})),
    ];
    let booking = edited("booking.json", &odd);
    let answer = ask::fixture("cancel.json").replace("50.0", "\"?\"");
    let responses = [(200, answer.as_str()), (200, booking.as_str())];
    let gateway = MockGateway::with_responses(&responses);
    ask::cancel(&gateway).unwrap();
    assert_eq!(dropped(&gateway), 2);
    assert_eq!(gateway.logs().len(), 1, "{:?}", gateway.logs());
}
