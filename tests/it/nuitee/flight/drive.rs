//! Test of a whole flight trip at Nuitee: search, prebook, checkout, book, read, quote and cancel.

use crate::nuitee::flight::service::{BOOK, CANCEL, Flights, ID, QUOTE, READ};
use crate::nuitee::service::KEY;
use crate::trip::{FlightSupplier, PASSPORT, Scene};
use serde_json::{Value, json};
use tests::{money, prebook_flight_request, routes};

#[tokio::test]
async fn nuitee_trip_is_searched_booked_and_canceled() {
    let scene = Scene::<Flights>::begin().await;
    let offer = scene.check_search().await;
    let booking = scene.check_prebook(&offer).await;
    scene.check_book(&booking).await;
    scene.check_read(&booking).await;
    scene.check_bags(&booking).await;
    scene.check_cancel(&booking).await;
    scene.leaves_nothing("the whole trip", &booking).await;
    scene.check_log(&[KEY, PASSPORT, TOKEN]);
}

/// Token that opens the payment in the browser.
const TOKEN: &str = "pi_own_1_secret_own";

fn euros(amount: f64) -> Value {
    money(amount, "EUR")
}

impl Scene<Flights> {
    async fn check_search(&self) -> String {
        let offer = self.offer().await;
        let received = self.mock.take_received();
        assert_eq!(routes(&received), ["POST /v3.0/flights/rates"]);
        // Nuitee counts a passenger of twelve as an adult.
        let party = ["adults", "children", "infants"].map(|kind| &received[0].body[kind]);
        assert_eq!(party, [2, 1, 1]);
        offer
    }

    /// Checks that the offer is verified and then prebooked at its current price.
    async fn check_prebook(&self, offer: &str) -> String {
        let request = prebook_flight_request(offer, &Flights::passengers());
        let bound = self.client.prebook_flight("drive", &request).await;
        assert_eq!(bound.outcome(), (201, "READY_FOR_COMPLETE"));
        let booking = bound.data();
        assert_eq!(booking["total_amount"], euros(1190.4));
        assert_eq!(booking["payments"], json!([]), "the payer pays Nuitee");
        let checkout = json!({"url": null, "token": TOKEN});
        assert_eq!(bound.body["meta"]["checkout"], checkout);
        let received = self.mock.take_received();
        let both = ["POST /v3.0/flights/verify", "POST /v3.0/flights/prebooks"];
        assert_eq!(routes(&received), both);
        assert_eq!(received[0].body, json!({"offerId": "OFFER-FLEX"}));
        let sent = &received[1].body;
        assert_eq!(sent["offerId"], "OFFER-FLEX");
        assert_eq!(sent["usePaymentSdk"], true);
        assert_eq!(sent["contact"]["email"], "ada@example.org");
        let passengers = sent["passengers"].as_array().unwrap();
        let types: Vec<&Value> = passengers.iter().map(|one| &one["passengerType"]).collect();
        assert_eq!(types, [0, 0, 1, 2]);
        assert_eq!(passengers[0]["documentNumber"], PASSPORT);
        let programme = &passengers[0]["loyaltyPrograms"][0];
        assert_eq!(programme["programNumber"], "XO123");
        let again = self.client.prebook_flight("drive", &request).await;
        let again = again.expect(200);
        assert_eq!(again.data()["id"], booking["id"]);
        let is_shown = again.body.to_string().contains(TOKEN);
        assert!(!is_shown, "the token is returned once");
        self.expect_no_call();
        booking["id"].as_str().unwrap().to_owned()
    }

