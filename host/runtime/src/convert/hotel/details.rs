//! Conversion of what version 1.1 adds to offers, prebooks and bookings. Invalid details are left out
//! and recorded; they never make a response invalid. Offers whose details forbid their sale are left
//! out.

use super::policy::PENALTIES_MAX;
use super::texts::prebook_texts;
use super::{HotelBookingExpectation, bound_offer, price_request, priced_hotels, supplier_booking};
use crate::bindings::v1_1::exports::stopover::supplier::{
    detailed_hotel_booking as hotel_booking, detailed_hotel_pricing as hotel_pricing,
};
use crate::bindings::v1_1::stopover::supplier::hotel_details as wire;
use crate::convert::dropped::DroppedItems;
use crate::convert::{
    ConvertResult, PrebookExpectation, instant, invalid, money_with_currency, optional,
    same_variant, text, valid_if,
};
use host_domain::hotel::supplier_api::{
    HotelOfferDetails, HotelPaymentType, HotelPrebookResponse, HotelPriceRequest,
    HotelPriceResponse, HotelSupplierBooking, UnsellableReason,
};
use host_domain::hotel::{
    CancellationPolicy, PaymentPoint, Penalty, RefundType, RoomDetails, RoomPerk, RoomRate, RoomTax,
};
use host_domain::supplier::BookingLookup;
use host_domain::time::Timestamp;

/// Maximum number of perks, and of taxes, of one room.
const ROOM_ITEMS_MAX: usize = 30;
const PAYMENT_TYPES_MAX: usize = 10;
/// 100 per cent.
const BASIS_POINTS_MAX: u16 = 10_000;

pub(crate) fn detailed_price_request(
    request: HotelPriceRequest,
) -> hotel_pricing::DetailedPriceRequest {
    hotel_pricing::DetailedPriceRequest {
        include_package_rates: request.include_package_rates,
        request: price_request(request),
    }
}

