//! Nuitee's flight documents, the project's own or the vendor's, adapted to form one trip from
//! search to cancellation. The originals contradict each other in flights and amounts; only these
//! are changed.

use crate::nuitee::story::{Documents, read_own, text, vendor_folder};
use serde_json::{Value, json};
use std::path::Path;
use tests::{
    days_ahead, for_each_string, minutes_ahead, money, passenger, read_fixture, shift_dates,
};

/// The documents of a trip and the values expected from them.
#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) source: &'static str,
    /// Origin, destination and days from today.
    pub(super) journeys: &'static [(&'static str, &'static str, i64)],
    /// Ages of the children. In the project's own documents, the first is an adult for Nuitee.
    pub(super) children: &'static [u8],
    pub(super) infants: usize,
    pub(super) offer: String,
    pub(super) prebook_id: String,
    /// Id of the payment in the browser, followed by the token that opens it.
    pub(super) transaction: String,
    pub(super) token: String,
    pub(super) booking_id: String,
    pub(super) pnr: Option<&'static str>,
    pub(super) currency: &'static str,
    pub(super) offers: usize,
    /// Offered total, followed by the total at prebook.
    pub(super) offered: f64,
    pub(super) total: f64,
    pub(super) fee: f64,
    pub(super) refund: f64,
    pub(super) airport: &'static str,
    pub(super) airline: &'static str,
    pub(super) is_active: bool,
    pub(super) documents: Documents,
}

impl Story {
    /// Returns the project's own documents: a return trip with two children and an infant.
    pub(super) fn own() -> Self {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/nuitee-flights/fixtures");
        let names = [
            "rates", "verify", "prebook", "booking", "quote", "cancel", "airports", "airline",
        ];
        let mut documents = read_own(&folder, &names);
        let booking = &mut documents["booking"]["data"][0]["booking"];
        booking["bookedServices"] = json!([]);
        booking["pricing"] = json!({"subtotal": 1190.4, "servicesAmount": 0, "totalAmount": 1190.4, "currency": "EUR"});
        documents["cancel"]["data"]["refund_amount"] = json!(1070.4);
        flies_on(&mut documents, "2027-06-01");
        Self {
            source: "the project's own documents",
            journeys: &[("LHR", "JFK", 30), ("JFK", "LHR", 39)],
            children: &[12, 7],
            infants: 1,
            offer: "OFFER-FLEX".to_owned(),
            pnr: Some("ABC123"),
            currency: "EUR",
            offers: 3,
            offered: 1210.4,
            total: 1190.4,
            fee: 120.0,
            refund: 1070.4,
            airport: "LHR",
            airline: "XO",
            is_active: false,
            ..Self::of(documents)
        }
    }

