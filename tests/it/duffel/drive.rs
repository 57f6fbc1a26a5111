//! Tests of a whole trip at Duffel: search, prebook, book, bags, read, quote and cancel.

use crate::duffel::scene::{Scene, TAKEN};
use crate::duffel::service::{TOKEN, cents, decimal};
use crate::duffel::story::{Story, vendor_folder};
use serde_json::{Value, json};
use tests::{ReceivedRequest, count, days_ahead, prebook_flight_request, print_line, routes};

#[tokio::test]
async fn duffel_trip_with_own_documents_is_searched_booked_and_cancelled() {
    drive(Story::own()).await;
}

/// Runs only if the vendor's examples lie beside the repository; otherwise prints that they are
/// missing.
#[tokio::test]
async fn duffel_trip_with_vendor_documents_is_searched_booked_and_cancelled() {
    match Story::vendor() {
        Some(story) => drive(story).await,
        None => print_line(&format!(
            "{} does not exist: only the project's own documents are used",
            vendor_folder().display()
        )),
    }
}

async fn drive(story: Story) {
    print_line(&format!("Duffel documents in use: {}", story.source));
    let drive = Drive {
        scene: Scene::of(story).await,
    };
    let offer = drive.search().await;
    let booking = drive.prebook(&offer).await;
    drive.book(&booking).await;
    drive.read(&booking).await;
    drive.buy(&booking).await;
    drive.quote(&booking).await;
    drive.cancel(&booking).await;
    let log = std::fs::read_to_string(drive.scene.server.data_dir().join("server.log")).unwrap();
    for secret in [TOKEN, "P-CANARY", "ada@example.org", "Lovelace"] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
}

struct Drive {
    scene: Scene,
}

impl Drive {
    fn story(&self) -> &Story {
        &self.scene.story
    }

    fn received(&self) -> Vec<ReceivedRequest> {
        self.scene.duffel.take_received()
    }

    async fn search(&self) -> String {
        let offer = self.scene.offer().await;
        let received = self.received();
        let pages = self.story().offers.1;
        assert_eq!(received.len(), 1 + pages, "{:?}", routes(&received));
        let sent = &received[0];
        assert_eq!(sent.route, "POST /air/offer_requests");
        assert_eq!(sent.query, "return_offers=false&supplier_timeout=15000");
        let slices = self.story().journeys.iter().map(|(origin, destination, days)| {
            json!({"origin": origin, "destination": destination, "departure_date": days_ahead(*days)})
        });
        let passengers = self.story().party.iter().map(|(kind, _)| match *kind {
            "CHILD" => json!({"age": 8}),
            "INFANT" => json!({"type": "infant_without_seat"}),
            _ => json!({"type": "adult"}),
        });
        let data = json!({"slices": slices.collect::<Vec<_>>(), "passengers": passengers.collect::<Vec<_>>()});
        assert_eq!(sent.body, json!({ "data": data }));
        let first = format!(
            "offer_request_id={}&sort=total_amount&limit=50",
            self.story().search
        );
        assert_eq!(received[1].query, first);
        if pages == 2 {
            assert!(
                received[2].query.ends_with("&after=page-2"),
                "{}",
                received[2].query
            );
        }
        offer
    }

    async fn prebook(&self, offer: &str) -> String {
        let passengers = self.story().passengers(json!({}));
        let request = prebook_flight_request(offer, &passengers);
        let keyed = |key: &str| self.scene.client.header("x-idempotency-key", key);
        let bound = keyed("drive").post("/v1/flight/prebook", &request).await;
        let bound = bound.expect(201);
        let booking = bound.data();
        assert_eq!(booking["status"], "READY_FOR_COMPLETE");
        assert_eq!(booking["supplier"], "DUFFEL");
        for (name, amount) in [
            ("total_amount", self.story().total),
            ("fare_amount", self.story().fare),
            ("fare_tax_amount", self.story().tax),
        ] {
            assert_eq!(booking[name], self.story().money(amount), "{name}");
        }
        let journeys = booking["journeys"].as_array().unwrap();
        assert_eq!(journeys.len(), self.story().journeys.len());
        assert!(
            bound.body["meta"]["checkout"].is_null(),
            "the gateway collects the payment"
        );
        let read = format!("GET /air/offers/{}", self.story().offer);
        assert_eq!(routes(&self.received()), [read.as_str()]);

        let again = keyed("drive").post("/v1/flight/prebook", &request).await;
        assert_eq!(again.expect(200).data()["id"], booking["id"]);
        let other = keyed("another").post("/v1/flight/prebook", &request).await;
        other.expect_problem(409, "offer_in_use");
        assert!(self.received().is_empty(), "neither call reaches Duffel");
        booking["id"].as_str().unwrap().to_owned()
    }

