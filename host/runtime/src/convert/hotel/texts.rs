//! The display texts of hotel prebooks and bookings. References, codes and names of time zones are
//! not among them. Patterns name every field, so that the compiler reports a new one.

use crate::convert::display_texts::DisplayTexts;
use host_domain::hotel::supplier_api::{HotelPrebookResponse, HotelSupplierBooking};
use host_domain::hotel::{
    CancellationPolicy, HotelSummary, Loyalty, Promotion, RoomDetails, RoomRate,
};

pub(super) fn prebook_texts(prebook: &mut HotelPrebookResponse) -> DisplayTexts<'_> {
    let HotelPrebookResponse {
        hotel,
        rooms,
        policy,
        promotions,
        loyalty,
        supplier_prebook: _,
        total: _,
        expires_at: _,
        checkout: _,
        // A booking does not store them.
        details: _,
    } = prebook;
    let mut texts = DisplayTexts::default();
    let HotelSummary {
        name,
        address,
        supplier_hotel_id: _,
        location: _,
        time_zone: _,
    } = hotel;
    texts.add([name, address]);
    for room in rooms {
        add_room(&mut texts, room);
    }
    add_policy(&mut texts, policy);
    for promotion in promotions {
        let Promotion {
            name,
            description,
            amount: _,
            room_positions: _,
        } = promotion;
        texts.add([name]);
        texts.add(description);
    }
    if let Some(loyalty) = loyalty {
        let Loyalty {
            program,
            membership_number: _,
            points_estimate: _,
        } = loyalty;
        texts.add([program]);
    }
    texts
}

pub(super) fn booking_texts(booking: &mut HotelSupplierBooking) -> DisplayTexts<'_> {
    let HotelSupplierBooking {
        remarks,
        policy,
        status: _,
        supplier_reference: _,
        client_reference: _,
        total: _,
        hotel_confirmation_code: _,
        rooms: _,
        cancellation: _,
        has_unreadable_amounts: _,
    } = booking;
    let mut texts = DisplayTexts::default();
    texts.add(remarks);
    if let Some(policy) = policy {
        add_policy(&mut texts, policy);
    }
    texts
}

fn add_room<'a>(texts: &mut DisplayTexts<'a>, room: &'a mut RoomRate) {
    let RoomRate {
        name,
        board_name,
        policy,
        details,
        board: _,
        total: _,
        due_at_property: _,
    } = room;
    let RoomDetails {
        remarks,
        perks,
        taxes,
        max_occupancy: _,
    } = details;
    texts.add([name, board_name]);
    texts.add(remarks);
    texts.add(perks.iter_mut().map(|perk| &mut perk.name));
    texts.add(taxes.iter_mut().map(|tax| &mut tax.description));
    add_policy(texts, policy);
}

