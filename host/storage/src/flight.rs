//! Flight bookings: the whole document and columns to search by.

use crate::booking::{BookingTable, SearchColumns, read};
use crate::statement::statement;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::flight::booking::{FlightBooking, FlightBookingDetails};
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use sha2::{Digest, Sha256};

/// The price sort key of a booking without a price.
pub(crate) const NO_PRICE_SORT_KEY: i64 = i64::MAX;

/// Decimals of the price sort key, the most that any currency has.
const PRICE_DECIMALS: u32 = 4;

impl BookingTable for FlightBookingDetails {
    const TABLE: &'static str = "flight_booking";

    fn insert(booking: &FlightBooking, write: &mut UnitOfWork) {
        let document = write.encode_json(booking);
        let exclusive_key = exclusive_key(booking);
        let insert = statement!(
            "INSERT INTO flight_booking (organization, mode, id, user_id, status, supplier, \
             supplier_reference, reference_id, offer_hash, exclusive_key, price_sort_key, \
             created_at, updated_at, version, document) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
             ON CONFLICT DO NOTHING",
            &booking.owner.tenant,
            booking.id.as_str(),
            booking.owner.user.as_str(),
            booking.status().as_str(),
            booking.supplier.as_str(),
            booking.supplier_reference.as_deref(),
            booking.reference_id.as_deref(),
            offer_hash(&booking.supplier_offer),
            exclusive_key,
            price_sort_key(booking),
            booking.created_at,
            booking.updated_at,
            booking.version,
            document,
        );
        // An id of 128 bits does not repeat by chance. A booking that is stored twice conflicts
        // with its own offer lock.
        let otherwise = match exclusive_key {
            Some(_) => Conflict::OfferInUse,
            None => Conflict::BookingExists,
        };
        write.add_expecting_one(insert, otherwise);
    }

    fn search_columns(booking: &FlightBooking) -> SearchColumns {
        let reference = booking.supplier_reference.as_deref();
        SearchColumns(vec![
            ("status", booking.status().as_str().into()),
            ("supplier_reference", reference.into()),
            ("exclusive_key", exclusive_key(booking).into()),
            ("price_sort_key", price_sort_key(booking).into()),
        ])
    }
}

impl Store {
    /// Returns the newest booking of this offer, of any owner. Only for background work, never for
    /// a caller's request.
    pub async fn flight_booking_by_offer_unscoped(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_offer: &str,
    ) -> Result<Option<FlightBooking>, DatabaseError> {
        let select = statement!(
            "SELECT document FROM flight_booking \
             WHERE offer_hash = $1 AND supplier = $2 AND mode = $3 \
             ORDER BY created_at DESC, id DESC LIMIT 1",
            offer_hash(supplier_offer),
            supplier.as_str(),
            mode,
        );
        let booking: Option<FlightBooking> = self.read_optional(select, read).await?;
        Ok(booking.filter(|booking| booking.supplier_offer == supplier_offer))
    }
}

/// Returns the price of ticket and extras in 1/10000 of the major unit, or [`NO_PRICE_SORT_KEY`]
/// before the fare is confirmed. Amounts of different currencies are compared by number alone.
pub(crate) fn price_sort_key(booking: &FlightBooking) -> i64 {
    booking.total().map_or(NO_PRICE_SORT_KEY, |total| {
        let decimals = total.currency.exponent();
        let unit = 10_i64.saturating_pow(PRICE_DECIMALS.saturating_sub(decimals));
        // Prices above 900 million million (9 × 10^14) are clamped and compare as equal.
        total.minor.saturating_mul(unit).min(NO_PRICE_SORT_KEY - 1)
    })
}

/// Returns the key that locks the offer against other bookings, as long as this booking may still
/// be ticketed.
fn exclusive_key(booking: &FlightBooking) -> Option<&str> {
    let key = booking.details.exclusive_key.as_deref();
    key.filter(|_| booking.status().has_offer_lock())
}

/// Hashes an offer, because offers may be too long for an index. Queries by this hash must compare
/// the offer itself too.
fn offer_hash(supplier_offer: &str) -> i64 {
    let digest: [u8; 32] = Sha256::digest(supplier_offer).into();
    let (first, _) = digest.split_first_chunk().unwrap_or((&[0; 8], &[]));
    i64::from_be_bytes(*first)
}
