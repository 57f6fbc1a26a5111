//! Randomized tests: valid fares and tickets are changed at random.

use super::tests::{bound, journey, offer, request, response, segment, state};
use super::*;
use crate::bindings::stopover::supplier::types;
use crate::convert::fuzzed::{
    Change, any_money, assert_identifier, assert_line, assert_money, changed, code, each,
};
use crate::convert::tests::{NOW, euros, prebook_expectation};
use fuzz::Choice;
use host_domain::flight::{Journey, Segment};
use host_domain::time::Date;
use std::collections::HashSet;

fn time(choice: &mut Choice<'_>) -> String {
    const DAY: &str = "2027-01-10";
    let times = ["T09:00", "T23:59", "T24:00", " 09:00", "T09:00Z", "T", ""];
    let days = [
        DAY,
        DAY,
        DAY,
        "2028-02-29",
        "2027-02-29",
        "+002027-01-10",
        "",
    ];
    [choice.pick(&days), choice.pick(&times)].concat()
}

fn airport(choice: &mut Choice<'_>) -> String {
    choice
        .pick(&["LHR", "JFK", "lhr", "LHRX", "", "L\u{130}"])
        .to_owned()
}

const SEGMENT: [Change<wire::Segment>; 6] = [
    |s, c| s.supplier_segment_id = c.pick(&["s1", "s2", "", "\0"]).to_owned(),
    |s, c| s.origin = airport(c),
    |s, c| s.departure_time = time(c),
    |s, c| s.marketing_carrier = c.text(),
    |s, c| s.marketing_flight = c.text(),
    |s, c| each(&mut s.passengers, |one| one.passenger = c.byte() % 5),
];

const JOURNEY: [Change<wire::Journey>; 7] = [
    |j, c| j.supplier_journey_id = c.text(),
    |j, c| j.origin = airport(c),
    |j, c| j.arrival_time = time(c),
    |j, c| j.duration_minutes = c.maybe(|c| c.pick(&[0, 1, 43_200, 43_201, u32::MAX])),
    |j, c| j.segments = c.list(|c| segment(c.pick(&["s1", "s2", ""]))),
    |j, c| {
        each(&mut j.segments, |one| {
            *one = changed(one.clone(), c, &SEGMENT)
        })
    },
    |j, _| j.segments.clear(),
];

fn change_journeys(journeys: &mut Vec<wire::Journey>, choice: &mut Choice<'_>) {
    match choice.below(3) {
        0 => *journeys = choice.list(|_| journey(&["s1"])),
        _ => {
            let change = |one: &mut wire::Journey| *one = changed(one.clone(), choice, &JOURNEY);
            journeys.iter_mut().for_each(change);
        }
    }
}

fn penalty(conditions: &mut wire::FareConditions, choice: &mut Choice<'_>) {
    conditions.refund.penalty = choice.maybe(any_money);
}

fn assert_segment(segment: &Segment, passengers: usize) {
    for code in [&segment.origin, &segment.destination] {
        assert!(code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()));
    }
    assert_local_time(&segment.departure_time);
    assert_local_time(&segment.arrival_time);
    if !segment.supplier_segment_id.is_empty() {
        assert_identifier(&segment.supplier_segment_id, 256);
    }
    assert_identifier(&segment.marketing_flight, 256);
    assert_line(&segment.marketing_carrier);
    let mut seats = segment.passengers.iter();
    assert!(seats.len() <= passengers);
    assert!(seats.all(|one| usize::from(one.passenger) < passengers));
}

fn assert_journeys(journeys: &[Journey], passengers: usize) {
    assert!(journeys.len() <= 16);
    for journey in journeys {
        assert!((1..=16).contains(&journey.segments.len()));
        for segment in &journey.segments {
            assert_segment(segment, passengers);
        }
        assert!((journey.duration_minutes).is_none_or(|minutes| minutes <= 43_200));
    }
}

/// Asserts that a time has the form `YYYY-MM-DDTHH:MM`, because its parts yield the same text.
fn assert_local_time(text: &str) {
    let (day, clock) = text.split_once('T').unwrap();
    let (hour, minute) = clock.split_once(':').unwrap();
    let day: Date = day.parse().unwrap();
    let [hour, minute]: [u8; 2] = [hour, minute].map(|part| part.parse().unwrap());
    assert!(hour < 24 && minute < 60, "{text}");
    assert_eq!(format!("{day}T{hour:02}:{minute:02}"), text);
}

const FARES: [Change<flight_pricing::PriceResponse>; 7] = [
    |a, c| a.offers = c.list(|_| offer()),
    |a, c| each(&mut a.offers, |one| one.currency = code(c)),
    |a, c| each(&mut a.offers, |one| one.total = c.integer()),
    |a, c| each(&mut a.offers, |one| one.supplier_offer = c.text()),
    |a, c| {
        each(&mut a.offers, |one| {
            one.exclusive_key = c.maybe(Choice::text)
        })
    },
    |a, c| each(&mut a.offers, |one| change_journeys(&mut one.journeys, c)),
    |a, c| each(&mut a.offers, |one| penalty(&mut one.fare_conditions, c)),
];

