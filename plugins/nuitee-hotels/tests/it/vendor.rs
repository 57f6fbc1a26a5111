//! Replay of the vendor's own examples, if they are in a folder beside the repository. Without them
//! the test passes and says that it skipped the replay.

use std::path::Path;

use nuitee_hotels::NuiteeHotels;
use serde_json::Value;
use stopover_sdk::hotel_booking::{BookingLookup, FindRequest};
use stopover_sdk::hotel_cancellation::{Quote, QuoteRequest};
use stopover_sdk::hotel_places::PlaceQuery;
use stopover_sdk::hotel_pricing::PriceRequest;
use stopover_sdk::testing::Outcome::{Misconfigured, Refused, Rejected, Unknown};
use stopover_sdk::testing::{self, DocumentCheck, MockGateway, outcome};
use stopover_sdk::types::hotel::{Occupancy, Stay};
use stopover_sdk::types::{BookingStatus, Location, Money};
use stopover_sdk::{HotelCancellation, HotelContent, HotelPlaces, HotelWeather};

use crate::ask;

/// Every hotel document that the adapter may receive, selected by the prefix of its name.
const CHECKS: [(&str, DocumentCheck); 19] = [
    ("search/POST_hotels_rates__200", rates),
    ("booking/POST_rates_prebook__200", prebook),
    ("booking/POST_rates_book__200", book),
    ("booking/GET_bookings_bookingId__200", read_booking),
    ("booking/PUT_bookings_bookingId__200", cancel),
    ("booking/POST_rates_book__request", book_request),
    ("booking/POST_rates_prebook__request", prebook_request),
    ("booking/POST_rates_book__400", book_refused),
    ("booking/POST_rates_prebook__40", prebook_refused),
    ("static/GET_data_hotel__200", details),
    ("static/GET_data_reviews__200", reviews),
    ("static/GET_data_weather__200", weather),
    ("static/GET_data_places__", places),
    ("booking/GET_bookings_bookingId__401", refused_read),
    ("booking/GET_prebooks_prebookId__401", refused_read),
    ("booking/PUT_bookings_bookingId__401", refused_read),
    ("static/GET_data_hotel__401", refused_read),
    ("static/GET_data_hotels__401", refused_read),
    ("static/GET_data_reviews__401", refused_read),
];

#[test]
fn vendor_examples_are_read() {
    let folder = "../../../shared/fixtures/liteapi/extracted";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    testing::check_documents(&folder, &CHECKS).unwrap();
}

fn stay() -> Stay {
    Stay {
        check_in: "2025-12-05".to_owned(),
        check_out: "2025-12-10".to_owned(),
        occupancies: vec![Occupancy {
            adults: 2,
            children: vec![],
        }],
        guest_nationality: "US".to_owned(),
        guest_residence: None,
        currency: "USD".to_owned(),
    }
}

fn rates(document: &str, status: u16) {
    let gateway = MockGateway::with_responses(&[(status, document)]);
    let request = PriceRequest {
        supplier_hotel_ids: vec!["lp1897".to_owned()],
        stay: stay(),
        max_offers_per_hotel: 5,
    };
    let response = ask::price_of(&gateway, request).unwrap();
    let hotel = &response.hotels[0];
    assert_eq!(hotel.hotel.name, "Hotel Example NYC");
    assert_eq!(hotel.offers.len(), 1);
    let offer = &hotel.offers[0];
    assert_eq!(offer.total, 16366);
    assert_eq!(offer.rooms[0].name, "Standard King Room");
    let due = Money::new(4361, "USD");
    assert_eq!(offer.rooms[0].due_at_property, Some(due));
    assert!(offer.policy.refundable);
    assert_eq!(offer.policy.penalties[0].amount, 16366);
    assert_eq!(offer.promotions[0].name, "Early booker Deal");
    assert!(gateway.logs().is_empty());
}

fn prebook(document: &str, status: u16) {
    let gateway = MockGateway::with_responses(&[(status, document), (204, "")]);
    let mut request = ask::prebook_request();
    request.supplier_hotel_id = "lp1897".to_owned();
    request.stay = stay();
    request.total = 16366;
    let bound = ask::detailed_prebook(&gateway, request).unwrap();
    let [room] = &bound.details.rooms[..] else {
        panic!("not one room");
    };
    let remarks = room.remarks.as_deref().unwrap();
    assert!(
        remarks.contains("A Resort Fee totaling USD43.61"),
        "{remarks}"
    );
    let taxes: i64 = room.taxes.iter().map(|tax| tax.amount.amount).sum();
    assert_eq!((room.taxes.len(), taxes), (5, 2353 + 4361));
    let bound = bound.prebook;
    // The example's price, 213.66, includes add-ons of 70 and a voucher of 20.
    assert_eq!(bound.total, 16366);
    assert_eq!(bound.rooms.len(), 1);
    assert!(bound.supplier_prebook.contains("zzWkJcdgk"));
}

fn book(document: &str, status: u16) {
    let state = ask::book(&MockGateway::with_responses(&[(status, document)])).unwrap();
    assert_eq!(state.supplier_reference, "ABC123");
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!((state.total, state.currency.as_str()), (10000, "USD"));
    assert_eq!(state.remarks.as_deref(), Some("Free breakfast\nFree WiFi"));
    assert_eq!(state.hotel_confirmation_code.as_deref(), Some("HOTEL123"));
}

