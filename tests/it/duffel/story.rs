//! Duffel's documents, the project's own or the vendor's, adapted to form one trip from search to
//! cancellation. The originals contradict each other in ids, dates and amounts; only these are
//! changed.

use serde_json::{Value, json};
use std::path::Path;
use tests::{
    days_ahead, for_each_string, merged, minutes_ahead, money, passenger, read_fixture, shift_dates,
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

/// Duffel's responses by name. Offers and airlines are lists of pages.
pub(super) type Documents = serde_json::Map<String, Value>;

impl Story {
    /// Returns the project's own documents: an adult, a child and an infant on a return trip.
    pub(super) fn own() -> Self {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/duffel-flights/fixtures");
        let read = |name: &str| read_fixture(&folder.join(name));
        let files = [
            ("offer_request", "offer-request.json"),
            ("offer", "offer.json"),
            ("order", "order.json"),
            ("services", "services.json"),
            ("quote", "quote.json"),
            ("suggestions", "suggestions.json"),
        ];
        let mut documents = read_documents(files, read);
        let pages = |name: &str| [1, 2].map(|page| read(&format!("{name}-{page}.json")));
        for name in ["offers", "airlines"] {
            documents.insert(name.to_owned(), json!(pages(name)));
        }
        let order = &mut documents["order"]["data"];
        order["services"] = json!([]);
        order["total_amount"] = json!("360.40");
        order["base_amount"] = json!("300.00");
        documents["quote"]["data"]["refund_amount"] = json!("310.40");
        flies_on(&mut documents, "2027-06-01");
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

    /// Returns the project's own documents and, if they lie beside the repository, the vendor's.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::own()).chain(Self::vendor())
    }

    /// Returns the vendor's examples, if they exist: one adult on a one-way trip.
    fn vendor() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/duffel");
        if !folder.is_dir() {
            return None;
        }
        let read = |name: &str| read_fixture(&folder.join(name));
        let files = [
            ("offer_request", "java-sdk/offer_request.json"),
            ("offers", "java-sdk/offers_by_offer_request_id.json"),
            ("offer", "java-sdk/offers_by_id_with_services.json"),
            ("order", "java-sdk/order.json"),
            ("services", "java-sdk/order_available_services.json"),
            ("quote", "python-sdk/create-order-cancellation.json"),
            ("suggestions", "go-airheart/200-get-places-suggestion.json"),
            ("airlines", "python-sdk/get-airlines.json"),
        ];
        let mut documents = read_documents(files, read);
        documents["airlines"]["meta"]["after"] = Value::Null;
        for name in ["offers", "airlines"] {
            documents[name] = json!([documents[name]]);
        }
        let change = read("java-sdk/airline_initiated_change.json")["data"].take();
        let (passenger, order) = ("pas_0000AJjwEHPaqntorAJiCD", "ord_0000AL3E9lRtT7XMqrEHp8");
        documents["offer_request"]["data"]["passengers"][0]["id"] = json!(passenger);
        let written = &mut documents["order"]["data"];
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
        for service in documents["services"]["data"].as_array_mut().unwrap() {
            service["passenger_ids"] = json!([passenger]);
            service["segment_ids"] = json!([segment]);
        }
        let quote = &mut documents["quote"]["data"];
        quote["order_id"] = json!(order);
        quote["confirmed_at"] = Value::Null;
        quote["refund_amount"] = json!("494.30");
        flies_on(&mut documents, "2022-05-27");
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
        let party = self.party.iter();
        let count = |kind| party.clone().filter(|(known, _)| *known == kind).count();
        let journeys = self.journeys.iter().map(|(origin, destination, days)| {
            json!({"origin": origin, "destination": destination, "date": days_ahead(*days)})
        });
        let request = json!({
            "supplier": "DUFFEL",
            "journeys": journeys.collect::<Vec<_>>(),
            "passengers": {"adults": count("ADULT"), "children": vec![8; count("CHILD")], "infants": count("INFANT")},
        });
        merged(request, more)
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

/// Reads the documents with these names from their files.
fn read_documents<const N: usize>(
    files: [(&str, &str); N],
    read: impl Fn(&str) -> Value,
) -> Documents {
    let read = |(name, file): (&str, &str)| (name.to_owned(), read(file));
    files.into_iter().map(read).collect()
}

/// Moves all dates of the trip from `from` to 30 days from today. Sets every `expires_at` to 30
/// minutes from now.
fn flies_on(documents: &mut Documents, from: &str) {
    let (to, soon) = (days_ahead(30), minutes_ahead(30));
    for name in ["offer_request", "offers", "offer", "order", "quote"] {
        let document = &mut documents[name];
        shift_dates(document, from, &to);
        for_each_string(document, &mut |key, text| {
            if key == "expires_at" {
                text.clone_from(&soon);
            }
        });
    }
}

fn rename(document: &mut Value, from: &str, to: &str) {
    for_each_string(document, &mut |_, text| {
        if text == from {
            to.clone_into(text);
        }
    });
}
