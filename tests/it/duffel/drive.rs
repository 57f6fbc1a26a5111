//! Tests of a whole trip at Duffel: search, prebook, book, bags, read, quote and cancel.

use crate::duffel::scene::{Scene, TAKEN};
use crate::duffel::service::{TOKEN, cents, decimal};
use crate::duffel::story::Story;
use serde_json::{Value, json};
use tests::{ReceivedRequest, count, days_ahead, prebook_flight_request, print_line, routes};

#[tokio::test]
async fn duffel_trip_is_searched_booked_and_cancelled() {
    for story in Story::all() {
        print_line(&format!("Duffel documents in use: {}", story.source));
        drive(&Scene::of(story).await).await;
    }
}

async fn drive(scene: &Scene) {
    let offer = scene.check_search().await;
    let booking = scene.check_prebook(&offer).await;
    scene.check_book(&booking).await;
    scene.check_read(&booking).await;
    scene.check_bags(&booking).await;
    scene.check_quote(&booking).await;
    scene.check_cancel(&booking).await;
    let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
    for secret in [TOKEN, "P-CANARY", "ada@example.org", "Lovelace"] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
}

impl Scene {
    fn received(&self) -> Vec<ReceivedRequest> {
        self.duffel.take_received()
    }

    async fn check_search(&self) -> String {
        let offer = self.offer().await;
        let received = self.received();
        let pages = self.story.offers.1;
        assert_eq!(received.len(), 1 + pages, "{:?}", routes(&received));
        let sent = &received[0];
        assert_eq!(sent.route, "POST /air/offer_requests");
        assert_eq!(sent.query, "return_offers=false&supplier_timeout=15000");
        let slices = self.story.journeys.iter().map(|(origin, destination, days)| {
            json!({"origin": origin, "destination": destination, "departure_date": days_ahead(*days)})
        });
        let passengers = self.story.party.iter().map(|(kind, _)| match *kind {
            "CHILD" => json!({"age": 8}),
            "INFANT" => json!({"type": "infant_without_seat"}),
            _ => json!({"type": "adult"}),
        });
        let data = json!({"slices": slices.collect::<Vec<_>>(), "passengers": passengers.collect::<Vec<_>>()});
        assert_eq!(sent.body, json!({ "data": data }));
        let search = self.story.search;
        let first = format!("offer_request_id={search}&sort=total_amount&limit=50");
        assert_eq!(received[1].query, first);
        if pages == 2 {
            let query = &received[2].query;
            assert!(query.ends_with("&after=page-2"), "{query}");
        }
        offer
    }

    async fn check_prebook(&self, offer: &str) -> String {
        let passengers = self.story.passengers(json!({}));
        let request = prebook_flight_request(offer, &passengers);
        let bound = self.client.prebook_flight("drive", &request).await;
        let bound = bound.expect(201);
        let booking = bound.data();
        assert_eq!(booking["status"], "READY_FOR_COMPLETE");
        assert_eq!(booking["supplier"], "DUFFEL");
        for (name, amount) in [
            ("total_amount", self.story.total),
            ("fare_amount", self.story.fare),
            ("fare_tax_amount", self.story.tax),
        ] {
            assert_eq!(booking[name], self.story.money(amount), "{name}");
        }
        let journeys = booking["journeys"].as_array().unwrap();
        assert_eq!(journeys.len(), self.story.journeys.len());
        let checkout = &bound.body["meta"]["checkout"];
        assert!(checkout.is_null(), "the gateway collects the payment");
        let read = format!("GET /air/offers/{}", self.story.offer);
        assert_eq!(routes(&self.received()), [read.as_str()]);

        let again = self.client.prebook_flight("drive", &request).await;
        assert_eq!(again.expect(200).data()["id"], booking["id"]);
        let other = self.client.prebook_flight("another", &request).await;
        other.expect_problem(409, "offer_in_use");
        assert!(self.received().is_empty(), "neither call reaches Duffel");
        booking["id"].as_str().unwrap().to_owned()
    }

