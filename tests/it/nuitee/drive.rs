//! Test of a whole stay at Nuitee: places, search, offers, prebook, book, read, quote and cancel.

use crate::nuitee::service::{BOOK, CANCEL, PREBOOK, READ, Scene, prebook_request, stay};
use crate::trip::TAKEN;
use serde_json::{Value, json};
use tests::{Client, Database, days_ahead, eventually, money, routes};

#[tokio::test]
async fn nuitee_stay_is_searched_booked_and_canceled() {
    let scene = Scene::begin(Database::Sqlite).await;
    let hotel = scene.check_search().await;
    let offer = scene.check_price(&hotel).await;
    let booking = scene.check_prebook(&hotel, &offer).await;
    scene.check_book(&booking).await;
    scene.check_read(&booking).await;
    scene.check_content(&hotel, &booking).await;
    scene.check_cancel(&booking).await;
}

/// Nuitee's fee and refund do not add up to the 460.50 euros that were paid.
#[tokio::test]
async fn undecided_refund_of_stay_waits_for_the_operators_amount() {
    let scene = Scene::begin(Database::Sqlite).await;
    scene.book.change(|world| {
        world.documents["cancel"]["data"]["refund_amount"] = json!(400.0);
    });
    let booking = scene.confirmed().await;
    scene.client.cancel_hotel(&booking, &json!({})).await;
    let client = &scene.client;
    let canceled = client.wait_for_hotel_booking(&booking, "CANCELED").await;
    let cancellation = &canceled["cancellations"][0];
    assert_eq!(cancellation["status"], "SUCCEEDED");
    let amounts = ["fee", "refund_amount"].map(|name| &cancellation[name]);
    assert_eq!(amounts, [&Value::Null, &Value::Null]);

    let operator = Client::new(&scene.server.admin, "");
    let listed = async || operator.get("/unresolved").await.expect(200).data()["calls"].clone();
    let question = listed().await[0].clone();
    let reference = format!("{booking}-cancel-1");
    let asked = ["booking_id", "step", "target", "client_reference"].map(|name| &question[name]);
    assert_eq!(
        asked,
        [booking.as_str(), "decide_refund", "NUITEE", &reference]
    );
    let path = format!("/unresolved/{booking}");
    let refund = |amount: f64, currency: &str, reference: &str| json!({"outcome": "refund", "amount": amount, "currency": currency, "client_reference": reference});
    for (decision, status, code) in [
        (refund(460.51, "EUR", &reference), 400, "validation_failed"),
        (refund(410.5, "USD", &reference), 400, "validation_failed"),
        (
            refund(410.5, "EUR", &booking),
            409,
            "booking_state_conflict",
        ),
    ] {
        let reply = operator.post(&path, &decision).await;
        reply.expect_problem(status, code);
    }
    scene.server.wait_for_ledger(&booking, TAKEN).await;
    let decision = refund(410.5, "EUR", &reference);
    let decided = operator.post(&path, &decision).await;
    assert_eq!(decided.outcome(), (200, "CANCELED"));
    let refunded = [TAKEN, &["refund"]].concat();
    scene.server.wait_for_ledger(&booking, &refunded).await;
    assert_eq!(scene.server.ledger().await.sum(&booking, "refund"), 410.5);
    let settled = client.hotel_booking(&booking).await;
    let cancellation = &settled["cancellations"][0];
    assert_eq!(cancellation["fee"], euros(50.0));
    assert_eq!(cancellation["refund_amount"], euros(410.5));
    assert_eq!(listed().await, json!([]));
    let again = operator.post(&path, &decision).await;
    again.expect_problem(409, "booking_state_conflict");
}

fn euros(amount: f64) -> Value {
    money(amount, "EUR")
}

