//! Tests of a whole flight trip at Nuitee: search, prebook, checkout, book, read, quote and cancel.

use crate::nuitee::flight::scene::{BOOK, Scene};
use crate::nuitee::flight::story::Story;
use crate::nuitee::service::KEY;
use crate::nuitee::story::vendor_folder;
use serde_json::{Value, json};
use tests::{ReceivedRequest, days_ahead, prebook_flight_request, print_line, routes};

#[tokio::test]
async fn nuitee_trip_with_own_documents_is_searched_booked_and_cancelled() {
    drive(Story::own()).await;
}

/// Runs only if the vendor's examples lie beside the repository; otherwise prints that they are
/// missing.
#[tokio::test]
async fn nuitee_trip_with_vendor_documents_is_searched_booked_and_cancelled() {
    match Story::vendor() {
        Some(story) => drive(story).await,
        None => print_line(&format!(
            "{} does not exist: only the project's own documents are used",
            vendor_folder().display()
        )),
    }
}

async fn drive(story: Story) {
    print_line(&format!("Nuitee flight documents in use: {}", story.source));
    let drive = Drive {
        scene: Scene::of(story).await,
    };
    let offer = drive.search().await;
    let booking = drive.prebook(&offer).await;
    drive.book(&booking).await;
    drive.read(&booking).await;
    drive.sells_no_bags(&booking).await;
    drive.cancel(&booking).await;
    drive.scene.leaves_nothing("the whole trip", &booking).await;
    let log = std::fs::read_to_string(drive.scene.server.data_dir().join("server.log")).unwrap();
    for secret in [
        KEY,
        "X0000001",
        "ada@example.org",
        "Lovelace",
        &drive.story().token,
    ] {
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
        self.scene.flights.take_received()
    }

    async fn search(&self) -> String {
        let reply = self.scene.offers().await.expect(200);
        assert_eq!(reply.header("x-supplier"), Some("NUITEE_FLIGHTS"));
        let offers = reply.data().as_array().unwrap();
        assert_eq!(offers.len(), self.story().offers, "{:#}", reply.body);
        let received = self.received();
        assert_eq!(routes(&received), ["POST /v3.0/flights/rates"]);
        let sent = &received[0].body;
        let legs = sent["legs"].as_array().unwrap().iter();
        for (leg, (origin, destination, days)) in legs.zip(self.story().journeys) {
            let said = [&leg["origin"], &leg["destination"], &leg["date"]];
            assert_eq!(said, [*origin, destination, &days_ahead(*days)]);
        }
        // Nuitee counts a passenger of twelve as an adult.
        let children: Vec<&u8> = self
            .story()
            .children
            .iter()
            .filter(|age| **age < 12)
            .collect();
        let adults = 1 + self.story().children.len() - children.len();
        let party = json!([adults, children.len(), self.story().infants]);
        assert_eq!(
            json!([sent["adults"], sent["children"], sent["infants"]]),
            party
        );
        assert_eq!(sent["currency"], self.story().currency);
        self.scene.offer().await
    }

    /// Checks that the offer is verified and then prebooked at its current price.
    async fn prebook(&self, offer: &str) -> String {
        let _searched = self.received();
        let keyed = self.scene.client.header("x-idempotency-key", "drive");
        let request = prebook_flight_request(offer, &self.story().passengers());
        let bound = keyed.post("/v1/flight/prebook", &request).await.expect(201);
        let booking = bound.data();
        assert_eq!(booking["status"], "READY_FOR_COMPLETE");
        assert_eq!(
            booking["total_amount"],
            self.story().money(self.story().total)
        );
        assert_eq!(
            booking["payments"],
            json!([]),
            "the payer pays Nuitee directly"
        );
        let checkout = json!({"url": null, "token": self.story().token});
        assert_eq!(bound.body["meta"]["checkout"], checkout);
        let received = self.received();
        let both = ["POST /v3.0/flights/verify", "POST /v3.0/flights/prebooks"];
        assert_eq!(routes(&received), both);
        assert_eq!(received[0].body, json!({"offerId": self.story().offer}));
        self.check_prebook(&received[1].body);
        let again = keyed.post("/v1/flight/prebook", &request).await.expect(200);
        assert_eq!(again.data()["id"], booking["id"]);
        assert!(
            !again.body.to_string().contains(&self.story().token),
            "the token is returned once"
        );
        assert!(
            self.received().is_empty(),
            "a replay makes no supplier call"
        );
        booking["id"].as_str().unwrap().to_owned()
    }

    fn check_prebook(&self, sent: &Value) {
        assert_eq!(
            (&sent["offerId"], &sent["usePaymentSdk"]),
            (&json!(self.story().offer), &json!(true))
        );
        let contact = json!({"email": "ada@example.org", "firstName": "Ada", "lastName": "Lovelace",
            "phoneCountryCode": "44", "phoneNumber": "2079460000"});
        assert_eq!(sent["contact"], contact);
        let passengers = sent["passengers"].as_array().unwrap();
        let types: Vec<&Value> = passengers.iter().map(|one| &one["passengerType"]).collect();
        let children = self.story().children.iter().map(|age| u8::from(*age < 12));
        let expected: Vec<u8> = std::iter::once(0)
            .chain(children)
            .chain(std::iter::repeat_n(2, self.story().infants))
            .collect();
        assert_eq!(json!(types), json!(expected));
        let adult = &passengers[0];
        let document = [
            &adult["documentType"],
            &adult["documentNumber"],
            &adult["documentIssueCountry"],
        ];
        assert_eq!(document, ["passport", "X0000001", "FR"]);
        let program = json!([{"airlineCode": "XO", "programNumber": "XO123"}]);
        assert_eq!(adult["loyaltyPrograms"], program);
    }

    async fn book(&self, id: &str) {
        let card = self.scene.client.store_card("tok_visa").await;
        let with_card = json!({"payment_instrument_id": card});
        let refused = self.scene.client.book_flight(id, &with_card).await;
        refused.expect_problem(400, "validation_failed");
        assert!(self.received().is_empty());

        self.scene.flights.change(|world| world.is_paid = false);
        let unpaid = self
            .scene
            .book(id)
            .await
            .expect_problem(422, "payment_failed");
        assert_eq!(unpaid.body["booking_status"], "READY_FOR_COMPLETE");
        self.scene.flights.change(|world| world.is_paid = true);
        let booked = self.scene.book(id).await.expect(200);
        assert_eq!(booked.data()["status"], "CONFIRMED");
        let received = self.received();
        assert_eq!(
            routes(&received),
            [BOOK, BOOK],
            "one call before the payment and one after it"
        );
        let expected = json!({
            "prebookId": self.story().prebook_id,
            "payment": {"method": "TRANSACTION_ID", "transactionId": self.story().transaction},
            "customTags": {"GW_REF": id},
        });
        assert_eq!(received[1].body, expected);
        self.scene.book(id).await.expect(200);
        assert!(self.received().is_empty(), "a ticket is not booked again");
    }

    async fn read(&self, id: &str) {
        let booking = self.scene.client.flight_booking(id).await;
        assert_eq!(booking["supplier_reference"], self.story().booking_id);
        assert_eq!(
            booking.get("airline_pnr").and_then(Value::as_str),
            self.story().pnr
        );
        assert_eq!(
            booking["total_amount"],
            self.story().money(self.story().total)
        );
        let payments = booking["payments"].as_array().unwrap();
        assert_eq!(payments.len(), 1);
        assert_eq!(
            (&payments[0]["status"], &payments[0]["collected_by"]),
            (&json!("CAPTURED"), &json!("SUPPLIER"))
        );
        assert_eq!(
            payments[0]["amount"],
            self.story().money(self.story().total)
        );
        let journeys = booking["journeys"].as_array().unwrap();
        assert_eq!(journeys.len(), self.story().journeys.len());
        assert!(
            self.received().is_empty(),
            "a booking is read without a supplier call"
        );
    }

    async fn sells_no_bags(&self, id: &str) {
        let path = format!("/v1/flight/bookings/{id}/services");
        let bags = self.scene.client.get(&path).await.expect(200);
        assert_eq!(*bags.data(), json!([]));
        let card = self.scene.client.store_card("tok_visa").await;
        let service = json!({"id": "svc_01976f3e4a5b7c8d9e0f112233445566", "quantity": 1});
        let wish = json!({"services": [service], "payment_instrument_id": card});
        let client = self.scene.client.header("x-idempotency-key", "bags");
        let bought = client.post(&path, &wish).await;
        bought.expect_problem(422, "supplier_operation_unsupported");
        assert!(self.received().is_empty());
    }

    async fn cancel(&self, id: &str) {
        let path = format!("/v1/flight/bookings/{id}/cancellation-quote");
        let quote = self.scene.client.get(&path).await.expect(200);
        let quote = quote.data();
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["fee"], self.story().money(self.story().fee));
        assert_eq!(quote["refund"], self.story().money(self.story().refund));
        assert_eq!(routes(&self.received()), [self.scene.cancellations("GET")]);

        let begun = self.scene.client.cancel_flight(id).await;
        assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
        let canceled = self
            .scene
            .client
            .wait_for_flight_booking(id, "CANCELED")
            .await;
        let cancellation = &canceled["cancellation"];
        assert_eq!(cancellation["refunded_by"], "SUPPLIER");
        assert_eq!(cancellation["fee"], self.story().money(self.story().fee));
        assert_eq!(
            cancellation["refund_amount"],
            self.story().money(self.story().refund)
        );
        let payment = &canceled["payments"][0];
        assert_eq!(payment["status"], "PARTIALLY_REFUNDED");
        assert_eq!(
            cancellation["refund_to"],
            json!([{"payment_id": payment["id"]}])
        );
        let received = self.received();
        let read = format!("GET /v3.0/flights/bookings/{}", self.story().booking_id);
        assert_eq!(routes(&received), [self.scene.cancellations("POST"), read]);
        assert!(received[0].text.is_empty(), "a cancellation has no body");
    }
}
