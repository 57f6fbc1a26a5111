//! Conversion of a Nuitee booking to the gateway's types.

use std::collections::BTreeSet;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, LenientList, NonEmptyText, Part};
use stopover_sdk::money::{Decimal, MoneyError};
use stopover_sdk::types::hotel::{
    CancellationAmounts, CancellationPolicy, SupplierBooking, SupplierRoom,
};
use stopover_sdk::types::{BookingStatus, MinorUnits, Money, TimestampMs};
use stopover_sdk::{html, time};

use crate::map::prebook::Extras;
use crate::map::{self, minor, policy};
use crate::wire::booking::{Booking, Cancellation, SupplierRoom as WireRoom};
use crate::wire::rate::CancellationPolicies;
use crate::wire::{Amount, LenientTextList, room_position};

const BOOKING_ID: &str = "bookingId";
const CLIENT_REFERENCE: &str = "clientReference";
const STATUS: &str = "status";
const LAST_FREE_DATE: &str = "lastFreeCancellationDate";

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

/// Returns whether a status says that the supplier keeps money of a cancelled booking.
fn has_charges(text: &str) -> bool {
    text.to_ascii_uppercase().ends_with("_WITH_CHARGES")
}

/// Converts a booking. Parts without which it is usable are left out if they cannot be read. `agreed`
/// is the prebooked price, if it is known. It replaces a price that cannot be read. `pointer` is the
/// booking's JSON pointer in the response.
///
/// # Errors
/// The status is unknown, there is no id, a reference is unreadable, or there is no readable price.
pub(crate) fn supplier_booking(
    booking: Booking<'_>,
    agreed: Option<Money>,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> Result<SupplierBooking, DecodeError> {
    let status_text = booking.status.required(STATUS)?.as_str();
    let has_charges = has_charges(status_text);
    let status =
        status(status_text).ok_or_else(|| DecodeError::new("the booking has an unknown status"))?;
    let supplier_reference = booking.booking_id.required(BOOKING_ID)?.as_str().to_owned();
    let client_reference = booking.client_reference.optional(CLIENT_REFERENCE)?;
    let client_reference = client_reference.cloned();
    let mut parts = PartReader { pointer, dropped };
    let remarks = remarks(
        [
            ("hotelRemarks", booking.hotel_remarks),
            ("remarks", booking.remarks),
            ("mandatoryFees", booking.mandatory_fees),
            ("optionalFees", booking.optional_fees),
            ("knowBeforeYouGo", booking.know_before_you_go),
        ],
        &mut parts,
    );
    let (booked, listed) = (booking.booked_rooms, booking.rooms);
    let booked_rooms = BookedRooms::new(booked.into_part(), listed.into_part(), &mut parts);
    let addons = parts.readable("addonsTotalAmount", booking.addons_total_amount.to_part());
    let vouchers = parts.readable("voucherTotalAmount", booking.voucher_total_amount.to_part());
    let extras = (addons.unwrap_or_default(), vouchers.unwrap_or_default());
    let price = stated_price(&booking.currency, &booking.price, extras, &booked_rooms);
    let price = price.or_else(|error| {
        let known = booked_rooms.total().or(agreed);
        parts.leave_out("price", error.clone());
        known.ok_or(error)
    })?;
    let is_canceled = status == BookingStatus::Canceled;
    let own_policies = booking.cancellation_policies.into_part();
    let own_policies = parts.readable("cancellationPolicies", own_policies);
    let last_free_date = &booking.last_free_cancellation_date;
    let policy = booked_rooms.policy(own_policies.as_ref(), last_free_date, &price, &mut parts);
    let refunded = parts.amount("amountRefunded", &booking.amount_refunded, &price.currency);
    let cancellation = is_canceled.then(|| refunded_amounts(refunded, has_charges, &price));
    let cancellation = cancellation.flatten();
    let hotel_confirmation_code =
        parts.text("hotelConfirmationCode", &booking.hotel_confirmation_code);
    let room_reference = parts.text("supplierBookingId", &booking.supplier_booking_id);
    let rooms = booked_rooms.positions().into_iter();
    let rooms = rooms.map(|position| SupplierRoom {
        position,
        supplier_room_reference: room_reference.clone(),
        hotel_confirmation_code: hotel_confirmation_code.clone(),
        canceled: is_canceled,
    });
    let is_sandbox = booking.sandbox.is_set();
    let sandbox = is_sandbox.then(|| ("sandbox".to_owned(), "true".to_owned()));
    Ok(SupplierBooking {
        status,
        client_reference,
        rooms: rooms.collect(),
        currency: price.currency,
        total: price.amount,
        remarks,
        supplier_reference,
        hotel_confirmation_code,
        policy,
        cancellation,
        extensions: sandbox.into_iter().collect(),
    })
}

/// Reads the parts of a booking. Unreadable ones are left out.
struct PartReader<'a> {
    /// JSON pointer of the booking.
    pointer: &'a str,
    dropped: &'a mut DroppedItems,
}

