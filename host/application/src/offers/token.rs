//! Offer references. Offers are not stored, so a sealed token carries everything that prebook
//! needs. The token opens only for the organization and mode that it was made for. A changed byte
//! makes it invalid.

use crate::offers::terms::{FlightOfferTerms, HotelOfferTerms};
use crate::sealer::Sealer;
use host_domain::owner::Tenant;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The terms of an offer of one product. Each product has its own purpose, so that a reference of
/// one product is invalid for another.
pub trait OfferToken: Serialize + DeserializeOwned {
    const PURPOSE: &'static str;
    /// Maximum length of a reference, in characters. Longer references are not issued.
    const REFERENCE_CHARS_MAX: usize;
}

/// The data that an adapter may put into an offer is bounded: 4 KiB of opaque data and 300
/// characters a text. Therefore offers of nine rooms fit.
impl OfferToken for HotelOfferTerms {
    const PURPOSE: &'static str = "hotel_offer";
    const REFERENCE_CHARS_MAX: usize = 65_536;
}

/// A response may hold 250 fares, so their references must be shorter.
impl OfferToken for FlightOfferTerms {
    const PURPOSE: &'static str = "flight_offer";
    const REFERENCE_CHARS_MAX: usize = 8_192;
}

/// Encodes the reference of an offer. Returns `None` if it cannot be sealed or is too long.
pub fn encode<T: OfferToken>(sealer: &Sealer, tenant: &Tenant, terms: &T) -> Option<String> {
    let bytes = serde_json::to_vec(terms).ok()?;
    let reference = sealer.seal_text(T::PURPOSE, &seal_context(tenant), &bytes);
    let fits = |reference: &String| reference.len() <= T::REFERENCE_CHARS_MAX;
    reference.ok().filter(fits)
}

/// Encodes the reference of a hotel offer. Promotions and the loyalty programme are only displayed, so
/// they are left out if the reference would be too long with them.
pub fn encode_hotel(
    sealer: &Sealer,
    tenant: &Tenant,
    mut terms: HotelOfferTerms,
) -> Option<String> {
    if let Some(reference) = encode(sealer, tenant, &terms) {
        return Some(reference);
    }
    terms.promotions.clear();
    if let Some(reference) = encode(sealer, tenant, &terms) {
        return Some(reference);
    }
    terms.loyalty = None;
    encode(sealer, tenant, &terms)
}

/// Decodes a reference. Returns `None` if it was changed, truncated, or made for another
/// organization, mode or product. Expiry is checked by the reader, because a repeated prebook still
/// returns the existing booking.
pub fn decode<T: OfferToken>(sealer: &Sealer, tenant: &Tenant, reference: &str) -> Option<T> {
    let bytes = sealer.open_text(T::PURPOSE, &seal_context(tenant), reference);
    serde_json::from_slice(&bytes.ok()?).ok()
}

fn seal_context(tenant: &Tenant) -> [&str; 2] {
    [&tenant.organization, tenant.mode.as_str()]
}

#[cfg(test)]
mod fuzzed;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sealer::KEY_BYTES;
    use host_domain::hotel::types::{Loyalty, Promotion};
    use host_domain::owner::Mode;
    use serde_json::json;

    pub(super) fn sealer() -> Sealer {
        Sealer::new("k1", &vec![7; KEY_BYTES].into(), &[]).unwrap()
    }

    pub(super) fn tenant(organization: &str, mode: Mode) -> Tenant {
        Tenant {
            organization: organization.to_owned(),
            mode,
        }
    }

    pub(super) fn terms(rooms: usize) -> HotelOfferTerms {
        let total = json!({ "minor": 20_000, "currency": "EUR" });
        let name = "é".repeat(300);
        let room =
            json!({ "name": name, "board": "room_only", "board_name": name, "total": total });
        let terms = json!({
            "supplier": "SANDBOX_HOTELS",
            "hotel_id": "htl_1",
            "hotel": { "supplier_hotel_id": "OK", "name": "Hotel", "address": "1 Main Street" },
            "supplier_offer": "\u{1f}".repeat(4096),
            "stay": {
                "check_in": "2026-12-01",
                "check_out": "2026-12-03",
                "occupancies": vec![json!({ "adults": 2, "children": [] }); rooms],
                "guest_nationality": "GB",
                "currency": "EUR",
            },
            "total": total,
            "rooms": vec![room; rooms],
            "expires_at": 1_795_255_200_000_i64,
        });
        serde_json::from_value(terms).unwrap()
    }

    #[test]
    fn reference_of_largest_hotel_offer_decodes_to_its_terms() {
        let tenant = tenant("acme", Mode::Test);
        let reference = encode(&sealer(), &tenant, &terms(9)).unwrap();
        let read: HotelOfferTerms = decode(&sealer(), &tenant, &reference).unwrap();
        let expected = (terms(9).total, 9, terms(9).stay);
        assert_eq!((read.total, read.rooms.len(), read.stay), expected);
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        assert!(reference.bytes().all(is_safe));
    }

    #[test]
    fn reference_has_the_promotions_and_the_loyalty_of_the_offer() {
        let tenant = tenant("acme", Mode::Test);
        let promotion = |name: &str| Promotion {
            name: name.to_owned(),
            description: Some(name.to_owned()),
            amount: None,
            room_positions: vec![0],
        };
        let loyalty = Loyalty {
            program: "é".repeat(300),
            membership_number: Some("é".repeat(300)),
            points_estimate: None,
        };
        let sealed = |promotions: &[Promotion]| {
            let mut terms = terms(9);
            terms.promotions = promotions.to_vec();
            terms.loyalty = Some(loyalty.clone());
            let reference = encode_hotel(&sealer(), &tenant, terms).unwrap();
            let read: HotelOfferTerms = decode(&sealer(), &tenant, &reference).unwrap();
            assert_eq!(read.loyalty.as_ref(), Some(&loyalty));
            read.promotions
        };
        let few = [promotion("Early bird"), promotion("Stay longer")];
        assert_eq!(sealed(&few), few);
        let too_long = vec![promotion(&"é".repeat(300)); 30];
        assert_eq!(sealed(&too_long), [], "the offer is kept without them");
    }

    pub(super) fn fare(supplier_offer: &str) -> FlightOfferTerms {
        let terms = json!({
            "supplier": "SUPPLIER_A",
            "supplier_offer": supplier_offer,
            "exclusive_key": "search-1",
            "total": { "minor": 42_000, "currency": "GBP" },
            "travellers": { "adults": 2, "children": [2, 17], "infants": 1 },
            "documents_required": true,
            "expires_at": 1_795_255_200_000_i64,
        });
        serde_json::from_value(terms).unwrap()
    }

    #[test]
    fn reference_of_largest_fare_fits() {
        let tenant = tenant("acme", Mode::Test);
        let largest = fare(&"é".repeat(2048));
        let reference = encode(&sealer(), &tenant, &largest).unwrap();
        assert_eq!(decode(&sealer(), &tenant, &reference), Some(largest));
        // Each of these characters takes six bytes in JSON.
        let longest = fare(&"\u{1f}".repeat(4096));
        assert_eq!(encode(&sealer(), &tenant, &longest), None);
    }
}