#[test]
fn accepted_fares_match_request() {
    fuzz::values("flight-fares", 1_000, |choice| {
        let sent = changed(response(vec![offer()]), choice, &FARES);
        let totals: Vec<i64> = sent.offers.iter().map(|one| one.total).collect();
        let asked = request();
        let mut dropped = DroppedItems::default();
        let Ok(read) = price_response(sent, &asked, NOW, &mut dropped) else {
            return;
        };
        assert!(read.offers.len() <= usize::from(asked.limit));
        // Offers are left out, but never changed.
        let mut sent_totals = totals.iter();
        let is_sent = |total: i64| sent_totals.any(|sent| *sent == total);
        assert!(read.offers.iter().map(|one| one.total.minor).all(is_sent));
        assert!(read.offers.len() == totals.len() || dropped.len() > 0);
        let currencies = read.offers.iter().map(|one| one.total.currency.code());
        let currencies: HashSet<&str> = currencies.collect();
        assert!(currencies.len() <= 1, "{currencies:?}");
        for offer in &read.offers {
            assert_money(offer.total);
            assert_ne!(offer.total.minor, 0);
            let penalty = offer.fare_conditions.refund.penalty;
            penalty.into_iter().for_each(assert_money);
            assert_identifier(&offer.supplier_offer, 4 << 10);
            if let Some(key) = &offer.exclusive_key {
                assert_identifier(key, 1 << 10);
            }
            assert_eq!(offer.journeys.len(), asked.journeys.len());
            assert_journeys(&offer.journeys, 3);
        }
    });
}

const BOUND: [Change<flight_booking::PrebookResponse>; 6] = [
    |p, c| p.currency = code(c),
    |p, c| p.total = c.integer(),
    |p, c| p.fare = c.maybe(Choice::integer),
    |p, c| p.supplier_prebook = c.text(),
    |p, c| penalty(&mut p.fare_conditions, c),
    |p, c| change_journeys(&mut p.journeys, c),
];

fn assert_once(journeys: &[Journey]) {
    let segments = journeys.iter().flat_map(|journey| &journey.segments);
    let ids = segments.map(|segment| segment.supplier_segment_id.as_str());
    let ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

#[test]
fn accepted_bound_fare_has_requested_currency() {
    fuzz::values("flight-prebook", 1_000, |choice| {
        let sent = changed(bound(), choice, &BOUND);
        let (expectation, dropped) = (prebook_expectation(), &mut DroppedItems::default());
        let Ok(read) = prebook_response(sent, expectation, 3, dropped) else {
            return;
        };
        let amounts = [Some(read.total), read.fare, read.fare_tax];
        for amount in amounts.into_iter().flatten() {
            assert_eq!(amount.currency, euros());
            assert_money(amount);
        }
        assert!(read.total.minor > 0 && !read.journeys.is_empty());
        assert_identifier(&read.supplier_prebook, 4 << 10);
        assert_journeys(&read.journeys, 3);
        assert_once(&read.journeys);
    });
}

const TICKETS: [Change<wire::SupplierBooking>; 9] = [
    |s, c| s.currency = code(c),
    |s, c| s.total = c.integer(),
    |s, c| s.fare_tax = c.maybe(Choice::integer),
    |s, c| {
        s.status = c.pick(&[
            types::BookingStatus::Pending,
            types::BookingStatus::Canceled,
        ])
    },
    |s, c| s.supplier_reference = c.text(),
    |s, c| s.client_reference = c.maybe(Choice::text),
    |s, c| change_journeys(&mut s.journeys, c),
    |s, c| {
        s.services = c.list(|c| wire::Service {
            supplier_service_id: c.text(),
            service_type: wire::ServiceType::Baggage,
            passenger: c.maybe(|c| c.byte() % 70),
            supplier_segment_ids: c.list(|c| c.pick(&["s1", ""]).to_owned()),
            baggage: None,
            quantity: c.byte() % 3,
            unit_amount: c.integer(),
        });
    },
    |s, c| {
        s.cancellation = Some(wire::CancellationAmounts {
            fee: c.integer(),
            refund: c.integer(),
            currency: code(c),
            supplier_reference: c.maybe(Choice::text),
        });
    },
];

#[test]
fn accepted_ticket_is_the_requested_one() {
    fuzz::values("flight-booking", 1_000, |choice| {
        let sound = state();
        let client_reference = sound.client_reference.clone().unwrap_or_default();
        let wanted = choice.maybe(|_| sound.supplier_reference.clone());
        let asked = BookingExpectation {
            references: ExpectedReferences::new(&client_reference, wanted.as_deref()),
            currency: None,
            passengers: 3,
        };
        let dropped = &mut DroppedItems::default();
        let Ok(read) = supplier_booking(changed(sound, choice, &TICKETS), &asked, dropped) else {
            return;
        };
        let unnamed = read.supplier_reference.is_empty();
        assert!(!unnamed || read.status == SupplierBookingStatus::Pending);
        let wanted = wanted.as_ref();
        assert!(wanted.is_none_or(|wanted| *wanted == read.supplier_reference));
        let found = read.client_reference.as_ref();
        assert!(found.is_none_or(|found| *found == client_reference));
        let unit_amounts = read.services.iter().map(|service| service.unit_amount);
        let amounts = [Some(read.total), read.fare, read.fare_tax];
        for amount in amounts.into_iter().flatten().chain(unit_amounts) {
            assert_eq!(amount.currency, read.total.currency);
            assert_money(amount);
        }
        for service in &read.services {
            assert!(service.quantity > 0 && service.passenger.is_none_or(|at| at < 3));
        }
        if let Some(amounts) = &read.cancellation {
            assert_money(amounts.fee);
            assert_money(amounts.refund);
        }
        let journeys: Vec<Journey> = read.journeys.into_iter().flatten().collect();
        assert_journeys(&journeys, 3);
        assert_once(&journeys);
    });
}
