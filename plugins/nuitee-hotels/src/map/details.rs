//! Details of rates beyond prices and terms.

use std::borrow::Cow;
use std::collections::HashSet;
use std::{fmt, mem};

use stopover_sdk::detailed_hotel_booking::DetailedBooking;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::html;
use stopover_sdk::json::ensure;
use stopover_sdk::lenient::{ExactText, LenientText};
use stopover_sdk::types::hotel::{CancellationPolicy, RoomRate, SupplierBooking};
use stopover_sdk::types::hotel_details::{
    OfferDetails, PaymentPoint, PaymentType, Perk, RoomDetails, Tax,
};
use stopover_sdk::types::{MinorUnits, Money, TimestampMs};

use crate::map::{self, FEW_TEXTS, fee_amount, minor, policy};
use crate::wire;
use crate::wire::rate::{PAID_AT_HOTEL, PREPAID, Rate, RetailRate, TaxOrFee};
use crate::wire::room_position;

/// Maximum number of perks, and of taxes, of one room that the gateway shows.
const ROOM_ITEMS: usize = 30;

/// An offer that is already converted, and the place of its rates in the response.
pub(crate) struct RatedOffer<'a> {
    /// JSON pointer of the offer in the response.
    pub(crate) pointer: &'a dyn fmt::Display,
    pub(crate) currency: &'a str,
    pub(crate) rooms: &'a [RoomRate],
    pub(crate) policy: &'a CancellationPolicy,
    pub(crate) total: MinorUnits,
    pub(crate) package_only: bool,
    /// Time of the call.
    pub(crate) now_ms: TimestampMs,
}

/// Converts the details of an offer. Its rates are those from which its rooms were converted.
pub(crate) fn offer_details(
    offer: &RatedOffer<'_>,
    rates: Vec<Rate<'_>>,
    dropped: &mut DroppedItems,
) -> OfferDetails {
    report_unread_policies(offer.pointer, &rates, offer.rooms, dropped);
    let mut rooms = vec![RoomDetails::default(); offer.rooms.len()];
    let mut payment_types: Option<Vec<ExactText<'_>>> = None;
    for (index, mut rate) in rates.into_iter().enumerate() {
        let types = mem::take(&mut rate.payment_types);
        let types = types.value().unwrap_or_default();
        let pointer = format_args!("{}/rates/{index}/paymentTypes", offer.pointer);
        let types = dropped.readable(pointer, types);
        let types = types.map(|(_, code)| code);
        payment_types = Some(match payment_types {
            None => types.collect(),
            Some(common) => common_codes(&common, types),
        });
        let position = room_position(rate.occupancy_number).unwrap_or(index);
        let room = offer.rooms.get(position);
        if let Some((details, room)) = rooms.get_mut(position).zip(room) {
            *details = room_details(index, rate, room, offer, dropped);
        }
    }
    let payment_types = payment_types.into_iter().flatten().filter_map(payment_type);
    let policy = match &rooms[..] {
        [room] => room.policy.clone(),
        rooms => {
            let mut merged = policy::details(offer.policy, offer.total, offer.now_ms);
            // A value that is unknown for one room is unknown for the offer.
            if rooms.iter().any(|room| room.policy.refund_type.is_none()) {
                merged.refund_type = None;
            }
            merged
        }
    };
    OfferDetails {
        rooms,
        policy,
        payment_types: payment_types.collect(),
        package_only: offer.package_only,
    }
}

/// Reports the rates whose cancellation policies cannot be used. Their rooms, which are converted
/// already, are offered as not refundable. `pointer` is the offer's JSON pointer.
pub(crate) fn report_unread_policies(
    pointer: &dyn fmt::Display,
    rates: &[Rate<'_>],
    rooms: &[RoomRate],
    dropped: &mut DroppedItems,
) {
    for (index, rate) in rates.iter().enumerate() {
        let position = room_position(rate.occupancy_number).unwrap_or(index);
        let policies = rate.cancellation_policies.as_ref();
        let policies = policies.required("cancellationPolicies");
        let policies = policies.and_then(|policies| {
            let room = rooms.get(position);
            let is_read = room.is_none_or(|room| policy::is_read(policies, &room.policy));
            ensure(is_read, "the cancellation policy of a rate cannot be used")
        });
        let pointer = format_args!("{pointer}/rates/{index}/cancellationPolicies");
        dropped.keep(pointer, policies);
    }
}

/// Returns the codes that are among the known ones.
fn common_codes<'a>(
    known: &[ExactText<'a>],
    codes: impl Iterator<Item = ExactText<'a>>,
) -> Vec<ExactText<'a>> {
    if known.len() <= FEW_TEXTS {
        return codes.filter(|code| known.contains(code)).collect();
    }
    let known: HashSet<&str> = known.iter().map(ExactText::as_str).collect();
    let common = codes.filter(|code| known.contains(code.as_str()));
    common.collect()
}