    async fn check_book(&self, id: &str) {
        let with_card = self.client.card_payment("tok_visa").await;
        let refused = self.client.book_flight(id, &with_card).await;
        refused.expect_problem(400, "validation_failed");
        self.expect_no_call();

        self.mock.change(|flights| flights.is_paid = false);
        let unpaid = self.book(id).await;
        let unpaid = unpaid.expect_problem(422, "payment_failed");
        assert_eq!(unpaid.body["booking_status"], "READY_FOR_COMPLETE");
        self.mock.change(|flights| flights.is_paid = true);
        assert_eq!(self.book(id).await.outcome(), (200, "CONFIRMED"));
        let received = self.mock.take_received();
        assert_eq!(routes(&received), [BOOK, BOOK], "before and after paying");
        let expected = json!({
            "prebookId": "019d0000-aaaa-7000-8000-0000000000aa",
            "payment": {"method": "TRANSACTION_ID", "transactionId": "tr_own_1"},
            "customTags": {"GW_REF": id},
        });
        assert_eq!(received[1].body, expected);
        self.book(id).await.expect(200);
        self.expect_no_call();
    }

    async fn check_read(&self, id: &str) {
        let booking = self.client.flight_booking(id).await;
        assert_eq!(booking["supplier_reference"], ID);
        assert_eq!(booking["airline_pnr"], "ABC123");
        let locators = booking["record_locators"].as_array().unwrap().iter();
        let locators = locators.map(|found| (&found["locator"], &found["system"]));
        let locators: Vec<(&Value, &Value)> = locators.collect();
        let airline = (&json!("ABC123"), &json!("AIRLINE"));
        let distribution = (&json!("PROVID"), &json!("DISTRIBUTION_SYSTEM"));
        assert_eq!(locators, [airline, distribution]);
        let parts = ["fare_amount", "fare_tax_amount", "fee_amount"].map(|part| &booking[part]);
        let expected = [780.0, 390.4, 20.0].map(euros);
        assert_eq!(parts, expected.each_ref());
        assert_eq!(booking["total_amount"], euros(1190.4));
        let payments = booking["payments"].as_array().unwrap();
        assert_eq!(payments.len(), 1);
        assert_eq!(payments[0]["status"], "CAPTURED");
        assert_eq!(payments[0]["collected_by"], "SUPPLIER");
        assert_eq!(payments[0]["amount"], euros(1190.4));
        assert_eq!(booking["journeys"].as_array().unwrap().len(), 2);
        self.expect_no_call();
    }

    async fn check_bags(&self, id: &str) {
        let bags = self.client.bags_for_sale(id).await.expect(200);
        assert_eq!(*bags.data(), json!([]));
        let card = self.client.store_card("tok_visa").await;
        let service = json!({"id": "svc_01976f3e4a5b7c8d9e0f112233445566", "quantity": 1});
        let request = json!({"services": [service], "payment_instrument_id": card});
        let bought = self.client.purchase_bags(id, "bags", &request).await;
        bought.expect_problem(422, "supplier_operation_unsupported");
        self.expect_no_call();
    }

    async fn check_cancel(&self, id: &str) {
        let quote = self.quote(id).await;
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["fee"], euros(120.0));
        assert_eq!(quote["refund"], euros(1070.4));
        assert_eq!(routes(&self.mock.take_received()), [QUOTE]);

        let canceled = self.canceled(id).await;
        let payment = &canceled["payments"][0];
        assert_eq!(payment["status"], "PARTIALLY_REFUNDED");
        let expected = json!({
            "fee": euros(120.0), "refunded_by": "SUPPLIER", "refund_amount": euros(1070.4),
            "refund_to": [{"payment_id": payment["id"]}],
        });
        assert_eq!(canceled["cancellation"], expected);
        let received = self.mock.take_received();
        assert_eq!(routes(&received), [CANCEL, READ]);
        assert!(received[0].text.is_empty(), "a cancellation has no body");
    }

    /// Checks that the gateway neither charged nor refunded a booking that was paid in Nuitee's
    /// checkout.
    pub(super) async fn leaves_nothing(&self, name: &str, booking: &str) {
        let ledger = self.server.ledger().await;
        assert!(ledger.kinds_of(booking).is_empty(), "{name}");
    }
}
