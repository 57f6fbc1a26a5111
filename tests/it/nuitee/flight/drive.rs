//! Tests of a whole flight trip at Nuitee: search, prebook, checkout, book, read, quote and cancel.

use crate::nuitee::flight::scene::{BOOK, Scene};
use crate::nuitee::flight::story::Story;
use crate::nuitee::mock::KEY;
use serde_json::{Value, json};
use tests::{ReceivedRequest, days_ahead, prebook_flight_request, print_line, routes};

#[tokio::test]
async fn nuitee_trip_is_searched_booked_and_cancelled() {
    for story in Story::all() {
        print_line(&format!("Nuitee flight documents in use: {}", story.source));
        drive(&Scene::of(story).await).await;
    }
}

async fn drive(scene: &Scene) {
    let offer = scene.check_search().await;
    let booking = scene.check_prebook(&offer).await;
    scene.check_book(&booking).await;
    scene.check_read(&booking).await;
    scene.check_bags(&booking).await;
    scene.check_cancel(&booking).await;
    scene.leaves_nothing("the whole trip", &booking).await;
    let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
    let token = scene.story.token.as_str();
    for secret in [KEY, "X0000001", "ada@example.org", "Lovelace", token] {
        assert!(!log.contains(secret), "{secret} is logged");
    }
}

impl Scene {
    fn received(&self) -> Vec<ReceivedRequest> {
        self.flights.take_received()
    }

    fn expect_no_call(&self) {
        assert!(self.received().is_empty(), "a supplier call");
    }

    async fn check_search(&self) -> String {
        let reply = self.offers().await.expect(200);
        assert_eq!(reply.header("x-supplier"), Some("NUITEE_FLIGHTS"));
        let offers = reply.data().as_array().unwrap();
        assert_eq!(offers.len(), self.story.offers, "{:#}", reply.body);
        let received = self.received();
        assert_eq!(routes(&received), ["POST /v3.0/flights/rates"]);
        let sent = &received[0].body;
        let legs = sent["legs"].as_array().unwrap().iter();
        for (leg, (origin, destination, days)) in legs.zip(self.story.journeys) {
            let said = [&leg["origin"], &leg["destination"], &leg["date"]];
            assert_eq!(said, [*origin, destination, &days_ahead(*days)]);
        }
        // Nuitee counts a passenger of twelve as an adult.
        let (all, infants) = (self.story.children, self.story.infants);
        let children = all.iter().filter(|age| **age < 12).count();
        let party = [1 + all.len() - children, children, infants];
        let sent_party = ["adults", "children", "infants"].map(|kind| &sent[kind]);
        assert_eq!(sent_party, party);
        assert_eq!(sent["currency"], self.story.currency);
        self.offer().await
    }

    /// Checks that the offer is verified and then prebooked at its current price.
    async fn check_prebook(&self, offer: &str) -> String {
        let _searched = self.received();
        let request = prebook_flight_request(offer, &self.story.passengers());
        let bound = self.client.prebook_flight("drive", &request).await;
        assert_eq!(bound.outcome(), (201, "READY_FOR_COMPLETE"));
        let booking = bound.data();
        assert_eq!(booking["total_amount"], self.story.money(self.story.total));
        assert_eq!(booking["payments"], json!([]), "the payer pays Nuitee");
        let checkout = json!({"url": null, "token": self.story.token});
        assert_eq!(bound.body["meta"]["checkout"], checkout);
        let received = self.received();
        let both = ["POST /v3.0/flights/verify", "POST /v3.0/flights/prebooks"];
        assert_eq!(routes(&received), both);
        assert_eq!(received[0].body, json!({"offerId": self.story.offer}));
        self.check_prebook_request(&received[1].body);
        let again = self.client.prebook_flight("drive", &request).await;
        let again = again.expect(200);
        assert_eq!(again.data()["id"], booking["id"]);
        let is_shown = again.body.to_string().contains(&self.story.token);
        assert!(!is_shown, "the token is returned once");
        self.expect_no_call();
        booking["id"].as_str().unwrap().to_owned()
    }

