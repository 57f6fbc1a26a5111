//! Duffel's documents, the project's own or the vendor's, adapted to form one trip from search to
//! cancellation. The originals contradict each other in ids, dates and amounts; only these are
//! changed.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tests::{
    days_ahead, for_each_string, minutes_ahead, money, passenger, read_fixture, shift_dates,
};

/// The documents of a trip and the values expected from them.
#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) source: &'static str,
    /// Origin, destination and days from today.
    pub(super) journeys: &'static [(&'static str, &'static str, i64)],
    /// Kind and Duffel id of each passenger, in the gateway's order.
    pub(super) party: &'static [(&'static str, &'static str)],
    pub(super) search: &'static str,
    pub(super) offer: &'static str,
    pub(super) order: &'static str,
    pub(super) pnr: &'static str,
    pub(super) currency: &'static str,
    /// Number of readable offers and number of pages.
    pub(super) offers: (usize, usize),
    /// Fare of the offer, followed by its taxes and their sum.
    pub(super) fare: &'static str,
    pub(super) tax: &'static str,
    pub(super) total: &'static str,
    /// Duffel id, unit price and maximum quantity of the first available bag.
    pub(super) bag: (&'static str, &'static str, u8),
    /// Number of bags that are available to one passenger each.
    pub(super) bags: usize,
    /// Cancellation fee without bags, followed by the refund.
    pub(super) fee: &'static str,
    pub(super) refund: &'static str,
    /// Whether the passengers still have to respond to the airline's change.
    pub(super) is_action_required: bool,
    pub(super) airline: &'static str,
    /// A search text and the airports that it finds.
    pub(super) airports: (&'static str, &'static [&'static str]),
    pub(super) documents: Documents,
}

/// Duffel's responses.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    pub(super) offer_request: Value,
    /// Offers, one document a page.
    pub(super) offers: Vec<Value>,
    pub(super) offer: Value,
    /// The order as it is made, without services.
    pub(super) order: Value,
    /// Services that are available for the order.
    pub(super) services: Value,
    pub(super) quote: Value,
    pub(super) suggestions: Value,
    /// Airlines, one document a page.
    pub(super) airlines: Vec<Value>,
}

impl Story {
    /// Returns the project's own documents: an adult, a child and an infant on a return trip.
    pub(super) fn own() -> Self {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/duffel-flights/fixtures");
        let read = |name: &str| read_fixture(&folder.join(name));
        let mut documents = Documents {
            offer_request: read("offer-request.json"),
            offers: vec![read("offers-1.json"), read("offers-2.json")],
            offer: read("offer.json"),
            order: read("order.json"),
            services: read("services.json"),
            quote: read("quote.json"),
            suggestions: read("suggestions.json"),
            airlines: vec![read("airlines-1.json"), read("airlines-2.json")],
        };
        let order = &mut documents.order["data"];
        order["services"] = json!([]);
        order["total_amount"] = json!("360.40");
        order["base_amount"] = json!("300.00");
        documents.quote["data"]["refund_amount"] = json!("310.40");
        documents.flies_on("2027-06-01", &days_ahead(30));
        Self {
            source: "the project's own documents",
            journeys: &[("OLD", "NEW", 30), ("NEW", "OLD", 37)],
            party: &[
                ("ADULT", "pas_adult"),
                ("CHILD", "pas_child"),
                ("INFANT", "pas_infant"),
            ],
            search: "orq_own",
            offer: "off_flex",
            order: "ord_own",
            pnr: "OWNPNR",
            currency: "EUR",
            offers: (3, 2),
            fare: "300.00",
            tax: "60.40",
            total: "360.40",
            bag: ("aso_23", "27.49", 3),
            bags: 2,
            fee: "50.00",
            refund: "310.40",
            is_action_required: true,
            airline: "OW",
            airports: ("old", &["NOZ", "OLD", "OLS"]),
            documents,
        }
    }

