//! `POST /hotels/rates` and `POST /rates/prebook`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{
    Essential, ExactText, LenientAmount, LenientCount, LenientFlag, LenientList, LenientNumber,
    LenientText, NonEmptyText, OneOrMany, Part, Single,
};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

use crate::wire::{Amount, ExactFlag};

/// Type of payment: the rate is paid when it is booked.
pub(crate) const PREPAID: &str = "NUITEE_PAY";
/// Type of payment: the guest pays at the hotel.
pub(crate) const PAID_AT_HOTEL: &str = "PROPERTY_PAY";

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct HotelRates<'a> {
        pub(crate) hotel_id: Single<String> = "hotelId",
        pub(crate) room_types: Single<LenientList<RoomType<'a>>> = "roomTypes",
    }

    /// An offer, which Nuitee calls a room type: a rate for every requested room.
    #[derive(Debug)]
    pub(crate) struct RoomType<'a> {
        pub(crate) offer_id: Single<ExactText<'a>> = "offerId",
        pub(crate) name: LenientText<'a> = "name",
        pub(crate) rates: Single<OneOrMany<Rate<'a>>> = "rates",
        /// The offer's total: a list in the schema, an object in the responses.
        pub(crate) offer_retail_rate: Single<OneOrMany<Amount<'a>>> = "offerRetailRate",
        pub(crate) loyalty_membership_id_required: Single<ExactFlag> = "loyaltyMembershipIdRequired",
        /// `standard` or `package`.
        pub(crate) rate_type: Single<ExactText<'a>> = "rateType",
    }

    #[derive(Debug)]
    pub(crate) struct Rate<'a> {
        /// Number of the room. Rates come in any order.
        pub(crate) occupancy_number: LenientCount = "occupancyNumber",
        pub(crate) name: ExactText<'a> = "name",
        pub(crate) board_type: ExactText<'a> = "boardType",
        pub(crate) board_name: ExactText<'a> = "boardName",
        pub(crate) retail_rate: Single<RetailRate<'a>> = "retailRate",
        pub(crate) cancellation_policies: Single<CancellationPolicies<'a>> = "cancellationPolicies",
        pub(crate) max_occupancy: LenientCount = "maxOccupancy",
        /// HTML text.
        pub(crate) remarks: LenientText<'a> = "remarks",
        pub(crate) perks: LenientList<Perk<'a>> = "perks",
        /// [`PREPAID`], [`PAID_AT_HOTEL`] or others.
        pub(crate) payment_types: Single<LenientList<ExactText<'a>>> = "paymentTypes",
    }

    #[derive(Debug)]
    pub(crate) struct Perk<'a> {
        pub(crate) name: LenientText<'a> = "name",
        pub(crate) amount: LenientAmount = "amount",
        pub(crate) currency: LenientText<'a> = "currency",
    }

    #[derive(Debug)]
    pub(crate) struct RetailRate<'a> {
        pub(crate) total: Single<OneOrMany<Amount<'a>>> = "total",
        pub(crate) taxes_and_fees: Single<OneOrMany<TaxOrFee<'a>>> = "taxesAndFees",
        pub(crate) promotions: OneOrMany<Promotion<'a>> = "promotions",
    }

    #[derive(Debug)]
    pub(crate) struct TaxOrFee<'a> {
        pub(crate) included: Single<LenientFlag> = "included",
        pub(crate) description: LenientText<'a> = "description",
        pub(crate) amount: Single<Decimal> = "amount",
        pub(crate) currency: Single<ExactText<'a>> = "currency",
    }

    #[derive(Debug)]
    pub(crate) struct Promotion<'a> {
        pub(crate) name: ExactText<'a> = "name",
        pub(crate) discount: LenientAmount = "discount",
        pub(crate) discount_type: ExactText<'a> = "discountType",
        pub(crate) currency: Option<ExactText<'a>> = "currency",
    }

    #[derive(Debug, Clone)]
    pub(crate) struct CancellationPolicies<'a> {
        pub(crate) cancel_policy_infos: Single<OneOrMany<CancelPolicyInfo<'a>>> = "cancelPolicyInfos",
        /// `RFN` or `NRFN`.
        pub(crate) refundable_tag: Single<ExactText<'a>> = "refundableTag",
        /// HTML texts on cancellations.
        pub(crate) hotel_remarks: LenientList<ExactText<'a>> = "hotelRemarks",
    }

    /// A penalty. Its time is always GMT, whatever `timezone` contains.
    #[derive(Debug, Clone)]
    pub(crate) struct CancelPolicyInfo<'a> {
        pub(crate) cancel_time: Single<ExactText<'a>> = "cancelTime",
        pub(crate) amount: Single<Decimal> = "amount",
        pub(crate) currency: Single<ExactText<'a>> = "currency",
        pub(crate) penalty_type: Single<ExactText<'a>> = "type",
    }

    /// A hotel's summary beside rates.
    #[derive(Debug)]
    pub(crate) struct Hotel {
        pub(crate) id: Single<String> = "id",
        pub(crate) name: String = "name",
        pub(crate) main_photo: Option<String> = "main_photo",
        pub(crate) address: Option<String> = "address",
        pub(crate) latitude: LenientNumber = "latitude",
        pub(crate) longitude: LenientNumber = "longitude",
        /// Guest rating from 0 to 10.
        pub(crate) rating: LenientNumber = "rating",
        pub(crate) stars: LenientNumber = "stars",
    }

    /// A prebook. What it binds is in fields that count only if they are unambiguous.
    #[derive(Debug)]
    pub(crate) struct Prebook<'a> {
        pub(crate) prebook_id: Essential<NonEmptyText> = "prebookId",
        pub(crate) hotel_id: Essential<String> = "hotelId",
        pub(crate) currency: Essential<String> = "currency",
        /// Price of all rooms, plus add-ons and minus vouchers.
        pub(crate) price: Essential<Decimal> = "price",
        pub(crate) addons_total_amount: Essential<Decimal> = "addonsTotalAmount",
        pub(crate) addons_request: Single<Part<LenientList<IgnoredAny>>> = "addonsRequest",
        pub(crate) voucher_total_amount: Essential<Decimal> = "voucherTotalAmount",
        pub(crate) voucher_code: Essential<NonEmptyText> = "voucherCode",
        pub(crate) room_types: Single<OneOrMany<RoomType<'a>>> = "roomTypes",
        /// HTML text.
        pub(crate) terms_and_conditions: LenientText<'a> = "termsAndConditions",
        pub(crate) is_package_rate: Essential<ExactFlag> = "isPackageRate",
        pub(crate) cancellation_changed: Essential<ExactFlag> = "cancellationChanged",
        pub(crate) board_changed: Essential<ExactFlag> = "boardChanged",
        pub(crate) transaction_id: Essential<NonEmptyText> = "transactionId",
        pub(crate) secret_key: Essential<NonEmptyText> = "secretKey",
    }
}

