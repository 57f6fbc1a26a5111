//! A gateway and a Nuitee flight mock with normal behaviour, which each test case may change.

use crate::nuitee::flight::service::World;
use crate::nuitee::flight::story::Story;
use crate::nuitee::mock::Mock;
use serde_json::{Value, json};
use tests::{Client, Reply, Server, prebook_flight_request};

pub(super) struct Scene {
    pub(super) story: Story,
    pub(super) flights: Mock<World>,
    pub(super) server: Server,
    pub(super) client: Client,
}

impl Scene {
    pub(super) async fn begin() -> Self {
        Self::of(Story::own()).await
    }

    pub(super) async fn of(story: Story) -> Self {
        let flights = Mock::of(&story).await;
        let server = flights.gateway().await;
        Self::at(story, flights, server)
    }

    /// Starts the gateway with a first reconciliation after an hour, so that only Nuitee's events
    /// cause one earlier. `line` is added to the supplier's configuration.
    pub(super) async fn quiet(line: &str) -> Self {
        let story = Story::own();
        let flights = Mock::of(&story).await;
        let schedule = "[reconcile]\nschedule_s = [3600]";
        let server = flights.gateway_with(schedule, line).await;
        Self::at(story, flights, server)
    }

    fn at(story: Story, flights: Mock<World>, server: Server) -> Self {
        Self {
            client: server.client(),
            story,
            flights,
            server,
        }
    }

    /// Resets the mock to its initial state.
    pub(super) fn usual(&self) {
        self.flights.usual(&self.story);
        let _earlier = self.flights.take_received();
    }

    /// Sends the trip's search and returns the response.
    pub(super) async fn offers(&self) -> Reply {
        let request = self.story.search();
        self.client.post("/v1/flight/offers", &request).await
    }

    /// Returns the reference of the offer that is booked.
    pub(super) async fn offer(&self) -> String {
        let total = self.story.money(self.story.offered);
        let mut offers = self.offers().await.expect(200).list().to_vec();
        offers.retain(|offer| offer["total_amount"] == total);
        offers[0]["offer_reference"].as_str().unwrap().to_owned()
    }

    /// Prebooks with a new key and returns the response.
    pub(super) async fn prebook(&self) -> Reply {
        let offer = self.offer().await;
        let key = uuid::Uuid::now_v7().to_string();
        let request = prebook_flight_request(&offer, &self.story.passengers());
        self.client.prebook_flight(&key, &request).await
    }

    /// Returns a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let bound = self.prebook().await.expect(201);
        let _bound = self.flights.take_received();
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    /// Completes a booking after the checkout and returns the response.
    pub(super) async fn book(&self, booking: &str) -> Reply {
        self.client.book_flight(booking, &json!({})).await
    }

    /// Returns a booking that is ticketed and paid.
    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        assert_eq!(self.book(&booking).await.outcome(), (200, "CONFIRMED"));
        let _booked = self.flights.take_received();
        booking
    }

    /// Returns the cancellation quote of a booking.
    pub(super) async fn quote(&self, booking: &str) -> Value {
        let path = format!("/v1/flight/bookings/{booking}/cancellation-quote");
        self.client.get(&path).await.expect(200).data().clone()
    }

    /// Returns the route of the booking's cancellations.
    pub(super) fn cancellations(&self, method: &str) -> String {
        let id = &self.story.booking_id;
        format!("{method} /v3.0/flights/bookings/{id}/cancellations")
    }

    /// Checks that the gateway neither charged nor refunded a booking that was paid in Nuitee's
    /// checkout.
    pub(super) async fn leaves_nothing(&self, name: &str, booking: &str) {
        let ledger = self.server.ledger().await;
        assert!(ledger.kinds_of(booking).is_empty(), "{name}");
    }
}

pub(super) const BOOK: &str = "POST /v3.0/flights/bookings/";
