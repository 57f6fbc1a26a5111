//! Bookings of both kinds, for rules that hold for each.

use crate::client::{Client, Reply};
use crate::flight::FlightBookingBuilder;
use crate::hotel::HotelBookingBuilder;
use crate::server::Server;
use serde_json::{Value, json};

/// A booking and the client that makes its calls.
#[derive(Debug, Clone)]
pub struct Booking {
    /// Id, which begins with `bkg_`.
    pub id: String,
    /// Path, e.g. `/v1/hotel/bookings/bkg_…`.
    pub path: String,
    client: Client,
}

impl Booking {
    /// Returns this booking with another client.
    pub fn seen_by(&self, client: &Client) -> Self {
        Self {
            client: client.clone(),
            ..self.clone()
        }
    }

    /// Sends a GET request to a path below the booking's and returns the response.
    pub async fn get(&self, rest: &str) -> Reply {
        self.client.get(&format!("{}{rest}", self.path)).await
    }

    /// Returns the current state.
    pub async fn read(&self) -> Value {
        self.get("").await.expect(200).data().clone()
    }

    /// Completes the booking and returns the response.
    pub async fn book(&self, payment: &Value) -> Reply {
        let path = format!("{}/book", self.path);
        self.client.post(&path, payment).await
    }

    /// Completes the booking so many milliseconds before its offer expires; a negative number means
    /// after the expiry. Returns the booking with the response.
    pub async fn book_before_expiry(self, payment: Value, milliseconds: i64) -> (Self, Reply) {
        let ready = self.read().await;
        let expiry = ready
            .get("expires_at")
            .unwrap_or(&ready["offer_expires_at"]);
        let expiry: jiff::Timestamp = expiry.as_str().unwrap().parse().unwrap();
        let begin = expiry - jiff::SignedDuration::from_millis(milliseconds);
        // The gateway in the other process reads the same clock.
        while jiff::Timestamp::now() < begin {
            tokio::task::yield_now().await;
        }
        let reply = self.book(&payment).await;
        (self, reply)
    }

    /// Cancels the booking and returns the response.
    pub async fn cancel(&self) -> Reply {
        self.cancel_with(&json!({})).await
    }

    /// Sends a cancellation with a body, e.g. with single rooms, and returns the response.
    pub async fn cancel_with(&self, request: &Value) -> Reply {
        let path = format!("{}/cancel", self.path);
        self.client.post(&path, request).await
    }

    /// Reads the cancellation quote and returns the response.
    pub async fn quote(&self) -> Reply {
        self.get("/cancellation-quote").await
    }

    /// Waits until the booking meets a condition and returns it.
    pub async fn wait_until(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let what = format!("{} to be {what}", self.path);
        crate::eventually(&what, async || {
            Some(self.read().await).filter(|booking| is(booking))
        })
        .await
    }

    /// Waits until the first payment has a status and returns the booking.
    pub async fn wait_for_payment(&self, status: &str) -> Value {
        self.wait_until(status, |booking| booking["payments"][0]["status"] == status)
            .await
    }

    /// Waits until the booking has a status and returns it.
    pub async fn wait_for(&self, status: &str) -> Value {
        self.wait_until(status, |booking| booking["status"] == status)
            .await
    }
}

/// A builder of a booking of either kind.
#[derive(Debug, Clone)]
pub enum BookingBuilder {
    /// A builder of a hotel booking.
    Hotel(HotelBookingBuilder),
    /// A builder of a flight booking.
    Flight(FlightBookingBuilder),
}

impl BookingBuilder {
    /// Starts from a demo supplier and its scenario: a hotel's code or a route.
    pub fn new(supplier: &str, scenario: &str) -> Self {
        match supplier {
            "SANDBOX_HOTELS" => Self::Hotel(HotelBookingBuilder::at(scenario)),
            _ => Self::Flight(FlightBookingBuilder::on(scenario).at(supplier)),
        }
    }

    /// Returns a booking that succeeds at each supplier.
    pub fn at_each_supplier() -> [Self; 3] {
        [
            Self::new("SANDBOX_HOTELS", "OK"),
            Self::new("SUPPLIER_A", "LHR-JFK"),
            Self::new("SUPPLIER_B", "LHR-JFK"),
        ]
    }

    /// Returns a booking of each kind that succeeds and that the gateway charges.
    pub fn of_each_kind() -> [Self; 2] {
        let [hotel, flight, _] = Self::at_each_supplier();
        [hotel, flight]
    }

    /// Selects another card.
    pub fn card(self, token: &str) -> Self {
        match self {
            Self::Hotel(hotel) => Self::Hotel(hotel.card(token)),
            Self::Flight(flight) => Self::Flight(flight.card(token)),
        }
    }

    /// Selects payment in a browser with the payment SDK.
    pub fn in_browser(self) -> Self {
        match self {
            Self::Hotel(hotel) => Self::Hotel(hotel.in_browser()),
            Self::Flight(flight) => Self::Flight(flight.in_browser()),
        }
    }

    /// Returns a prebook request for a new offer.
    pub async fn request(&self, client: &Client) -> Value {
        match self {
            Self::Hotel(hotel) => hotel.request(&hotel.offer(client).await),
            Self::Flight(flight) => flight.request(&flight.offer(client).await),
        }
    }

    /// Sends a prebook request with a key and returns the response.
    pub async fn prebook(&self, client: &Client, key: &str, request: &Value) -> Reply {
        match self {
            Self::Hotel(_) => client.prebook_hotel(key, request).await,
            Self::Flight(_) => client.prebook_flight(key, request).await,
        }
    }

    /// Returns the booking with this id.
    pub fn booking(&self, client: &Client, id: &str) -> Booking {
        let kind = match self {
            Self::Hotel(_) => "hotel",
            Self::Flight(_) => "flight",
        };
        Booking {
            id: id.to_owned(),
            path: format!("/v1/{kind}/bookings/{id}"),
            client: client.clone(),
        }
    }

    /// Prebooks and returns the booking. If a browser pays, the payment is completed.
    pub async fn prebooked(&self, server: &Server) -> Booking {
        let client = server.client();
        let id = match self {
            Self::Hotel(hotel) => hotel.prebooked(&client).await,
            Self::Flight(flight) => flight.prebooked(server).await,
        };
        self.booking(&client, &id)
    }

    /// Returns the body that completes the booking.
    pub async fn payment(&self, client: &Client) -> Value {
        match self {
            Self::Hotel(hotel) => hotel.payment(client).await,
            Self::Flight(flight) => flight.payment(client).await,
        }
    }

    /// Prebooks and completes a booking. Returns it and the last response.
    pub async fn book(&self, server: &Server) -> (Booking, Reply) {
        let booking = self.prebooked(server).await;
        let reply = booking.book(&self.payment(&server.client()).await).await;
        (booking, reply)
    }

    /// Returns a confirmed booking.
    pub async fn book_confirmed(&self, server: &Server) -> Booking {
        let (booking, reply) = self.book(server).await;
        assert_eq!(reply.outcome(), (200, "CONFIRMED"));
        booking
    }

    /// Returns a confirmed booking whose payment is captured. Nothing changes it any more, and the
    /// refund of a cancellation appears in the ledger.
    pub async fn book_captured(&self, server: &Server) -> Booking {
        let booking = self.book_confirmed(server).await;
        booking.wait_for_payment("CAPTURED").await;
        booking
    }
}
