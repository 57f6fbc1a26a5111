//! Builders of flight requests and bookings.

use crate::client::{Client, Reply, merged};
use crate::hotel::days_ahead;
use crate::sandbox::complete_payment;
use crate::server::Server;
use serde_json::{Value, json};

/// Returns a search for one adult, 30 days from today, in euros. `more` adds or replaces fields.
pub fn trip(route: &str, more: Value) -> Value {
    let (origin, destination) = route.split_once('-').expect("a route is FROM-TO");
    let request = json!({
        "journeys": [{"origin": origin, "destination": destination, "date": days_ahead(30)}],
        "passengers": {"adults": 1},
        "currency": "EUR",
    });
    merged(request, more)
}

/// Returns an adult passenger. `more` adds or replaces fields.
pub fn passenger(more: Value) -> Value {
    let passenger = json!({
        "type": "ADULT",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "date_of_birth": "1990-12-10",
        "gender": "F",
        "nationality": "GB",
    });
    merged(passenger, more)
}

/// Returns a prebook request for a fare and its passengers.
pub fn prebook_flight_request(offer_reference: &str, passengers: &[Value]) -> Value {
    json!({
        "offer_reference": offer_reference,
        "contact": {"email": "ada@example.org", "phone": "+442079460000"},
        "passengers": passengers,
    })
}

/// A builder of a flight booking: route, supplier, fare, passengers and payment.
#[derive(Debug, Clone)]
pub struct FlightBookingBuilder {
    route: String,
    supplier: String,
    fare: String,
    currency: String,
    passengers: Vec<Value>,
    card: String,
    in_browser: bool,
}

impl FlightBookingBuilder {
    /// Starts from a sandbox route with the flexible fare of `SUPPLIER_A` for one adult, paid with
    /// a valid card.
    pub fn on(route: &str) -> Self {
        Self {
            route: route.to_owned(),
            supplier: "SUPPLIER_A".to_owned(),
            fare: "Economy Flex".to_owned(),
            currency: "EUR".to_owned(),
            passengers: vec![passenger(json!({}))],
            card: "tok_visa".to_owned(),
            in_browser: false,
        }
    }

    /// Selects another supplier.
    pub fn at(mut self, supplier: &str) -> Self {
        supplier.clone_into(&mut self.supplier);
        self
    }

    /// Selects another fare: `Economy Basic` is not refundable, `Business` is fully refundable.
    pub fn fare(mut self, family: &str) -> Self {
        family.clone_into(&mut self.fare);
        self
    }

    /// Selects another currency.
    pub fn currency(mut self, currency: &str) -> Self {
        currency.clone_into(&mut self.currency);
        self
    }

    /// Selects other adults.
    pub fn passengers(mut self, adults: Vec<Value>) -> Self {
        self.passengers = adults;
        self
    }

    /// Selects another card.
    pub fn card(mut self, token: &str) -> Self {
        token.clone_into(&mut self.card);
        self
    }

    /// Selects payment in a browser with the payment SDK.
    pub fn in_browser(mut self) -> Self {
        self.in_browser = true;
        self
    }

    /// Searches and returns an offer reference.
    pub async fn offer(&self, client: &Client) -> String {
        let more = json!({
            "supplier": self.supplier,
            "currency": self.currency,
            "passengers": {"adults": self.passengers.len()},
        });
        let request = trip(&self.route, more);
        let reply = client.post("/v1/flight/offers", &request).await.expect(200);
        let mut offers = reply.data().as_array().expect("offers").iter();
        let offer = offers
            .find(|offer| offer["fare_family"] == self.fare)
            .expect("a fare of this family");
        offer["offer_reference"].as_str().unwrap().to_owned()
    }

    /// Returns a prebook request for an offer.
    pub fn request(&self, offer_reference: &str) -> Value {
        let mut request = prebook_flight_request(offer_reference, &self.passengers);
        if self.in_browser {
            request["use_payment_sdk"] = json!(true);
        }
        request
    }