fn read_booking(document: &str, status: u16) {
    let request = FindRequest {
        client_reference: "REF123".to_owned(),
        supplier_reference: Some("hSq2gVDrf".to_owned()),
        supplier_prebook: None,
    };
    let gateway = MockGateway::with_responses(&[(status, document), (status, document)]);
    let found = ask::find_of(&gateway, request).unwrap();
    let BookingLookup::Found(state) = found else {
        panic!("not found");
    };
    assert_eq!((state.total, state.rooms.len()), (11500, 1));
    assert_eq!(state.client_reference.as_deref(), Some("REF123"));
    assert_eq!(state.remarks, None);
    let policy = state.policy.unwrap();
    assert_eq!(policy.penalties[0].amount, 10000);

    let request = QuoteRequest {
        supplier_reference: "hSq2gVDrf".to_owned(),
        client_reference: "REF123".to_owned(),
    };
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(request));
    assert_eq!(quote, Ok(Quote::Policy(Some(policy))));
}

fn cancel(document: &str, status: u16) {
    let gateway = MockGateway::with_responses(&[(status, document), (500, "")]);
    let mut request = ask::cancel_request();
    request.supplier_reference = "hSq2gVDrf".to_owned();
    let state = gateway.run(|| NuiteeHotels::cancel(request)).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    let amounts = state.cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (2500, Some(12500)));
}

/// Checks that every field that the adapter sends is in the vendor's example.
fn book_request(document: &str, _: u16) {
    let gateway = MockGateway::new();
    let _ = ask::book(&gateway);
    let example = serde_json::from_str(document).unwrap();
    testing::check_known_fields(&gateway.request_json(0), &example, &["clientReference"]);
}

fn prebook_request(document: &str, _: u16) {
    let gateway = MockGateway::new();
    let _ = ask::prebook(&gateway);
    let example = serde_json::from_str(document).unwrap();
    testing::check_known_fields(&gateway.request_json(0), &example, &[]);
}

fn book_refused(document: &str, status: u16) {
    let result = ask::book(&MockGateway::with_responses(&[(status, document)]));
    let error: Value = serde_json::from_str(document).unwrap();
    let is_definite = matches!(error["error"]["code"].as_u64(), Some(4000 | 4002 | 4010));
    let is_expected = match outcome(&result) {
        Refused(_) => is_definite,
        outcome => outcome == Unknown && !is_definite,
    };
    assert!(is_expected, "{document}: {result:?}");
}

fn prebook_refused(document: &str, status: u16) {
    let result = ask::prebook(&MockGateway::with_responses(&[
        (status, document),
        (204, ""),
    ]));
    let reason = if status == 401 { "account" } else { "expired" };
    assert_eq!(outcome(&result), Refused(reason), "{result:?}");
}

/// Checks an error that is the same for every read.
fn refused_read(document: &str, status: u16) {
    let details = ask::details(&MockGateway::with_responses(&[(status, document)]));
    assert_eq!(outcome(&details), Misconfigured, "{details:?}");
}

fn details(document: &str, status: u16) {
    let gateway = MockGateway::with_responses(&[(status, document)]);
    let details = gateway.run(|| NuiteeHotels::read_details("lp1897".to_owned()));
    let details = details.unwrap();
    assert_eq!(details.name, "The Manhattan at Times Square");
    assert_eq!(details.country.as_deref(), Some("US"));
    assert_eq!(details.check_in_from.as_deref(), Some("16:00"));
    assert_eq!(details.guest_rating, Some(5.6));
    assert_eq!((details.rooms.len(), details.images.len()), (6, 4));
    assert_eq!((details.phone, details.email), (None, None));
    assert!(!details.description.unwrap().contains('<'));
}

fn reviews(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let reviews = gateway.run(|| NuiteeHotels::read_reviews("lp4c2bf".to_owned(), 20));
    let reviews = reviews.unwrap();
    assert_eq!((reviews.items.len(), reviews.count), (2, 10));
    assert!(!format!("{reviews:?}").contains("Hala"));
}

fn weather(document: &str, status: u16) {
    let gateway = MockGateway::new().respond_with(status, document);
    let at = Location {
        latitude: 36.1251,
        longitude: -115.1699,
    };
    let (start, end) = ("2026-07-01".to_owned(), "2026-07-31".to_owned());
    let days = gateway.run(|| NuiteeHotels::forecast(at, start, end));
    let days = days.unwrap();
    assert_eq!(days.len(), 2);
    let summary = days[0].summary.as_deref().unwrap();
    assert!(summary.starts_with("The day will start"), "{summary}");
}

fn places(document: &str, status: u16) {
    let place = ask::fixture("place.json");
    let gateway = MockGateway::with_responses(&[(status, document), (200, &place), (200, &place)]);
    let query = PlaceQuery {
        text: "Rome".to_owned(),
        country: None,
        language: None,
        limit: 5,
    };
    let found = gateway.run(|| NuiteeHotels::find_places(query));
    if status == 200 {
        assert_eq!(found.unwrap()[0].name, "Rome");
    } else {
        assert_eq!(outcome(&found), Rejected("invalid"), "{found:?}");
    }
}