/// A hotel whose offers were sent as a list. [`HotelRates`] takes an empty text for a list, too.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only the form of the document counts")]
pub(crate) struct ListedHotelRates {
    room_types: Vec<IgnoredAny>,
}

impl HotelRates<'_> {
    /// Returns whether there is a list of offers without any item.
    pub(crate) fn has_empty_list(&self) -> bool {
        let room_types = self.room_types.as_ref().value();
        room_types.is_some_and(|list| list.is_empty() && list.unreadable().is_empty())
    }
}

impl<'a> RoomType<'a> {
    /// Returns whether the offer may be sold only together with another travel service.
    ///
    /// # Errors
    /// The type of the rates is repeated.
    pub(crate) fn is_package_only(&self) -> Result<bool, DecodeError> {
        let rate_type = self.rate_type.as_ref().optional("rateType")?;
        let rate_type = rate_type.map_or("", |rate_type| rate_type.as_str().trim());
        Ok(rate_type.eq_ignore_ascii_case("package"))
    }

    /// Returns whether only members of a loyalty programme may book the offer.
    ///
    /// # Errors
    /// The field is repeated.
    pub(crate) fn is_for_members(&self) -> Result<bool, DecodeError> {
        let flag = self.loyalty_membership_id_required;
        let flag = flag.optional("loyaltyMembershipIdRequired")?;
        Ok(flag.is_some_and(|flag| flag.0))
    }

    /// Returns the rates of the rooms.
    ///
    /// # Errors
    /// The rates are repeated.
    pub(crate) fn rates(&self) -> Result<&[Rate<'a>], DecodeError> {
        Ok(items(self.rates.as_ref().optional("rates")?))
    }
}

impl Rate<'_> {
    /// Returns whether the guest can pay the rate only at the hotel.
    ///
    /// # Errors
    /// The payment types are repeated.
    pub(crate) fn is_paid_at_hotel(&self) -> Result<bool, DecodeError> {
        let Some(types) = self.payment_types.as_ref().optional("paymentTypes")? else {
            return Ok(false);
        };
        let has = |name| types.iter().any(|code| code.as_str().trim() == name);
        Ok(has(PAID_AT_HOTEL) && !has(PREPAID))
    }
}

impl<'a> RetailRate<'a> {
    /// Returns the amounts that are the price together.
    ///
    /// # Errors
    /// The total is repeated.
    pub(crate) fn total(&self) -> Result<&[Amount<'a>], DecodeError> {
        Ok(items(self.total.as_ref().optional("total")?))
    }

    /// Returns the taxes and fees, or `None` if they are repeated.
    pub(crate) fn taxes_and_fees(&self) -> Option<&[TaxOrFee<'a>]> {
        let fees = self.taxes_and_fees.as_ref().optional("taxesAndFees");
        Some(items(fees.ok()?))
    }
}

impl TaxOrFee<'_> {
    /// Returns whether the price includes it, or `None` if that is not stated.
    ///
    /// # Errors
    /// The field is repeated.
    pub(crate) fn is_included(&self) -> Result<Option<bool>, DecodeError> {
        let included = self.included.optional("included")?;
        Ok(included.and_then(|included| included.0))
    }
}

impl<'a> CancellationPolicies<'a> {
    /// Returns the tag, which is empty if it is missing or repeated.
    pub(crate) fn refundable_tag(&self) -> &str {
        let tag = self.refundable_tag.as_ref().value();
        tag.map_or("", ExactText::as_str)
    }

    /// Returns the penalties, or `None` if there are none or they are repeated. Nuitee states free
    /// cancellation as a penalty of 0, so a list without penalties states nothing.
    pub(crate) fn infos(&self) -> Option<&[CancelPolicyInfo<'a>]> {
        let infos = self.cancel_policy_infos.as_ref().value()?;
        (!infos.0.is_empty()).then_some(&infos.0)
    }
}

/// Returns the items of a list, of which a missing one has none.
pub(crate) fn items<T>(list: Option<&OneOrMany<T>>) -> &[T] {
    list.map_or(&[], |list| &list.0)
}
