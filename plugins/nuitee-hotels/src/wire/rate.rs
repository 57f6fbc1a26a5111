//! `POST /hotels/rates` and `POST /rates/prebook`.

use serde::Deserialize;
use stopover_sdk::money::{Decimal, lenient};

use crate::wire::{Amount, Reference, optional_text, text};
use stopover_sdk::lenient::{
    LenientAmount, LenientCount, LenientFlag, LenientList, LenientNumber, OneOrMany,
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HotelRates {
    pub(crate) hotel_id: String,
    #[serde(default)]
    pub(crate) room_types: LenientList<RoomType>,
}

/// An offer, which Nuitee calls a room type: a rate for every requested room.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RoomType {
    pub(crate) offer_id: String,
    pub(crate) rates: OneOrMany<Rate>,
    /// The offer's total: a list in the schema, an object in the responses.
    pub(crate) offer_retail_rate: OneOrMany<Amount>,
    pub(crate) loyalty_membership_id_required: LenientFlag,
    /// `standard` or `package`.
    pub(crate) rate_type: Reference,
}

impl RoomType {
    /// Returns whether the offer may be sold only together with another travel service.
    pub(crate) fn is_package_only(&self) -> bool {
        let rate_type = self.rate_type.as_deref();
        rate_type.is_some_and(|rate_type| rate_type.eq_ignore_ascii_case("package"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rate {
    /// Number of the room. Rates come in any order.
    #[serde(default)]
    pub(crate) occupancy_number: LenientCount,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) board_type: String,
    #[serde(default)]
    pub(crate) board_name: String,
    pub(crate) retail_rate: RetailRate,
    pub(crate) cancellation_policies: Option<CancellationPolicies>,
    #[serde(default)]
    pub(crate) max_occupancy: LenientCount,
    /// HTML text.
    #[serde(default)]
    pub(crate) remarks: Reference,
    #[serde(default)]
    pub(crate) perks: LenientList<Perk>,
    /// Such as `NUITEE_PAY` and `PROPERTY_PAY`.
    #[serde(default)]
    pub(crate) payment_types: LenientList<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Perk {
    pub(crate) name: Reference,
    pub(crate) amount: LenientAmount,
    pub(crate) currency: Reference,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RetailRate {
    pub(crate) total: OneOrMany<Amount>,
    pub(crate) taxes_and_fees: OneOrMany<TaxOrFee>,
    pub(crate) promotions: OneOrMany<Promotion>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TaxOrFee {
    #[serde(default)]
    pub(crate) included: LenientFlag,
    #[serde(default)]
    pub(crate) description: Reference,
    pub(crate) amount: Decimal,
    pub(crate) currency: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Promotion {
    pub(crate) name: String,
    #[serde(deserialize_with = "lenient")]
    pub(crate) discount: Option<Decimal>,
    pub(crate) discount_type: String,
    pub(crate) currency: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct CancellationPolicies {
    pub(crate) cancel_policy_infos: OneOrMany<CancelPolicyInfo>,
    /// `RFN` or `NRFN`.
    pub(crate) refundable_tag: String,
    /// HTML texts on cancellations.
    pub(crate) hotel_remarks: LenientList<String>,
}

/// A penalty. Its time is always GMT, whatever `timezone` contains.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelPolicyInfo {
    pub(crate) cancel_time: String,
    pub(crate) amount: Decimal,
    #[serde(default, deserialize_with = "text")]
    pub(crate) currency: String,
    #[serde(default, deserialize_with = "text", rename = "type")]
    pub(crate) penalty_type: String,
}

/// A hotel's summary beside rates.
#[derive(Debug, Deserialize)]
pub(crate) struct Hotel {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) main_photo: Option<String>,
    pub(crate) address: Option<String>,
    #[serde(default)]
    pub(crate) latitude: LenientNumber,
    #[serde(default)]
    pub(crate) longitude: LenientNumber,
    /// Guest rating from 0 to 10.
    #[serde(default)]
    pub(crate) rating: LenientNumber,
    #[serde(default)]
    pub(crate) stars: LenientNumber,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Prebook {
    #[serde(deserialize_with = "text")]
    pub(crate) prebook_id: String,
    #[serde(default)]
    pub(crate) hotel_id: String,
    pub(crate) currency: String,
    /// Price of all rooms, plus add-ons and minus vouchers.
    pub(crate) price: Decimal,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) addons_total_amount: Option<Decimal>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) voucher_total_amount: Option<Decimal>,
    #[serde(default)]
    pub(crate) room_types: OneOrMany<RoomType>,
    #[serde(default)]
    pub(crate) is_package_rate: LenientFlag,
    #[serde(default)]
    pub(crate) cancellation_changed: LenientFlag,
    #[serde(default)]
    pub(crate) board_changed: LenientFlag,
    #[serde(default, deserialize_with = "optional_text")]
    pub(crate) transaction_id: Option<String>,
    #[serde(default, deserialize_with = "optional_text")]
    pub(crate) secret_key: Option<String>,
}