    /// Prebooks the fare with a new key and returns the response.
    pub async fn prebook(&self, client: &Client) -> Reply {
        let offer = self.offer(client).await;
        let key = uuid::Uuid::now_v7().to_string();
        client.prebook_flight(&key, &self.request(&offer)).await
    }

    /// Prebooks and returns the booking's id. If a browser pays, the payment is completed.
    pub async fn prebooked(&self, server: &Server) -> String {
        let reply = self.prebook(&server.client()).await.expect(201);
        assert_eq!(reply.data()["status"], "READY_FOR_COMPLETE");
        let meta = &reply.body["meta"];
        let tokens = [&meta["checkout"]["token"], &meta["payment_sdk"]["token"]];
        for token in tokens.iter().filter_map(|token| token.as_str()) {
            complete_payment(&server.sandbox_url, token).await;
        }
        reply.data()["id"].as_str().unwrap().to_owned()
    }

    /// Returns the body that completes the booking: a stored card, unless the payer uses a browser.
    pub async fn payment(&self, client: &Client) -> Value {
        if self.in_browser || self.supplier == "SUPPLIER_B" {
            json!({})
        } else {
            client.card_payment(&self.card).await
        }
    }

    /// Prebooks and completes a booking. Returns its id and the last response.
    pub async fn book(&self, server: &Server) -> (String, Reply) {
        let client = server.client();
        let booking = self.prebooked(server).await;
        let payment = self.payment(&client).await;
        let reply = client.book_flight(&booking, &payment).await;
        (booking, reply)
    }

    /// Returns the id of a confirmed booking.
    pub async fn book_confirmed(&self, server: &Server) -> String {
        let (booking, reply) = self.book(server).await;
        assert_eq!(reply.expect(200).data()["status"], "CONFIRMED");
        booking
    }
}

impl Client {
    /// Stores a card and returns the instrument's id.
    pub async fn store_card(&self, token: &str) -> String {
        let card = json!({"type": "CARD", "token": token});
        let reply = self.post("/v1/payment-instruments", &card).await;
        reply.expect(201).data()["id"].as_str().unwrap().to_owned()
    }

    /// Stores a card and returns the body that completes a booking with it.
    pub async fn card_payment(&self, token: &str) -> Value {
        json!({"payment_instrument_id": self.store_card(token).await})
    }

    /// Prebooks a fare under a key and returns the response.
    pub async fn prebook_flight(&self, key: &str, request: &Value) -> Reply {
        self.header("x-idempotency-key", key)
            .post("/v1/flight/prebook", request)
            .await
    }

    /// Completes a booking and returns the response.
    pub async fn book_flight(&self, id: &str, payment: &Value) -> Reply {
        self.post(&format!("/v1/flight/bookings/{id}/book"), payment)
            .await
    }

    /// Cancels a booking and returns the response.
    pub async fn cancel_flight(&self, id: &str) -> Reply {
        self.post(&format!("/v1/flight/bookings/{id}/cancel"), &json!({}))
            .await
    }

    /// Returns the current state of a booking.
    pub async fn flight_booking(&self, id: &str) -> Value {
        let reply = self.get(&format!("/v1/flight/bookings/{id}")).await;
        reply.expect(200).data().clone()
    }

    /// Waits until a booking meets a condition and returns it.
    pub async fn wait_for_flight_booking_where(
        &self,
        id: &str,
        what: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Value {
        let what = format!("booking {id} to be {what}");
        crate::eventually(&what, async || {
            Some(self.flight_booking(id).await).filter(|booking| is(booking))
        })
        .await
    }

    /// Waits until a booking has a status and returns it.
    pub async fn wait_for_flight_booking(&self, id: &str, status: &str) -> Value {
        self.wait_for_flight_booking_where(id, status, |booking| booking["status"] == status)
            .await
    }
}
