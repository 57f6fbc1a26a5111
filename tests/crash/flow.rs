//! Words for what the process is in the middle of, and how it must end.

use serde_json::{Value, json};
use tests::{HotelBookingBuilder, Client, FlightBookingBuilder, Server};

/// What is booked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// A room of a sandbox hotel.
    Hotel(&'static str),
    /// A ticket on a route of the sandbox, at a supplier.
    Flight(&'static str, &'static str),
}

/// What the caller does once the booking is confirmed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    Nothing,
    Cancel,
    /// Buys a bag with a card; what the key answers in the end.
    Bags(&'static str, u16),
}

/// A booking, and how it must end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) way: Way,
    pub(crate) card: &'static str,
    pub(crate) then: Then,
    /// Where the process dies before that, for a step that only a crash leads to.
    pub(crate) first: Option<&'static str>,
    pub(crate) end: &'static str,
    /// Kinds of effects and how often each must stand in the ledger at the end.
    pub(crate) ledger: &'static [(&'static str, usize)],
}

/// A named step, the phases of it at which the process dies, and the flow that reaches them.
pub(crate) type Step = (&'static str, &'static [&'static str], Flow);

pub(crate) const EVERYWHERE: &[&str] = &["chosen", "marked", "answered", "recorded"];
pub(crate) const OF_A_READ: &[&str] = &["answered", "recorded"];

impl Way {
    /// Everything about a booking stands below it.
    pub(crate) fn path(self, booking: &str) -> String {
        let product = match self {
            Self::Hotel(_) => "hotel",
            Self::Flight(..) => "flight",
        };
        format!("/v1/{product}/bookings/{booking}")
    }

    /// The id of a booking that is ready to be completed.
    pub(crate) async fn ready(self, server: &Server) -> String {
        match self {
            Self::Hotel(hotel) => HotelBookingBuilder::at(hotel).prebooked(&server.client()).await,
            Self::Flight(route, supplier) => FlightBookingBuilder::on(route).at(supplier).prebooked(server).await,
        }
    }

    /// The body that completes such a booking.
    pub(crate) async fn payment(self, client: &Client, card: &str) -> Value {
        match self {
            Self::Hotel(_) => json!({"payment_instrument_id": client.store_card(card).await}),
            Self::Flight(route, supplier) => {
                FlightBookingBuilder::on(route)
                    .at(supplier)
                    .card(card)
                    .payment(client)
                    .await
            }
        }
    }

    /// What a booking costs, major units.
    pub(crate) fn total(self, booking: &Value) -> f64 {
        let total = match self {
            Self::Hotel(_) => &booking["total"],
            Self::Flight(..) => &booking["total_amount"],
        };
        total["amount"].as_f64().unwrap()
    }
}
