//! Conversion of a Nuitee booking to the gateway's types.

use std::collections::BTreeSet;

use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::types::hotel::{
    CancellationAmounts, CancellationPolicy, SupplierBooking, SupplierRoom,
};
use stopover_sdk::types::{BookingStatus, MinorUnits};
use stopover_sdk::{html, time};

use crate::map::prebook::Extras;
use crate::map::{self, minor, policy};
use crate::wire::booking::{Booking, Cancellation, SupplierRoom as WireRoom};
use crate::wire::rate::CancellationPolicies;
use crate::wire::{LenientTextList, room_position};

/// Converts a status. Returns `None` for an unknown status, because neither "booked" nor "not
/// booked" may be guessed.
pub(crate) fn status(text: &str) -> Option<BookingStatus> {
    match text.to_ascii_uppercase().as_str() {
        "CONFIRMED" => Some(BookingStatus::Confirmed),
        "CANCELLED" | "CANCELED" | "CANCELLED_WITH_CHARGES" | "CANCELED_WITH_CHARGES" => {
            Some(BookingStatus::Canceled)
        }
        _ => None,
    }
}

/// Converts a booking.
///
/// # Errors
/// The status is unknown, there is no id, or an amount cannot be read.
pub(crate) fn supplier_booking(booking: Booking) -> Result<SupplierBooking, DecodeError> {
    let status = status(&booking.status)
        .ok_or_else(|| DecodeError::new("the booking has an unknown status"))?;
    let currency = booking.currency.clone();
    let total = total(&booking)?;
    let id = booking.booking_id.as_deref();
    let supplier_reference =
        non_empty(id).ok_or_else(|| DecodeError::new("the booking has no id"))?;
    ensure(total >= 0, "the booking has a negative price")?;
    let is_canceled = status == BookingStatus::Canceled;
    let hotel_confirmation_code = non_empty(booking.hotel_confirmation_code.as_deref());
    let supplier_room_reference = non_empty(booking.supplier_booking_id.as_deref());
    let rooms = positions(booking.all_rooms());
    let rooms = rooms.into_iter().map(|position| SupplierRoom {
        position,
        supplier_room_reference: supplier_room_reference.clone(),
        hotel_confirmation_code: hotel_confirmation_code.clone(),
        canceled: is_canceled,
    });
    let rooms = rooms.collect();
    let policy = booking_policy(&booking, total);
    let cancellation = if is_canceled {
        refunded_amounts(&booking, total)
    } else {
        None
    };
    let mut extensions = Vec::new();
    if booking.sandbox.is_set() {
        extensions.push(("sandbox".to_owned(), "true".to_owned()));
    }
    Ok(SupplierBooking {
        status,
        client_reference: non_empty(booking.client_reference.as_deref()),
        currency,
        total,
        remarks: remarks(&booking),
        supplier_reference,
        hotel_confirmation_code,
        rooms,
        policy,
        cancellation,
        extensions,
    })
}

/// Returns the booking with the client reference; an active booking takes precedence over a
/// cancelled one. Nuitee accepts each reference once, so any others are old and cancelled.
pub(crate) fn with_reference(bookings: Vec<Booking>, client_reference: &str) -> Option<Booking> {
    let mut ours: Vec<Booking> = bookings
        .into_iter()
        .filter(|booking| booking.client_reference.as_deref() == Some(client_reference))
        .collect();
    ours.sort_by_key(|booking| status(&booking.status) == Some(BookingStatus::Canceled));
    ours.into_iter().next()
}

/// Returns the booking's state after a cancellation: the cancellation's response takes precedence
/// over the booking that was read afterwards. Without that read, only the essential data is known.
///
/// # Errors
/// The response does not say that the booking is cancelled, or neither source gives the amounts.
pub(crate) fn canceled_booking(
    supplier_reference: &str,
    client_reference: &str,
    cancellation: &Cancellation,
    read: Option<SupplierBooking>,
) -> Result<SupplierBooking, DecodeError> {
    ensure(
        status(&cancellation.status) == Some(BookingStatus::Canceled),
        "the response to the cancellation has an unexpected status",
    )?;
    let amounts = amounts(cancellation, read.as_ref());
    let mut state = match (read, &amounts) {
        (Some(state), _) => state,
        (None, Some(amounts)) => SupplierBooking {
            status: BookingStatus::Canceled,
            supplier_reference: supplier_reference.to_owned(),
            client_reference: Some(client_reference.to_owned()),
            total: map::add(amounts.fee, amounts.refund.unwrap_or(0))?,
            currency: amounts.currency.clone(),
            hotel_confirmation_code: None,
            remarks: None,
            rooms: Vec::new(),
            policy: None,
            cancellation: None,
            extensions: Vec::new(),
        },
        (None, None) => return Err(DecodeError::new("the cancellation has no readable amounts")),
    };
    state.status = BookingStatus::Canceled;
    for room in &mut state.rooms {
        room.canceled = true;
    }
    state.cancellation = amounts.or(state.cancellation);
    Ok(state)
}