impl PartReader<'_> {
    fn readable<T>(&mut self, name: &str, part: Part<T>) -> Option<T> {
        let pointer = format_args!("{}/{name}", self.pointer);
        self.dropped.readable_part(pointer, part)
    }

    fn text(&mut self, name: &str, text: &Essential<NonEmptyText>) -> Option<String> {
        let text = text.optional(name);
        let text = text.map(|text| text.map(|text| text.as_str().to_owned()));
        let pointer = format_args!("{}/{name}", self.pointer);
        self.dropped.keep(pointer, text).flatten()
    }

    /// Returns an amount in minor units. One that is unreadable or negative is reported.
    fn amount(&mut self, name: &str, amount: &Essential<Decimal>, currency: &str) -> StatedAmount {
        let amount = amount.to_part();
        let otherwise = match amount {
            Part::Missing => StatedAmount::Missing,
            Part::Decoded(_) | Part::Unreadable(_) => StatedAmount::Unreadable,
        };
        let Some(amount) = self.readable(name, amount) else {
            return otherwise;
        };
        match minor(amount, currency) {
            Ok(minor) if minor >= 0 => StatedAmount::Amount(minor),
            Ok(_) => {
                self.leave_out(name, DecodeError::new("the amount is negative"));
                StatedAmount::Negative
            }
            Err(error) => {
                self.leave_out(name, DecodeError::new(error.to_string()));
                StatedAmount::Unreadable
            }
        }
    }

    fn leave_out(&mut self, name: &str, error: DecodeError) {
        let pointer = format_args!("{}/{name}", self.pointer);
        self.dropped.leave_out(pointer, error);
    }
}

/// An amount of money that a response may state.
#[derive(Clone, Copy)]
enum StatedAmount {
    Missing,
    Amount(MinorUnits),
    Negative,
    Unreadable,
}

/// Checks that a response is about this booking.
pub(crate) fn check_id(actual: &str, expected: &str) -> Result<(), DecodeError> {
    ensure(actual == expected, "the response is about another booking")
}

