//! Test of a whole trip at Duffel: search, prebook, book, bags, read, quote and cancel.

use crate::duffel::service::{
    ADD, AVAILABLE, CONFIRM, Duffel, ORDERS, QUOTE, READ, TOKEN, payment,
};
use crate::trip::{FlightSupplier, PASSPORT, Scene, TAKEN};
use serde_json::{Value, json};
use tests::{count, days_ahead, money, prebook_flight_request, routes};

#[tokio::test]
async fn duffel_trip_is_searched_booked_and_canceled() {
    let scene = Scene::<Duffel>::begin().await;
    let offer = scene.offer().await;
    let pages = ["GET /air/offers"; 2];
    let searched = scene.mock.take_received();
    assert_eq!(routes(&searched)[1..], pages);
    let booking = scene.check_prebook(&offer).await;
    scene.check_book(&booking).await;
    scene.check_read(&booking).await;
    scene.check_bags(&booking).await;
    scene.check_cancel(&booking).await;
    scene.check_log(&[TOKEN, PASSPORT]);
}

fn euros(amount: f64) -> Value {
    money(amount, "EUR")
}

impl Scene<Duffel> {
    async fn check_prebook(&self, offer: &str) -> String {
        let request = prebook_flight_request(offer, &Duffel::passengers());
        let bound = self.client.prebook_flight("drive", &request).await;
        assert_eq!(bound.outcome(), (201, "READY_FOR_COMPLETE"));
        let booking = bound.data();
        assert_eq!(booking["supplier"], "DUFFEL");
        for (name, amount) in [
            ("total_amount", 360.4),
            ("fare_amount", 300.0),
            ("fare_tax_amount", 60.4),
        ] {
            assert_eq!(booking[name], euros(amount), "{name}");
        }
        assert_eq!(booking["journeys"].as_array().unwrap().len(), 2);
        let checkout = &bound.body["meta"]["checkout"];
        assert!(checkout.is_null(), "the gateway collects the payment");
        let received = self.mock.take_received();
        assert_eq!(routes(&received), ["GET /air/offers/off_flex"]);

        let again = self.client.prebook_flight("drive", &request).await;
        assert_eq!(again.expect(200).data()["id"], booking["id"]);
        let other = self.client.prebook_flight("another", &request).await;
        other.expect_problem(409, "offer_in_use");
        self.expect_no_call();
        booking["id"].as_str().unwrap().to_owned()
    }

    async fn check_book(&self, booking: &str) {
        assert_eq!(self.book(booking).await.outcome(), (200, "CONFIRMED"));
        let received = self.mock.take_received();
        assert_eq!(routes(&received), [ORDERS]);
        let sent = &received[0].body["data"];
        assert_eq!(sent["selected_offers"], json!(["off_flex"]));
        assert_eq!(sent["payments"], payment("360.40"));
        let ids = "pas_adult,pas_child,pas_infant";
        let metadata = json!({"gateway_booking_id": booking, "gateway_passengers": ids});
        assert_eq!(sent["metadata"], metadata);
        let passport = json!([{"type": "passport", "unique_identifier": PASSPORT,
            "issuing_country_code": "FR", "expires_on": days_ahead(900)}]);
        // Duffel has no title `mx`.
        for (number, expected) in [
            ["pas_adult", "Ada", "Lovelace", "dr", "f"],
            ["pas_child", "Bea", "Lovelace", "ms", "f"],
            ["pas_infant", "Cleo", "Lovelace", "mr", "m"],
        ]
        .into_iter()
        .enumerate()
        {
            let passenger = &sent["passengers"][number];
            let fields = ["id", "given_name", "family_name", "title", "gender"];
            assert_eq!(fields.map(|field| &passenger[field]), expected);
            assert_eq!(passenger["identity_documents"], passport);
        }
        let again = self.book(booking).await.expect(200);
        assert_eq!(again.data(), &self.client.flight_booking(booking).await);
        self.expect_no_call();
    }

