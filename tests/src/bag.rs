//! Bags on a flight booking: what is for sale, and buying it.

use crate::client::{Client, Reply};
use serde_json::{Value, json};

impl Client {
    /// The answer to what is for sale on a booking.
    pub async fn bags_for_sale(&self, booking: &str) -> Reply {
        self.get(&format!("/v1/flight/bookings/{booking}/services"))
            .await
    }

    /// The body that buys the first bag for sale on a booking, with a new stored card.
    pub async fn bag_request(&self, booking: &str, card: &str) -> Value {
        let for_sale = self.bags_for_sale(booking).await.expect(200);
        json!({
            "services": [{"id": for_sale.data()[0]["id"], "quantity": 1}],
            "payment_instrument_id": self.store_card(card).await,
        })
    }

    /// The answer to buying bags under a key.
    pub async fn purchase_bags(&self, booking: &str, key: &str, request: &Value) -> Reply {
        self.header("x-idempotency-key", key)
            .post(&format!("/v1/flight/bookings/{booking}/services"), request)
            .await
    }
}
