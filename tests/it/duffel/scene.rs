//! A gateway and a Duffel mock with normal behaviour, which each test case may change.

use crate::duffel::service::Duffel;
use crate::duffel::story::Story;
use serde_json::{Value, json};
use tests::{Client, Database, Reply, Server, count, eventually, prebook_flight_request};

/// Ledger entries of a booking that is paid, released before its capture, or paid and refunded.
pub(super) const TAKEN: &[&str] = &["authorization", "capture"];
pub(super) const RELEASED: &[&str] = &["authorization", "void"];
pub(super) const REFUNDED: &[&str] = &["authorization", "capture", "refund"];

pub(super) struct Scene {
    pub(super) story: Story,
    pub(super) duffel: Duffel,
    pub(super) server: Server,
    pub(super) client: Client,
}

impl Scene {
    pub(super) async fn begin() -> Self {
        Self::of(Story::own()).await
    }

    pub(super) async fn of(story: Story) -> Self {
        let duffel = Duffel::start(&story).await;
        let server = duffel.gateway().await;
        Self::at(story, duffel, server)
    }

    /// Starts the gateway on `database` with a first reconciliation after an hour, so that only
    /// Duffel's events cause one earlier.
    pub(super) async fn quiet(database: Database) -> Self {
        let story = Story::own();
        let duffel = Duffel::start(&story).await;
        let schedule = "[reconcile]\nschedule_s = [3600]";
        let server = duffel.gateway_on(database, schedule).await;
        Self::at(story, duffel, server)
    }

    pub(super) fn at(story: Story, duffel: Duffel, server: Server) -> Self {
        Self {
            client: server.client(),
            story,
            duffel,
            server,
        }
    }

    /// Resets the mock to its initial state.
    pub(super) fn usual(&self) {
        self.duffel.usual(&self.story);
        let _earlier = self.duffel.take_received();
    }

    /// Returns the reference of the offer that is booked.
    pub(super) async fn offer(&self) -> String {
        let request = self.story.search(json!({}));
        let reply = self.client.post("/v1/flight/offers", &request).await;
        let total = self.story.money(self.story.total);
        let mut offers = reply.expect(200).list().to_vec();
        offers.retain(|offer| offer["total_amount"] == total);
        offers[0]["offer_reference"].as_str().unwrap().to_owned()
    }

    /// Prebooks with additional fields for the adult and returns the response.
    pub(super) async fn prebook(&self, more: Value) -> Reply {
        let offer = self.offer().await;
        let key = uuid::Uuid::now_v7().to_string();
        let request = prebook_flight_request(&offer, &self.story.passengers(more));
        self.client.prebook_flight(&key, &request).await
    }

    /// Returns a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let bound = self.prebook(json!({})).await.expect(201);
        let _prebooked = self.duffel.take_received();
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    /// Completes a booking with a valid card and returns the response.
    pub(super) async fn book(&self, booking: &str) -> Reply {
        let payment = self.client.card_payment("tok_visa").await;
        self.client.book_flight(booking, &payment).await
    }

    /// Returns a booking that is ticketed and paid.
    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        assert_eq!(self.book(&booking).await.outcome(), (200, "CONFIRMED"));
        self.server.wait_for_ledger(&booking, TAKEN).await;
        let _made = self.duffel.take_received();
        booking
    }

    /// Cancels a booking and returns it once it is cancelled.
    pub(super) async fn canceled(&self, booking: &str) -> Value {
        let begun = self.client.cancel_flight(booking).await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let client = &self.client;
        client.wait_for_flight_booking(booking, "CANCELED").await
    }

    /// Waits until the mock has received this many requests on a route.
    pub(super) async fn wait_for_requests(&self, route: &str, times: usize) {
        eventually(&format!("{times} requests to {route}"), async || {
            (count(&self.duffel.api.received(), route) >= times).then_some(())
        })
        .await;
    }
}
