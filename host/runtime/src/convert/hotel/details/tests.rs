use super::*;
use crate::bindings::stopover::supplier::types;
use crate::convert::fuzzed::{any_money, assert_line, assert_money, bound};
use crate::convert::tests::{
    NOW, booked, euros, expected, offer, prebook_expectation, rejected, request, summary, terms,
};
use fuzz::Choice;
use host_domain::hotel::supplier_api::HotelOffer;
use host_domain::money::Money;

fn euro_amount(amount: i64) -> types::Money {
    types::Money {
        amount,
        currency: "EUR".to_owned(),
    }
}

/// The details of the policy `terms`, which has penalties at 1 s and 2 s.
fn policy_details() -> wire::PolicyDetails {
    let penalty = |start, basis_points| wire::PenaltyDetails {
        start,
        basis_points,
        time_zone: Some("Europe/Rome".to_owned()),
    };
    wire::PolicyDetails {
        refund_type: Some(wire::RefundType::Full),
        penalties: vec![penalty(2_000, Some(417)), penalty(1_000, None)],
    }
}

fn details() -> wire::OfferDetails {
    let room = wire::RoomDetails {
        remarks: Some("Bring your passport.".to_owned()),
        perks: vec![wire::Perk {
            name: "Late check-out".to_owned(),
            value: Some(euro_amount(2_000)),
        }],
        taxes: vec![wire::Tax {
            description: "City tax".to_owned(),
            amount: euro_amount(300),
            payable_at: wire::PaymentPoint::CheckIn,
        }],
        max_occupancy: Some(3),
        policy: policy_details(),
    };
    wire::OfferDetails {
        rooms: vec![room],
        policy: policy_details(),
        payment_types: vec![
            wire::PaymentType::Prepaid,
            wire::PaymentType::Other("VOUCHER".to_owned()),
        ],
        package_only: false,
    }
}