/// Returns the booking with the client reference and its position in the response; a confirmed booking
/// takes precedence over others. Nuitee accepts each reference once, so any others are old and
/// cancelled.
///
/// # Errors
/// Several confirmed bookings have the reference, or none has it and an item or its reference cannot
/// be read. If none has it, one whose reference differs not only in case shows that Nuitee did not filter
/// the list, which then proves nothing.
pub(crate) fn with_reference<'a>(
    bookings: Vec<Part<Booking<'a>>>,
    client_reference: &str,
) -> Result<Option<(usize, Booking<'a>)>, DecodeError> {
    let (mut confirmed, mut undecided, mut canceled) = (None, None, None);
    let mut unreadable: Option<DecodeError> = None;
    let mut is_filtered = true;
    for (position, booking) in bookings.into_iter().enumerate() {
        let booking = booking.into_readable().and_then(|booking| {
            let booking = booking.ok_or_else(|| DecodeError::missing("a booking is null"))?;
            let reference = booking.client_reference.required(CLIENT_REFERENCE)?;
            let is_blank = reference.trim().is_empty();
            ensure(!is_blank, "the client reference of a booking is blank")?;
            let is_ours = reference == client_reference;
            is_filtered &= reference.eq_ignore_ascii_case(client_reference);
            Ok(is_ours.then_some(booking))
        });
        let booking = match booking {
            Ok(Some(booking)) => booking,
            Ok(None) => continue,
            Err(error) => {
                unreadable.get_or_insert(error);
                continue;
            }
        };
        let text = booking.status.optional(STATUS).ok().flatten();
        match text.and_then(|text| status(text.as_str())) {
            Some(BookingStatus::Confirmed) => {
                let is_only = confirmed.replace((position, booking)).is_none();
                ensure(is_only, "several bookings have the client reference")?;
            }
            Some(BookingStatus::Canceled) => {
                canceled.get_or_insert((position, booking));
            }
            _ => {
                undecided.get_or_insert((position, booking));
            }
        }
    }
    match (confirmed, unreadable) {
        (Some(booking), _) => Ok(Some(booking)),
        // The unreadable item may be the confirmed booking.
        (None, Some(error)) => Err(error),
        (None, None) => {
            let found = undecided.or(canceled);
            let is_answer = found.is_some() || is_filtered;
            ensure(is_answer, "the list has bookings with other references")?;
            Ok(found)
        }
    }
}

/// Returns the booking's state after a cancellation: the cancellation's response takes precedence
/// over the booking that was read afterwards. Without that read, only the essential data is known.
///
/// # Errors
/// The response does not say that this booking is cancelled, or neither source gives the amounts.
pub(crate) fn canceled_booking(
    supplier_reference: &str,
    client_reference: &str,
    cancellation: Cancellation,
    read: Option<SupplierBooking>,
    dropped: &mut DroppedItems,
) -> Result<SupplierBooking, DecodeError> {
    let id = cancellation.booking_id.required(BOOKING_ID)?;
    check_id(id.as_str(), supplier_reference)?;
    let text = cancellation.status.required(STATUS)?;
    let is_canceled = status(text.as_str()) == Some(BookingStatus::Canceled);
    ensure(
        is_canceled,
        "the response to the cancellation has an unexpected status",
    )?;
    let has_charges = has_charges(text.as_str());
    let amounts = cancellation_amounts(cancellation, has_charges, read.as_ref(), dropped);
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
    // The response to the cancellation proves the change, whatever the room numbers of the read are.
    for (position, room) in (0..=u8::MAX).zip(&mut state.rooms) {
        room.position = position;
        room.canceled = true;
    }
    state.cancellation = amounts.or(state.cancellation);
    Ok(state)
}

