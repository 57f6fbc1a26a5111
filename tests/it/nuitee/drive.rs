//! Tests of a whole stay at Nuitee: places, search, offers, prebook, book, read, quote and cancel.

use crate::nuitee::service::{KEY, Nuitee};
use crate::nuitee::story::{Story, vendor_folder};
use serde_json::{Value, json};
use tests::{Client, Database, ReceivedRequest, Server, eventually, money, print_line, routes};

#[tokio::test]
async fn nuitee_stay_with_own_documents_is_searched_booked_and_cancelled() {
    drive(Story::own()).await;
}

/// Runs only if the vendor's examples lie beside the repository; otherwise prints that they are
/// missing.
#[tokio::test]
async fn nuitee_stay_with_vendor_documents_is_searched_booked_and_cancelled() {
    match Story::vendor() {
        Some(story) => drive(story).await,
        None => print_line(&format!(
            "{} does not exist: only the project's own documents are used",
            vendor_folder().display()
        )),
    }
}

async fn drive(story: Story) {
    print_line(&format!("Nuitee documents in use: {}", story.source));
    let nuitee = Nuitee::start(&story).await;
    let server = nuitee.gateway(Database::Sqlite).await;
    let drive = Drive {
        client: server.client(),
        server,
        nuitee,
        story,
    };
    let hotel = drive.search().await;
    let offer = drive.price(&hotel).await;
    let booking = drive.prebook(&hotel, &offer).await;
    drive.book(&booking).await;
    drive.read(&booking).await;
    drive.inform(&hotel, &booking).await;
    drive.cancel(&booking).await;
}

struct Drive {
    client: Client,
    server: Server,
    nuitee: Nuitee,
    story: Story,
}

impl Drive {
    /// Returns the requests to each host since the last call. Checks that each has the key.
    fn received(&self) -> [Vec<ReceivedRequest>; 2] {
        let received = self.nuitee.take_received();
        for request in received.iter().flatten() {
            assert_eq!(request.header("x-api-key"), Some(KEY), "{}", request.route);
        }
        received
    }

    fn money(&self, amount: f64) -> Value {
        money(amount, self.story.currency)
    }

    /// Searches for places and hotels and returns the gateway's id of the hotel.
    async fn search(&self) -> String {
        let places = self
            .client
            .post(
                "/v1/hotel/places",
                &json!({"query": "somewhere", "supplier": "NUITEE"}),
            )
            .await;
        let places = places.expect(200);
        assert_eq!(places.body["meta"]["supplier"], "NUITEE");
        let [data, book] = self.received();
        assert_eq!(
            (data[0].query.as_str(), data.len(), book.len()),
            ("textQuery=somewhere", 3, 0)
        );

        let request = self.story.stay(json!({"place_id": places.data()[0]["id"]}));
        let found = self
            .client
            .post("/v1/hotel/search", &request)
            .await
            .expect(200);
        assert_eq!(
            found.data().as_array().unwrap().len(),
            1,
            "{:#}",
            found.body
        );
        let hotel = &found.data()[0];
        assert_eq!(hotel["name"], self.story.names[1]);
        let lowest = if self.story.rooms.len() == 1 {
            self.story.total
        } else {
            350.01
        };
        assert_eq!(hotel["lowest_total"], self.money(lowest));
        let [data, _] = self.received();
        assert_eq!(data[0].route, "POST /v3.0/hotels/rates");
        let place = self.story.documents.places["data"][0]["placeId"].clone();
        assert_eq!(
            (&data[0].body["placeId"], &data[0].body["maxRatesPerHotel"]),
            (&place, &json!(1))
        );
        hotel["hotel_id"].as_str().unwrap().to_owned()
    }