/// Reads offers with these details, and returns them with the fields that were left out.
fn read(
    details: Vec<wire::OfferDetails>,
    include_package_rates: bool,
) -> (Vec<HotelOffer>, Vec<(&'static str, u64)>) {
    let offers = details
        .into_iter()
        .map(|details| hotel_pricing::DetailedOffer {
            offer: offer(),
            details,
        });
    let response = hotel_pricing::DetailedPriceResponse {
        currency: "EUR".to_owned(),
        hotels: vec![hotel_pricing::DetailedHotelOffers {
            hotel: summary(),
            offers: offers.collect(),
        }],
    };
    let mut dropped = DroppedItems::default();
    let request = HotelPriceRequest {
        include_package_rates,
        ..request()
    };
    let mut response = detailed_price_response(response, request, NOW, &mut dropped).unwrap();
    (response.hotels.remove(0).offers, dropped.count_by_field())
}

fn with(change: impl FnOnce(&mut wire::OfferDetails)) -> wire::OfferDetails {
    let mut details = details();
    change(&mut details);
    details
}

#[test]
fn details_are_added_to_offer_rooms_and_policies() {
    let (offers, dropped) = read(vec![details()], false);
    assert_eq!(dropped, []);
    let HotelOffer {
        rooms,
        policy,
        details,
        ..
    } = &offers[0];
    assert_eq!(details.package_only, Some(false));
    let voucher = HotelPaymentType::Other("VOUCHER".to_owned());
    assert_eq!(details.payment_types, [HotelPaymentType::Prepaid, voucher]);
    for policy in [policy, &rooms[0].policy] {
        assert_eq!(policy.refund_type, Some(RefundType::Full));
        let points = policy.penalties.iter().map(|penalty| penalty.basis_points);
        assert!(points.eq([None, Some(417)]), "{policy:?}");
        let mut zones = policy.penalties.iter();
        assert!(zones.all(|penalty| penalty.time_zone.as_deref() == Some("Europe/Rome")));
    }
    let room = &rooms[0].details;
    assert_eq!(room.remarks.as_deref(), Some("Bring your passport."));
    assert_eq!(room.perks[0].value, Some(Money::new(2_000, euros())));
    assert_eq!(room.taxes[0].payable_at, PaymentPoint::CheckIn);
    assert_eq!(room.max_occupancy, Some(3));
}

#[test]
fn invalid_details_are_left_out_and_counted_and_the_offer_stays() {
    type Case = (&'static str, fn(&mut wire::OfferDetails));
    let cases: [Case; 12] = [
        ("details.rooms", |d| {
            d.rooms.extend(d.rooms.clone());
        }),
        ("details.rooms.perks.name", |d| {
            d.rooms[0].perks[0].name = " ".to_owned();
        }),
        ("details.rooms.perks.value", |d| {
            d.rooms[0].perks[0].value = Some(euro_amount(-1));
        }),
        ("details.rooms.perks", |d| {
            d.rooms[0].perks = vec![d.rooms[0].perks[0].clone(); 31];
        }),
        ("details.rooms.taxes.amount", |d| {
            d.rooms[0].taxes[0].amount.currency = "euro".to_owned();
        }),
        ("details.rooms.taxes", |d| {
            d.rooms[0].taxes = vec![d.rooms[0].taxes[0].clone(); 1_000];
        }),
        ("details.rooms.max-occupancy", |d| {
            d.rooms[0].max_occupancy = Some(0);
        }),
        ("details.policy.refund-type", |d| {
            d.policy.refund_type = Some(wire::RefundType::None);
        }),
        ("details.policy.penalties.start", |d| {
            d.policy.penalties[0].start = 3_000;
        }),
        ("details.policy.penalties.basis-points", |d| {
            d.policy.penalties[0].basis_points = Some(10_001);
        }),
        ("details.payment-types", |d| {
            d.payment_types = vec![wire::PaymentType::Other(String::new())];
        }),
        ("details.payment-types", |d| {
            d.payment_types = vec![wire::PaymentType::Prepaid; 11];
        }),
    ];
    for (field, change) in cases {
        let (offers, dropped) = read(vec![with(change)], false);
        assert_eq!(dropped, [(field, 1)]);
        assert_eq!(offers.len(), 1, "{field}");
        let room = &offers[0].rooms[0].details;
        assert!(room.perks.len() <= 30 && room.taxes.len() <= 30);
        assert!(offers[0].details.payment_types.len() <= 10);
    }
    // A time zone that does not exist is left out like that of a hotel.
    let unknown_zone = with(|d| d.policy.penalties[0].time_zone = Some("Nowhere".to_owned()));
    let (offers, _) = read(vec![unknown_zone], false);
    assert_eq!(offers[0].policy.penalties[1].time_zone, None);
    assert_eq!(offers[0].policy.penalties[1].basis_points, Some(417));
}

#[test]
fn package_only_offer_is_left_out_unless_requested() {
    let package = || with(|details| details.package_only = true);
    let field = "offers.details.package-only";
    let (offers, dropped) = read(vec![package(), details()], false);
    assert_eq!((offers.len(), dropped), (1, vec![(field, 1)]));
    // A hotel that has only such offers has none for this caller, and the response is valid.
    let (offers, dropped) = read(vec![package()], false);
    assert_eq!((offers.len(), dropped), (0, vec![(field, 1)]));
    let (offers, dropped) = read(vec![package()], true);
    assert_eq!((offers.len(), dropped), (1, vec![]));
    assert_eq!(offers[0].details.package_only, Some(true));
}

#[test]
fn offer_payable_only_at_the_hotel_is_left_out() {
    use wire::PaymentType::{Other, PayAtProperty, Prepaid};
    let field = "offers.details.payment-types";
    let voucher = || Other("VOUCHER".to_owned());
    for (payment_types, is_sold) in [
        (vec![PayAtProperty], false),
        (vec![voucher(), PayAtProperty], false),
        (vec![PayAtProperty, Prepaid], true),
        // Nothing shows that these are paid at the hotel.
        (vec![voucher()], true),
        (vec![], true),
    ] {
        let offered = with(|details| details.payment_types = payment_types.clone());
        let (offers, dropped) = read(vec![offered.clone()], true);
        let expected: &[_] = if is_sold { &[] } else { &[(field, 1)] };
        assert_eq!(dropped, expected, "{payment_types:?}");
        assert_eq!(offers.len(), usize::from(is_sold), "{payment_types:?}");
        let response = hotel_booking::DetailedPrebookResponse {
            prebook: bound(),
            details: offered,
        };
        let (expectation, dropped) = (prebook_expectation(), &mut DroppedItems::default());
        let prebook = detailed_prebook_response(response, expectation, 1, dropped).unwrap();
        let reason = (!is_sold).then_some(UnsellableReason::PayAtPropertyOnly);
        assert_eq!(prebook.details.unsellable_reason(true), reason);
    }
}

#[test]
fn details_are_added_to_prebook_and_booking() {
    let mut dropped = DroppedItems::default();
    let response = hotel_booking::DetailedPrebookResponse {
        prebook: bound(),
        details: details(),
    };
    let expectation = prebook_expectation();
    let prebook = detailed_prebook_response(response, expectation, 1, &mut dropped).unwrap();
    assert_eq!(prebook.rooms[0].details.max_occupancy, Some(3));
    assert_eq!(prebook.policy.refund_type, Some(RefundType::Full));
    let state = |supplier_reference: &str| {
        let mut booking = booked(&[0]);
        booking.policy = Some(terms());
        booking.total = 600;
        booking.supplier_reference = supplier_reference.to_owned();
        hotel_booking::DetailedBooking {
            booking,
            policy: policy_details(),
        }
    };
    let asked = expected(Some("b1"), Some(euros()), Some(1));
    let lookup = hotel_booking::DetailedBookingLookup::Found(state("b1"));
    let found = detailed_booking_lookup(lookup, &asked, NOW, &mut dropped).unwrap();
    let BookingLookup::Found(found) = found else {
        panic!("not found");
    };
    let penalties = found.policy.unwrap().penalties;
    assert_eq!(penalties[1].basis_points, Some(417));
    assert_eq!(dropped.len(), 0);
    // The rules of version 1.0 apply.
    let other = detailed_booking(state("b2"), &asked, NOW, &mut dropped);
    assert_eq!(rejected(other), "supplier-reference");
}

#[test]
fn accepted_details_are_within_limits() {
    fuzz::values("hotel-details", 1_000, |choice| {
        let mut random = details();
        let room = &mut random.rooms[0];
        room.remarks = choice.maybe(Choice::text);
        room.max_occupancy = choice.maybe(Choice::byte);
        room.perks = choice.list(|choice| wire::Perk {
            name: choice.text(),
            value: choice.maybe(any_money),
        });
        room.taxes = choice.list(|choice| wire::Tax {
            description: choice.text(),
            amount: any_money(choice),
            payable_at: wire::PaymentPoint::Property,
        });
        random.policy.penalties = choice.list(|choice| wire::PenaltyDetails {
            start: choice.pick(&[1_000, 2_000, 3_000]),
            basis_points: choice.maybe(|choice| choice.pick(&[0, 10_000, 10_001, u16::MAX])),
            time_zone: choice.maybe(Choice::text),
        });
        random.payment_types = choice.list(|choice| wire::PaymentType::Other(choice.text()));
        let (offers, _) = read(vec![random], false);
        let HotelOffer { rooms, policy, .. } = &offers[0];
        let room = &rooms[0].details;
        assert!(room.max_occupancy.is_none_or(|guests| guests > 0));
        assert!(room.perks.len() <= ROOM_ITEMS_MAX && room.taxes.len() <= ROOM_ITEMS_MAX);
        for perk in &room.perks {
            assert_line(&perk.name);
            perk.value.into_iter().for_each(assert_money);
        }
        for tax in &room.taxes {
            assert_line(&tax.description);
            assert_money(tax.amount);
        }
        let mut points = policy.penalties.iter().map(|penalty| penalty.basis_points);
        assert!(points.all(|points| points.is_none_or(|points| points <= BASIS_POINTS_MAX)));
    });
}
