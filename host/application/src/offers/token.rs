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
    reference
        .ok()
        .filter(|reference| reference.len() <= T::REFERENCE_CHARS_MAX)
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
    use crate::offers::terms::OfferedRoom;
    use crate::sealer::KEY_BYTES;
    use host_domain::flight::passenger::Travellers;
    use host_domain::hotel::{Board, HotelSummary, Occupancy, Stay};
    use host_domain::id::HotelId;
    use host_domain::money::{Currency, Money};
    use host_domain::owner::Mode;
    use host_domain::supplier::SupplierId;
    use host_domain::time::Timestamp;

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
        let total = Money::new(20_000, Currency::parse("EUR").unwrap());
        let room = OfferedRoom {
            name: "é".repeat(300),
            board: Board::RoomOnly,
            board_name: "é".repeat(300),
            total,
        };
        let two_adults = Occupancy {
            adults: 2,
            children: Vec::new(),
        };
        HotelOfferTerms {
            supplier: SupplierId::parse("SANDBOX_HOTELS").unwrap(),
            hotel_id: HotelId::from_bits(1),
            hotel: HotelSummary {
                supplier_hotel_id: "OK".to_owned(),
                name: "Hotel".to_owned(),
                address: "1 Main Street".to_owned(),
                location: None,
                time_zone: None,
            },
            supplier_offer: "\u{1f}".repeat(4096),
            stay: Stay {
                check_in: "2026-12-01".parse().unwrap(),
                check_out: "2026-12-03".parse().unwrap(),
                occupancies: vec![two_adults; rooms],
                guest_nationality: "GB".to_owned(),
                guest_residence: None,
                currency: total.currency,
            },
            total,
            rooms: vec![room; rooms],
            expires_at: Timestamp(1_795_255_200_000),
        }
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
    fn reference_is_invalid_for_another_organization_or_mode() {
        let reference = encode(&sealer(), &tenant("acme", Mode::Test), &terms(1)).unwrap();
        for other in [
            tenant("acme", Mode::Live),
            tenant("acm", Mode::Test),
            tenant("", Mode::Test),
        ] {
            let read: Option<HotelOfferTerms> = decode(&sealer(), &other, &reference);
            assert!(read.is_none(), "{other:?}");
        }
    }

    #[test]
    fn changed_reference_is_invalid() {
        let tenant = tenant("acme", Mode::Test);
        let reference = encode(&sealer(), &tenant, &terms(1)).unwrap();
        let is_read = |text: &str| decode::<HotelOfferTerms>(&sealer(), &tenant, text).is_some();
        let last = reference.len() - 1;
        for at in (0..last).step_by(97).chain([last]) {
            let mut changed = reference.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(!is_read(&changed), "at {at}");
        }
        for text in ["", "A", &reference[..last - 3], &format!("{reference}AAAA")] {
            assert!(!is_read(text));
        }
    }

    pub(super) fn fare(supplier_offer: &str) -> FlightOfferTerms {
        FlightOfferTerms {
            supplier: SupplierId::parse("SUPPLIER_A").unwrap(),
            supplier_offer: supplier_offer.to_owned(),
            exclusive_key: Some("search-1".to_owned()),
            total: Money::new(42_000, Currency::parse("GBP").unwrap()),
            travellers: Travellers {
                adults: 2,
                children: vec![2, 17],
                infants: 1,
            },
            documents_required: true,
            expires_at: Timestamp(1_795_255_200_000),
        }
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

    #[test]
    fn reference_of_one_product_is_invalid_for_the_other() {
        let tenant = tenant("acme", Mode::Test);
        let hotel = encode(&sealer(), &tenant, &terms(1)).unwrap();
        let flight = encode(&sealer(), &tenant, &fare("off-1")).unwrap();
        assert_eq!(decode::<FlightOfferTerms>(&sealer(), &tenant, &hotel), None);
        assert!(decode::<HotelOfferTerms>(&sealer(), &tenant, &flight).is_none());
    }
}