    /// Prices the hotel and returns the reference of the offer that is booked.
    async fn price(&self, hotel: &str) -> String {
        let mut request = self.story.stay(json!({"hotel_ids": [hotel]}));
        // Without `supplier`, the gateway calls the supplier that has the hotel.
        request.as_object_mut().unwrap().remove("supplier");
        let reply = self
            .client
            .post("/v1/hotel/offers", &request)
            .await
            .expect(200);
        assert_eq!(reply.header("x-supplier"), Some("NUITEE"));
        let row = &reply.data()[0];
        assert_eq!(
            (&row["hotel_id"], &row["supplier_hotel_id"]),
            (&json!(hotel), &json!(self.story.hotel))
        );
        let offer = &row["offers"][0];
        assert_eq!(offer["total"], self.money(self.story.total));
        assert_eq!(
            offer["rooms"].as_array().unwrap().len(),
            self.story.rooms.len()
        );
        assert_eq!(offer["refundable"], true);
        assert!(!offer["promotions"].as_array().unwrap().is_empty());

        let [data, book] = self.received();
        assert_eq!((data.len(), book.len()), (1, 0));
        let sent = &data[0].body;
        let room =
            |(adults, children): &(usize, &[u8])| json!({"adults": adults, "children": children});
        let rooms: Vec<Value> = self.story.rooms.iter().map(room).collect();
        assert_eq!(sent["hotelIds"], json!([self.story.hotel]));
        assert_eq!(
            (&sent["checkin"], &sent["checkout"]),
            (&json!(self.story.check_in), &json!(self.story.check_out))
        );
        assert_eq!(
            (&sent["occupancies"], &sent["guestNationality"]),
            (&json!(rooms), &json!("DE"))
        );
        offer["offer_reference"].as_str().unwrap().to_owned()
    }

    async fn prebook(&self, hotel: &str, offer: &str) -> String {
        let with_key = self.client.header("x-idempotency-key", "drive");
        let request = self.story.prebook(offer);
        let bound = with_key
            .post("/v1/hotel/prebook", &request)
            .await
            .expect(201);
        let booking = bound.data();
        assert_eq!(
            (&booking["status"], &booking["total"]),
            (&json!("READY_FOR_COMPLETE"), &self.money(self.story.total))
        );
        assert_eq!(
            (&booking["hotel"]["id"], &booking["hotel"]["name"]),
            (&json!(hotel), &json!(self.story.names[0]))
        );
        assert_eq!(
            booking["due_at_property"],
            self.money(self.story.due_at_property)
        );

        let [data, book] = self.received();
        assert_eq!(routes(&data), ["GET /v3.0/data/hotel"]);
        assert_eq!(routes(&book), ["POST /v3.0/rates/prebook"]);
        assert_eq!(
            book[0].body,
            json!({"offerId": self.story.offer, "usePaymentSdk": false})
        );
        let again = with_key
            .post("/v1/hotel/prebook", &request)
            .await
            .expect(200);
        assert_eq!(again.data()["id"], booking["id"]);
        assert!(
            self.received().iter().all(Vec::is_empty),
            "a replay makes no supplier call"
        );
        booking["id"].as_str().unwrap().to_owned()
    }

    async fn book(&self, booking: &str) {
        let reply = pay(&self.client, booking).await.expect(200);
        assert_eq!(reply.data()["status"], "CONFIRMED");
        let [data, book] = self.received();
        assert_eq!(
            (data.len(), routes(&book)),
            (0, vec!["POST /v3.0/rates/book"])
        );
        let sent = &book[0].body;
        assert_eq!(sent["prebookId"], self.story.prebook_id);
        assert!(
            sent["clientReference"]
                .as_str()
                .unwrap()
                .starts_with(booking)
        );
        assert_eq!(sent["payment"], json!({"method": "ACC_CREDIT_CARD"}));
        let (email, phone) = ("ada@example.org", "+442079460000");
        assert_eq!(
            sent["holder"],
            json!({"firstName": "Ada", "lastName": "King", "email": email, "phone": phone})
        );
        let guest = |(number, lead): (usize, &str)| json!({"occupancyNumber": number, "firstName": lead, "lastName": "Lovelace", "email": email, "phone": phone});
        let guests: Vec<Value> = (1..).zip(self.story.leads()).map(guest).collect();
        assert_eq!(sent["guests"], json!(guests));
    }

    async fn read(&self, id: &str) {
        let booking = eventually("the payment to be captured", async || {
            Some(self.client.hotel_booking(id).await)
                .filter(|booking| booking["payments"][0]["status"] == "CAPTURED")
        })
        .await;
        assert_eq!(booking["status"], "CONFIRMED");
        assert_eq!(booking["total"], self.money(self.story.total));
        assert_eq!(
            booking["payments"][0]["amount"],
            self.money(self.story.total)
        );
        assert_eq!(
            booking["hotel_confirmation_code"],
            json!(self.story.confirmation_code)
        );
        let remarks = booking["hotel_remarks"].as_str().unwrap();
        assert!(
            remarks.contains("Free") && !remarks.contains('<'),
            "{remarks}"
        );
        let rooms = booking["rooms"].as_array().unwrap();
        assert_eq!(rooms.len(), self.story.rooms.len());
        for (room, (adults, children)) in rooms.iter().zip(self.story.rooms) {
            assert_eq!(
                (&room["adults"], room["children"].as_array().unwrap().len()),
                (&json!(adults), children.len())
            );
            assert!(!room["supplier_reference_number"].is_null());
        }
        assert_eq!(
            self.server.ledger().await.kinds_of(id),
            ["authorization", "capture"]
        );
        assert!(
            self.received().iter().all(Vec::is_empty),
            "a booking is read without a supplier call"
        );
    }

