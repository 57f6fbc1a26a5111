//! A gateway and a Nuitee mock with normal behaviour, which each test case may change.

use crate::nuitee::drive::pay;
use crate::nuitee::service::Nuitee;
use crate::nuitee::story::Story;
use serde_json::json;
use tests::{Client, Database, Reply, Server, eventually};

pub(super) struct Scene {
    pub(super) story: Story,
    pub(super) nuitee: Nuitee,
    pub(super) server: Server,
    pub(super) client: Client,
}

impl Scene {
    pub(super) async fn begin() -> Self {
        Self::begin_with(Database::Sqlite, "").await
    }

    /// Starts the gateway with an additional line in the supplier's configuration.
    pub(super) async fn begin_with(database: Database, line: &str) -> Self {
        let story = Story::own();
        let nuitee = Nuitee::start(&story).await;
        let server = nuitee.gateway_with(database, line).await;
        let client = server.client();
        Self {
            story,
            nuitee,
            server,
            client,
        }
    }

    /// Resets the mock to its initial state.
    pub(super) fn usual(&self) {
        self.nuitee.answer_as_usual(&self.story);
        let _earlier = self.nuitee.take_received();
    }

    pub(super) async fn offers(&self) -> Reply {
        let request = self
            .story
            .stay(json!({"supplier_hotel_ids": [self.story.hotel]}));
        self.client.post("/v1/hotel/offers", &request).await
    }

    pub(super) async fn prebook(&self) -> Reply {
        let offers = self.offers().await.expect(200);
        let offer = offers.data()[0]["offers"][0]["offer_reference"]
            .as_str()
            .unwrap()
            .to_owned();
        let client = self
            .client
            .header("x-idempotency-key", &uuid::Uuid::now_v7().to_string());
        client
            .post("/v1/hotel/prebook", &self.story.prebook(&offer))
            .await
    }

    /// Returns a booking that is ready to be completed.
    pub(super) async fn ready(&self) -> String {
        let bound = self.prebook().await.expect(201);
        bound.data()["id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn confirmed(&self) -> String {
        let booking = self.ready().await;
        let reply = pay(&self.client, &booking).await.expect(200);
        assert_eq!(reply.data()["status"], "CONFIRMED");
        booking
    }

    pub(super) async fn leaves_in_the_ledger(&self, name: &str, booking: &str, kinds: &[&str]) {
        let what = format!("{name} to leave {kinds:?} in the ledger");
        eventually(&what, async || {
            (self.server.ledger().await.kinds_of(booking) == kinds).then_some(())
        })
        .await;
    }
}
