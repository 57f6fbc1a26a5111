//! Recipes that make each event happen at the sandbox.

use host_domain::event::EventType;

/// Steps at the API that lead to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipe {
    /// Sends a test event.
    Ping,
    /// Prebooks a stay at a hotel of the sandbox.
    Hotel {
        hotel: &'static str,
        card: &'static str,
        rooms: usize,
        then: AfterHotel,
    },
    /// Prebooks a flight on a route of the sandbox.
    Flight {
        from: &'static str,
        to: &'static str,
        then: AfterFlight,
    },
    Watch(WatchKind),
}

/// Steps after the prebook of a hotel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterHotel {
    Prebook,
    Book,
    Cancel,
    /// Books, then cancels one room.
    CancelRoom,
}

/// Steps after the prebook of a flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterFlight {
    Prebook,
    Book,
    Cancel,
    BuyBag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchKind {
    Hotel,
    Trip,
    /// Buys with a card as soon as the price is met.
    Buying {
        card: &'static str,
    },
}

/// Returns what makes an event of a type.
pub(super) const fn recipe(event: EventType) -> Recipe {
    use EventType as E;
    match event {
        E::Ping => Recipe::Ping,
        E::HotelBookingCreated => hotel("OK", AfterHotel::Prebook),
        E::HotelBookingConfirmed | E::PaymentCaptured => hotel("OK", AfterHotel::Book),
        E::HotelBookingFailed => hotel("BOOK_REFUSED", AfterHotel::Book),
        E::HotelBookingExpired => hotel("EXPIRES_SOON", AfterHotel::Prebook),
        E::HotelBookingCancellationStarted | E::HotelBookingCanceled | E::PaymentRefunded => {
            hotel("OK", AfterHotel::Cancel)
        }
        E::HotelBookingPartiallyCanceled => Recipe::Hotel {
            hotel: "OK",
            card: "tok_visa",
            rooms: 2,
            then: AfterHotel::CancelRoom,
        },
        E::HotelBookingCancellationRefused => hotel("CANCEL_REFUSED", AfterHotel::Cancel),
        // The refused cancellation makes the gateway read the booking, which has new remarks.
        E::HotelBookingChanged => hotel("REMARKS_LATER", AfterHotel::Cancel),
        E::PaymentFailed => Recipe::Hotel {
            hotel: "OK",
            card: "tok_declined",
            rooms: 1,
            then: AfterHotel::Book,
        },
        E::FlightBookingCreated => flight("LHR", "JFK", AfterFlight::Prebook),
        E::FlightBookingConfirmed => flight("LHR", "JFK", AfterFlight::Book),
        E::FlightBookingFailed => flight("LHR", "LGW", AfterFlight::Book),
        E::FlightBookingExpired => flight("STN", "LTN", AfterFlight::Prebook),
        E::FlightBookingCancellationStarted | E::FlightBookingCanceled => {
            flight("LHR", "JFK", AfterFlight::Cancel)
        }
        E::FlightBookingCancellationRefused => flight("DXB", "AMS", AfterFlight::Cancel),
        E::FlightBookingServicesAdded => flight("LHR", "JFK", AfterFlight::BuyBag),
        E::FlightBookingAirlineChange => flight("LHR", "DXB", AfterFlight::Book),
        E::HotelWatchTriggered => Recipe::Watch(WatchKind::Hotel),
        E::TripWatchTriggered => Recipe::Watch(WatchKind::Trip),
        E::HotelWatchPurchased => Recipe::Watch(WatchKind::Buying { card: "tok_visa" }),
        E::HotelWatchPurchaseFailed => Recipe::Watch(WatchKind::Buying {
            card: "tok_declined",
        }),
    }
}

const fn hotel(hotel: &'static str, then: AfterHotel) -> Recipe {
    Recipe::Hotel {
        hotel,
        card: "tok_visa",
        rooms: 1,
        then,
    }
}

const fn flight(from: &'static str, to: &'static str, then: AfterFlight) -> Recipe {
    Recipe::Flight { from, to, then }
}