/// Returns the fee and the refund, or `None` if Nuitee states neither. A refund alone implies the fee,
/// because a cancellation applies to the whole booking. Amounts that cannot be right are stated so that
/// they do not add up to the price, and the gateway leaves them to an operator.
fn cancellation_amounts(
    cancellation: Cancellation,
    has_charges: bool,
    read: Option<&SupplierBooking>,
    dropped: &mut DroppedItems,
) -> Option<CancellationAmounts> {
    let mut parts = PartReader {
        pointer: "/data",
        dropped,
    };
    let known = read.map(|state| state.currency.as_str());
    let stated = cancellation.currency.optional("currency");
    let stated = parts.dropped.keep(format_args!("/data/currency"), stated);
    let is_currency_readable = stated.is_some();
    let currency = stated.flatten().map(NonEmptyText::as_str).or(known)?;
    let mut read_amount = |name, part| match parts.amount(name, part, currency) {
        // The currency of the booking must not replace another one that is stated.
        StatedAmount::Amount(_) if !is_currency_readable => StatedAmount::Unreadable,
        stated => stated,
    };
    let fee = read_amount("cancellation_fee", &cancellation.cancellation_fee);
    let refund = read_amount("refund_amount", &cancellation.refund_amount);
    let determined = |fee, refund| CancellationAmounts {
        fee,
        refund,
        currency: currency.to_owned(),
        supplier_reference: None,
    };
    let undecided = || undecided_amounts(known.unwrap_or(currency));
    match (fee, refund) {
        (StatedAmount::Missing, StatedAmount::Missing) if !has_charges => None,
        (StatedAmount::Amount(fee), StatedAmount::Amount(refund)) => {
            Some(determined(fee, Some(refund)))
        }
        (StatedAmount::Amount(fee), StatedAmount::Missing | StatedAmount::Unreadable) => {
            Some(determined(fee, None))
        }
        (StatedAmount::Missing | StatedAmount::Unreadable, StatedAmount::Amount(refund)) => {
            let price = read?;
            let price = Some(price.total).filter(|_| price.currency == currency);
            let fee = price.map_or(0, |price| price.saturating_sub(refund).max(0));
            Some(determined(fee, Some(refund)))
        }
        (
            StatedAmount::Missing | StatedAmount::Unreadable,
            StatedAmount::Missing | StatedAmount::Unreadable,
        ) => {
            let stated = read.and_then(|read| read.cancellation.clone());
            Some(stated.unwrap_or_else(undecided))
        }
        (StatedAmount::Negative, _) | (_, StatedAmount::Negative) => Some(undecided()),
    }
}

/// Returns amounts that add up to no price, so that the gateway leaves the refund to an operator. The
/// interface has no other form for charges that are not known.
pub(crate) fn undecided_amounts(currency: &str) -> CancellationAmounts {
    CancellationAmounts {
        fee: 0,
        refund: Some(0),
        currency: currency.to_owned(),
        supplier_reference: None,
    }
}

/// Returns the price of the rooms that a booking states.
fn stated_price(
    currency: &Essential<NonEmptyText>,
    price: &Essential<Decimal>,
    (addons, vouchers): (Decimal, Decimal),
    rooms: &BookedRooms<'_>,
) -> Result<Money, DecodeError> {
    let unreadable = |error: MoneyError| DecodeError::new(error.to_string());
    let currency = currency.required("currency")?.as_str();
    let price = minor(*price.required("price")?, currency).map_err(unreadable)?;
    // It is only compared with the price.
    let rooms_total = rooms.readable.iter().fold(0, |sum: MinorUnits, room| {
        sum.saturating_add(room.total(currency).unwrap_or(0))
    });
    let extras = Extras {
        price,
        addons,
        vouchers,
        are_stated: false,
    };
    let total = extras.hotel_total(rooms_total, rooms.count, currency);
    // A price that the rooms do not explain stays, so that an operator sees it.
    let total = total.map_err(unreadable)?.unwrap_or(price);
    ensure(total >= 0, "the booking has a negative price")?;
    Ok(Money::new(total, currency))
}

/// A room, without the parts that cannot be read.
struct BookedRoom<'a> {
    position: Option<u8>,
    amounts: Vec<Amount<'a>>,
    policies: Option<CancellationPolicies<'a>>,
}

/// The rooms of a booking.
struct BookedRooms<'a> {
    readable: Vec<BookedRoom<'a>>,
    /// Number of rooms, unreadable ones included.
    count: usize,
}