pub(crate) fn detailed_price_response(
    response: hotel_pricing::DetailedPriceResponse,
    request: HotelPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelPriceResponse> {
    let includes_package_rates = request.include_package_rates;
    let mut priced = priced_hotels(
        &response.currency,
        response.hotels,
        request,
        now,
        dropped,
        |found| (found.hotel, found.offers),
        |found| (found.offer, Some(found.details)),
    )?;
    // Without these offers the response is not invalid: the hotel has no offer for this caller.
    for hotel in &mut priced.hotels {
        hotel.offers.retain(|offer| {
            let sellable = check_sellable(&offer.details, includes_package_rates);
            dropped.keep(sellable).is_some()
        });
    }
    Ok(priced)
}

fn check_sellable(details: &HotelOfferDetails, includes_package_rates: bool) -> ConvertResult<()> {
    match details.unsellable_reason(includes_package_rates) {
        None => Ok(()),
        Some(UnsellableReason::PackageOnly) => {
            invalid("offers.details.package-only", "not asked for")
        }
        Some(UnsellableReason::PayAtPropertyOnly) => {
            invalid("offers.details.payment-types", "payable only at the hotel")
        }
    }
}

pub(crate) fn detailed_prebook_response(
    response: hotel_booking::DetailedPrebookResponse,
    expected: PrebookExpectation,
    rooms: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelPrebookResponse> {
    let mut prebook = bound_offer(response.prebook, expected, rooms)?;
    prebook.details = add_offer_details(
        response.details,
        &mut prebook.rooms,
        &mut prebook.policy,
        dropped,
    );
    prebook_texts(&mut prebook).fit(dropped);
    Ok(prebook)
}

pub(crate) fn detailed_booking(
    state: hotel_booking::DetailedBooking,
    expected: &HotelBookingExpectation,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelSupplierBooking> {
    let mut booking = supplier_booking(state.booking, expected, now, dropped)?;
    if let Some(policy) = &mut booking.policy {
        add_policy_details(state.policy, policy, dropped);
    }
    Ok(booking)
}

pub(crate) fn detailed_booking_lookup(
    lookup: hotel_booking::DetailedBookingLookup,
    expected: &HotelBookingExpectation,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<BookingLookup<HotelSupplierBooking>> {
    Ok(match lookup {
        hotel_booking::DetailedBookingLookup::Found(state) => {
            let state = detailed_booking(state, expected, now, dropped)?;
            BookingLookup::Found(Box::new(state))
        }
        hotel_booking::DetailedBookingLookup::NotFound => BookingLookup::NotFound,
    })
}

/// Adds details to the rooms and the policy of an offer or a prebook, and returns those of the whole
/// offer.
pub(super) fn add_offer_details(
    details: wire::OfferDetails,
    rooms: &mut [RoomRate],
    policy: &mut CancellationPolicy,
    dropped: &mut DroppedItems,
) -> HotelOfferDetails {
    add_policy_details(details.policy, policy, dropped);
    let is_one_a_room = details.rooms.is_empty() || details.rooms.len() == rooms.len();
    let of_rooms = valid_if(
        is_one_a_room,
        details.rooms,
        "details.rooms",
        "not one a room",
    );
    let of_rooms = dropped.keep(of_rooms).unwrap_or_default();
    for (room, found) in rooms.iter_mut().zip(of_rooms) {
        add_room_details(found, room, dropped);
    }
    HotelOfferDetails {
        payment_types: dropped.keep_valid(
            "details.payment-types",
            details.payment_types,
            PAYMENT_TYPES_MAX,
            payment_type,
        ),
        package_only: Some(details.package_only),
    }
}

fn add_room_details(found: wire::RoomDetails, room: &mut RoomRate, dropped: &mut DroppedItems) {
    add_policy_details(found.policy, &mut room.policy, dropped);
    let (perks, taxes) = ("details.rooms.perks", "details.rooms.taxes");
    room.details = RoomDetails {
        remarks: text::optional_display(found.remarks, text::TEXT_CHARS),
        perks: dropped.keep_valid(perks, found.perks, ROOM_ITEMS_MAX, perk),
        taxes: dropped.keep_valid(taxes, found.taxes, ROOM_ITEMS_MAX, tax),
        max_occupancy: found.max_occupancy.and_then(|guests| {
            let field = "details.rooms.max-occupancy";
            dropped.keep(valid_if(guests > 0, guests, field, "no guests"))
        }),
    };
}

/// Adds details to a policy that is already converted.
fn add_policy_details(
    details: wire::PolicyDetails,
    policy: &mut CancellationPolicy,
    dropped: &mut DroppedItems,
) {
    let refund_type = optional(details.refund_type, |found| {
        refund_type(found, policy.refundable)
    });
    policy.refund_type = dropped.keep(refund_type).flatten();
    let _: Vec<()> = dropped.keep_valid(
        "details.policy.penalties",
        details.penalties,
        PENALTIES_MAX,
        |found| add_penalty_details(found, &mut policy.penalties),
    );
}

/// Converts the refund type. A policy that is not refundable may still return a part, for example that of one of its rooms.
fn refund_type(found: wire::RefundType, refundable: bool) -> ConvertResult<RefundType> {
    let refund_type = same_variant!(found, wire::RefundType => RefundType, [Full, Partial, None]);
    let is_consistent = match refund_type {
        RefundType::Full => refundable,
        RefundType::Partial => true,
        RefundType::None => !refundable,
    };
    let field = "details.policy.refund-type";
    valid_if(is_consistent, refund_type, field, "contradicts the policy")
}

fn add_penalty_details(
    found: wire::PenaltyDetails,
    penalties: &mut [Penalty],
) -> ConvertResult<()> {
    let field = "details.policy.penalties.start";
    let start = instant(field, found.start)?;
    let mut known = penalties.iter_mut();
    let Some(penalty) = known.find(|penalty| penalty.from == start) else {
        return invalid(field, "no penalty starts then");
    };
    if found
        .basis_points
        .is_some_and(|points| points > BASIS_POINTS_MAX)
    {
        let field = "details.policy.penalties.basis-points";
        return invalid(field, "more than the total");
    }
    penalty.basis_points = found.basis_points;
    penalty.time_zone = text::time_zone(found.time_zone);
    Ok(())
}

fn perk(perk: wire::Perk) -> ConvertResult<RoomPerk> {
    let field = "details.rooms.perks.name";
    let is_named = !perk.name.trim().is_empty();
    Ok(RoomPerk {
        name: text::display_line(valid_if(is_named, perk.name, field, "empty")?),
        value: optional(perk.value, |value| {
            money_with_currency("details.rooms.perks.value", &value)
        })?,
    })
}

fn tax(tax: wire::Tax) -> ConvertResult<RoomTax> {
    Ok(RoomTax {
        description: text::display_line(tax.description),
        amount: money_with_currency("details.rooms.taxes.amount", &tax.amount)?,
        payable_at: same_variant!(tax.payable_at, wire::PaymentPoint => PaymentPoint, [
            Booking, CheckIn, CheckOut, Property,
        ]),
    })
}

fn payment_type(payment_type: wire::PaymentType) -> ConvertResult<HotelPaymentType> {
    Ok(match payment_type {
        wire::PaymentType::Prepaid => HotelPaymentType::Prepaid,
        wire::PaymentType::PayAtProperty => HotelPaymentType::PayAtProperty,
        wire::PaymentType::Other(code) => {
            HotelPaymentType::Other(text::reference("details.payment-types", code)?)
        }
    })
}

#[cfg(test)]
mod tests;
