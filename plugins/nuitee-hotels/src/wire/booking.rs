//! `POST /rates/book` and `GET|PUT /bookings`.

use serde::Deserialize;
use stopover_sdk::money::{Decimal, lenient};

use crate::wire::rate::CancellationPolicies;
use crate::wire::{Amount, LenientTextList, Reference};
use stopover_sdk::lenient::{LenientCount, LenientFlag, OneOrMany};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Booking {
    #[serde(default)]
    pub(crate) booking_id: Reference,
    #[serde(default)]
    pub(crate) client_reference: Reference,
    #[serde(default)]
    pub(crate) supplier_booking_id: Reference,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) hotel_confirmation_code: Reference,
    #[serde(default)]
    pub(crate) booked_rooms: OneOrMany<SupplierRoom>,
    /// Rooms of a listed booking, which uses this name for `booked_rooms`.
    #[serde(default)]
    pub(crate) rooms: OneOrMany<SupplierRoom>,
    pub(crate) cancellation_policies: Option<CancellationPolicies>,
    #[serde(default)]
    pub(crate) last_free_cancellation_date: Reference,
    pub(crate) currency: String,
    pub(crate) price: Decimal,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) addons_total_amount: Option<Decimal>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) voucher_total_amount: Option<Decimal>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) amount_refunded: Option<Decimal>,
    /// HTML text.
    #[serde(default)]
    pub(crate) remarks: LenientTextList,
    #[serde(default)]
    pub(crate) hotel_remarks: LenientTextList,
    #[serde(default)]
    pub(crate) mandatory_fees: LenientTextList,
    #[serde(default)]
    pub(crate) optional_fees: LenientTextList,
    #[serde(default)]
    pub(crate) know_before_you_go: LenientTextList,
    #[serde(default)]
    pub(crate) sandbox: LenientFlag,
}

impl Booking {
    pub(crate) fn all_rooms(&self) -> &[SupplierRoom] {
        if self.booked_rooms.0.is_empty() {
            &self.rooms.0
        } else {
            &self.booked_rooms.0
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct SupplierRoom {
    #[serde(default)]
    pub(crate) occupancy_number: LenientCount,
    #[serde(rename = "cancellationPolicies")]
    pub(crate) cancellation_policies: Option<CancellationPolicies>,
    pub(crate) rate: Option<BookedRate>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BookedRate {
    pub(crate) retail_rate: Option<BookedRetailRate>,
    pub(crate) cancellation_policies: Option<CancellationPolicies>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BookedRetailRate {
    /// The total: an object here, a list in rates.
    #[serde(default)]
    pub(crate) total: OneOrMany<Amount>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Cancellation {
    #[serde(default)]
    pub(crate) status: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) cancellation_fee: Option<Decimal>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) refund_amount: Option<Decimal>,
    pub(crate) currency: Option<String>,
}
