//! Tests of rates that the gateway cannot sell, and of a rate with very large texts.

use crate::nuitee::service::{Scene, World, prebook_request, stay};
use serde_json::{Value, json};
use tests::{Database, MockResponse, Reply, merged};

/// The type of payment that Nuitee names for rates that guests pay at the hotel.
const PAID_AT_HOTEL: &str = "PROPERTY_PAY";
const ITEMS_DROPPED: &str = "stopover_supplier_items_dropped_total";

impl Scene {
    /// Returns the offers of the stay. `more` are further fields of the request.
    async fn offers(&self, more: Value) -> Vec<Value> {
        let request = merged(stay(json!({"supplier_hotel_ids": ["lpown1"]})), more);
        let offers = self.client.hotel_offers(&request).await.expect(200);
        offers.data()[0]["offers"].as_array().unwrap().clone()
    }

    /// Prebooks the first offer of the stay.
    async fn prebook(&self, more: Value) -> Reply {
        let offer = self.offers(more).await[0]["offer_reference"].clone();
        let request = prebook_request(offer.as_str().unwrap());
        let key = uuid::Uuid::now_v7().to_string();
        self.client.prebook_hotel(&key, &request).await
    }

    /// Returns how often an item was left out or shortened for this reason.
    async fn dropped(&self, reason: &str) -> u64 {
        let labels = [("supplier", "NUITEE"), ("reason", reason)];
        self.server.metric(ITEMS_DROPPED, &labels).await
    }
}

/// Changes each rate of an offer or a prebook.
fn each_rate(room_type: &mut Value, change: impl FnMut(&mut Value)) {
    let rates = room_type["rates"].as_array_mut().unwrap();
    rates.iter_mut().for_each(change);
}

fn pay_at_hotel(room_type: &mut Value) {
    each_rate(room_type, |rate| {
        rate["paymentTypes"] = json!([PAID_AT_HOTEL])
    });
}

#[tokio::test]
async fn rate_payable_only_at_the_hotel_is_not_offered() {
    let scene = Scene::begin(Database::Sqlite).await;
    let mut offered = scene.offers(json!({})).await;
    let dropped = scene.dropped("unsupported").await;
    scene.data.change(|world| {
        pay_at_hotel(&mut world.documents["rates"]["data"][1]["roomTypes"][0]);
    });
    let left = scene.offers(json!({})).await;
    let totals = |offers: &[Value]| offers.iter().map(|offer| offer["total"].clone()).collect();
    offered.remove(0);
    let [expected, found]: [Vec<Value>; 2] = [totals(&offered), totals(&left)];
    assert_eq!(found, expected);
    // Each response has the same other offers that cannot be sold.
    assert_eq!(scene.dropped("unsupported").await, 2 * dropped + 1);
}

#[tokio::test]
async fn prebook_that_cannot_be_sold_to_the_caller_is_refused() {
    type Change = fn(&mut World);
    let paid_at_hotel: Change =
        |world| pay_at_hotel(&mut world.documents["prebook"]["data"]["roomTypes"][0]);
    let package_only: Change =
        |world| world.documents["prebook"]["data"]["isPackageRate"] = json!(true);
    let scene = Scene::begin(Database::Sqlite).await;
    let (alone, packaged) = (json!({}), json!({"include_package_rates": true}));
    let refused = (422, "offer_unavailable");
    for (change, more, outcome, evidence) in [
        (paid_at_hotel, &alone, refused, "paid only at the hotel"),
        (paid_at_hotel, &packaged, refused, "paid only at the hotel"),
        (package_only, &alone, refused, "with another travel service"),
        (package_only, &packaged, (201, "READY_FOR_COMPLETE"), ""),
    ] {
        scene.usual();
        scene.book.change(change);
        let reply = scene.prebook(more.clone()).await;
        assert_eq!(reply.outcome(), outcome, "{more} {evidence}");
        let log = std::fs::read_to_string(scene.server.data_dir().join("server.log")).unwrap();
        let last = log
            .lines()
            .rfind(|line| line.contains("the prebook failed"));
        assert!(
            last.is_some_and(|line| line.contains(evidence)),
            "{evidence}"
        );
    }
}

/// A prebook has neither promotions nor, without the hotel's content, its name and address.
#[tokio::test]
async fn booking_keeps_what_only_its_offer_states() {
    let scene = Scene::begin(Database::Sqlite).await;
    let content = "GET /v3.0/data/hotel";
    scene.data.serve(content, |_, _| MockResponse::empty(500));
    let reply = scene.prebook(json!({})).await;
    assert_eq!(reply.outcome(), (201, "READY_FOR_COMPLETE"));
    let booking = reply.data();
    let shown = ["name", "address"].map(|name| &booking["hotel"][name]);
    assert_eq!(shown, ["Harbour & Sons", "1 Quay, Port Example"]);
    let names = |room: usize| {
        let promotions = booking["rooms"][room]["promotions"].as_array().unwrap();
        let names = promotions.iter().map(|promotion| promotion["name"].clone());
        Value::Array(names.collect())
    };
    assert_eq!(names(0), json!(["Stay longer", "Early bird"]));
    assert_eq!(names(1), json!(["Stay longer"]));
}

/// Together, the texts of the two rooms have 300 KB.
#[tokio::test]
async fn largest_texts_of_a_prebook_are_shortened_in_the_booking() {
    let scene = Scene::begin(Database::Sqlite).await;
    let line = "\u{1f600}".repeat(300);
    scene.book.change(|world| {
        each_rate(
            &mut world.documents["prebook"]["data"]["roomTypes"][0],
            |rate| {
                let tax =
                    json!({"included": true, "description": line, "amount": 1, "currency": "EUR"});
                rate["retailRate"]["taxesAndFees"] = json!(vec![tax; 30]);
                rate["perks"] = json!(vec![json!({"name": line}); 30]);
                rate["remarks"] = json!("\u{1f600}".repeat(20_000));
            },
        );
    });
    let reply = scene.prebook(json!({})).await;
    assert_eq!(reply.outcome(), (201, "READY_FOR_COMPLETE"));
    assert_eq!(scene.dropped("display-texts").await, 1);
    let booking = reply.data();
    let bytes = booking.to_string().len();
    assert!((120 << 10..192 << 10).contains(&bytes), "{bytes} bytes");
    let names = ["Double Sea View", "Twin Sea View"];
    for (room, name) in booking["rooms"].as_array().unwrap().iter().zip(names) {
        assert_eq!(room["name"], name);
        let [perks, taxes] = ["perks", "taxes"].map(|list| room[list].as_array().unwrap());
        assert_eq!((perks.len(), taxes.len()), (30, 30));
        let mut taxes = taxes.iter();
        assert!(taxes.all(|tax| tax["amount"]["amount"] == 1.0 && tax["description"] != ""));
        assert!(room["remarks"].as_str().unwrap().starts_with('\u{1f600}'));
    }
    let id = booking["id"].as_str().unwrap();
    assert_eq!(scene.book(id).await.outcome(), (200, "CONFIRMED"));
}
