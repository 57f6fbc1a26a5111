//! Fares in the format of Duffel's API: a search and its offers in pages. They have the size of
//! real ones, 6 KB each: one way, two flights, with every field set.

use serde_json::{Value, json};

pub(crate) const FARES: usize = 250;

const SEARCH: &str = "orq_0000MeasuredSearch0001";
const PASSENGER: &str = "pas_0000MeasuredAdult00001";

/// Documents of the offers, cheapest first.
pub(super) struct Fares(Vec<String>);

impl Fares {
    pub(super) fn new() -> Self {
        Self((0..FARES).map(|number| offer(number).to_string()).collect())
    }

    /// Returns the response to the search.
    pub(super) fn search() -> String {
        let passenger = json!({ "id": PASSENGER, "type": "adult", "age": null });
        json!({ "data": { "id": SEARCH, "live_mode": false, "passengers": [passenger] } })
            .to_string()
    }

    /// Returns the page that a query requests. The next page begins where it ends.
    pub(super) fn page(&self, query: &str) -> String {
        let number = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let value = pairs.find(|(key, _)| *key == name)?.1;
            value.parse::<usize>().ok()
        };
        let begin = number("after").unwrap_or_default();
        let end = (begin + number("limit").unwrap_or(50)).min(self.0.len());
        let offers = self.0.get(begin..end).unwrap_or_default().join(",");
        let after = (end < self.0.len()).then(|| end.to_string());
        let meta = json!({ "limit": end - begin, "before": null, "after": after });
        format!(r#"{{"meta":{meta},"data":[{offers}]}}"#)
    }
}

fn offer(number: usize) -> Value {
    let cents = 23_760 + 41 * number;
    let amount = |cents: usize| format!("{}.{:02}", cents / 100, cents % 100);
    let carrier = carrier(number);
    let slice = json!({
        "id": format!("sli_0000Measured{number:010}"),
        "duration": "PT6H16M",
        "fare_brand_name": "Main Cabin",
        "origin_type": "airport",
        "origin": airport("JFK", "America/New_York"),
        "destination_type": "airport",
        "destination": airport("AUS", "America/Chicago"),
        "conditions": { "change_before_departure": null, "advance_seat_selection": null, "priority_boarding": null },
        "segments": [
            segment(number, 1, ("JFK", "America/New_York", "2027-06-01T19:00:00"), ("ATL", "America/New_York", "2027-06-01T21:47:00")),
            segment(number, 2, ("ATL", "America/New_York", "2027-06-01T22:46:00"), ("AUS", "America/Chicago", "2027-06-02T00:16:00")),
        ],
    });
    json!({
        "id": format!("off_0000Measured{number:010}"),
        "live_mode": false,
        "partial": false,
        "created_at": "2027-05-01T10:00:00.601167Z",
        "updated_at": "2027-05-01T10:00:00.601167Z",
        "expires_at": "2027-05-01T10:30:00.366793Z",
        "total_amount": amount(cents),
        "total_currency": "EUR",
        "base_amount": amount(cents - 3_853),
        "base_currency": "EUR",
        "tax_amount": amount(3_853),
        "tax_currency": "EUR",
        "total_emissions_kg": "82",
        "owner": carrier,
        "passenger_identity_documents_required": false,
        "supported_passenger_identity_document_types": ["passport"],
        "supported_loyalty_programmes": [],
        "payment_requirements": { "requires_instant_payment": true, "payment_required_by": null, "price_guarantee_expires_at": null },
        "available_services": null,
        "conditions": {
            "refund_before_departure": { "allowed": false, "penalty_amount": null, "penalty_currency": null },
            "change_before_departure": { "allowed": true, "penalty_amount": amount(4_500), "penalty_currency": "EUR" },
        },
        "passengers": [{ "id": PASSENGER, "type": "adult", "age": null, "given_name": null, "family_name": null, "loyalty_programme_accounts": [], "fare_type": null }],
        "slices": [slice],
    })
}

fn segment(offer: usize, leg: usize, from: (&str, &str, &str), to: (&str, &str, &str)) -> Value {
    let flight = (400 * leg + offer).to_string();
    json!({
        "id": format!("seg_0000Measured{leg}{offer:09}"),
        "origin": airport(from.0, from.1),
        "origin_terminal": "4",
        "destination": airport(to.0, to.1),
        "destination_terminal": null,
        "departing_at": from.2,
        "arriving_at": to.2,
        "duration": "PT2H47M",
        "distance": "1223.4",
        "aircraft": { "id": "arc_00009VMF8AhBTmADP77oj1", "iata_code": "739", "name": "Boeing 737-900" },
        "marketing_carrier": carrier(offer),
        "marketing_carrier_flight_number": flight,
        "operating_carrier": carrier(offer),
        "operating_carrier_flight_number": flight,
        "stops": [],
        "media": [],
        "passengers": [{
            "passenger_id": PASSENGER,
            "fare_basis_code": "LA7NA0MQ",
            "cabin_class": "economy",
            "cabin_class_marketing_name": "Main Cabin",
            "cabin": { "name": "economy", "marketing_name": "Main Cabin", "amenities": null },
            "baggages": [{ "type": "carry_on", "quantity": 1 }, { "type": "checked", "quantity": offer % 2 }],
        }],
    })
}

fn carrier(offer: usize) -> Value {
    let code = ["MA", "MB", "MC", "MD", "ME"]
        .get(offer % 5)
        .copied()
        .unwrap_or_default();
    json!({
        "id": format!("arl_00009VME7DBgd2sGtBN3{code}"),
        "iata_code": code,
        "name": format!("Measured Airways {code}"),
        "logo_symbol_url": format!("https://logos.example/for-light-background/full-color-logo/{code}.svg"),
        "logo_lockup_url": null,
        "conditions_of_carriage_url": "https://airline.example/conditions",
    })
}

fn airport(code: &str, time_zone: &str) -> Value {
    let (lower, name) = (code.to_lowercase(), format!("{code} International Airport"));
    json!({
        "type": "airport",
        "id": format!("arp_{lower}_us"),
        "iata_code": code,
        "icao_code": format!("K{code}"),
        "iata_country_code": "US",
        "iata_city_code": code,
        "city_name": code,
        "name": name,
        "latitude": 33.638_714,
        "longitude": -84.4279,
        "time_zone": time_zone,
        "city": {
            "type": "city",
            "id": format!("cit_{lower}_us"),
            "iata_code": code,
            "iata_city_code": code,
            "iata_country_code": "US",
            "icao_code": null,
            "name": code,
            "city_name": null,
            "latitude": null,
            "longitude": null,
            "time_zone": null,
        },
        "airports": null,
    })
}
