//! Bags for a flight booking: listing and purchasing them.

use crate::client::{Client, Reply};
use serde_json::{Value, json};

impl Client {
    /// Lists the available bags of a booking and returns the response.
    pub async fn bags_for_sale(&self, booking: &str) -> Reply {
        self.get(&format!("/v1/flight/bookings/{booking}/services"))
            .await
    }

    /// Returns a request that purchases the first available bag with a newly stored card.
    pub async fn bag_request(&self, booking: &str, card: &str) -> Value {
        let for_sale = self.bags_for_sale(booking).await.expect(200);
        json!({
            "services": [{"id": for_sale.data()[0]["id"], "quantity": 1}],
            "payment_instrument_id": self.store_card(card).await,
        })
    }

    /// Purchases bags under an idempotency key and returns the response.
    pub async fn purchase_bags(&self, booking: &str, key: &str, request: &Value) -> Reply {
        self.header("x-idempotency-key", key)
            .post(&format!("/v1/flight/bookings/{booking}/services"), request)
            .await
    }
}