impl Scene {
    /// Searches for places and hotels and returns the gateway's id of the hotel.
    async fn check_search(&self) -> String {
        let query = json!({"query": "somewhere", "supplier": "NUITEE"});
        let places = self.client.post("/v1/hotel/places", &query).await;
        let places = places.expect(200);
        assert_eq!(places.body["meta"]["supplier"], "NUITEE");
        let [data, book] = self.take_received();
        assert_eq!(data[0].query, "textQuery=somewhere");
        assert_eq!([data.len(), book.len()], [3, 0]);

        let request = stay(json!({"place_id": places.data()[0]["id"]}));
        let found = self.client.post("/v1/hotel/search", &request).await;
        let found = found.expect(200);
        let [hotel] = found.list() else {
            panic!("{:#}", found.body);
        };
        assert_eq!(hotel["name"], "Harbour & Sons");
        assert_eq!(hotel["lowest_total"], euros(350.01));
        let [data, _] = self.take_received();
        assert_eq!(data[0].route, "POST /v3.0/hotels/rates");
        assert_eq!(data[0].body["maxRatesPerHotel"], 3);
        hotel["hotel_id"].as_str().unwrap().to_owned()
    }

    /// Prices the hotel and returns the reference of the offer that is booked.
    async fn check_price(&self, hotel: &str) -> String {
        let mut request = stay(json!({"hotel_ids": [hotel]}));
        // Without `supplier`, the gateway calls the supplier that has the hotel.
        request.as_object_mut().unwrap().remove("supplier");
        let reply = self.client.hotel_offers(&request).await.expect(200);
        assert_eq!(reply.header("x-supplier"), Some("NUITEE"));
        let row = &reply.data()[0];
        assert_eq!(row["hotel_id"], hotel);
        assert_eq!(row["supplier_hotel_id"], "lpown1");
        let offer = &row["offers"][0];
        assert_eq!(offer["total"], euros(460.5));
        assert_eq!(offer["rooms"].as_array().unwrap().len(), 2);
        assert_eq!(offer["refundable"], true);
        let [data, book] = self.take_received();
        assert_eq!((data.len(), book.len()), (1, 0));
        assert_eq!(data[0].body["hotelIds"], json!(["lpown1"]));
        assert_eq!(data[0].body["occupancies"], request["occupancy"]);
        offer["offer_reference"].as_str().unwrap().to_owned()
    }

    fn expect_no_call(&self) {
        assert!(
            self.take_received().iter().all(Vec::is_empty),
            "a supplier call"
        );
    }

    async fn check_prebook(&self, hotel: &str, offer: &str) -> String {
        let request = prebook_request(offer);
        let bound = self.client.prebook_hotel("drive", &request).await;
        assert_eq!(bound.outcome(), (201, "READY_FOR_COMPLETE"));
        let booking = bound.data();
        assert_eq!(booking["total"], euros(460.5));
        assert_eq!(booking["hotel"]["id"], hotel);
        assert_eq!(booking["hotel"]["name"], "Harbour & Sons");
        assert_eq!(booking["due_at_property"], euros(3.5));

        let [data, book] = self.take_received();
        assert_eq!(routes(&data), ["GET /v3.0/data/hotel"]);
        assert_eq!(routes(&book), [PREBOOK]);
        let sent = json!({"offerId": "OFFER-SEA", "usePaymentSdk": false});
        assert_eq!(book[0].body, sent);
        let again = self.client.prebook_hotel("drive", &request).await;
        assert_eq!(again.expect(200).data()["id"], booking["id"]);
        self.expect_no_call();
        booking["id"].as_str().unwrap().to_owned()
    }

    async fn check_book(&self, booking: &str) {
        assert_eq!(self.book(booking).await.outcome(), (200, "CONFIRMED"));
        let [data, book] = self.take_received();
        assert_eq!(data.len(), 0);
        assert_eq!(routes(&book), [BOOK]);
        let sent = &book[0].body;
        assert_eq!(sent["prebookId"], "PB-OWN-1");
        let reference = sent["clientReference"].as_str().unwrap();
        assert!(reference.starts_with(booking), "{reference}");
        assert_eq!(sent["payment"], json!({"method": "ACC_CREDIT_CARD"}));
        let (email, phone) = ("ada@example.org", "+442079460000");
        let holder =
            json!({"firstName": "Ada", "lastName": "King", "email": email, "phone": phone});
        assert_eq!(sent["holder"], holder);
        let guest = |number: u8, lead: &str| json!({"occupancyNumber": number, "firstName": lead, "lastName": "Lovelace", "email": email, "phone": phone});
        let guests = json!([guest(1, "Bea"), guest(2, "Adalina")]);
        assert_eq!(sent["guests"], guests);
    }