/// Returns the fee and the refund, or `None` if Nuitee states neither readably. A refund alone
/// implies the fee, because a cancellation applies to the whole booking.
fn amounts(
    cancellation: &Cancellation,
    read: Option<&SupplierBooking>,
) -> Option<CancellationAmounts> {
    let known = read.map(|state| state.currency.as_str());
    let currency = cancellation.currency.as_deref().or(known)?;
    let amount = |amount| minor(amount, currency).ok().filter(|minor| *minor >= 0);
    let refund = cancellation.refund_amount.and_then(amount);
    let implied_fee = || {
        let paid = read.filter(|state| state.currency == currency)?.total;
        paid.checked_sub(refund?).filter(|fee| *fee >= 0)
    };
    let fee = cancellation.cancellation_fee.and_then(amount);
    Some(CancellationAmounts {
        fee: fee.or_else(implied_fee)?,
        refund,
        currency: currency.to_owned(),
        supplier_reference: None,
    })
}

fn total(booking: &Booking) -> Result<MinorUnits, DecodeError> {
    let unreadable = |error: stopover_sdk::money::MoneyError| DecodeError::new(error.to_string());
    let extras = Extras {
        price: minor(booking.price, &booking.currency).map_err(unreadable)?,
        addons: booking.addons_total_amount.unwrap_or_default(),
        vouchers: booking.voucher_total_amount.unwrap_or_default(),
    };
    let mut rooms_total = 0;
    for room in booking.all_rooms() {
        rooms_total = map::add(
            rooms_total,
            room_total(room, &booking.currency).unwrap_or(0),
        )?;
    }
    extras
        .hotel_total(rooms_total, booking.all_rooms().len(), &booking.currency)
        .map_err(unreadable)
}

fn room_total(room: &WireRoom, currency: &str) -> Option<MinorUnits> {
    let retail_rate = room.rate.as_ref()?.retail_rate.as_ref()?;
    map::sum(&retail_rate.total.0, currency).ok().flatten()
}

fn room_policies(room: &WireRoom) -> Option<&CancellationPolicies> {
    let of_rate = || room.rate.as_ref()?.cancellation_policies.as_ref();
    room.cancellation_policies.as_ref().or_else(of_rate)
}

/// Returns the rooms' positions in the request, ascending. Room numbers count from 1. If they are
/// missing or not distinct, the order of the response is used.
fn positions(rooms: &[WireRoom]) -> Vec<u8> {
    let number = |room: &WireRoom| u8::try_from(room_position(room.occupancy_number)?).ok();
    let numbered: Option<BTreeSet<u8>> = rooms.iter().map(number).collect();
    match numbered {
        Some(numbered) if numbered.len() == rooms.len() => numbered.into_iter().collect(),
        _ => (0..).take(rooms.len()).collect(),
    }
}

/// Returns the booking's cancellation policy: the rooms' merged policies if every room has a policy
/// and a price, otherwise the booking's own. Nuitee's last free cancellation date can only shorten
/// the free period.
fn booking_policy(booking: &Booking, total: MinorUnits) -> Option<CancellationPolicy> {
    let currency = booking.currency.as_str();
    let of_room = |room: &WireRoom| {
        let total = room_total(room, currency)?;
        Some((
            policy::cancellation_policy(room_policies(room)?, total, currency)?,
            total,
        ))
    };
    let rooms = booking.all_rooms();
    let of_rooms: Option<Vec<_>> = rooms.iter().map(of_room).collect();
    let mut policy = match of_rooms {
        Some(policies) if !policies.is_empty() => {
            let policies: Vec<_> = policies
                .iter()
                .map(|(policy, total)| (policy, *total))
                .collect();
            policy::merge(&policies, currency)
        }
        _ => policy::cancellation_policy(booking.cancellation_policies.as_ref()?, total, currency)?,
    };
    let named = booking
        .last_free_cancellation_date
        .as_deref()
        .and_then(|date| time::parse_timestamp(date.trim()))
        .filter(|named| *named > 0);
    if let (true, Some(named)) = (policy.refundable, named) {
        policy.free_until = Some(policy.free_until.map_or(named, |until| until.min(named)));
    }
    Some(policy)
}

/// Returns the amounts of a cancelled booking that was read. Nuitee documents `amountRefunded` as the
/// total refunded for the booking, and states no fee. Zero also stands in bookings whose refund is
/// not made yet, so it states nothing.
fn refunded_amounts(booking: &Booking, total: MinorUnits) -> Option<CancellationAmounts> {
    let refunded = minor(booking.amount_refunded?, &booking.currency).ok()?;
    if !(1..=total).contains(&refunded) {
        return None;
    }
    Some(CancellationAmounts {
        fee: total - refunded,
        refund: Some(refunded),
        currency: booking.currency.clone(),
        supplier_reference: None,
    })
}

/// Returns every remark for the guest once, as plain text.
fn remarks(booking: &Booking) -> Option<String> {
    let sources: [&LenientTextList; 5] = [
        &booking.hotel_remarks,
        &booking.remarks,
        &booking.mandatory_fees,
        &booking.optional_fees,
        &booking.know_before_you_go,
    ];
    let mut texts: Vec<String> = Vec::new();
    for text in sources.iter().flat_map(|source| &source.0) {
        let text = html::plain(text);
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn non_empty(text: Option<&str>) -> Option<String> {
    text.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
