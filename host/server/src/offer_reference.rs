//! Offer references: offers are not stored, so everything that prebook needs
//! travels in a sealed token. It opens only for the organization and mode that
//! it was made for; a changed byte makes it invalid.

use crate::flow::prebook::OfferTerms;
use crate::seal::Sealer;
use host_domain::owner::Tenant;

/// Longest reference, in characters. What an adapter may put into an offer is
/// bounded (4 KiB of its own, 300 characters a text), so that offers of nine
/// rooms fit; a longer one is not given out.
pub(crate) const REFERENCE_CHARS_MAX: usize = 65_536;

/// What the token is sealed for.
const PURPOSE: &str = "hotel_offer";

/// Makes the reference of an offer; none when it cannot be sealed or is too long.
pub(crate) fn make(sealer: &Sealer, tenant: &Tenant, terms: &OfferTerms) -> Option<String> {
    let bytes = serde_json::to_vec(terms).ok()?;
    let reference = sealer.seal_text(PURPOSE, &place(tenant), &bytes).ok()?;
    Some(reference).filter(|reference| reference.len() <= REFERENCE_CHARS_MAX)
}

/// Reads a reference; none when it was changed, cut, or made for another
/// organization or mode. Whether the offer has expired is for the reader to say:
/// a repeated prebook still gives what the first one made.
pub(crate) fn read(sealer: &Sealer, tenant: &Tenant, reference: &str) -> Option<OfferTerms> {
    let bytes = sealer.open_text(PURPOSE, &place(tenant), reference).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn place(tenant: &Tenant) -> [&str; 2] {
    [&tenant.organization, tenant.mode.as_str()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::prebook::OfferedRoom;
    use crate::seal::KEY_BYTES;
    use host_domain::hotel::{Board, HotelSummary, Occupancy, Stay};
    use host_domain::id::HotelId;
    use host_domain::money::{Currency, Money};
    use host_domain::owner::Mode;
    use host_domain::supplier::SupplierId;
    use host_domain::time::Timestamp;

    fn sealer() -> Sealer {
        Sealer::new("k1", &vec![7; KEY_BYTES].into(), &[]).unwrap()
    }

    fn tenant(organization: &str, mode: Mode) -> Tenant {
        Tenant {
            organization: organization.to_owned(),
            mode,
        }
    }

    fn terms(rooms: usize) -> OfferTerms {
        let total = Money::new(20_000, Currency::parse("EUR").unwrap());
        let room = OfferedRoom {
            name: "é".repeat(300),
            board: Board::RoomOnly,
            board_name: "é".repeat(300),
            total,
        };
        OfferTerms {
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
                occupancies: vec![
                    Occupancy {
                        adults: 2,
                        children: Vec::new()
                    };
                    rooms
                ],
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
    fn a_reference_holds_the_offer_and_the_largest_fits() {
        let tenant = tenant("acme", Mode::Test);
        let reference = make(&sealer(), &tenant, &terms(9)).unwrap();
        let read = read(&sealer(), &tenant, &reference).unwrap();
        assert_eq!(
            (read.total, read.rooms.len(), read.stay),
            (terms(9).total, 9, terms(9).stay)
        );
        assert!(
            reference
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
    }

    #[test]
    fn another_organization_or_mode_cannot_use_it() {
        let reference = make(&sealer(), &tenant("acme", Mode::Test), &terms(1)).unwrap();
        for other in [
            tenant("acme", Mode::Live),
            tenant("acm", Mode::Test),
            tenant("", Mode::Test),
        ] {
            assert!(read(&sealer(), &other, &reference).is_none(), "{other:?}");
        }
    }

    #[test]
    fn every_changed_character_makes_it_invalid() {
        let tenant = tenant("acme", Mode::Test);
        let reference = make(&sealer(), &tenant, &terms(1)).unwrap();
        for at in (0..reference.len())
            .step_by(97)
            .chain([0, reference.len() - 1])
        {
            let mut changed = reference.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(read(&sealer(), &tenant, &changed).is_none(), "at {at}");
        }
        for text in [
            "",
            "A",
            &reference[..reference.len() - 4],
            &format!("{reference}AAAA"),
        ] {
            assert!(read(&sealer(), &tenant, text).is_none());
        }
    }
}