impl<'a> BookedRooms<'a> {
    /// Reads the rooms, which are in one of two fields.
    fn new(
        booked_rooms: Part<LenientList<WireRoom<'a>>>,
        rooms: Part<LenientList<WireRoom<'a>>>,
        parts: &mut PartReader<'_>,
    ) -> Self {
        let booked = parts.readable("bookedRooms", booked_rooms);
        let booked = booked.filter(|rooms| count(rooms) > 0);
        let (name, rooms) = match booked {
            Some(rooms) => ("bookedRooms", rooms),
            None => ("rooms", parts.readable("rooms", rooms).unwrap_or_default()),
        };
        let count = count(&rooms);
        let pointer = format!("{}/{name}", parts.pointer);
        let rooms = parts.dropped.readable(format_args!("{pointer}"), rooms);
        let rooms = rooms.map(|(at, room)| {
            let parts = PartReader {
                pointer: &format!("{pointer}/{at}"),
                dropped: &mut *parts.dropped,
            };
            booked_room(room, parts)
        });
        Self {
            readable: rooms.collect(),
            count,
        }
    }

    /// Returns the sum of the rooms' totals, if each room has a readable one in the same currency.
    fn total(&self) -> Option<Money> {
        let first = self.readable.first()?.amounts.first()?;
        let currency = first.currency.as_ref().value()?.as_str();
        let totals = self.readable.iter().map(|room| room.total(currency));
        let total: MinorUnits = totals
            .map(|total| total.filter(|total| *total >= 0))
            .try_fold(0, |sum, total| map::add(sum, total?).ok())?;
        (self.readable.len() == self.count).then(|| Money::new(total, currency))
    }

    /// Returns the rooms' positions in the request, ascending. Room numbers count from 1.
    ///
    /// How many rooms there are proves that all requested ones are booked. If their numbers are missing,
    /// unusable or not distinct, the order of the response is used. An item that cannot be read counts as
    /// a room beside one that can. Without a readable room there are none. The gateway takes the outcome
    /// as unknown if there are more or fewer rooms than requested, or if a number is above them. Such a
    /// number stays, because the response is then not about the requested rooms.
    fn positions(&self) -> Vec<u8> {
        if !self.readable.iter().any(BookedRoom::has_content) {
            return Vec::new();
        }
        let is_above = |position: &u8| usize::from(*position) >= self.count;
        let positions = || self.readable.iter().map(|room| room.position);
        if positions().flatten().any(|position| is_above(&position)) {
            let stated: BTreeSet<u8> = positions().flatten().collect();
            return stated.into_iter().collect();
        }
        let numbered: Option<BTreeSet<u8>> = positions().collect();
        match numbered {
            Some(numbered) if numbered.len() == self.count => numbered.into_iter().collect(),
            _ => (0..=u8::MAX).take(self.count).collect(),
        }
    }

    /// Returns the booking's cancellation policy: the rooms' merged policies if every room has a usable
    /// policy and a price, otherwise the booking's own. Nuitee's last free cancellation date can only
    /// shorten the free period. If it cannot be read, it is unknown how long cancellation is free.
    fn policy(
        &self,
        own: Option<&CancellationPolicies<'_>>,
        last_free_date: &Essential<NonEmptyText>,
        price: &Money,
        parts: &mut PartReader<'_>,
    ) -> Option<CancellationPolicy> {
        let unusable = || DecodeError::new("the cancellation policy cannot be used");
        let currency = price.currency.as_str();
        let mut of_rooms = Vec::new();
        for room in &self.readable {
            let Some(policies) = &room.policies else {
                continue;
            };
            let total = room.total(currency);
            let policy =
                total.and_then(|total| policy::cancellation_policy(policies, total, currency));
            match policy.zip(total) {
                Some(of_room) => of_rooms.push(of_room),
                None => parts.leave_out("bookedRooms", unusable()),
            }
        }
        let mut policy = if of_rooms.is_empty() || of_rooms.len() < self.count {
            let policy = policy::cancellation_policy(own?, price.amount, currency);
            if policy.is_none() {
                parts.leave_out("cancellationPolicies", unusable());
            }
            policy?
        } else {
            let of_rooms = of_rooms.iter().map(|(policy, total)| (policy, *total));
            policy::merge(&of_rooms.collect::<Vec<_>>(), currency)
        };
        match last_free_instant(last_free_date) {
            Ok(Some(last_free)) => policy::end_free_time(&mut policy, last_free),
            Ok(None) => {}
            Err(error) => {
                parts.leave_out(LAST_FREE_DATE, error);
                return Some(policy).filter(|policy| !policy.refundable);
            }
        }
        Some(policy)
    }
}