    /// Returns the project's own documents and, if they lie beside the repository, the vendor's.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::own()).chain(Self::vendor())
    }

    /// Returns the vendor's examples, if they exist: one adult on a one-way trip. A verified offer, a
    /// quote and a cancellation come from the project's own documents, because the vendor's lack
    /// them.
    fn vendor() -> Option<Self> {
        let folder = vendor_folder().join("flights");
        if !folder.is_dir() {
            return None;
        }
        let mut documents = Self::own().documents;
        for (name, file) in [
            ("rates", "POST_flights_rates__200.json"),
            ("prebook", "POST_flights_prebooks__200.json"),
            ("booking", "GET_flights_bookings_bookingId__200.json"),
            ("airports", "GET_data_flights_airports__200.json"),
            (
                "airline",
                "GET_data_flights_airlines_iatas_iataCode__200.json",
            ),
        ] {
            documents[name] = read_fixture(&folder.join(file));
        }
        let trip = documents["rates"]["data"][0]["journeys"][0].clone();
        let offer = &trip["offers"][0];
        let verified = &mut documents["verify"]["data"][0]["journey"];
        for name in ["journeyKey", "segments"] {
            verified[name] = trip[name].clone();
        }
        for name in ["pricing", "baggage", "fare", "segmentFares", "terms"] {
            verified[name] = offer[name].clone();
        }
        verified["passengers"] = trip["parameters"].clone();
        let prebook = &mut documents["prebook"]["data"][0];
        let journey = &mut prebook["booking"]["journey"];
        journey["segments"] = trip["segments"].clone();
        journey["pricing"] = offer["pricing"].clone();
        prebook["price"] = json!(753.87);
        let booking = &mut documents["booking"]["data"][0]["booking"];
        booking["journey"]["segments"] = trip["segments"].clone();
        booking["journey"]["price"] = offer["pricing"]["display"].clone();
        let booking_id = booking["bookingId"].clone();
        let quote = &mut documents["quote"]["data"][0];
        quote["refund"]["display"] = json!({"amount": 633.87, "currency": "USD"});
        quote["penalty"]["display"] = json!({"amount": 120, "currency": "USD"});
        let cancel = &mut documents["cancel"]["data"];
        cancel["bookingId"] = booking_id;
        cancel["refund_amount"] = json!(633.87);
        cancel["currency"] = json!("USD");
        flies_on(&mut documents, "2026-07-01");
        Some(Self {
            source: "the vendor's documents",
            journeys: &[("JFK", "CDG", 30)],
            children: &[],
            infants: 0,
            offer: text(&offer["offerId"]),
            pnr: None,
            currency: "USD",
            offers: 1,
            offered: 753.87,
            total: 753.87,
            fee: 120.0,
            refund: 633.87,
            airport: "JFK",
            airline: "AA",
            is_active: true,
            ..Self::of(documents)
        })
    }

    /// Fills the fields that follow from the documents.
    fn of(documents: Documents) -> Self {
        let prebook = &documents["prebook"]["data"][0];
        Self {
            source: "",
            journeys: &[],
            children: &[],
            infants: 0,
            offer: String::new(),
            prebook_id: text(&prebook["prebookId"]),
            transaction: text(&prebook["transactionId"]),
            token: text(&prebook["secretKey"]),
            booking_id: text(&documents["booking"]["data"][0]["booking"]["bookingId"]),
            pnr: None,
            currency: "",
            offers: 0,
            offered: 0.0,
            total: 0.0,
            fee: 0.0,
            refund: 0.0,
            airport: "",
            airline: "",
            is_active: true,
            documents,
        }
    }

    /// Returns a search request.
    pub(super) fn search(&self) -> Value {
        let journeys = self.journeys.iter().map(|(origin, destination, days)| {
            json!({"origin": origin, "destination": destination, "date": days_ahead(*days)})
        });
        json!({
            "supplier": "NUITEE_FLIGHTS",
            "journeys": journeys.collect::<Vec<_>>(),
            "passengers": {"adults": 1, "children": self.children, "infants": self.infants},
            "currency": self.currency,
        })
    }

    /// Returns the passengers, each with a passport: an adult, the children by age, and the
    /// infants.
    pub(super) fn passengers(&self) -> Vec<Value> {
        let birthday = |age: u8| days_ahead(-i64::from(age) * 366 - 60);
        let document = json!({"type": "PASSPORT", "number": "X0000001", "issuing_country": "FR", "expires_on": days_ahead(900)});
        let adult = json!({"document": document, "loyalty_accounts": [{"airline_iata_code": "XO", "membership_number": "XO123"}]});
        let children = self.children.iter().map(|age| {
            json!({"type": "CHILD", "first_name": "Bea", "date_of_birth": birthday(*age), "document": document})
        });
        let infant = json!({"type": "INFANT", "first_name": "Cleo", "date_of_birth": days_ahead(-200), "gender": "M", "document": document});
        let infants = std::iter::repeat_n(infant, self.infants);
        let all = std::iter::once(adult).chain(children).chain(infants);
        all.map(passenger).collect()
    }

    pub(super) fn money(&self, amount: f64) -> Value {
        money(amount, self.currency)
    }
}

/// Moves the flights from `first_day` to 30 days from today. Sets every expiry to 30 minutes from
/// now.
fn flies_on(documents: &mut Documents, first_day: &str) {
    let (to, soon) = (days_ahead(30), minutes_ahead(30));
    for name in ["rates", "verify", "prebook", "booking"] {
        let document = &mut documents[name];
        shift_dates(document, first_day, &to);
        for_each_string(document, &mut |key, text| {
            if matches!(key, "expiration" | "expiresAt" | "ticketLimitTime") {
                text.clone_from(&soon);
            }
        });
    }
}
