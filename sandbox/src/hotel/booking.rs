//! Bookings at Lodge: making and reading them.

use std::collections::HashMap;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    clock::SECOND_MS,
    connection,
    hotel::{
        booking_wire::booking_wire,
        quote::{Occupancy, Quote},
        refusal::{LodgeError, LodgeResult},
        scenario::Scenario,
        tables::{Booking, BookingState, Prebook},
    },
    ledger::{Entry, EntryKind},
    request::{self, Call},
    state::{Record, SandboxRecords, ScheduledChange, ScheduledSubject},
};

/// Time after which a pending decision is made.
pub(super) const DECISION_MS: i64 = 2 * SECOND_MS;

impl Record for Booking {
    const TABLE: &'static str = "hotel_booking";

    fn id(&self) -> &str {
        &self.id
    }

    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self> {
        &mut records.hotel.bookings
    }

    fn index(&self, records: &mut SandboxRecords) {
        let key = (self.account.clone(), self.client_ref.clone());
        records.hotel.by_client_ref.insert(key, self.id.clone());
        if let Some(at) = self.due {
            let of = ScheduledSubject::HotelBooking(self.id.clone());
            records.schedule(ScheduledChange { at, of });
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct BookRequest {
    prebook_id: String,
    client_ref: String,
    expected_total: Option<String>,
    holder: Holder,
    rooms: Vec<RoomGuests>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Holder {
    first: String,
    last: String,
    email: String,
    phone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoomGuests {
    guests: Vec<Guest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Guest {
    first: String,
    last: String,
    kind: GuestKind,
    age: Option<u8>,
    lead: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GuestKind {
    Adult,
    Child,
}

/// The response that the caller gets about a booking.
enum ResponseVisibility {
    Full,
    Truncated,
    Lost,
    Failure,
}

pub(super) async fn book_room(call: Call, body: Bytes) -> LodgeResult {
    let request: BookRequest = request::body(&body)?;
    request::check_reference("client_ref", &request.client_ref)?;
    let (booking, visibility) = call
        .transact(|records| book(records, call.account, &request))
        .await??;
    let Some(booking) = booking else {
        return Ok(connection::drop_connection());
    };
    call.app.sleep_or_stop(booking.scenario().delay()).await;
    let status = match booking.state {
        BookingState::Pending => StatusCode::ACCEPTED,
        _ => StatusCode::CREATED,
    };
    Ok(match visibility {
        ResponseVisibility::Full => (status, Json(new_booking_wire(&booking)?)).into_response(),
        ResponseVisibility::Truncated => truncated_response(&booking)?,
        ResponseVisibility::Lost => connection::drop_connection(),
        ResponseVisibility::Failure => LodgeError::Failure.into_response(),
    })
}

/// Returns a booking as the response to the booking call shows it.
fn new_booking_wire(booking: &Booking) -> Result<Value, LodgeError> {
    let mut document = booking_wire(booking)?;
    if booking.scenario() == Scenario::RemarksLater
        && let Some(remarks) = document.get_mut("remarks")
    {
        *remarks = Value::Null;
    }
    Ok(document)
}

/// Returns a 200 response with a document that ends in the middle.
fn truncated_response(booking: &Booking) -> Result<Response, LodgeError> {
    let whole = serde_json::to_vec(&booking_wire(booking)?).map_err(|_| LodgeError::Failure)?;
    let half = whole.get(..whole.len() / 2).unwrap_or_default().to_vec();
    Ok(([(header::CONTENT_TYPE, "application/json")], half).into_response())
}

/// Books and returns the booking with the response that the caller gets. Returns no booking if the
/// request is lost.
fn book(
    records: &mut SandboxRecords,
    account: &str,
    request: &BookRequest,
) -> Result<(Option<Booking>, ResponseVisibility), LodgeError> {
    let key = (account.to_owned(), request.client_ref.clone());
    if let Some(first) = find_by_client_ref(records, &key) {
        return match first.scenario() {
            // A "duplicate" response would reveal that the booking exists.
            Scenario::BookNeverKnown => Ok((Some(first), ResponseVisibility::Lost)),
            _ => Err(LodgeError::DuplicateClientRef),
        };
    }
    let prebook = (records.hotel.prebooks.get(&request.prebook_id))
        .filter(|prebook| prebook.account == account)
        .cloned()
        .ok_or(LodgeError::PrebookUnknown)?;
    if prebook.booking.is_some() {
        return Err(LodgeError::PrebookUsed);
    }
    if records.now() >= prebook.expires_at {
        return Err(LodgeError::PrebookExpired);
    }
    check(&prebook.quote, request)?;
    let scenario = Scenario::of(&prebook.quote.hotel).unwrap_or(Scenario::Normal);
    let visibility = match scenario {
        Scenario::BookRefused => return Err(LodgeError::BookingRefused),
        Scenario::BookLostRequest => return Ok((None, ResponseVisibility::Lost)),
        Scenario::BookLostResponse | Scenario::BookNeverKnown => ResponseVisibility::Lost,
        Scenario::BookMalformedResponse => ResponseVisibility::Truncated,
        Scenario::BookFails => ResponseVisibility::Failure,
        _ => ResponseVisibility::Full,
    };
    Ok((
        Some(create_booking(
            records,
            prebook,
            scenario,
            &request.client_ref,
        )),
        visibility,
    ))
}

fn find_by_client_ref(records: &SandboxRecords, key: &(String, String)) -> Option<Booking> {
    let id = records.hotel.by_client_ref.get(key)?;
    records.hotel.bookings.get(id).cloned()
}

fn create_booking(
    records: &mut SandboxRecords,
    mut prebook: Prebook,
    scenario: Scenario,
    client_ref: &str,
) -> Booking {
    let is_pending = matches!(
        scenario,
        Scenario::BookPending | Scenario::BookPendingRefused
    );
    let booking = Booking {
        id: records.reference("LDG-"),
        account: prebook.account.clone(),
        client_ref: client_ref.to_owned(),
        quote: prebook.quote.clone(),
        state: BookingState::Pending,
        released: prebook.quote.stay.parties.iter().map(|_| false).collect(),
        cancellation: None,
        cancelling: None,
        booked_at: records.now(),
        due: is_pending.then(|| records.now() + DECISION_MS),
    };
    prebook.booking = Some(booking.id.clone());
    records.save(prebook);
    if is_pending {
        records.save(booking.clone());
        booking
    } else {
        confirm(records, booking)
    }
}

pub(super) fn confirm(records: &mut SandboxRecords, mut booking: Booking) -> Booking {
    booking.state = BookingState::Confirmed;
    records.record(Entry {
        at: records.now(),
        kind: EntryKind::Booking,
        supplier: booking.account.clone(),
        client_reference: booking.client_ref.clone(),
        reference: booking.id.clone(),
        amount: booking.quote.total(),
        currency: booking.quote.stay.currency,
    });
    records.save(booking.clone());
    booking
}

fn check(quote: &Quote, request: &BookRequest) -> Result<(), LodgeError> {
    if request.rooms.len() != quote.stay.parties.len() {
        return Err(LodgeError::InvalidGuests(format!(
            "the prebook has {} rooms",
            quote.stay.parties.len()
        )));
    }
    for (party, room) in quote.stay.parties.iter().zip(&request.rooms) {
        check_room(party, room)?;
    }
    let currency = quote.stay.currency;
    match &request.expected_total {
        Some(expected) if currency.parse(expected) != Some(quote.total()) => {
            Err(LodgeError::PriceMismatch)
        }
        _ => Ok(()),
    }
}

fn check_room(party: &Occupancy, room: &RoomGuests) -> Result<(), LodgeError> {
    let count = |wanted| {
        room.guests
            .iter()
            .filter(|guest| guest.kind == wanted)
            .count()
    };
    let leads = room.guests.iter().filter(|guest| guest.lead).count();
    let is_within_occupancy = count(GuestKind::Adult) <= usize::from(party.adults)
        && count(GuestKind::Child) <= party.child_ages.len();
    let named = (room.guests.iter()).all(|guest| !guest.first.is_empty() && !guest.last.is_empty());
    if leads == 1 && is_within_occupancy && named {
        Ok(())
    } else {
        Err(LodgeError::InvalidGuests(
            "a room needs one lead, named guests, and no more of them than it was priced for"
                .to_owned(),
        ))
    }
}

pub(super) async fn read_booking(call: Call) -> LodgeResult {
    let booking = call
        .transact(|records| requested_booking(records, &call))
        .await??;
    if booking.scenario() == Scenario::BookNeverKnown {
        return Ok(connection::never_respond(&call.app).await);
    }
    call.app.sleep_or_stop(booking.scenario().delay()).await;
    Ok(Json(booking_wire(&booking)?).into_response())
}

/// Returns the booking that a call names, if it belongs to the caller's account.
pub(super) fn requested_booking(
    records: &SandboxRecords,
    call: &Call,
) -> Result<Booking, LodgeError> {
    (records.hotel.bookings.get(&call.id))
        .filter(|booking| booking.account == call.account)
        .cloned()
        .ok_or(LodgeError::NotFound("booking"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindQuery {
    client_ref: String,
}

pub(super) async fn find_bookings(call: Call) -> LodgeResult {
    let FindQuery { client_ref } = call.query()?;
    let key = (call.account.to_owned(), client_ref);
    let Some(booking) = call
        .transact(|records| find_by_client_ref(records, &key))
        .await?
    else {
        return Ok(Json(json!({ "bookings": [] })).into_response());
    };
    if booking.scenario() == Scenario::BookNeverKnown {
        return Ok(connection::never_respond(&call.app).await);
    }
    call.app.sleep_or_stop(booking.scenario().delay()).await;
    let found = [booking_wire(&booking)?];
    Ok(Json(json!({ "bookings": found })).into_response())
}