/// Returns the last instant of free cancellation, or `None` if none is stated. The year 1 states none.
fn last_free_instant(date: &Essential<NonEmptyText>) -> Result<Option<TimestampMs>, DecodeError> {
    let Some(date) = date.optional(LAST_FREE_DATE)? else {
        return Ok(None);
    };
    let instant = time::parse_timestamp(date.as_str())
        .ok_or_else(|| DecodeError::new("the last date of free cancellation is no date"))?;
    Ok(Some(instant).filter(|instant| *instant > 0))
}

impl BookedRoom<'_> {
    /// Returns whether the room states anything that was read.
    fn has_content(&self) -> bool {
        self.position.is_some() || !self.amounts.is_empty() || self.policies.is_some()
    }

    fn total(&self, currency: &str) -> Option<MinorUnits> {
        map::sum(&self.amounts, currency).ok().flatten()
    }
}

fn count<T>(list: &LenientList<T>) -> usize {
    list.len() + list.unreadable().len()
}

fn booked_room<'a>(room: WireRoom<'a>, mut parts: PartReader<'_>) -> BookedRoom<'a> {
    let rate = parts.readable("rate", room.rate.into_part());
    let rate = rate.unwrap_or_default();
    let retail_rate = parts.readable("rate/retailRate", rate.retail_rate.into_part());
    let total = retail_rate.unwrap_or_default().total.into_part();
    let amounts = parts.readable("rate/retailRate/total", total);
    let policies = room.cancellation_policies.into_part();
    let policies = parts.readable("cancellationPolicies", policies);
    let of_rate = rate.cancellation_policies.into_part();
    let of_rate = parts.readable("rate/cancellationPolicies", of_rate);
    let number = room.occupancy_number.value().copied();
    let position = room_position(number.unwrap_or_default());
    BookedRoom {
        position: position.map(|position| u8::try_from(position).unwrap_or(u8::MAX)),
        amounts: amounts.unwrap_or_default().0,
        policies: policies.or(of_rate),
    }
}

/// Returns the amounts of a cancelled booking that was read. Nuitee documents `amountRefunded` as the
/// total refunded for the booking, and states no fee. Zero also stands in bookings whose refund is
/// not made yet, so it states nothing. Charges without a readable refund, and a refund above the price,
/// do not add up to the price, so that the gateway leaves them to an operator.
fn refunded_amounts(
    refunded: StatedAmount,
    has_charges: bool,
    price: &Money,
) -> Option<CancellationAmounts> {
    match refunded {
        StatedAmount::Missing | StatedAmount::Amount(0) if !has_charges => None,
        StatedAmount::Amount(refunded) if refunded > 0 => Some(CancellationAmounts {
            fee: price.amount.saturating_sub(refunded).max(0),
            refund: Some(refunded),
            currency: price.currency.clone(),
            supplier_reference: None,
        }),
        _ => Some(undecided_amounts(&price.currency)),
    }
}

/// Returns every remark for the guest once, as plain text.
fn remarks(
    sources: [(&str, Part<LenientTextList>); 5],
    parts: &mut PartReader<'_>,
) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for (name, source) in sources {
        let list = parts.readable(name, source).unwrap_or_default();
        if list.is_any_unreadable {
            parts.leave_out(name, DecodeError::new("an item is no text"));
        }
        texts.extend(list.texts.iter().map(|text| html::plain(text)));
    }
    let remarks = map::unique_texts(texts);
    (!remarks.is_empty()).then(|| remarks.join("\n"))
}