    fn check_prebook_request(&self, sent: &Value) {
        assert_eq!(sent["offerId"], self.story.offer);
        assert_eq!(sent["usePaymentSdk"], true);
        assert_eq!(sent["contact"]["email"], "ada@example.org");
        let passengers = sent["passengers"].as_array().unwrap();
        let types: Vec<&Value> = passengers.iter().map(|one| &one["passengerType"]).collect();
        let children = self.story.children.iter().map(|age| u8::from(*age < 12));
        let infants = std::iter::repeat_n(2, self.story.infants);
        let expected: Vec<u8> = std::iter::once(0).chain(children).chain(infants).collect();
        assert_eq!(types, expected);
        assert_eq!(passengers[0]["documentNumber"], "X0000001");
        assert_eq!(
            passengers[0]["loyaltyPrograms"][0]["programNumber"],
            "XO123"
        );
    }

    async fn check_book(&self, id: &str) {
        let with_card = self.client.card_payment("tok_visa").await;
        let refused = self.client.book_flight(id, &with_card).await;
        refused.expect_problem(400, "validation_failed");
        self.expect_no_call();

        self.flights.change(|world| world.is_paid = false);
        let unpaid = self.book(id).await;
        let unpaid = unpaid.expect_problem(422, "payment_failed");
        assert_eq!(unpaid.body["booking_status"], "READY_FOR_COMPLETE");
        self.flights.change(|world| world.is_paid = true);
        assert_eq!(self.book(id).await.outcome(), (200, "CONFIRMED"));
        let received = self.received();
        assert_eq!(routes(&received), [BOOK, BOOK], "before and after paying");
        let expected = json!({
            "prebookId": self.story.prebook_id,
            "payment": {"method": "TRANSACTION_ID", "transactionId": self.story.transaction},
            "customTags": {"GW_REF": id},
        });
        assert_eq!(received[1].body, expected);
        self.book(id).await.expect(200);
        self.expect_no_call();
    }

    async fn check_read(&self, id: &str) {
        let booking = self.client.flight_booking(id).await;
        assert_eq!(booking["supplier_reference"], self.story.booking_id);
        let pnr = booking.get("airline_pnr").and_then(Value::as_str);
        assert_eq!(pnr, self.story.pnr);
        let total = self.story.money(self.story.total);
        assert_eq!(booking["total_amount"], total);
        let payments = booking["payments"].as_array().unwrap();
        assert_eq!(payments.len(), 1);
        assert_eq!(payments[0]["status"], "CAPTURED");
        assert_eq!(payments[0]["collected_by"], "SUPPLIER");
        assert_eq!(payments[0]["amount"], total);
        let journeys = booking["journeys"].as_array().unwrap();
        assert_eq!(journeys.len(), self.story.journeys.len());
        self.expect_no_call();
    }

    async fn check_bags(&self, id: &str) {
        let bags = self.client.bags_for_sale(id).await.expect(200);
        assert_eq!(*bags.data(), json!([]));
        let card = self.client.store_card("tok_visa").await;
        let service = json!({"id": "svc_01976f3e4a5b7c8d9e0f112233445566", "quantity": 1});
        let wish = json!({"services": [service], "payment_instrument_id": card});
        let bought = self.client.purchase_bags(id, "bags", &wish).await;
        bought.expect_problem(422, "supplier_operation_unsupported");
        self.expect_no_call();
    }

    async fn check_cancel(&self, id: &str) {
        let fee = self.story.money(self.story.fee);
        let refund = self.story.money(self.story.refund);
        let quote = self.quote(id).await;
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["fee"], fee);
        assert_eq!(quote["refund"], refund);
        assert_eq!(routes(&self.received()), [self.cancellations("GET")]);

        let begun = self.client.cancel_flight(id).await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let client = &self.client;
        let canceled = client.wait_for_flight_booking(id, "CANCELED").await;
        let cancellation = &canceled["cancellation"];
        assert_eq!(cancellation["refunded_by"], "SUPPLIER");
        assert_eq!(cancellation["fee"], fee);
        assert_eq!(cancellation["refund_amount"], refund);
        let payment = &canceled["payments"][0];
        assert_eq!(payment["status"], "PARTIALLY_REFUNDED");
        let refund_to = json!([{"payment_id": payment["id"]}]);
        assert_eq!(cancellation["refund_to"], refund_to);
        let received = self.received();
        let read = format!("GET /v3.0/flights/bookings/{}", self.story.booking_id);
        assert_eq!(routes(&received), [self.cancellations("POST"), read]);
        assert!(received[0].text.is_empty(), "a cancellation has no body");
    }
}
