//! Randomized tests: valid plugin responses are changed at random. Every response that is accepted
//! must match its request and contain only valid amounts of money.

use super::payment::tests::{expected_payment, paid};
use super::tests::{
    NOW, booked, euros, expected, offer, prebook_expectation, priced, request,
    summary as valid_summary,
};
use super::*;
use crate::bindings::exports::stopover::payment::processor;
use crate::bindings::exports::stopover::supplier::{hotel_booking, hotel_pricing, supplier_events};
use crate::bindings::stopover::supplier::hotel_types as wire;
use fuzz::Choice;
use host_domain::hotel::{CancellationPolicy, HotelSummary, Penalty, RoomRate};
use std::collections::HashSet;

pub(super) type Change<T> = fn(&mut T, &mut Choice<'_>);

/// Applies up to three random changes to a valid response.
pub(super) fn changed<T>(mut sound: T, choice: &mut Choice<'_>, changes: &[Change<T>]) -> T {
    for _ in 0..choice.below(4) {
        choice.pick(changes)(&mut sound, choice);
    }
    sound
}

pub(super) fn each<T>(items: &mut [T], change: impl FnMut(&mut T)) {
    items.iter_mut().for_each(change);
}

pub(super) fn code(choice: &mut Choice<'_>) -> String {
    choice
        .pick(&[
            "EUR", "EUR", "USD", "JPY", "eur", "XXX", "EURO", "", "EUR\0",
        ])
        .to_owned()
}

pub(super) fn any_money(choice: &mut Choice<'_>) -> types::Money {
    types::Money {
        amount: choice.integer(),
        currency: code(choice),
    }
}

pub(super) fn assert_money(money: Money) {
    assert!((0..=MINOR_UNITS_MAX).contains(&money.minor), "{money:?}");
}

pub(super) fn assert_identifier(text: &str, bytes_max: usize) {
    assert!(
        (1..=bytes_max).contains(&text.len()),
        "{} bytes",
        text.len()
    );
    assert!(!text.contains('\0'));
}

pub(super) fn assert_line(text: &str) {
    assert!(text.chars().count() <= 300 && !text.contains('\0'));
}

fn location(choice: &mut Choice<'_>) -> types::Location {
    types::Location {
        latitude: choice.float(),
        longitude: choice.float(),
    }
}

fn policy(choice: &mut Choice<'_>) -> wire::CancellationPolicy {
    wire::CancellationPolicy {
        refundable: choice.one_in(2),
        free_until: choice.maybe(Choice::integer),
        penalties: choice.list(|choice| types::Penalty {
            start: choice.below(1 << 30) as i64,
            amount: choice.below(1 << 30) as i64,
            currency: choice.pick(&["EUR", "USD", "EUR", "EUR", "nil"]).to_owned(),
        }),
        restrictions: choice.list(|choice| wire::Restriction {
            code: choice.text(),
            description: choice.text(),
            active_from: choice.maybe(Choice::integer),
            active_until: None,
        }),
    }
}

fn summary(hotel: &mut wire::HotelSummary, choice: &mut Choice<'_>) {
    match choice.below(4) {
        0 => hotel.supplier_hotel_id = choice.text(),
        1 => hotel.name = choice.text(),
        2 => hotel.location = choice.maybe(location),
        _ => hotel.time_zone = choice.maybe(Choice::text),
    }
}

fn rate(rate: &mut wire::RoomRate, choice: &mut Choice<'_>) {
    match choice.below(4) {
        0 => rate.total = choice.integer(),
        1 => rate.due_at_property = choice.maybe(any_money),
        2 => rate.policy = policy(choice),
        _ => rate.name = choice.text(),
    }
}

fn assert_policy(policy: &CancellationPolicy) {
    assert!(policy.penalties.len() <= 60 && policy.restrictions.len() <= 20);
    assert!(policy.penalties.is_sorted_by_key(|penalty| penalty.from));
    for penalty in &policy.penalties {
        assert_money(penalty.amount);
    }
}

/// Asserts that rooms and penalties fit the total, apart from the rounding of each room.
fn assert_total(rooms: &[RoomRate], policy: &CancellationPolicy, total: Money) {
    let rounding = i64::try_from(rooms.len()).unwrap();
    let sum: i64 = rooms.iter().map(|room| room.total.minor).sum();
    assert!((sum - total.minor).abs() <= rounding);
    for Penalty { amount, .. } in &policy.penalties {
        assert!(amount.currency != total.currency || amount.minor <= total.minor + rounding);
    }
}

fn assert_summary(hotel: &HotelSummary) {
    assert_identifier(&hotel.supplier_hotel_id, 256);
    assert_line(&hotel.name);
    if let Some(at) = hotel.location {
        assert!(at.latitude.abs() <= 90.0 && at.longitude.abs() <= 180.0);
    }
}

fn assert_rates(rates: &[RoomRate]) {
    assert_eq!(rates.len(), request().stay.occupancies.len());
    for rate in rates {
        assert_eq!(rate.total.currency, euros());
        assert_money(rate.total);
        rate.due_at_property.into_iter().for_each(assert_money);
        assert_policy(&rate.policy);
        assert_line(&rate.name);
    }
}

const PRICES: [Change<hotel_pricing::PriceResponse>; 12] = [
    |a, c| a.currency = code(c),
    |a, c| a.hotels = c.list(|_| priced().hotels.remove(0)),
    |a, _| {
        for one in a.hotels.iter_mut().skip(1) {
            one.hotel.supplier_hotel_id = "h2".to_owned();
        }
    },
    |a, c| each(&mut a.hotels, |one| summary(&mut one.hotel, c)),
    |a, c| each(&mut a.hotels, |one| one.offers = c.list(|_| offer())),
    |a, c| offers(a).for_each(|one| one.total = c.integer()),
    |a, c| offers(a).for_each(|one| one.supplier_offer = c.text()),
    |a, c| offers(a).for_each(|one| one.expires_at = c.maybe(Choice::integer)),
    |a, c| offers(a).for_each(|one| one.policy = policy(c)),
    |a, c| offers(a).for_each(|one| one.rooms = c.list(|_| offer().rooms.remove(0))),
    |a, c| offers(a).for_each(|one| one.rooms.iter_mut().for_each(|room| rate(room, c))),
    |a, c| {
        offers(a).for_each(|one| {
            one.promotions = c.list(|choice| wire::Promotion {
                name: choice.text(),
                description: None,
                amount: choice.maybe(Choice::integer),
                room_positions: choice.list(|choice| choice.byte() % 2),
            });
        });
    },
];

fn offers(
    response: &mut hotel_pricing::PriceResponse,
) -> impl Iterator<Item = &mut hotel_pricing::Offer> {
    response
        .hotels
        .iter_mut()
        .flat_map(|hotel| &mut hotel.offers)
}

#[test]
fn accepted_prices_match_request() {
    fuzz::values("hotel-prices", 1_000, |choice| {
        let sent = changed(priced(), choice, &PRICES);
        let totals: Vec<i64> = offers(&mut sent.clone()).map(|one| one.total).collect();
        let request = request();
        let mut dropped = DroppedItems::default();
        let Ok(read) = hotel::price_response(sent, request.clone(), NOW, &mut dropped) else {
            return;
        };
        assert_eq!(read.currency, request.stay.currency);
        let ids = read.hotels.iter().map(|one| &one.hotel.supplier_hotel_id);
        let ids: HashSet<&String> = ids.collect();
        assert_eq!(ids.len(), read.hotels.len(), "one twice");
        assert!(ids.iter().all(|id| request.supplier_hotel_ids.contains(id)));
        let offers_max = usize::from(request.max_offers_per_hotel);
        assert!(read.hotels.iter().all(|one| one.offers.len() <= offers_max));
        for one in &read.hotels {
            assert_summary(&one.hotel);
        }
        let offers: Vec<_> = read.hotels.iter().flat_map(|one| &one.offers).collect();
        // Offers are left out, but never changed.
        let mut sent_totals = totals.iter();
        let is_sent = |total: i64| sent_totals.any(|sent| *sent == total);
        assert!(offers.iter().map(|one| one.total.minor).all(is_sent));
        assert!(offers.len() == totals.len() || dropped.len() > 0);
        for offer in offers {
            assert!(offer.expires_at.is_none_or(|at| at > NOW));
            assert_total(&offer.rooms, &offer.policy, offer.total);
            assert_eq!(offer.total.currency, request.stay.currency);
            assert_money(offer.total);
            assert_ne!(offer.total.minor, 0);
            assert_rates(&offer.rooms);
            assert_policy(&offer.policy);
            assert_identifier(&offer.supplier_offer, 4 << 10);
            let mut positions = offer.promotions.iter().flat_map(|one| &one.room_positions);
            assert!(positions.all(|at| usize::from(*at) < offer.rooms.len()));
        }
    });
}

pub(super) fn bound() -> hotel_booking::PrebookResponse {
    let offer = offer();
    hotel_booking::PrebookResponse {
        supplier_prebook: "prebook".to_owned(),
        total: offer.total,
        currency: "EUR".to_owned(),
        hotel: valid_summary(),
        rooms: offer.rooms,
        policy: offer.policy,
        promotions: offer.promotions,
        loyalty: None,
        expires_at: None,
        checkout: None,
    }
}

const BOUND: [Change<hotel_booking::PrebookResponse>; 8] = [
    |p, c| p.currency = code(c),
    |p, c| p.total = c.integer(),
    |p, c| p.supplier_prebook = c.text(),
    |p, c| summary(&mut p.hotel, c),
    |p, c| p.rooms = c.list(|_| offer().rooms.remove(0)),
    |p, c| p.rooms.iter_mut().for_each(|room| rate(room, c)),
    |p, c| p.policy = policy(c),
    |p, c| {
        let schemes = ["https://", "http://", "javascript:", ""];
        let hosts = [
            "pay.example.com",
            "localhost",
            "127.0.0.1",
            "127.0.0.1.example.com",
            "[::1]",
        ];
        let tails = ["", "/pay", "@127.0.0.1", ":80/", "\\x", " "];
        p.checkout = Some(types::Checkout {
            url: c.maybe(|c| [c.pick(&schemes), c.pick(&hosts), c.pick(&tails)].concat()),
            token: "token".to_owned(),
        });
    },
];

#[test]
fn accepted_prebook_has_requested_currency_and_encrypted_checkout() {
    fuzz::values("hotel-prebook", 1_000, |choice| {
        let sent = changed(bound(), choice, &BOUND);
        let (expectation, dropped) = (prebook_expectation(), &mut DroppedItems::default());
        let Ok(read) = hotel::prebook_response(sent, expectation, 1, dropped) else {
            return;
        };
        assert_total(&read.rooms, &read.policy, read.total);
        assert_eq!(read.total.currency, euros());
        assert_money(read.total);
        assert_ne!(read.total.minor, 0);
        assert_identifier(&read.supplier_prebook, 4 << 10);
        assert_summary(&read.hotel);
        assert_rates(&read.rooms);
        assert_policy(&read.policy);
        if let Some(url) = read.checkout.and_then(|checkout| checkout.url) {
            let url = url::Url::parse(&url).unwrap();
            let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
            assert!(
                url.scheme() == "https" || url.scheme() == "http" && is_here,
                "{url}"
            );
        }
    });
}

const STATES: [Change<wire::SupplierBooking>; 7] = [
    |s, c| s.currency = code(c),
    |s, c| s.total = c.integer(),
    |s, c| s.supplier_reference = c.text(),
    |s, c| s.client_reference = c.maybe(Choice::text),
    |s, c| s.policy = c.maybe(policy),
    |s, c| s.rooms = booked(&c.list(Choice::byte)).rooms,
    |s, c| {
        s.cancellation = Some(wire::CancellationAmounts {
            fee: c.integer(),
            refund: c.maybe(Choice::integer),
            currency: code(c),
            supplier_reference: c.maybe(Choice::text),
        });
    },
];

#[test]
fn accepted_booking_has_reference_and_unique_rooms() {
    fuzz::values("hotel-booking", 1_000, |choice| {
        let state = changed(booked(&[0, 1]), choice, &STATES);
        let currency = choice.maybe(|_| euros());
        let asked = expected(choice.maybe(|_| "b1"), currency, None);
        let dropped = &mut DroppedItems::default();
        let Ok(read) = hotel::supplier_booking(state, &asked, NOW, dropped) else {
            return;
        };
        assert!(currency.is_none_or(|expected| read.total.currency == expected));
        assert_money(read.total);
        assert_identifier(&read.supplier_reference, 256);
        assert!(
            read.client_reference
                .is_none_or(|reference| reference == "hbk_1")
        );
        let positions: HashSet<u8> = read.rooms.iter().map(|room| room.position).collect();
        assert!(positions.len() == read.rooms.len() && read.rooms.len() <= 32);
        read.policy.iter().for_each(assert_policy);
        if let Some(amounts) = read.cancellation {
            assert_money(amounts.fee);
            amounts.refund.into_iter().for_each(assert_money);
        }
    });
}

const PAYMENTS: [Change<processor::ProcessorPayment>; 7] = [
    |s, c| s.currency = code(c),
    |s, c| s.authorized = c.integer(),
    |s, c| s.captured = c.integer(),
    |s, c| s.refunded = c.integer(),
    |s, c| s.processor_reference = c.text(),
    |s, c| s.expires_at = c.maybe(Choice::integer),
    |s, c| {
        s.card = Some(processor::Card {
            brand: processor::CardBrand::Visa,
            last4: c.pick(&["4242", "424", "４２", "424a"]).to_owned(),
            funding: processor::Funding::Credit,
            wallet: None,
            expires: c.maybe(Choice::text),
        });
    },
];

#[test]
fn accepted_payment_never_exceeds_previous_step() {
    fuzz::values("payment", 1_000, |choice| {
        let state = changed(paid(100, 100, 40), choice, &PAYMENTS);
        let expected = expected_payment(euros());
        let Ok(read) = payment::processor_payment(state, &expected, &mut DroppedItems::default())
        else {
            return;
        };
        let amounts = [read.refunded, read.captured, read.authorized];
        amounts.into_iter().for_each(assert_money);
        assert!(
            amounts.is_sorted_by_key(|amount| amount.minor),
            "{amounts:?}"
        );
        assert!(amounts.iter().all(|amount| amount.currency == euros()));
        assert_identifier(&read.processor_reference, 256);
        assert!(read.expires_at.is_none_or(|at| at.0 >= 0));
        let four = |text: &str| text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
        assert!(read.card.is_none_or(|card| four(&card.last4)));
    });
}

#[test]
fn accepted_refund_has_requested_amount() {
    fuzz::values("refund", 1_000, |choice| {
        let expected = Money::new(100, euros());
        let state = processor::ProcessorRefund {
            processor_reference: choice.text(),
            amount: match choice.one_in(2) {
                true => any_money(choice),
                false => payment::money_to_wire(Money::new(100, euros())),
            },
        };
        if let Ok(read) = payment::refund(state, expected) {
            assert_eq!(read.amount, expected);
            assert_money(read.amount);
            assert_identifier(&read.processor_reference, 256);
        }
    });
}

#[test]
fn accepted_event_has_id_and_no_empty_references() {
    fuzz::values("supplier-events", 1_000, |choice| {
        let sent = choice.list(|choice| supplier_events::Event {
            id: choice.pick(&["e1", "e2", ""]).to_owned() + &choice.text(),
            kind: supplier_events::EventKind::Irrelevant(choice.text()),
            supplier_reference: choice.maybe(Choice::text),
            client_reference: choice.maybe(Choice::text),
            supplier_offer: choice.maybe(Choice::text),
            occurred_at: choice.maybe(Choice::integer),
        });
        let count = sent.len();
        let Ok(read) = supplier_event::events(sent) else {
            return;
        };
        assert!(read.len() == count && count <= 200);
        for event in read {
            assert_identifier(&event.id, 256);
            let references = [&event.supplier_reference, &event.client_reference];
            let references = references.into_iter().flatten();
            references.for_each(|text| assert_identifier(text, 256));
            if let Some(text) = &event.supplier_offer {
                assert_identifier(text, 4 << 10);
            }
            assert!(event.occurred_at.is_none_or(|at| at.0 >= 0));
        }
    });
}
