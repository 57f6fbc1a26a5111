use super::*;
use crate::bindings::exports::stopover::supplier::{
    hotel_price_calendar, hotel_pricing, hotel_search, hotel_weather,
};
use crate::bindings::stopover::supplier::{hotel_types as wire, types};
use host_domain::hotel::supplier_api::{HotelPriceRequest, HotelPriceResponse};
use host_domain::hotel::{Occupancy, Stay};
use host_domain::supplier::{ChangeError, ReadError};

pub(super) fn euros() -> Currency {
    Currency::parse("EUR").unwrap()
}

pub(super) fn request() -> HotelPriceRequest {
    let day = |text: &str| text.parse().unwrap();
    HotelPriceRequest {
        supplier_hotel_ids: vec!["h1".to_owned(), "h2".to_owned()],
        stay: Stay {
            check_in: day("2027-01-10"),
            check_out: day("2027-01-12"),
            occupancies: vec![Occupancy {
                adults: 2,
                children: vec![5],
            }],
            guest_nationality: "DE".to_owned(),
            guest_residence: None,
            currency: euros(),
        },
        max_offers_per_hotel: 2,
        include_package_rates: false,
    }
}

/// Returns the field for which a response was rejected.
pub(super) fn rejected<T>(result: ConvertResult<T>) -> &'static str {
    result.err().unwrap().field
}