    async fn check_book(&self, booking: &str) {
        assert_eq!(self.book(booking).await.outcome(), (200, "CONFIRMED"));
        let received = self.received();
        assert_eq!(routes(&received), ["POST /air/orders"]);
        let sent = &received[0].body["data"];
        assert_eq!(sent["type"], "instant");
        assert_eq!(sent["selected_offers"], json!([self.story.offer]));
        assert_eq!(sent["payments"], self.payment(self.story.total));
        let ids: Vec<&str> = self.story.party.iter().map(|(_, id)| *id).collect();
        let metadata = json!({"gateway_booking_id": booking, "gateway_passengers": ids.join(",")});
        assert_eq!(sent["metadata"], metadata);
        self.check_passengers(&sent["passengers"]);
        let again = self.book(booking).await.expect(200);
        assert_eq!(again.data(), &self.client.flight_booking(booking).await);
        assert!(self.received().is_empty(), "a ticket is not booked again");
    }

    fn payment(&self, amount: &str) -> Value {
        json!([{"type": "balance", "amount": amount, "currency": self.story.currency}])
    }

    fn check_passengers(&self, sent: &Value) {
        let sent = sent.as_array().unwrap();
        assert_eq!(sent.len(), self.story.party.len());
        let people = self.story.party.iter().zip(["Ada", "Bea", "Cleo"]);
        for (sent, ((_, id), name)) in sent.iter().zip(people) {
            let said = ["id", "given_name", "family_name"].map(|field| &sent[field]);
            assert_eq!(said, [*id, name, "Lovelace"]);
        }
    }

    async fn check_read(&self, id: &str) {
        self.server.wait_for_ledger(id, TAKEN).await;
        let booking = self.client.flight_booking(id).await;
        assert_eq!(booking["supplier_reference"], self.story.order);
        assert_eq!(booking["airline_pnr"], self.story.pnr);
        assert_eq!(booking["total_amount"], self.story.money(self.story.total));
        assert_eq!(booking["payments"][0]["status"], "CAPTURED");
        assert_eq!(booking["payments"][0]["collected_by"], "SERVICE");
        let change = &booking["airline_initiated_changes"][0];
        assert_eq!(change["type"], "SCHEDULE_CHANGE");
        assert_eq!(change["action_required"], self.story.is_action_required);
        let departure = |side: &str| &change[side][0]["departure_time"];
        assert_ne!(departure("removed_segments"), departure("added_segments"));
        let seats = &booking["journeys"][0]["segments"][0]["passengers"];
        let seats = seats.as_array().unwrap().iter();
        let passengers = booking["passengers"].as_array().unwrap();
        for (seat, passenger) in seats.zip(passengers) {
            assert_eq!(seat["passenger_id"], passenger["id"], "Duffel's order");
        }
        let ledger = self.server.ledger().await;
        let total: f64 = self.story.total.parse().unwrap();
        assert_eq!(ledger.sum(id, "capture"), total);
        let text = booking.to_string();
        assert!(!text.contains("P-CANARY") && !text.contains(TOKEN));
        assert!(self.received().is_empty(), "reading needs no supplier call");
    }

