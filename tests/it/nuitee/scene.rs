//! A gateway and a Nuitee mock with normal behaviour, which each test case may change.

use crate::nuitee::service::Nuitee;
use crate::nuitee::story::Story;
use serde_json::json;
use tests::{Client, Database, Reply, Server};

/// Ledger entries of a booking that is paid.
pub(super) const TAKEN: &[&str] = &["authorization", "capture"];

pub(super) struct Scene {
    pub(super) story: Story,
    pub(super) nuitee: Nuitee,
    pub(super) server: Server,
    pub(super) client: Client,
}

impl Scene {
    pub(super) async fn begin() -> Self {
        Self::of(Story::own(), Database::Sqlite, "").await
    }

    /// Starts the gateway with an additional line in the supplier's configuration.
    pub(super) async fn of(story: Story, database: Database, line: &str) -> Self {
        let nuitee = Nuitee::start(&story).await;
        let server = nuitee.gateway(database, line).await;
        Self {
            client: server.client(),
            story,
            nuitee,
            server,
        }
    }

    /// Resets the mock to its initial state.
    pub(super) fn usual(&self) {
        self.nuitee.usual(&self.story);
        let _earlier = self.nuitee.take_received();
    }

    pub(super) async fn offers(&self) -> Reply {
        let hotels = json!({"supplier_hotel_ids": [self.story.hotel]});
        let request = self.story.stay(hotels);
        self.client.post("/v1/hotel/offers", &request).await
    }

    pub(super) async fn prebook(&self) -> Reply {
        let offers = self.offers().await.expect(200);
        let offer = &offers.data()[0]["offers"][0]["offer_reference"];
        let request = self.story.prebook(offer.as_str().unwrap());
        let key = uuid::Uuid::now_v7().to_string();
        self.client.prebook_hotel(&key, &request).await
    }

    /// Returns a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let bound = self.prebook().await.expect(201);
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    /// Completes a booking with a valid card and returns the response.
    pub(super) async fn book(&self, booking: &str) -> Reply {
        let payment = self.client.card_payment("tok_visa").await;
        self.client.book_hotel(booking, &payment).await
    }

    /// Returns a booking that is confirmed and paid.
    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        assert_eq!(self.book(&booking).await.outcome(), (200, "CONFIRMED"));
        self.server.wait_for_ledger(&booking, TAKEN).await;
        booking
    }
}
