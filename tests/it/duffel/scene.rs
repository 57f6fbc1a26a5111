//! A gateway and a Duffel mock with normal behaviour, which each test case may change.

use crate::duffel::service::Duffel;
use crate::duffel::story::Story;
use serde_json::{Value, json};
use tests::{Client, Database, Reply, Server, eventually, prebook_flight_request};

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
        let client = server.client();
        Self {
            story,
            duffel,
            server,
            client,
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
        let reply = reply.expect(200);
        let total = self.story.money(self.story.total);
        let mut offers = reply.data().as_array().unwrap().iter();
        let offer = offers.find(|offer| offer["total_amount"] == total);
        offer.unwrap()["offer_reference"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Prebooks with additional fields for the adult and returns the response.
    pub(super) async fn prebook(&self, more: Value) -> Reply {
        let offer = self.offer().await;
        let key = uuid::Uuid::now_v7().to_string();
        let request = prebook_flight_request(&offer, &self.story.passengers(more));
        self.client
            .header("x-idempotency-key", &key)
            .post("/v1/flight/prebook", &request)
            .await
    }

    /// Returns a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let bound = self.prebook(json!({})).await.expect(201);
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    /// Completes a booking with a valid card and returns the response.
    pub(super) async fn book(&self, booking: &str) -> Reply {
        let card = self.client.store_card("tok_visa").await;
        let body = json!({"payment_instrument_id": card});
        self.client.book_flight(booking, &body).await
    }

    /// Returns a booking that is ticketed and paid.
    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        let reply = self.book(&booking).await.expect(200);
        assert_eq!(reply.data()["status"], "CONFIRMED");
        self.leaves("a booking", &booking, TAKEN).await;
        let _made = self.duffel.take_received();
        booking
    }

    /// Waits until the ledger has exactly these entries for the booking.
    pub(super) async fn leaves(&self, name: &str, booking: &str, kinds: &[&str]) {
        let what = format!("{name} to leave {kinds:?} in the ledger");
        eventually(&what, async || {
            (self.server.ledger().await.kinds_of(booking) == kinds).then_some(())
        })
        .await;
    }
}

pub(super) const TAKEN: &[&str] = &["authorization", "capture"];
pub(super) const RELEASED: &[&str] = &["authorization", "void"];