fn add_policy<'a>(texts: &mut DisplayTexts<'a>, policy: &'a mut CancellationPolicy) {
    let restrictions = policy.restrictions.iter_mut();
    texts.add(restrictions.map(|restriction| &mut restriction.description));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::stopover::supplier::hotel_booking as version_1_0;
    use crate::bindings::stopover::supplier::{hotel_types as wire, types};
    use crate::bindings::v1_1::exports::stopover::supplier::detailed_hotel_booking as version_1_1;
    use crate::bindings::v1_1::stopover::supplier::hotel_details;
    use crate::convert::dropped::DroppedItems;
    use crate::convert::fuzzed::bound;
    use crate::convert::hotel::{detailed_prebook_response, prebook_response, supplier_booking};
    use crate::convert::tests::{NOW, booked, euros, expected, prebook_expectation, terms};
    use serde_json::json;

    const ROOMS: u8 = 9;

    /// Returns the largest text of a number of characters: JSON escapes each with six bytes.
    fn largest(chars: usize) -> String {
        "\u{1}".repeat(chars)
    }

    fn restricted_terms() -> wire::CancellationPolicy {
        let restriction = wire::Restriction {
            code: "NO_CANCELLATION".to_owned(),
            description: largest(300),
            active_from: None,
            active_until: None,
        };
        wire::CancellationPolicy {
            restrictions: vec![restriction; 20],
            ..terms()
        }
    }

    /// Returns a prebook of nine rooms, of which every list and text is as large as it may be. Only
    /// the first room has a short name.
    fn largest_prebook() -> version_1_0::PrebookResponse {
        let mut prebook = bound();
        let mut room = prebook.rooms.remove(0);
        room.policy = restricted_terms();
        (room.name, room.board_name) = (largest(300), largest(300));
        prebook.rooms = vec![room; usize::from(ROOMS)];
        prebook.rooms[0].name = "Double".to_owned();
        prebook.total *= i64::from(ROOMS);
        prebook.policy = restricted_terms();
        (prebook.hotel.name, prebook.hotel.address) = (largest(300), largest(300));
        let promotion = wire::Promotion {
            name: largest(300),
            description: Some(largest(300)),
            amount: Some(100),
            room_positions: (0..ROOMS).collect(),
        };
        prebook.promotions = vec![promotion; 30];
        prebook
    }

    fn largest_details() -> hotel_details::OfferDetails {
        let amount = types::Money {
            amount: 300,
            currency: "EUR".to_owned(),
        };
        let perk = hotel_details::Perk {
            name: largest(300),
            value: Some(amount.clone()),
        };
        let tax = hotel_details::Tax {
            description: largest(300),
            amount,
            payable_at: hotel_details::PaymentPoint::CheckIn,
        };
        let no_policy = || hotel_details::PolicyDetails {
            refund_type: None,
            penalties: Vec::new(),
        };
        let room = hotel_details::RoomDetails {
            remarks: Some(largest(20_000)),
            perks: vec![perk; 30],
            taxes: vec![tax; 30],
            max_occupancy: Some(2),
            policy: no_policy(),
        };
        hotel_details::OfferDetails {
            rooms: vec![room; usize::from(ROOMS)],
            policy: no_policy(),
            payment_types: Vec::new(),
            package_only: false,
        }
    }

    /// Returns the size of what a booking stores of a prebook, as JSON.
    fn stored_bytes(prebook: &HotelPrebookResponse) -> usize {
        let (hotel, rooms, promotions) = (&prebook.hotel, &prebook.rooms, &prebook.promotions);
        json!([hotel, rooms, prebook.policy, promotions])
            .to_string()
            .len()
    }

    #[test]
    fn texts_of_the_largest_prebook_are_shortened_and_nothing_is_left_out() {
        let rooms = usize::from(ROOMS);
        let mut dropped = DroppedItems::default();
        let response = version_1_1::DetailedPrebookResponse {
            prebook: largest_prebook(),
            details: largest_details(),
        };
        let expectation = prebook_expectation();
        let prebook =
            detailed_prebook_response(response, expectation, rooms, &mut dropped).unwrap();
        assert_eq!(dropped.count_by_field(), [("display-texts", 1)]);
        // Without the limit, this is 2.6 MB.
        let bytes = stored_bytes(&prebook);
        assert!(bytes < 256 << 10, "{bytes} bytes");
        assert_eq!(prebook.rooms[0].name, "Double");
        assert_eq!((prebook.rooms.len(), prebook.promotions.len()), (rooms, 30));
        for room in &prebook.rooms {
            assert_eq!(room.total.minor, 12_000);
            let (policy, details) = (&room.policy, &room.details);
            let counts = [policy.penalties.len(), policy.restrictions.len()];
            assert_eq!(counts, [2, 20]);
            assert_eq!([details.perks.len(), details.taxes.len()], [30, 30]);
            let mut restrictions = policy.restrictions.iter();
            assert!(restrictions.all(|restriction| restriction.forbids_cancellation(NOW)));
            let mut taxes = details.taxes.iter();
            assert!(taxes.all(|tax| tax.amount.minor == 300 && !tax.description.is_empty()));
            assert!(
                details
                    .remarks
                    .as_ref()
                    .is_some_and(|remarks| !remarks.is_empty())
            );
        }
        // The records of version 1.0 alone are above the limit, too.
        let mut dropped = DroppedItems::default();
        let prebook =
            prebook_response(largest_prebook(), expectation, rooms, &mut dropped).unwrap();
        assert_eq!(dropped.count_by_field(), [("display-texts", 1)]);
        assert!(stored_bytes(&prebook) < 192 << 10);
    }

    #[test]
    fn remarks_of_a_booking_are_shortened_and_its_codes_are_kept() {
        let mut state = wire::SupplierBooking {
            hotel_confirmation_code: Some(largest(300)),
            remarks: Some(largest(20_000)),
            policy: Some(restricted_terms()),
            total: 600,
            ..booked(&[0])
        };
        state.rooms[0].supplier_room_reference = Some("r".repeat(256));
        let asked = expected(Some("b1"), Some(euros()), Some(1));
        let mut dropped = DroppedItems::default();
        let booking = supplier_booking(state, &asked, NOW, &mut dropped).unwrap();
        assert_eq!(dropped.count_by_field(), [("display-texts", 1)]);
        assert_eq!(booking.hotel_confirmation_code, Some(largest(300)));
        let reference = booking.rooms[0].supplier_room_reference.as_ref();
        assert_eq!(reference.map(String::len), Some(256));
        let policy = booking.policy.as_ref().unwrap();
        assert_eq!(policy.restrictions[0].description, largest(300));
        let stored = json!([booking.remarks, policy]).to_string();
        assert!(stored.len() < 136 << 10, "{} bytes", stored.len());
    }
}