    async fn book(&self, booking: &str) {
        let reply = self.scene.book(booking).await.expect(200);
        assert_eq!(reply.data()["status"], "CONFIRMED");
        let received = self.received();
        assert_eq!(routes(&received), ["POST /air/orders"]);
        let sent = &received[0].body["data"];
        assert_eq!(sent["type"], "instant");
        assert_eq!(sent["selected_offers"], json!([self.story().offer]));
        assert_eq!(sent["payments"], self.payment(self.story().total));
        let ids: Vec<&str> = self.story().party.iter().map(|(_, id)| *id).collect();
        let metadata = json!({"gateway_booking_id": booking, "gateway_passengers": ids.join(",")});
        assert_eq!(sent["metadata"], metadata);
        self.check_passengers(&sent["passengers"]);
        let again = self.scene.book(booking).await.expect(200);
        assert_eq!(
            again.data(),
            &self.scene.client.flight_booking(booking).await
        );
        assert!(self.received().is_empty(), "a ticket is not booked again");
    }

    fn payment(&self, amount: &str) -> Value {
        json!([{"type": "balance", "amount": amount, "currency": self.story().currency}])
    }

    /// Checks that passengers have names, titles and contact data, and that each infant is assigned
    /// to an adult. Passports are sent only if the offer accepts them.
    fn check_passengers(&self, sent: &Value) {
        let sent = sent.as_array().unwrap();
        assert_eq!(sent.len(), self.story().party.len());
        let offer = &self.story().documents.offer["data"];
        let takes_passports = offer["passenger_identity_documents_required"] == true;
        let wanted = [("ms", "Ada", "f"), ("ms", "Bea", "f"), ("mr", "Cleo", "m")];
        let people = sent.iter().zip(self.story().party).zip(wanted);
        for (number, ((sent, (kind, id)), (title, name, gender))) in people.enumerate() {
            let said = [
                &sent["id"],
                &sent["title"],
                &sent["given_name"],
                &sent["gender"],
            ];
            assert_eq!(said, [*id, title, name, gender]);
            assert_eq!(sent["family_name"], "Lovelace");
            assert_eq!(sent["email"], "ada@example.org");
            assert_eq!(sent["phone_number"], "+442079460000");
            let infant = self
                .story()
                .party
                .iter()
                .find(|(kind, _)| *kind == "INFANT");
            let lap = infant.filter(|_| *kind == "ADULT").map(|(_, id)| *id);
            assert_eq!(sent["infant_passenger_id"].as_str(), lap);
            let passport = json!([{"type": "passport", "unique_identifier": format!("P-CANARY-{number}"),
                "issuing_country_code": "FR", "expires_on": days_ahead(900)}]);
            let documents = if takes_passports {
                passport
            } else {
                Value::Null
            };
            assert_eq!(sent["identity_documents"], documents);
        }
    }

    async fn read(&self, id: &str) {
        self.scene.leaves("the ticket", id, TAKEN).await;
        let booking = self.scene.client.flight_booking(id).await;
        assert_eq!(booking["supplier_reference"], self.story().order);
        assert_eq!(booking["airline_pnr"], self.story().pnr);
        assert_eq!(
            booking["total_amount"],
            self.story().money(self.story().total)
        );
        assert_eq!(booking["payments"][0]["status"], "CAPTURED");
        assert_eq!(booking["payments"][0]["collected_by"], "SERVICE");
        let change = &booking["airline_initiated_changes"][0];
        assert_eq!(change["type"], "SCHEDULE_CHANGE");
        assert_eq!(change["action_required"], self.story().is_action_required);
        assert_ne!(
            change["removed_segments"][0]["departure_time"],
            change["added_segments"][0]["departure_time"]
        );
        let seats = booking["journeys"][0]["segments"][0]["passengers"]
            .as_array()
            .unwrap();
        let order = booking["passengers"].as_array().unwrap();
        for (seat, passenger) in seats.iter().zip(order) {
            assert_eq!(
                seat["passenger_id"], passenger["id"],
                "the passengers' order differs from Duffel's"
            );
        }
        let ledger = self.scene.server.ledger().await;
        assert_eq!(ledger.sum(id, "capture"), self.amount(self.story().total));
        let text = booking.to_string();
        assert!(!text.contains("P-CANARY") && !text.contains(TOKEN));
        assert!(
            self.received().is_empty(),
            "a booking is read without a supplier call"
        );
    }

    fn amount(&self, text: &str) -> f64 {
        text.parse().unwrap()
    }

