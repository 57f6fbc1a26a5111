//! A booking in Lodge's format.

use serde_json::{Value, json};

use crate::{
    clock::instant,
    hotel::{
        catalog,
        refusal::LodgeError,
        scenario::Scenario,
        tables::{Booking, BookingState},
        wire::{hotel_wire, promotions, rewards, room_name, terms},
    },
};

pub(super) fn booking_wire(booking: &Booking) -> Result<Value, LodgeError> {
    let quote = &booking.quote;
    let hotel = catalog::find(&quote.hotel).ok_or(LodgeError::Failure)?;
    let currency = quote.stay.currency;
    let decided = !matches!(
        booking.state,
        BookingState::Pending | BookingState::Rejected
    );
    let number = booking.id.trim_start_matches("LDG-");
    let terms = match hotel.scenario {
        Scenario::QuoteUnreadable => json!("Please ask at the reception."),
        scenario => terms(quote, scenario, quote.total()),
    };
    let message = "The hotel does not accept this booking.";
    let reject_reason = json!({ "code": "BOOKING_REFUSED", "message": message });
    let remarks = "<p>Check-in from 14:00. <b>Please bring an identity card.</b></p>";
    let cancellation = booking.cancellation.as_ref().map(|done| {
        json!({
            "ref": done.reference,
            "fee": currency.format(done.fee),
            "refund": currency.format(done.refund),
            "at": instant(done.at),
        })
    });
    Ok(json!({
        "id": booking.id,
        "client_ref": booking.client_ref,
        "state": booking.state,
        "reject_reason": (booking.state == BookingState::Rejected).then_some(reject_reason),
        "hotel": hotel_wire(&hotel),
        "arrive": quote.stay.arrive,
        "depart": quote.stay.depart,
        "currency": currency,
        "total": currency.format(quote.total()),
        "confirmation_no": decided.then(|| format!("TV{number}")),
        "remarks": decided.then_some(remarks),
        "rooms": booked_rooms(booking, number, decided),
        // Whether single rooms can be cancelled.
        "rooms_separable": hotel.scenario == Scenario::Separable,
        "terms": terms,
        "promotions": promotions(quote, hotel.scenario),
        "rewards": rewards(quote, hotel.scenario),
        "cancellation": cancellation,
        "booked_at": instant(booking.booked_at),
    }))
}

fn booked_rooms(booking: &Booking, number: &str, decided: bool) -> Vec<Value> {
    let quote = &booking.quote;
    let rooms = quote.stay.parties.iter().zip(&booking.released);
    (1..)
        .zip(rooms)
        .map(|(no, (party, released))| {
            json!({
                "no": no,
                "ref": format!("{}-{no}", booking.id),
                "confirmation_no": decided.then(|| format!("TV{number}{no:02}")),
                "name": room_name(party),
                "board": quote.plan,
                "board_text": quote.plan.text(),
                "total": quote.stay.currency.format(quote.room_total()),
                "cancelled": released,
            })
        })
        .collect()
}