    async fn check_read(&self, id: &str) {
        self.server.wait_for_ledger(id, TAKEN).await;
        let booking = self.client.flight_booking(id).await;
        assert_eq!(booking["supplier_reference"], "ord_own");
        assert_eq!(booking["airline_pnr"], "OWNPNR");
        assert_eq!(booking["total_amount"], euros(360.4));
        assert_eq!(booking["payments"][0]["status"], "CAPTURED");
        assert_eq!(booking["payments"][0]["collected_by"], "SERVICE");
        let change = &booking["airline_initiated_changes"][0];
        assert_eq!(change["type"], "SCHEDULE_CHANGE");
        assert_eq!(change["action_required"], true);
        let seats = &booking["journeys"][0]["segments"][0]["passengers"];
        let seats = seats.as_array().unwrap().iter();
        let passengers = booking["passengers"].as_array().unwrap();
        for (seat, passenger) in seats.zip(passengers) {
            assert_eq!(seat["passenger_id"], passenger["id"], "Duffel's order");
        }
        assert_eq!(self.server.ledger().await.sum(id, "capture"), 360.4);
        let segment = &booking["journeys"][0]["segments"][0];
        for (name, value) in [
            ("origin_terminal", "2"),
            ("destination_terminal", "B"),
            ("operating_flight", "OW11"),
            ("aircraft", "Airbus A320neo"),
        ] {
            assert_eq!(segment[name], value, "{name}");
        }
        let ticket = json!([{"type": "ELECTRONIC_TICKET", "number": "1252106312810",
            "passenger_ids": [passengers[0]["id"]]}]);
        assert_eq!(booking["documents"], ticket);
        let locator = json!([{"locator": "OWNPNR", "system": "AIRLINE", "carrier_code": "OW",
            "carrier": "Own Air"}]);
        assert_eq!(booking["record_locators"], locator);
        assert_eq!(booking["payment_status"]["awaiting_payment"], false);
        let text = booking.to_string();
        assert!(!text.contains(PASSPORT) && !text.contains(TOKEN));
        self.expect_no_call();
    }

    async fn check_bags(&self, id: &str) {
        let bags = self.client.bags_for_sale(id).await.expect(200);
        let [bag, _] = bags.list() else {
            panic!("{:#}", bags.body);
        };
        let owner = &self.client.flight_booking(id).await["passengers"][0];
        assert_eq!(bag["passenger_id"], owner["id"]);
        assert_eq!(bag["unit_amount"], euros(27.49));
        assert_eq!(bag["max_quantity"], 3);
        let checked = json!({"type": "CHECKED", "max_weight_kg": 23});
        assert_eq!(bag["baggage"], checked);
        let received = self.mock.take_received();
        let reads = [READ, AVAILABLE].map(|route| count(&received, route));
        assert_eq!((received.len(), reads), (2, [1, 1]));

        let card = self.client.store_card("tok_mastercard").await;
        let services = json!([{"id": bag["id"], "quantity": 2}]);
        let request = json!({"services": services, "payment_instrument_id": card});
        let bought = self.client.purchase_bags(id, "bags", &request).await;
        let bought = bought.expect(200);
        for (name, amount) in [
            ("services_amount", 54.98),
            ("total_amount", 415.38),
            ("fare_amount", 300.0),
        ] {
            assert_eq!(bought.data()[name], euros(amount), "{name}");
        }
        let service = &bought.data()["services"][0];
        assert_eq!(service["status"], "CONFIRMED");
        assert_eq!(service["payment_id"], bought.data()["payments"][1]["id"]);
        let received = self.mock.take_received();
        assert_eq!(count(&received, ADD), 1);
        let sent = &received.last().unwrap().body["data"];
        let services = json!([{"id": "aso_23", "quantity": 2}]);
        let expected = json!({"payment": payment("54.98")[0], "add_services": services});
        assert_eq!(*sent, expected);

        let again = self.client.purchase_bags(id, "bags", &request).await;
        let again = again.expect(200);
        assert_eq!(again.data()["services"], bought.data()["services"]);
        let left = self.client.bags_for_sale(id).await.expect(200);
        assert!(left.list().is_empty(), "no further bags are offered");
        self.expect_no_call();
        let taken = [TAKEN, TAKEN].concat();
        self.server.wait_for_ledger(id, &taken).await;
    }

    /// Bags are not refunded: Duffel's quote covers everything that was purchased.
    async fn check_cancel(&self, id: &str) {
        let quote = self.quote(id).await;
        assert_eq!(quote["source"], "SUPPLIER_QUOTE");
        assert_eq!(quote["refund"], euros(310.4));
        assert_eq!(quote["fee"], euros(104.98));
        assert!(!quote["expires_at"].is_null());
        let received = self.mock.take_received();
        assert_eq!(routes(&received), [READ, QUOTE]);

        let canceled = self.canceled(id).await;
        let ticket = json!([{"payment_id": canceled["payments"][0]["id"]}]);
        let expected = json!({
            "fee": euros(104.98), "refunded_by": "SERVICE", "refund_amount": euros(310.4), "refund_to": ticket,
        });
        assert_eq!(canceled["cancellation"], expected);
        let all = [TAKEN, TAKEN, &["refund"]].concat();
        self.server.wait_for_ledger(id, &all).await;
        assert_eq!(self.server.ledger().await.sum(id, "refund"), 310.4);
        let received = self.mock.take_received();
        // Only the new quote is confirmed.
        assert_eq!(routes(&received), [READ, QUOTE, CONFIRM]);
        self.client.cancel_flight(id).await.expect(200);
        self.expect_no_call();
    }
}
