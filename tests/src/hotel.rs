//! Builders of hotel requests and bookings.

use crate::client::{Client, Reply};
use serde_json::{Value, json};

/// Returns the date so many days from today (UTC).
pub fn days_ahead(days: i64) -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    (now.date() + jiff::Span::new().days(days)).to_string()
}

/// Returns the time so many seconds from now: `2026-11-21T10:00:00.000Z`.
pub fn seconds_ahead(seconds: i64) -> String {
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    format!("{at:.3}")
}

/// Returns an offers request for one sandbox hotel: two nights, 30 days from today, one room for
/// two adults.
pub fn offers_request(hotel: &str) -> Value {
    json!({
        "supplier": "SANDBOX_HOTELS",
        "supplier_hotel_ids": [hotel],
        "check_in": days_ahead(30),
        "check_out": days_ahead(32),
        "occupancy": [{"adults": 2, "children": []}],
        "guest_nationality": "DE",
        "currency": "EUR",
    })
}

/// Returns a prebook request for `rooms` rooms with two adults each.
pub fn prebook_request(offer_reference: &str, rooms: usize) -> Value {
    let guest = |first: &str, lead: bool| json!({"first_name": first, "last_name": "Lovelace", "type": "ADULT", "is_lead": lead});
    let room = json!({"guests": [guest("Ada", true), guest("Byron", false)]});
    json!({
        "offer_reference": offer_reference,
        "contact": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.org", "phone": "+442079460000"},
        "rooms": vec![room; rooms],
    })
}

/// A builder of a hotel booking: hotel, card and number of rooms.
#[derive(Debug, Clone)]
pub struct HotelBookingBuilder {
    supplier: String,
    hotel: String,
    card: String,
    rooms: usize,
    refundable: bool,
    in_browser: bool,
}

impl HotelBookingBuilder {
    /// Starts from a sandbox hotel with its refundable offer, a valid card and one room.
    pub fn at(hotel: &str) -> Self {
        Self {
            supplier: "SANDBOX_HOTELS".to_owned(),
            hotel: hotel.to_owned(),
            card: "tok_visa".to_owned(),
            rooms: 1,
            refundable: true,
            in_browser: false,
        }
    }

    /// Selects another supplier.
    pub fn sold_by(mut self, supplier: &str) -> Self {
        supplier.clone_into(&mut self.supplier);
        self
    }

    /// Selects another card.
    pub fn card(mut self, token: &str) -> Self {
        token.clone_into(&mut self.card);
        self
    }

    /// Selects several rooms.
    pub fn rooms(self, rooms: usize) -> Self {
        Self { rooms, ..self }
    }

    /// Selects the non-refundable offer.
    pub fn non_refundable(mut self) -> Self {
        self.refundable = false;
        self
    }

    /// Selects payment in a browser with the payment SDK.
    pub fn in_browser(mut self) -> Self {
        self.in_browser = true;
        self
    }

    /// Prices the hotel and returns the response.
    pub async fn price(&self, client: &Client) -> Reply {
        let mut request = offers_request(&self.hotel);
        request["supplier"] = json!(self.supplier);
        request["occupancy"] = json!(vec![json!({"adults": 2, "children": []}); self.rooms]);
        client.hotel_offers(&request).await
    }

    /// Prices the hotel and returns an offer reference.
    pub async fn offer(&self, client: &Client) -> String {
        let reply = self.price(client).await.expect(200);
        let offers = reply.data()[0]["offers"].as_array().expect("offers");
        let offer = offers
            .iter()
            .find(|offer| offer["refundable"] == self.refundable)
            .expect("an offer of this kind");
        offer["offer_reference"].as_str().unwrap().to_owned()
    }

    /// Returns a prebook request for an offer.
    pub fn request(&self, offer_reference: &str) -> Value {
        let mut request = prebook_request(offer_reference, self.rooms);
        if self.in_browser {
            request["use_payment_sdk"] = json!(true);
        }
        request
    }

    /// Prebooks the offer with a new key and returns the response.
    pub async fn prebook(&self, client: &Client) -> Reply {
        let offer = self.offer(client).await;
        let key = uuid::Uuid::now_v7().to_string();
        client.prebook_hotel(&key, &self.request(&offer)).await
    }

    /// Prebooks and returns the booking's id.
    pub async fn prebooked(&self, client: &Client) -> String {
        let reply = self.prebook(client).await.expect(201);
        assert_eq!(reply.data()["status"], "READY_FOR_COMPLETE");
        reply.data()["id"].as_str().unwrap().to_owned()
    }

    /// Stores the card and returns the instrument's id.
    pub async fn instrument(&self, client: &Client) -> String {
        client.store_card(&self.card).await
    }

    /// Returns the body that completes the booking: a stored card, unless the payer uses a browser.
    pub async fn payment(&self, client: &Client) -> Value {
        if self.in_browser {
            json!({})
        } else {
            client.card_payment(&self.card).await
        }
    }

    /// Prebooks and completes a booking. Returns its id and the last response.
    pub async fn book(&self, client: &Client) -> (String, Reply) {
        let booking = self.prebooked(client).await;
        let payment = self.payment(client).await;
        let reply = client.book_hotel(&booking, &payment).await;
        (booking, reply)
    }

    /// Returns the id of a confirmed booking.
    pub async fn book_confirmed(&self, client: &Client) -> String {
        let (booking, reply) = self.book(client).await;
        assert_eq!(reply.expect(200).data()["status"], "CONFIRMED");
        booking
    }
}

impl Client {
    /// Prices hotels and returns the response.
    pub async fn hotel_offers(&self, request: &Value) -> Reply {
        self.post("/v1/hotel/offers", request).await
    }

    /// Prebooks an offer under a key and returns the response.
    pub async fn prebook_hotel(&self, key: &str, request: &Value) -> Reply {
        self.header("x-idempotency-key", key)
            .post("/v1/hotel/prebook", request)
            .await
    }

    /// Completes a booking and returns the response.
    pub async fn book_hotel(&self, id: &str, payment: &Value) -> Reply {
        self.post(&format!("/v1/hotel/bookings/{id}/book"), payment)
            .await
    }

    /// Cancels a booking, or the rooms in the request, and returns the response.
    pub async fn cancel_hotel(&self, id: &str, request: &Value) -> Reply {
        self.post(&format!("/v1/hotel/bookings/{id}/cancel"), request)
            .await
    }

    /// Returns the current state of a booking.
    pub async fn hotel_booking(&self, id: &str) -> Value {
        let reply = self.get(&format!("/v1/hotel/bookings/{id}")).await;
        reply.expect(200).data().clone()
    }

    /// Waits until a booking has a status and returns it.
    pub async fn wait_for_hotel_booking(&self, id: &str, status: &str) -> Value {
        let what = format!("booking {id} to be {status}");
        crate::eventually(&what, async || {
            Some(self.hotel_booking(id).await).filter(|booking| booking["status"] == status)
        })
        .await
    }
}
