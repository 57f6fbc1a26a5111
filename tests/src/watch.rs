//! Builders of watch requests, and waiting for their results.

use crate::client::{Client, Reply, merged, money};
use crate::hotel::{days_ahead, offers_request, prebook_request};
use serde_json::{Value, json};

/// Path of the watches.
pub const WATCHES: &str = "/v1/watcher/travel/hotel/watches";

/// Path of the trip watches.
pub const TRIP_WATCHES: &str = "/v1/watcher/travel/hotel/trip-watches";

/// Returns a watch request for the stay of [`offers_request`] at a trigger amount.
pub fn watch_request(hotel_id: &str, amount: f64) -> Value {
    json!({
        "hotel_id": hotel_id,
        "check_in": days_ahead(30),
        "check_out": days_ahead(32),
        "guest_nationality": "DE",
        "currency": "EUR",
        "trigger": {"type": "below_total", "amount": amount},
    })
}

/// Returns a trip watch request for the same stay. A place or a location must be added.
pub fn trip_watch_request(amount: f64) -> Value {
    let mut request = watch_request("", amount);
    request.as_object_mut().unwrap().remove("hotel_id");
    request
}

fn watch_path(id: &Value) -> String {
    format!("{WATCHES}/{}", id.as_str().unwrap())
}

/// Returns an `auto_book` for two adults, paid with a stored card.
pub fn auto_book(instrument: &str) -> Value {
    let mut request = prebook_request("", 1);
    let members = request.as_object_mut().unwrap();
    members.remove("offer_reference");
    members.insert("payment_instrument_id".to_owned(), json!(instrument));
    request
}

impl Client {
    /// Returns the gateway's id of a sandbox hotel.
    pub async fn hotel_id(&self, hotel: &str) -> String {
        let offers = self.post("/v1/hotel/offers", &offers_request(hotel)).await;
        let offers = offers.expect(200);
        offers.data()[0]["hotel_id"].as_str().unwrap().to_owned()
    }

    /// Returns the first place that matches a query.
    pub async fn find_place(&self, query: &str) -> Value {
        let found = self
            .post("/v1/hotel/places", &json!({"query": query}))
            .await;
        found.expect(200).data()[0].clone()
    }

    /// Creates a watch of a sandbox hotel. `more` adds or replaces fields of the request.
    pub async fn watch_hotel(&self, hotel: &str, amount: f64, more: Value) -> Value {
        let request = watch_request(&self.hotel_id(hotel).await, amount);
        let made = self.post(WATCHES, &merged(request, more)).await;
        made.expect(201).data().clone()
    }

    /// Creates a watch that purchases with a card at the trigger price, and confirms the purchase.
    pub async fn armed_watch(&self, hotel: &str, amount: f64, card: &str) -> Value {
        let instrument = self.store_card(card).await;
        let more = json!({"auto_book": auto_book(&instrument)});
        let watch = self.watch_hotel(hotel, amount, more).await;
        assert_eq!(watch["armed"], false);
        let draft = &watch["mandate_draft"];
        assert_eq!(draft["payment_amount"], money(amount, "EUR"));
        self.confirm_purchase(&watch["id"]).await
    }

    /// Confirms the purchase of a watch and returns the response.
    pub async fn post_purchase_confirmation(&self, id: &Value) -> Reply {
        let path = format!("{}/confirm-purchase", watch_path(id));
        self.post(&path, &json!({})).await
    }

    /// Confirms the purchase of a watch and returns the armed watch.
    pub async fn confirm_purchase(&self, id: &Value) -> Value {
        let armed = self.post_purchase_confirmation(id).await.expect(200);
        assert_eq!(armed.data()["armed"], true);
        assert_eq!(armed.data()["mandate_draft"], Value::Null);
        armed.data().clone()
    }

    /// Returns the bookings that a watch started.
    pub async fn bookings_of_watch(&self, watch: &Value) -> Vec<Value> {
        let reference = watch["id"].as_str().unwrap();
        let path = format!("/v1/hotel/bookings?reference_id={reference}");
        let listed = self.get(&path).await.expect(200);
        listed.list().to_vec()
    }

    /// Returns the current state of the mandate of a watch.
    pub async fn mandate_of(&self, watch: &Value) -> Value {
        let path = format!("/v1/mandate/{}", watch["mandate_id"].as_str().unwrap());
        self.get(&path).await.expect(200).data().clone()
    }

    /// Returns the current state of a watch.
    pub async fn read_watch(&self, id: &Value) -> Value {
        let reply = self.get(&watch_path(id)).await.expect(200);
        reply.data().clone()
    }

    /// Deletes a watch and returns the response.
    pub async fn delete_watch(&self, id: &Value) -> Reply {
        self.delete(&watch_path(id)).await
    }

    /// Waits until a watch has a status and returns it.
    pub async fn wait_for_watch_status(&self, id: &Value, status: &str) -> Value {
        let what = format!("{id} to be {status}");
        self.wait_for_watch(&what, id, |watch| watch["status"] == status)
            .await
    }

    /// Waits until a watch meets a condition and returns it.
    pub async fn wait_for_watch(
        &self,
        what: &str,
        id: &Value,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        crate::eventually(what, async || {
            Some(self.read_watch(id).await).filter(&is_so)
        })
        .await
    }

    /// Returns the payloads of the organization's watch events, oldest first.
    pub async fn watch_events(&self) -> Vec<Value> {
        let events = crate::watch_events(self, None).await;
        let payload = |mut event: Value| event["payload"].take();
        events.into_iter().map(payload).collect()
    }

    /// Returns the data of the organization's only watch event. Checks its type.
    pub async fn only_watch_event(&self, event_type: &str) -> Value {
        let mut events = self.watch_events().await;
        assert_eq!(events.len(), 1, "{events:#?}");
        assert_eq!(events[0]["type"], event_type);
        events[0]["data"].take()
    }
}