    /// Reads content and weather. Checks that each needs one supplier call.
    async fn inform(&self, hotel: &str, booking: &str) {
        let content = self
            .client
            .get(&format!("/v1/hotel/hotels/{hotel}"))
            .await
            .expect(200);
        assert_eq!(content.data()["details"]["name"], self.story.names[0]);
        let description = content.data()["details"]["description"].as_str().unwrap();
        assert!(!description.contains('<'), "{description}");
        let reviews = content.data()["reviews"]["items"].as_array().unwrap();
        assert_eq!(reviews.len(), self.story.reviews);
        let written = content.body.to_string();
        for review in self.story.documents.reviews["data"].as_array().unwrap() {
            assert!(
                !written.contains(review["name"].as_str().unwrap()),
                "the author of a review is not passed on"
            );
        }
        let kept = self
            .client
            .get(&format!("/v1/hotel/hotels/{hotel}"))
            .await
            .expect(200);
        assert_eq!(kept.data(), content.data());
        let weather = self
            .client
            .get(&format!("/v1/hotel/bookings/{booking}/weather"))
            .await
            .expect(200);
        let days = weather.data()["days"].as_array().unwrap();
        assert_eq!(
            (&days[0]["date"], days.len()),
            (&json!(self.story.check_in), 2)
        );
        assert!(
            days[0]["summary"]
                .as_str()
                .is_some_and(|summary| !summary.starts_with("Date:"))
        );

        let [data, book] = self.received();
        let mut asked = routes(&data);
        asked.sort_unstable();
        assert_eq!(
            asked,
            [
                "GET /v3.0/data/hotel",
                "GET /v3.0/data/reviews",
                "GET /v3.0/data/weather"
            ]
        );
        assert!(book.is_empty());
    }

    async fn cancel(&self, id: &str) {
        let path = format!("/v1/hotel/bookings/{id}");
        let quote = self
            .client
            .get(&format!("{path}/cancellation-quote"))
            .await
            .expect(200);
        assert_eq!(quote.data()["source"], "POLICY_ESTIMATE");
        assert_eq!(
            (&quote.data()["fee"], &quote.data()["refund"]),
            (&self.money(self.story.fee), &self.money(self.story.refund))
        );
        let begun = self
            .client
            .post(&format!("{path}/cancel"), &json!({}))
            .await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let canceled = self.client.wait_for_hotel_booking(id, "CANCELED").await;
        let cancellation = &canceled["cancellations"][0];
        assert_eq!(cancellation["status"], "SUCCEEDED");
        assert_eq!(cancellation["fee"], self.money(self.story.fee));
        assert_eq!(cancellation["refund_amount"], self.money(self.story.refund));
        assert!(
            canceled["rooms"]
                .as_array()
                .unwrap()
                .iter()
                .all(|room| !room["canceled_at"].is_null())
        );
        eventually("the refund to be made", async || {
            (self.server.ledger().await.count(id, "refund") == 1).then_some(())
        })
        .await;
        assert_eq!(
            self.server.ledger().await.sum(id, "refund"),
            self.story.refund
        );

        let [data, book] = self.received();
        let read = format!("GET /v3.0/bookings/{}", self.story.booking_id);
        let cancel = format!("PUT /v3.0/bookings/{}", self.story.booking_id);
        assert_eq!(
            (data.len(), routes(&book)),
            (0, vec![read.as_str(), &cancel, &read])
        );
    }
}

/// Completes a booking with a valid card.
pub(super) async fn pay(client: &Client, booking: &str) -> tests::Reply {
    let card = client
        .post(
            "/v1/payment-instruments",
            &json!({"type": "CARD", "token": "tok_visa"}),
        )
        .await
        .expect(201);
    let body = json!({"payment_instrument_id": card.data()["id"]});
    client
        .post(&format!("/v1/hotel/bookings/{booking}/book"), &body)
        .await
}
