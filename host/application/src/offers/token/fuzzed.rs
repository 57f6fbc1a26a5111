//! Fuzz tests of offer references, both forged and genuine.

use super::tests::{fare, sealer, tenant, terms};
use super::*;
use fuzz::Choice;
use host_domain::flight::passenger::Travellers;
use host_domain::money::{Currency, MINOR_UNITS_MAX, Money};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use std::collections::HashSet;

const MAKERS: [(&str, Mode); 3] = [("acme", Mode::Test), ("acme", Mode::Live), ("", Mode::Test)];

#[test]
fn only_issued_references_are_decoded() {
    let acme = tenant("acme", Mode::Test);
    let flight = encode(&sealer(), &acme, &fare("off-1")).unwrap();
    let hotel = encode(&sealer(), &acme, &terms(1)).unwrap();
    let given: HashSet<&[u8]> = [flight.as_bytes(), hotel.as_bytes()].into();
    let documents = fuzz::documents("offer-reference")
        .tokens(&["AA", "=", "-", "_", "+", "/", "AQJrMQ"])
        .seed(flight.as_str())
        .seed(hotel.as_str());
    documents.check(800, |document| {
        let Ok(text) = std::str::from_utf8(document) else {
            return;
        };
        let as_flight: Option<FlightOfferTerms> = decode(&sealer(), &acme, text);
        let as_hotel: Option<HotelOfferTerms> = decode(&sealer(), &acme, text);
        let is_read = as_flight.is_some() || as_hotel.is_some();
        assert_eq!(is_read, given.contains(document));
        assert!(as_flight.is_none() || as_hotel.is_none());
    });
}

fn offer(choice: &mut Choice<'_>) -> FlightOfferTerms {
    let minor = choice.integer().rem_euclid(MINOR_UNITS_MAX + 1);
    let exclusive_key = choice.maybe(Choice::text);
    let currency = Currency::parse(choice.pick(&["GBP", "JPY", "KWD"])).unwrap();
    FlightOfferTerms {
        exclusive_key,
        total: Money::new(minor, currency),
        travellers: Travellers {
            adults: choice.byte(),
            children: choice.list(Choice::byte),
            infants: choice.byte(),
        },
        documents_required: choice.one_in(2),
        expires_at: Timestamp(choice.integer()),
        ..fare(&choice.text())
    }
}

#[test]
fn reference_decodes_only_for_its_tenant() {
    fuzz::values("offer-reference-of-any-fare", 500, |choice| {
        let offer = offer(choice);
        let maker = choice.pick(&MAKERS);
        let Some(reference) = encode(&sealer(), &tenant(maker.0, maker.1), &offer) else {
            let written = serde_json::to_vec(&offer).unwrap().len();
            let fits = FlightOfferTerms::REFERENCE_CHARS_MAX / 4 * 3 - 64;
            assert!(written > fits, "{written} bytes fit into a reference");
            return;
        };
        assert!(reference.len() <= FlightOfferTerms::REFERENCE_CHARS_MAX);
        for reader in MAKERS {
            let read = decode(&sealer(), &tenant(reader.0, reader.1), &reference);
            assert_eq!(read, (reader == maker).then(|| offer.clone()), "{reader:?}");
        }
    });
}