    async fn check_bags(&self, id: &str) {
        let bags = self.client.bags_for_sale(id).await.expect(200);
        assert_eq!(bags.body["meta"]["supplier"], "DUFFEL");
        assert_eq!(bags.list().len(), self.story.bags);
        let (bag, unit, most) = self.story.bag;
        let for_sale = &bags.list()[0];
        let owner = &self.client.flight_booking(id).await["passengers"][0];
        assert_eq!(for_sale["passenger_id"], owner["id"]);
        assert_eq!(for_sale["unit_amount"], self.story.money(unit));
        assert_eq!(for_sale["max_quantity"], most);
        let checked = json!({"type": "CHECKED", "max_weight_kg": 23});
        assert_eq!(for_sale["baggage"], checked);
        let order = format!("/air/orders/{}", self.story.order);
        let read = format!("GET {order}");
        let received = self.received();
        let mut asked = routes(&received);
        asked.sort_unstable();
        assert_eq!(asked, [&read, &format!("{read}/available_services")]);

        let card = self.client.store_card("tok_mastercard").await;
        let wish = json!({"services": [{"id": for_sale["id"], "quantity": 2}], "payment_instrument_id": card});
        let bought = self.client.purchase_bags(id, "bags", &wish).await;
        let bought = bought.expect(200);
        let twice = decimal(2 * cents(&json!(unit)));
        let both = decimal(cents(&json!(self.story.total)) + cents(&json!(twice)));
        assert_eq!(bought.data()["services_amount"], self.story.money(&twice));
        assert_eq!(bought.data()["total_amount"], self.story.money(&both));
        let fare = self.story.money(self.story.fare);
        assert_eq!(bought.data()["fare_amount"], fare);
        let service = &bought.data()["services"][0];
        assert_eq!(service["status"], "CONFIRMED");
        assert_eq!(service["payment_id"], bought.data()["payments"][1]["id"]);
        let received = self.received();
        let buy = format!("POST {order}/services");
        assert_eq!(count(&received, &buy), 1);
        let sent = &received.last().unwrap().body["data"];
        let payment = &self.payment(&twice)[0];
        let expected = json!({"payment": payment, "add_services": [{"id": bag, "quantity": 2}]});
        assert_eq!(*sent, expected);

        let again = self.client.purchase_bags(id, "bags", &wish).await;
        let again = again.expect(200);
        assert_eq!(again.data()["services"], bought.data()["services"]);
        let left = self.client.bags_for_sale(id).await.expect(200);
        assert!(left.list().is_empty(), "no further bags are offered");
        assert!(self.received().is_empty(), "neither call reaches Duffel");
        let taken = [TAKEN, TAKEN].concat();
        self.server.wait_for_ledger(id, &taken).await;
    }

    /// Bags are not refunded: Duffel's quote covers everything that was purchased.
    async fn check_quote(&self, id: &str) {
        let path = format!("/v1/flight/bookings/{id}/cancellation-quote");
        let quote = self.client.get(&path).await.expect(200);
        let quote = quote.data();
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["refund"], self.story.money(self.story.refund));
        assert_eq!(quote["fee"], self.story.money(&self.fee()));
        assert!(!quote["expires_at"].is_null());
        let read = format!("GET /air/orders/{}", self.story.order);
        let received = self.received();
        let expected = [read.as_str(), "POST /air/order_cancellations"];
        assert_eq!(routes(&received), expected);
        let about = json!({"data": {"order_id": self.story.order}});
        assert_eq!(received[1].body, about);
    }

    /// Returns the cancellation fee including the bags.
    fn fee(&self) -> String {
        let (_, unit, _) = self.story.bag;
        decimal(cents(&json!(self.story.fee)) + 2 * cents(&json!(unit)))
    }

    async fn check_cancel(&self, id: &str) {
        let canceled = self.canceled(id).await;
        let cancellation = &canceled["cancellation"];
        assert_eq!(cancellation["refunded_by"], "SERVICE");
        assert_eq!(cancellation["fee"], self.story.money(&self.fee()));
        let refund = self.story.money(self.story.refund);
        assert_eq!(cancellation["refund_amount"], refund);
        let ticket = json!([{"payment_id": canceled["payments"][0]["id"]}]);
        assert_eq!(cancellation["refund_to"], ticket);
        let all = [TAKEN, TAKEN, &["refund"]].concat();
        self.server.wait_for_ledger(id, &all).await;
        let ledger = self.server.ledger().await;
        let refund: f64 = self.story.refund.parse().unwrap();
        assert_eq!(ledger.sum(id, "refund"), refund);
        let received = self.received();
        let read = format!("GET /air/orders/{}", self.story.order);
        let quote = self.story.documents["quote"]["data"]["id"]
            .as_str()
            .unwrap();
        let confirm = format!("POST /air/order_cancellations/{quote}/actions/confirm");
        let expected = [read.as_str(), "POST /air/order_cancellations", &confirm];
        assert_eq!(
            routes(&received),
            expected,
            "only the new quote is confirmed"
        );
        self.client.cancel_flight(id).await.expect(200);
        assert!(self.received().is_empty(), "the order is cancelled once");
    }
}