/// Converts the details of the rate at position `index` of its offer.
fn room_details(
    index: usize,
    rate: Rate<'_>,
    room: &RoomRate,
    offer: &RatedOffer<'_>,
    dropped: &mut DroppedItems,
) -> RoomDetails {
    let mut policies = rate.cancellation_policies.value().unwrap_or_default();
    let hotel_remarks = mem::take(&mut policies.hotel_remarks);
    let hotel_remarks = dropped.readable(
        format_args!(
            "{}/rates/{index}/cancellationPolicies/hotelRemarks",
            offer.pointer
        ),
        hotel_remarks,
    );
    let remarks = rate.remarks.0.into_iter();
    let remarks = remarks.chain(hotel_remarks.map(|(_, remark)| remark.0));
    let remarks = joined(remarks);
    let pointer = format_args!("{}/rates/{index}/perks", offer.pointer);
    let perks = dropped.readable(pointer, rate.perks);
    let perks = perks.filter_map(|(_, perk)| read_perk(&perk));
    let retail_rate = rate.retail_rate.as_ref().value();
    let taxes = retail_rate.and_then(RetailRate::taxes_and_fees);
    let taxes = taxes.unwrap_or_default().iter();
    let taxes = taxes.filter_map(|fee| tax(fee, offer.currency));
    let occupancy = rate
        .max_occupancy
        .0
        .and_then(|guests| u8::try_from(guests).ok());
    RoomDetails {
        remarks,
        perks: perks.take(ROOM_ITEMS).collect(),
        taxes: taxes.take(ROOM_ITEMS).collect(),
        max_occupancy: occupancy.filter(|guests| *guests > 0),
        policy: policy::rate_details(&policies, &room.policy, room.total, offer.now_ms),
    }
}

/// Adds a text about the whole booking to the remarks of each room, as plain text.
pub(crate) fn add_remark(rooms: &mut [RoomDetails], text: &LenientText<'_>) {
    let Some(text) = html::optional(text.as_deref()) else {
        return;
    };
    for room in rooms {
        let remarks = room.remarks.take().into_iter();
        let texts = map::unique_texts(remarks.chain([text.clone()]));
        room.remarks = Some(texts.join("\n"));
    }
}

/// Adds the details of its policy to a booking that was read at `now_ms`.
pub(crate) fn detailed_booking(booking: SupplierBooking, now_ms: TimestampMs) -> DetailedBooking {
    let policy = booking.policy.as_ref();
    let policy = policy.map(|policy| policy::details(policy, booking.total, now_ms));
    DetailedBooking {
        policy: policy.unwrap_or_default(),
        booking,
    }
}

/// Returns every remark once, as plain text.
fn joined<'a>(remarks: impl Iterator<Item = Cow<'a, str>>) -> Option<String> {
    let texts = map::unique_texts(remarks.map(|remark| html::plain(&remark)));
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Converts a perk. An amount of zero states no value.
fn read_perk(perk: &wire::rate::Perk<'_>) -> Option<Perk> {
    let name = html::optional(perk.name.as_deref())?;
    let value = perk.amount.0.zip(perk.currency.as_deref());
    let value = value.and_then(|(amount, currency)| {
        let amount = minor(amount, currency).ok().filter(|amount| *amount > 0)?;
        Some(Money::new(amount, currency))
    });
    Some(Perk { name, value })
}

/// Converts a tax or fee. Nuitee documents that one that is not included is paid on arrival.
fn tax(fee: &TaxOrFee<'_>, currency: &str) -> Option<Tax> {
    let (amount, currency) = fee_amount(fee, currency)?;
    let is_included = fee.is_included().ok()?;
    Some(Tax {
        description: html::optional(fee.description.as_deref()).unwrap_or_default(),
        amount: (amount >= 0).then(|| Money::new(amount, currency))?,
        payable_at: match is_included {
            Some(true) => PaymentPoint::Booking,
            Some(false) => PaymentPoint::CheckIn,
            None => PaymentPoint::Property,
        },
    })
}

fn payment_type(code: ExactText<'_>) -> Option<PaymentType> {
    match code.as_str().trim() {
        "" => None,
        PREPAID => Some(PaymentType::Prepaid),
        PAID_AT_HOTEL => Some(PaymentType::PayAtProperty),
        other => Some(PaymentType::Other(other.to_owned())),
    }
}
