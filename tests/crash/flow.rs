//! Descriptions of the flows that are interrupted and of the state in which each must end.

use serde_json::{Value, json};
use tests::{Client, FlightBookingBuilder, HotelBookingBuilder, Server};

/// Product that is booked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// A room of a sandbox hotel.
    Hotel(&'static str),
    /// A ticket on a sandbox route at a supplier.
    Flight(&'static str, &'static str),
}

/// Action of the caller after the booking is confirmed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    Nothing,
    Cancel,
    /// Purchases a bag with a card. The number is the final response status of the key.
    Bags(&'static str, u16),
}

/// A booking and the state in which it must end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) way: Way,
    pub(crate) card: &'static str,
    pub(crate) then: Then,
    /// Failpoint at which the process aborts earlier, for a step that only a crash leads to.
    pub(crate) first: Option<&'static str>,
    pub(crate) end: &'static str,
    /// Kinds of ledger entries and the number of each at the end.
    pub(crate) ledger: &'static [(&'static str, usize)],
}

/// A step, its phases at which the process aborts, and the flow that reaches them.
pub(crate) type Step = (&'static str, &'static [&'static str], Flow);

pub(crate) const EVERYWHERE: &[&str] = &["chosen", "marked", "answered", "recorded"];
pub(crate) const OF_A_READ: &[&str] = &["answered", "recorded"];

impl Way {
    /// Returns the path of a booking and of everything below it.
    pub(crate) fn path(self, booking: &str) -> String {
        let product = match self {
            Self::Hotel(_) => "hotel",
            Self::Flight(..) => "flight",
        };
        format!("/v1/{product}/bookings/{booking}")
    }

    /// Returns the id of a booking that is ready to be completed.
    pub(crate) async fn ready(self, server: &Server) -> String {
        match self {
            Self::Hotel(hotel) => {
                HotelBookingBuilder::at(hotel)
                    .prebooked(&server.client())
                    .await
            }
            Self::Flight(route, supplier) => {
                FlightBookingBuilder::on(route)
                    .at(supplier)
                    .prebooked(server)
                    .await
            }
        }
    }

    /// Returns the body that completes the booking.
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

    /// Returns the price of a booking in major units.
    pub(crate) fn total(self, booking: &Value) -> f64 {
        let total = match self {
            Self::Hotel(_) => &booking["total"],
            Self::Flight(..) => &booking["total_amount"],
        };
        total["amount"].as_f64().unwrap()
    }
}