    async fn check_read(&self, id: &str) {
        self.server.wait_for_ledger(id, TAKEN).await;
        let booking = eventually("the payment to be captured", async || {
            Some(self.client.hotel_booking(id).await)
                .filter(|booking| booking["payments"][0]["status"] == "CAPTURED")
        })
        .await;
        assert_eq!(booking["status"], "CONFIRMED");
        assert_eq!(booking["total"], euros(460.5));
        assert_eq!(booking["payments"][0]["amount"], euros(460.5));
        let remarks = booking["hotel_remarks"].as_str().unwrap();
        assert!(remarks.contains("Free"), "{remarks}");
        assert!(!remarks.contains('<'), "{remarks}");
        let rooms = booking["rooms"].as_array().unwrap();
        assert_eq!(rooms.len(), 2);
        for (room, (adults, children)) in rooms.iter().zip([(2, 0), (1, 1)]) {
            assert_eq!(room["adults"], adults);
            assert_eq!(room["children"].as_array().unwrap().len(), children);
            assert!(!room["supplier_reference_number"].is_null());
        }
        self.expect_no_call();
    }

    /// Reads content and weather. Checks that each needs one supplier call.
    async fn check_content(&self, hotel: &str, booking: &str) {
        let path = format!("/v1/hotel/hotels/{hotel}");
        let content = self.client.get(&path).await.expect(200);
        assert_eq!(content.data()["details"]["name"], "Harbour & Sons");
        let description = content.data()["details"]["description"].as_str().unwrap();
        assert!(!description.contains('<'), "{description}");
        let reviews = content.data()["reviews"]["items"].as_array().unwrap();
        assert_eq!(reviews.len(), 3);
        let kept = self.client.get(&path).await.expect(200);
        assert_eq!(kept.data(), content.data());
        let path = format!("/v1/hotel/bookings/{booking}/weather");
        let weather = self.client.get(&path).await.expect(200);
        let days = weather.data()["days"].as_array().unwrap();
        assert_eq!(days.len(), 2);
        assert_eq!(days[0]["date"], days_ahead(10));

        let [data, book] = self.take_received();
        let mut asked = routes(&data);
        asked.sort_unstable();
        let read = ["hotel", "reviews", "weather"].map(|part| format!("GET /v3.0/data/{part}"));
        assert_eq!(asked, read);
        assert!(book.is_empty());
    }

    async fn check_cancel(&self, id: &str) {
        let path = format!("/v1/hotel/bookings/{id}/cancellation-quote");
        let quote = self.client.get(&path).await.expect(200);
        assert_eq!(quote.data()["source"], "POLICY_ESTIMATE");
        assert_eq!(quote.data()["fee"], euros(50.0));
        assert_eq!(quote.data()["refund"], euros(410.5));
        let begun = self.client.cancel_hotel(id, &json!({})).await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let canceled = self.client.wait_for_hotel_booking(id, "CANCELED").await;
        let cancellation = &canceled["cancellations"][0];
        assert_eq!(cancellation["status"], "SUCCEEDED");
        assert_eq!(cancellation["fee"], euros(50.0));
        assert_eq!(cancellation["refund_amount"], euros(410.5));
        for room in canceled["rooms"].as_array().unwrap() {
            assert!(!room["canceled_at"].is_null(), "{room:#}");
        }
        let refunded = [TAKEN, &["refund"]].concat();
        self.server.wait_for_ledger(id, &refunded).await;
        assert_eq!(self.server.ledger().await.sum(id, "refund"), 410.5);
        let [data, book] = self.take_received();
        assert!(data.is_empty());
        assert_eq!(routes(&book), [READ, CANCEL, READ]);
    }
}
