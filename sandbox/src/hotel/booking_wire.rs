//! A booking in Lodge's format.

use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    clock::instant,
    hotel::{
        booking::{Booking, BookingState},
        catalog,
        quote::BoardPlan,
        refusal::LodgeError,
        scenario::Scenario,
        wire::{HotelWire, Loyalty, Promotion, Terms, promotions, rewards, room_name},
    },
    money::Currency,
};

#[derive(Serialize)]
pub(super) struct BookingWire {
    id: String,
    client_ref: String,
    state: BookingState,
    reject_reason: Option<Value>,
    hotel: HotelWire,
    arrive: Date,
    depart: Date,
    currency: Currency,
    total: String,
    confirmation_no: Option<String>,
    remarks: Option<&'static str>,
    rooms: Vec<BookedRoom>,
    /// Whether single rooms can be cancelled.
    rooms_separable: bool,
    terms: BookedTerms,
    promotions: Vec<Promotion>,
    rewards: Option<Loyalty>,
    cancellation: Option<CancellationWire>,
    booked_at: String,
}

#[derive(Serialize)]
struct BookedRoom {
    no: usize,
    r#ref: String,
    confirmation_no: Option<String>,
    name: &'static str,
    board: BoardPlan,
    board_text: &'static str,
    total: String,
    cancelled: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BookedTerms {
    Readable(Box<Terms>),
    Unreadable(&'static str),
}

#[derive(Serialize)]
struct CancellationWire {
    r#ref: String,
    fee: String,
    refund: String,
    at: String,
}

pub(super) fn booking_wire(booking: &Booking) -> Result<BookingWire, LodgeError> {
    let quote = &booking.quote;
    let hotel = catalog::find(&quote.hotel).ok_or(LodgeError::Failure)?;
    let currency = quote.stay.currency;
    let decided = !matches!(
        booking.state,
        BookingState::Pending | BookingState::Rejected
    );
    let number = booking.id.trim_start_matches("LDG-");
    let terms = match hotel.scenario {
        Scenario::QuoteUnreadable => BookedTerms::Unreadable("Please ask at the reception."),
        scenario => BookedTerms::Readable(Box::new(Terms::new(quote, scenario, quote.total()))),
    };
    Ok(BookingWire {
        id: booking.id.clone(),
        client_ref: booking.client_ref.clone(),
        state: booking.state,
        reject_reason: (booking.state == BookingState::Rejected).then(|| {
            let message = "The hotel does not accept this booking.";
            json!({ "code": "BOOKING_REFUSED", "message": message })
        }),
        arrive: quote.stay.arrive,
        depart: quote.stay.depart,
        currency,
        total: currency.format(quote.total()),
        confirmation_no: decided.then(|| format!("TV{number}")),
        remarks: decided
            .then_some("<p>Check-in from 14:00. <b>Please bring an identity card.</b></p>"),
        rooms: booked_rooms(booking, number, decided),
        rooms_separable: hotel.scenario == Scenario::Separable,
        terms,
        promotions: promotions(quote, hotel.scenario),
        rewards: rewards(quote, hotel.scenario),
        cancellation: booking.cancellation.as_ref().map(|done| CancellationWire {
            r#ref: done.reference.clone(),
            fee: currency.format(done.fee),
            refund: currency.format(done.refund),
            at: instant(done.at),
        }),
        booked_at: instant(booking.booked_at),
        hotel: HotelWire::new(&hotel),
    })
}

fn booked_rooms(booking: &Booking, number: &str, decided: bool) -> Vec<BookedRoom> {
    let quote = &booking.quote;
    let rooms = quote.stay.parties.iter().zip(&booking.released);
    (1..)
        .zip(rooms)
        .map(|(no, (party, released))| BookedRoom {
            no,
            r#ref: format!("{}-{no}", booking.id),
            confirmation_no: decided.then(|| format!("TV{number}{no:02}")),
            name: room_name(usize::from(party.adults) + party.child_ages.len()),
            board: quote.plan,
            board_text: quote.plan.text(),
            total: quote.stay.currency.format(quote.room_total()),
            cancelled: *released,
        })
        .collect()
}