    /// Returns the vendor's examples, if they lie beside the repository: one adult on a one-way
    /// trip.
    pub(super) fn vendor() -> Option<Self> {
        let folder = vendor_folder();
        if !folder.is_dir() {
            return None;
        }
        let read = |name: &str| read_fixture(&folder.join(name));
        let mut documents = Documents {
            offer_request: read("java-sdk/offer_request.json"),
            offers: vec![read("java-sdk/offers_by_offer_request_id.json")],
            offer: read("java-sdk/offers_by_id_with_services.json"),
            order: read("java-sdk/order.json"),
            services: read("java-sdk/order_available_services.json"),
            quote: read("python-sdk/create-order-cancellation.json"),
            suggestions: read("go-airheart/200-get-places-suggestion.json"),
            airlines: vec![read("python-sdk/get-airlines.json")],
        };
        let change = read("java-sdk/airline_initiated_change.json")["data"].take();
        let (passenger, order) = ("pas_0000AJjwEHPaqntorAJiCD", "ord_0000AL3E9lRtT7XMqrEHp8");
        documents.offer_request["data"]["passengers"][0]["id"] = json!(passenger);
        let written = &mut documents.order["data"];
        let segment = written["slices"][0]["segments"][0]["id"].clone();
        written["services"] = json!([]);
        written["airline_initiated_changes"] = json!([change]);
        for (name, amount) in [
            ("total_amount", "524.30"),
            ("base_amount", "444.32"),
            ("tax_amount", "79.98"),
        ] {
            written[name] = json!(amount);
        }
        rename(written, "pas_0000AL3E3kMKbiSRjal4ro", passenger);
        for service in documents.services["data"].as_array_mut().unwrap() {
            service["passenger_ids"] = json!([passenger]);
            service["segment_ids"] = json!([segment]);
        }
        let quote = &mut documents.quote["data"];
        quote["order_id"] = json!(order);
        quote["confirmed_at"] = Value::Null;
        quote["refund_amount"] = json!("494.30");
        documents.airlines[0]["meta"]["after"] = Value::Null;
        documents.flies_on("2022-05-27", &days_ahead(30));
        Some(Self {
            source: "the vendor's documents",
            journeys: &[("LHR", "STR", 30)],
            party: &[("ADULT", "pas_0000AJjwEHPaqntorAJiCD")],
            search: "orq_0000AJySzYPHklwQdNrTPY",
            offer: "off_0000AJjwEHhflaMRlEm9NA",
            order: "ord_0000AL3E9lRtT7XMqrEHp8",
            pnr: "IXK4SC",
            currency: "GBP",
            offers: (1, 1),
            fare: "444.32",
            tax: "79.98",
            total: "524.30",
            bag: ("aso_0000AQ60G4rdb68eWlEe3e", "27.49", 3),
            bags: 2,
            fee: "30.00",
            refund: "494.30",
            is_action_required: false,
            airline: "BA",
            airports: ("heathrow", &["LHR"]),
            documents,
        })
    }

    /// Returns a search request with additional fields.
    pub(super) fn search(&self, more: Value) -> Value {
        let count = |kind: &str| {
            self.party
                .iter()
                .filter(|(known, _)| *known == kind)
                .count()
        };
        let journeys = self.journeys.iter().map(|(origin, destination, days)| {
            json!({"origin": origin, "destination": destination, "date": days_ahead(*days)})
        });
        let mut request = json!({
            "supplier": "DUFFEL",
            "journeys": journeys.collect::<Vec<_>>(),
            "passengers": {"adults": count("ADULT"), "children": vec![8; count("CHILD")], "infants": count("INFANT")},
        });
        let members = more.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(members);
        request
    }

    /// Returns the passengers, with additional fields for the adult.
    pub(super) fn passengers(&self, more: Value) -> Vec<Value> {
        let document = |number: usize| json!({"type": "PASSPORT", "number": format!("P-CANARY-{number}"), "issuing_country": "FR", "expires_on": days_ahead(900)});
        let kinds = self.party.iter().enumerate();
        let passengers = kinds.map(|(number, (kind, _))| {
            let mut one = match *kind {
                "CHILD" => json!({"first_name": "Bea", "date_of_birth": days_ahead(-3022)}),
                "INFANT" => json!({"first_name": "Cleo", "date_of_birth": days_ahead(-200), "gender": "M", "title": "MX"}),
                _ => more.clone(),
            };
            one["type"] = json!(kind);
            one["document"] = document(number);
            passenger(one)
        });
        passengers.collect()
    }

    pub(super) fn money(&self, amount: &str) -> Value {
        money(amount.parse().unwrap(), self.currency)
    }
}

impl Documents {
    /// Moves all dates from `from` to `to`. Sets every `expires_at` to 30 minutes from now.
    fn flies_on(&mut self, from: &str, to: &str) {
        let soon = minutes_ahead(30);
        let documents = [
            &mut self.offer_request,
            &mut self.offer,
            &mut self.order,
            &mut self.quote,
        ];
        for document in documents.into_iter().chain(&mut self.offers) {
            shift_dates(document, from, to);
            for_each_string(document, &mut |key, text| {
                if key == "expires_at" {
                    text.clone_from(&soon);
                }
            });
        }
    }
}

/// Returns the folder of the vendor's examples, which may be missing.
pub(super) fn vendor_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/duffel")
}

fn rename(document: &mut Value, from: &str, to: &str) {
    for_each_string(document, &mut |_, text| {
        if text == from {
            to.clone_into(text);
        }
    });
}