    async fn buy(&self, id: &str) {
        let path = format!("/v1/flight/bookings/{id}/services");
        let bags = self.scene.client.get(&path).await.expect(200);
        assert_eq!(bags.data().as_array().unwrap().len(), self.story().bags);
        let (bag, unit, most) = self.story().bag;
        let for_sale = &bags.data()[0];
        assert_eq!(for_sale["unit_amount"], self.story().money(unit));
        assert_eq!(for_sale["max_quantity"], most);
        assert_eq!(
            for_sale["baggage"],
            json!({"type": "CHECKED", "max_weight_kg": 23})
        );
        let order = format!("/air/orders/{}", self.story().order);
        let mut asked = self.received();
        asked.sort_by(|one, other| one.route.cmp(&other.route));
        let both = [
            format!("GET {order}"),
            format!("GET {order}/available_services"),
        ];
        assert_eq!(routes(&asked), both);

        let card = self.scene.client.store_card("tok_mastercard").await;
        let wish = json!({"services": [{"id": for_sale["id"], "quantity": 2}], "payment_instrument_id": card});
        let client = self.scene.client.header("x-idempotency-key", "bags");
        let bought = client.post(&path, &wish).await.expect(200);
        let twice = decimal(2 * cents(&json!(unit)));
        let both = decimal(cents(&json!(self.story().total)) + cents(&json!(twice)));
        assert_eq!(bought.data()["services_amount"], self.story().money(&twice));
        assert_eq!(bought.data()["total_amount"], self.story().money(&both));
        assert_eq!(
            bought.data()["fare_amount"],
            self.story().money(self.story().fare)
        );
        let service = &bought.data()["services"][0];
        assert_eq!(service["status"], "CONFIRMED");
        assert_eq!(service["payment_id"], bought.data()["payments"][1]["id"]);
        let received = self.received();
        let buy = format!("POST {order}/services");
        assert_eq!(count(&received, &buy), 1);
        let sent = &received.last().unwrap().body["data"];
        let payment = self.payment(&twice)[0].clone();
        assert_eq!(
            *sent,
            json!({"payment": payment, "add_services": [{"id": bag, "quantity": 2}]})
        );

        let again = client.post(&path, &wish).await.expect(200);
        assert_eq!(again.data()["services"], bought.data()["services"]);
        let left = self.scene.client.get(&path).await.expect(200);
        assert_eq!(
            *left.data(),
            json!([]),
            "a ticket with bags offers no further bags"
        );
        assert!(self.received().is_empty(), "neither call reaches Duffel");
        let taken = [TAKEN, TAKEN].concat();
        self.scene.leaves("the bags", id, &taken).await;
    }

    /// Bags are not refunded: Duffel's quote covers everything that was purchased.
    async fn quote(&self, id: &str) {
        let path = format!("/v1/flight/bookings/{id}/cancellation-quote");
        let quote = self.scene.client.get(&path).await.expect(200);
        let quote = quote.data();
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["refund"], self.story().money(self.story().refund));
        assert_eq!(quote["fee"], self.story().money(&self.fee()));
        assert!(!quote["expires_at"].is_null());
        let read = format!("GET /air/orders/{}", self.story().order);
        let received = self.received();
        assert_eq!(
            routes(&received),
            [read.as_str(), "POST /air/order_cancellations"]
        );
        let about = json!({"data": {"order_id": self.story().order}});
        assert_eq!(received[1].body, about);
    }

    /// Returns the cancellation fee including the bags.
    fn fee(&self) -> String {
        let (_, unit, _) = self.story().bag;
        decimal(cents(&json!(self.story().fee)) + 2 * cents(&json!(unit)))
    }

    async fn cancel(&self, id: &str) {
        let begun = self.scene.client.cancel_flight(id).await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let canceled = self
            .scene
            .client
            .wait_for_flight_booking(id, "CANCELED")
            .await;
        let cancellation = &canceled["cancellation"];
        assert_eq!(cancellation["refunded_by"], "SERVICE");
        assert_eq!(cancellation["fee"], self.story().money(&self.fee()));
        assert_eq!(
            cancellation["refund_amount"],
            self.story().money(self.story().refund)
        );
        let ticket = json!([{"payment_id": canceled["payments"][0]["id"]}]);
        assert_eq!(cancellation["refund_to"], ticket);
        let all = [TAKEN, TAKEN, &["refund"]].concat();
        self.scene.leaves("the refund", id, &all).await;
        let ledger = self.scene.server.ledger().await;
        assert_eq!(ledger.sum(id, "refund"), self.amount(self.story().refund));
        let received = self.received();
        let read = format!("GET /air/orders/{}", self.story().order);
        let quote = self.story().documents.quote["data"]["id"].as_str().unwrap();
        let confirm = format!("POST /air/order_cancellations/{quote}/actions/confirm");
        let expected = [read.as_str(), "POST /air/order_cancellations", &confirm];
        assert_eq!(
            routes(&received),
            expected,
            "the earlier quote was not confirmed"
        );
        self.scene.client.cancel_flight(id).await.expect(200);
        assert!(
            self.received().is_empty(),
            "the order is cancelled only once"
        );
    }
}