/// The name of a field, and a change that makes it invalid in a response.
pub(crate) type InvalidField<W> = (&'static str, fn(&mut W));

/// Asserts that each change of a valid response makes it invalid in the named field.
pub(super) fn assert_rejected<W, T>(
    valid: fn() -> W,
    read: impl Fn(W) -> ConvertResult<T>,
    cases: &[InvalidField<W>],
) {
    for (field, change) in cases {
        let mut response = valid();
        change(&mut response);
        assert_eq!(rejected(read(response)), *field);
    }
}

pub(super) fn terms() -> wire::CancellationPolicy {
    let penalty = |start, amount| types::Penalty {
        start,
        amount,
        currency: "EUR".to_owned(),
    };
    wire::CancellationPolicy {
        refundable: true,
        free_until: Some(1_000),
        penalties: vec![penalty(2_000, 500), penalty(1_000, 100)],
        restrictions: Vec::new(),
    }
}

pub(super) fn offer() -> hotel_pricing::Offer {
    hotel_pricing::Offer {
        supplier_offer: "offer".to_owned(),
        total: 12_000,
        rooms: vec![wire::RoomRate {
            name: "Double".to_owned(),
            board: types::Board::BedAndBreakfast,
            board_name: "Breakfast".to_owned(),
            total: 12_000,
            due_at_property: Some(types::Money {
                amount: 300,
                currency: "USD".to_owned(),
            }),
            policy: terms(),
        }],
        policy: terms(),
        promotions: vec![wire::Promotion {
            name: "Early".to_owned(),
            description: None,
            amount: Some(100),
            room_positions: vec![0],
        }],
        loyalty: None,
        expires_at: Some(5_000),
    }
}

pub(super) fn summary() -> wire::HotelSummary {
    wire::HotelSummary {
        supplier_hotel_id: "h1".to_owned(),
        name: "Grand".to_owned(),
        address: "Square 1".to_owned(),
        location: Some(types::Location {
            latitude: 41.9,
            longitude: 12.5,
        }),
        time_zone: Some("Europe/Rome".to_owned()),
    }
}

pub(super) fn response(offers: Vec<hotel_pricing::Offer>) -> hotel_pricing::PriceResponse {
    let hotel = summary();
    hotel_pricing::PriceResponse {
        currency: "EUR".to_owned(),
        hotels: vec![hotel_pricing::HotelOffers { hotel, offers }],
    }
}

pub(super) fn priced() -> hotel_pricing::PriceResponse {
    response(vec![offer()])
}

/// The time at which responses are read, before the expiry of [`offer`].
pub(super) const NOW: Timestamp = Timestamp(500);

/// Requirements on a prebook in euros with a supplier that collects the payment.
pub(super) fn prebook_expectation() -> PrebookExpectation {
    PrebookExpectation {
        now: NOW,
        currency: euros(),
        collects_payment: true,
    }
}

fn read(response: hotel_pricing::PriceResponse) -> ConvertResult<HotelPriceResponse> {
    hotel::price_response(response, request(), NOW, &mut DroppedItems::default())
}

#[test]
fn valid_response_is_converted_completely_with_sorted_penalties() {
    let response = read(priced()).unwrap();
    let offer = &response.hotels[0].offers[0];
    assert_eq!(offer.total, Money::new(12_000, euros()));
    assert_eq!(offer.rooms.len(), 1);
    let due = offer.rooms[0].due_at_property.unwrap();
    assert_eq!(due.currency, Currency::USD);
    let penalties = &offer.policy.penalties;
    let starts: Vec<i64> = penalties.iter().map(|penalty| penalty.from.0).collect();
    assert_eq!(starts, [1_000, 2_000]);
}

#[test]
fn invalid_response_is_rejected_with_its_field() {
    assert_rejected(
        priced,
        read,
        &[
            ("currency", |a| a.currency = "USD".to_owned()),
            ("currency", |a| a.currency = "euro".to_owned()),
            ("hotels.offers", |a| a.hotels[0].offers = vec![offer(); 3]),
        ],
    );
    assert_rejected(
        summary,
        |hotel| {
            let offers = vec![offer()];
            let hotels = vec![hotel_pricing::HotelOffers { hotel, offers }];
            read(hotel_pricing::PriceResponse { hotels, ..priced() })
        },
        &[
            ("hotels.supplier-hotel-id", |h| {
                h.supplier_hotel_id = "h3".to_owned()
            }),
            ("hotels.supplier-hotel-id", |h| h.supplier_hotel_id.clear()),
            ("hotel.location", |h| {
                h.location.as_mut().unwrap().latitude = f64::NAN
            }),
            ("hotel.location", |h| {
                h.location.as_mut().unwrap().longitude = 180.1
            }),
        ],
    );
}

#[test]
fn invalid_offer_is_rejected_with_its_field() {
    assert_rejected(
        offer,
        |offer| read(response(vec![offer])),
        &[
            ("offers.total", |o| o.total = -1),
            ("offers.total", |o| o.total = 0),
            ("offers.total", |o| o.total = i64::MAX),
            ("offers.supplier-offer", |o| o.supplier_offer.clear()),
            ("offers.supplier-offer", |o| {
                o.supplier_offer = "x".repeat(4_097)
            }),
            ("offers.expires-at", |o| o.expires_at = Some(i64::MIN)),
            // Seconds that are given as milliseconds.
            ("offers.expires-at", |o| o.expires_at = Some(NOW.0)),
            ("rooms", |o| o.rooms.clear()),
            ("rooms.total", |o| o.rooms[0].total = -1),
            ("rooms.total", |o| o.rooms[0].total = 12_002),
            ("policy.penalties.amount", |o| {
                o.policy.penalties[0].amount = 12_002;
            }),
            ("policy.penalties.amount", |o| {
                o.rooms[0].policy.penalties[0].amount = 12_002;
            }),
            ("policy.refundable", |o| o.policy.refundable = false),
            ("policy.refundable", |o| {
                let penalty = o.policy.penalties[0].clone();
                o.policy = wire::CancellationPolicy {
                    refundable: false,
                    free_until: None,
                    penalties: vec![types::Penalty {
                        amount: 0,
                        ..penalty
                    }],
                    restrictions: Vec::new(),
                };
            }),
            ("policy.free-until", |o| o.policy.free_until = Some(1_001)),
            ("rooms.due-at-property", |o| {
                o.rooms[0]
                    .due_at_property
                    .as_mut()
                    .unwrap()
                    .currency
                    .clear();
            }),
            ("policy.penalties.amount", |o| {
                o.policy.penalties[0].amount = -1
            }),
            ("promotions.room-positions", |o| {
                o.promotions[0].room_positions = vec![1];
            }),
        ],
    );
}

/// Suppliers state "never" as the end of the year 9999, which is too late for some time zones.
#[test]
fn instants_until_the_end_of_9999_are_accepted() {
    let midnight = 253_402_214_400_000;
    let latest = 253_402_300_799_999;
    for (ms, expected) in [
        (Timestamp::MAX.0, Some(Timestamp::MAX)),
        (midnight, Some(Timestamp::MAX)),
        (latest, Some(Timestamp::MAX)),
        (latest + 1, None),
    ] {
        let mut never = offer();
        never.policy.free_until = None;
        never.policy.penalties.remove(1);
        never.policy.penalties[0].start = ms;
        never.expires_at = Some(ms);
        let response = read(response(vec![never]));
        let offers = response.map(|response| response.hotels[0].offers.clone());
        let read = offers.ok().and_then(|offers| offers.first().cloned());
        let read = read.map(|offer| (offer.policy.penalties[0].from, offer.expires_at));
        assert_eq!(read, expected.map(|at| (at, Some(at))), "{ms}");
    }
    assert_eq!(Timestamp::MAX.to_string(), "9999-12-30T22:00:00.000Z");
}

#[test]
fn duplicate_or_surplus_hotels_are_rejected() {
    for (count, field) in [(2, "hotels.supplier-hotel-id"), (3, "hotels")] {
        let mut response = priced();
        response.hotels = vec![response.hotels[0].clone(); count];
        assert_eq!(rejected(read(response)), field);
    }
}

#[test]
fn display_texts_are_truncated_and_invalid_display_values_left_out() {
    let mut long = response(vec![]);
    long.hotels[0].hotel.name = "ä".repeat(1_000) + "\0";
    long.hotels[0].hotel.time_zone = Some("Europe/Atlantis".to_owned());
    let hotel = read(long).unwrap().hotels.remove(0).hotel;
    assert_eq!((hotel.name.chars().count(), hotel.time_zone), (300, None));
}

fn found(rating: f64) -> hotel_search::SupplierHotel {
    hotel_search::SupplierHotel {
        supplier_hotel_id: "h1".to_owned(),
        name: "a\0b".to_owned(),
        address: String::new(),
        location: types::Location {
            latitude: 1.0,
            longitude: 2.0,
        },
        star_rating: Some(rating),
        guest_rating: Some(rating),
        lowest_total: Some(1),
        main_image: Some("javascript:alert(1)".to_owned()),
    }
}

#[test]
fn search_result_is_limited_and_invalid_ratings_left_out() {
    let search = |hotels| hotel_search::SearchResponse {
        currency: "EUR".to_owned(),
        hotels,
        applied: hotel_search::AppliedFilters::SORT | hotel_search::AppliedFilters::BOARDS,
        truncated: true,
    };
    let read = |hotels| {
        let dropped = &mut DroppedItems::default();
        hotel::search_response(search(hotels), euros(), 2, dropped)
    };
    let response = read(vec![found(f64::INFINITY), found(4.5)]).unwrap();
    let applied = response.applied;
    assert!(applied.sort && applied.boards && !applied.max_total && response.truncated);
    let [first, second] = &response.hotels[..] else {
        panic!("not two hotels")
    };
    assert_eq!((first.star_rating, second.star_rating), (None, Some(4.5)));
    assert_eq!(
        (first.name.as_str(), first.main_image.as_deref()),
        ("ab", None)
    );
    assert_eq!(rejected(read(vec![found(1.0); 3])), "hotels");
}

pub(super) fn booked(positions: &[u8]) -> wire::SupplierBooking {
    let rooms = positions.iter().map(|position| wire::SupplierRoom {
        position: *position,
        supplier_room_reference: Some(String::new()),
        hotel_confirmation_code: None,
        canceled: false,
    });
    wire::SupplierBooking {
        status: types::BookingStatus::Confirmed,
        supplier_reference: "b1".to_owned(),
        client_reference: Some(String::new()),
        currency: "EUR".to_owned(),
        total: 100,
        hotel_confirmation_code: Some(" ".to_owned()),
        remarks: None,
        rooms: rooms.collect(),
        policy: None,
        cancellation: None,
        extensions: Vec::new(),
    }
}

/// Builds the expectation of booking `b1` with these rooms. Any booking may be expected before the
/// supplier has assigned its reference.
pub(super) fn expected(
    reference: Option<&str>,
    currency: Option<Currency>,
    rooms: Option<usize>,
) -> hotel::HotelBookingExpectation {
    hotel::HotelBookingExpectation {
        references: ExpectedReferences::new("hbk_1", reference),
        currency,
        rooms,
    }
}

#[test]
fn booking_requires_reference_currency_and_unique_rooms() {
    let asked = expected(Some("b1"), Some(euros()), Some(2));
    let read_as = |state, asked: &hotel::HotelBookingExpectation| {
        hotel::supplier_booking(state, asked, NOW, &mut DroppedItems::default())
    };
    let state = read_as(booked(&[1, 0]), &asked).unwrap();
    let positions: Vec<u8> = state.rooms.iter().map(|room| room.position).collect();
    assert_eq!(positions, [0, 1]);
    assert_eq!(state.client_reference, None);
    assert_eq!(state.hotel_confirmation_code, None);
    assert_eq!(state.rooms[0].supplier_room_reference, None);
    let nameless = wire::SupplierBooking {
        supplier_reference: String::new(),
        ..booked(&[])
    };
    let any = || expected(None, None, None);
    for (state, asked, field) in [
        (booked(&[0, 0]), any(), "rooms.position"),
        (booked(&[200]), any(), "rooms.position"),
        (
            booked(&[]),
            expected(None, Some(Currency::USD), None),
            "currency",
        ),
        (nameless, any(), "supplier-reference"),
    ] {
        assert_eq!(rejected(read_as(state, &asked)), field);
    }
}

#[test]
fn booking_other_than_the_requested_one_is_rejected() {
    let named = |reference: &str| wire::SupplierBooking {
        client_reference: Some(reference.to_owned()),
        ..booked(&[0, 1])
    };
    let pending = wire::SupplierBooking {
        status: types::BookingStatus::Pending,
        ..booked(&[])
    };
    let two_rooms = || expected(None, None, Some(2));
    for (state, asked, field) in [
        (
            booked(&[0, 1]),
            expected(Some("b2"), None, None),
            Some("supplier-reference"),
        ),
        (named("hbk_2"), two_rooms(), Some("client-reference")),
        (named("hbk_1"), two_rooms(), None),
        (booked(&[]), two_rooms(), Some("rooms")),
        (booked(&[0]), two_rooms(), Some("rooms")),
        (booked(&[0, 2]), two_rooms(), Some("rooms.position")),
        (pending, two_rooms(), None),
        // A booking that is read back may be older than the gateway's knowledge of its rooms.
        (booked(&[]), expected(Some("b1"), None, None), None),
    ] {
        let text = format!("{state:?}");
        let dropped = &mut DroppedItems::default();
        let invalid = hotel::supplier_booking(state, &asked, NOW, dropped).err();
        assert_eq!(invalid.map(|invalid| invalid.field), field, "{text}");
    }
}

#[test]
fn invalid_refusal_is_not_definitive() {
    let refusal = |currency: &str| types::Refusal {
        reason: types::RefusalReason::PriceChanged(types::Money {
            amount: 100,
            currency: currency.to_owned(),
        }),
        supplier_code: None,
        message: "a\nb".repeat(1_000),
    };
    let ChangeError::Refused(no) = error::change_error(types::ChangeError::Refused(refusal("EUR")))
    else {
        panic!("not a refusal")
    };
    assert!(no.message.chars().count() == 500 && !no.message.contains('\n'));
    assert!(matches!(
        error::change_error(types::ChangeError::Refused(refusal("???"))),
        ChangeError::Unknown(_)
    ));
    assert!(matches!(
        error::read_error(types::ReadError::Rejected(refusal("???"))),
        ReadError::InvalidResponse(_)
    ));
    let endless = error::read_error(types::ReadError::RateLimited(Some(u32::MAX)));
    let retry_after_s = Some(86_400);
    assert_eq!(endless, ReadError::RateLimited { retry_after_s });
}

#[test]
fn identifier_with_control_character_is_rejected() {
    for character in '\0'..=char::MAX {
        let text = format!("offer_{character}é");
        let read = text::reference("offer", text);
        assert_eq!(read.is_err(), character.is_control(), "{character:?}");
    }
}

#[test]
fn only_iso_dates_are_accepted() {
    assert!(date("day", "2027-02-28").is_ok());
    for text in [
        "2027-02-29",
        "2027-2-28",
        "20270228",
        "2027-02-28T00:00",
        " 2027-02-28",
        "+02027-02-28",
        "2027/02/28",
        "",
    ] {
        assert!(date("day", text).is_err(), "{text}");
    }
}

#[test]
fn invalid_day_of_forecast_or_calendar_is_left_out() {
    let day = |text: &str| text.parse::<Date>().unwrap();
    let (start, end) = (day("2027-01-10"), day("2027-01-11"));
    let mut dropped = DroppedItems::default();
    let weather = |date: &str| hotel_weather::WeatherDay {
        date: date.to_owned(),
        temperature_min: Some(f64::NAN),
        temperature_max: None,
        summary: None,
        conditions: Vec::new(),
        humidity_percent: Some(101.0),
        afternoon_humidity_percent: None,
        wind_speed_mps: None,
        maximum_wind_speed_mps: None,
        precipitation_probability: Some(1.5),
        precipitation_total_mm: None,
    };
    let days = ["2027-01-11", "11.01.2027", "2027-01-09", "2027-01-11"].map(weather);
    let read = content::forecast(days.to_vec(), start, end, &mut dropped).unwrap();
    let [found] = &read[..] else {
        panic!("{read:?}")
    };
    assert_eq!(found.date, end);
    assert_eq!(
        (found.temperature_min, found.precipitation_probability),
        (None, None)
    );
    assert_eq!(dropped.count_by_field(), [("days.date", 1)]);
    let price = |date: &str, average_nightly| hotel_price_calendar::DayPrice {
        date: date.to_owned(),
        average_nightly,
    };
    let mut dropped = DroppedItems::default();
    let mut read = |prices| {
        let hotel = hotel_price_calendar::HotelPrices {
            supplier_hotel_id: "h1".to_owned(),
            prices,
        };
        let asked = ["h1".to_owned()];
        content::prices(vec![hotel], &asked, start, end, &mut dropped)
    };
    let found = read(vec![price("2027-01-10", -1), price("2027-01-11", 900)]).unwrap();
    assert_eq!(found[0].prices, [(end, Money::new(900, Currency::USD))]);
    let nothing = read(vec![price("2027-01-10", -1)]);
    assert_eq!(rejected(nothing), "hotels.prices.average-nightly");
}

#[test]
fn checkout_url_must_be_https_or_loopback() {
    let read = |url: &str| {
        let checkout = types::Checkout {
            url: Some(url.to_owned()),
            token: "token".to_owned(),
        };
        error::checkout(checkout).map(|checkout| checkout.url)
    };
    for url in [
        "https://pay.example.com/x",
        "http://127.0.0.1:4010/pay",
        "http://localhost:4010/pay",
        "http://[::1]/",
    ] {
        assert_eq!(read(url), Ok(Some(url.to_owned())));
    }
    for url in [
        "http://pay.example.com/",
        "http://127.0.0.1.example.com/",
        "javascript:alert(1)",
        "data:text/html,x",
        "",
    ] {
        assert_eq!(rejected(read(url)), "checkout.url", "{url}");
    }
}
