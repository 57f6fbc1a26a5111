//! A gateway and the mock of a flight supplier with normal behaviour, which each test case may
//! change.

use crate::mock::{Headers, Mock};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tests::{
    Client, Database, Reply, Server, ServerOptions, days_ahead, money, prebook_flight_request,
};

/// Ledger entries of a booking that is paid, released before its capture, or paid and refunded.
pub(super) const TAKEN: &[&str] = &["authorization", "capture"];
pub(super) const RELEASED: &[&str] = &["authorization", "void"];
pub(super) const REFUNDED: &[&str] = &["authorization", "capture", "refund"];

/// Configuration with fast retries, and one in which only a supplier's events cause a
/// reconciliation within an hour.
pub(super) const FAST: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\nundeclared_reads_s = 2\n[payments]\ncapture_retry_s = [1]";
pub(super) const QUIET: &str = "[reconcile]\nschedule_s = [3600]";

/// The state of a flight supplier's mock, and a trip with all kinds of passengers.
pub(super) trait FlightSupplier: Send + Sized + 'static {
    /// Id of the supplier.
    const ID: &'static str;
    /// Headers of every request.
    const HEADERS: Headers;
    /// Total in euros of the offer that is booked.
    const OFFERED: f64;
    /// Card that pays, unless the payer pays the supplier in its checkout.
    const CARD: Option<&'static str>;

    /// Creates the initial state.
    fn new() -> Self;

    /// Sets every route to its normal behaviour.
    fn serve(mock: &Mock<Self>);

    /// Returns the options of the demo with the example configuration and this mock. The supplier
    /// has the highest priority.
    fn options(mock: &Mock<Self>, database: Database, config: &str) -> ServerOptions;

    fn search() -> Value;

    fn passengers() -> Vec<Value>;
}

pub(super) struct Scene<W> {
    pub(super) mock: Mock<W>,
    pub(super) server: Server,
    pub(super) client: Client,
}

pub(super) async fn start_mock<W: FlightSupplier>() -> Mock<W> {
    let mock = Mock::start(Arc::new(Mutex::new(W::new())), W::HEADERS).await;
    W::serve(&mock);
    mock
}

impl<W: FlightSupplier> Scene<W> {
    pub(super) async fn begin() -> Self {
        Self::on(Database::Sqlite, FAST).await
    }

    /// Starts the gateway on `database` with additional configuration.
    pub(super) async fn on(database: Database, config: &str) -> Self {
        let mock = start_mock().await;
        let server = Server::start_with(W::options(&mock, database, config)).await;
        Self::at(mock, server)
    }

    pub(super) fn at(mock: Mock<W>, server: Server) -> Self {
        Self {
            client: server.client(),
            mock,
            server,
        }
    }

    /// Resets the mock to its initial state.
    pub(super) fn usual(&self) {
        self.mock.change(|world| *world = W::new());
        W::serve(&self.mock);
        let _earlier = self.mock.take_received();
    }

    pub(super) fn expect_no_call(&self) {
        assert!(self.mock.take_received().is_empty(), "a supplier call");
    }

    /// Returns the reference of the offer that is booked.
    pub(super) async fn offer(&self) -> String {
        let reply = self.client.post("/v1/flight/offers", &W::search()).await;
        let mut offers = reply.expect(200).list().to_vec();
        offers.retain(|offer| offer["total_amount"] == money(W::OFFERED, "EUR"));
        offers[0]["offer_reference"].as_str().unwrap().to_owned()
    }

    /// Returns the id of a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let request = prebook_flight_request(&self.offer().await, &W::passengers());
        let key = uuid::Uuid::now_v7().to_string();
        let bound = self.client.prebook_flight(&key, &request).await.expect(201);
        let _prebooked = self.mock.take_received();
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    /// Completes a booking as the payer would and returns the response.
    pub(super) async fn book(&self, booking: &str) -> Reply {
        let payment = match W::CARD {
            Some(card) => self.client.card_payment(card).await,
            None => json!({}),
        };
        self.client.book_flight(booking, &payment).await
    }

    /// Returns the id of a booking that is ticketed and paid.
    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        assert_eq!(self.book(&booking).await.outcome(), (200, "CONFIRMED"));
        if W::CARD.is_some() {
            self.server.wait_for_ledger(&booking, TAKEN).await;
        }
        let _booked = self.mock.take_received();
        booking
    }

    /// Returns the cancellation quote of a booking.
    pub(super) async fn quote(&self, booking: &str) -> Value {
        let path = format!("/v1/flight/bookings/{booking}/cancellation-quote");
        self.client.get(&path).await.expect(200).data().clone()
    }

    /// Cancels a booking and returns it once it is cancelled.
    pub(super) async fn canceled(&self, booking: &str) -> Value {
        let begun = self.client.cancel_flight(booking).await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let client = &self.client;
        client.wait_for_flight_booking(booking, "CANCELED").await
    }

    /// Counts the supplier's events with an outcome.
    pub(super) async fn events(&self, outcome: &str) -> u64 {
        let labels = [("supplier", W::ID), ("outcome", outcome)];
        let name = "stopover_supplier_events_total";
        self.server.metric(name, &labels).await
    }

    /// Checks that the log contains neither personal data nor these secrets.
    pub(super) fn check_log(&self, secrets: &[&str]) {
        let log = std::fs::read_to_string(self.server.data_dir().join("server.log")).unwrap();
        for secret in secrets.iter().chain(&["ada@example.org", "Lovelace"]) {
            assert!(!log.contains(secret), "{secret} is logged");
        }
    }
}

/// Returns a search for a return trip 30 days from today.
pub(super) fn return_trip(
    supplier: &str,
    [origin, destination]: [&str; 2],
    days: i64,
    passengers: &Value,
) -> Value {
    json!({
        "supplier": supplier,
        "journeys": [
            {"origin": origin, "destination": destination, "date": days_ahead(30)},
            {"origin": destination, "destination": origin, "date": days_ahead(30 + days)},
        ],
        "passengers": passengers,
        "currency": "EUR",
    })
}

/// Returns a passport whose number is not to appear outside the calls to the supplier.
pub(super) fn passport() -> Value {
    json!({"type": "PASSPORT", "number": PASSPORT, "issuing_country": "FR", "expires_on": days_ahead(900)})
}

pub(super) const PASSPORT: &str = "P-CANARY-1";
