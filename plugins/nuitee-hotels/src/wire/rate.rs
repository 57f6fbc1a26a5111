//! `POST /hotels/rates` and `POST /rates/prebook`.

use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{
    Essential, LenientAmount, LenientCount, LenientFlag, LenientList, LenientNumber, NonEmptyText,
    OneOrMany, Single,
};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

use crate::wire::{Amount, Reference};

/// Type of payment: the rate is paid when it is booked.
pub(crate) const PREPAID: &str = "NUITEE_PAY";
/// Type of payment: the guest pays at the hotel.
pub(crate) const PAID_AT_HOTEL: &str = "PROPERTY_PAY";

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct HotelRates {
        pub(crate) hotel_id: Single<String> = "hotelId",
        pub(crate) room_types: LenientList<RoomType> = "roomTypes",
    }

    /// An offer, which Nuitee calls a room type: a rate for every requested room.
    #[derive(Debug)]
    pub(crate) struct RoomType {
        pub(crate) offer_id: Single<String> = "offerId",
        pub(crate) rates: Single<OneOrMany<Rate>> = "rates",
        /// The offer's total: a list in the schema, an object in the responses.
        pub(crate) offer_retail_rate: Single<OneOrMany<Amount>> = "offerRetailRate",
        pub(crate) loyalty_membership_id_required: LenientFlag = "loyaltyMembershipIdRequired",
        /// `standard` or `package`.
        pub(crate) rate_type: Reference = "rateType",
    }

    #[derive(Debug)]
    pub(crate) struct Rate {
        /// Number of the room. Rates come in any order.
        pub(crate) occupancy_number: LenientCount = "occupancyNumber",
        pub(crate) name: String = "name",
        pub(crate) board_type: String = "boardType",
        pub(crate) board_name: String = "boardName",
        pub(crate) retail_rate: Single<RetailRate> = "retailRate",
        pub(crate) cancellation_policies: Single<CancellationPolicies> = "cancellationPolicies",
        pub(crate) max_occupancy: LenientCount = "maxOccupancy",
        /// HTML text.
        pub(crate) remarks: Reference = "remarks",
        pub(crate) perks: LenientList<Perk> = "perks",
        /// [`PREPAID`], [`PAID_AT_HOTEL`] or others.
        pub(crate) payment_types: LenientList<String> = "paymentTypes",
    }

    #[derive(Debug)]
    pub(crate) struct Perk {
        pub(crate) name: Reference = "name",
        pub(crate) amount: LenientAmount = "amount",
        pub(crate) currency: Reference = "currency",
    }

    #[derive(Debug)]
    pub(crate) struct RetailRate {
        pub(crate) total: Single<OneOrMany<Amount>> = "total",
        pub(crate) taxes_and_fees: Single<OneOrMany<TaxOrFee>> = "taxesAndFees",
        pub(crate) promotions: OneOrMany<Promotion> = "promotions",
    }

    #[derive(Debug)]
    pub(crate) struct TaxOrFee {
        pub(crate) included: LenientFlag = "included",
        pub(crate) description: Reference = "description",
        pub(crate) amount: Single<Decimal> = "amount",
        pub(crate) currency: Single<String> = "currency",
    }

    #[derive(Debug)]
    pub(crate) struct Promotion {
        pub(crate) name: String = "name",
        pub(crate) discount: LenientAmount = "discount",
        pub(crate) discount_type: String = "discountType",
        pub(crate) currency: Option<String> = "currency",
    }

    #[derive(Debug, Clone)]
    pub(crate) struct CancellationPolicies {
        pub(crate) cancel_policy_infos: Single<OneOrMany<CancelPolicyInfo>> = "cancelPolicyInfos",
        /// `RFN` or `NRFN`.
        pub(crate) refundable_tag: Single<String> = "refundableTag",
        /// HTML texts on cancellations.
        pub(crate) hotel_remarks: LenientList<String> = "hotelRemarks",
    }

    /// A penalty. Its time is always GMT, whatever `timezone` contains.
    #[derive(Debug, Clone)]
    pub(crate) struct CancelPolicyInfo {
        pub(crate) cancel_time: Single<String> = "cancelTime",
        pub(crate) amount: Single<Decimal> = "amount",
        pub(crate) currency: Single<Reference> = "currency",
        pub(crate) penalty_type: Single<Reference> = "type",
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
    pub(crate) struct Prebook {
        pub(crate) prebook_id: Essential<NonEmptyText> = "prebookId",
        pub(crate) hotel_id: Essential<String> = "hotelId",
        pub(crate) currency: Essential<String> = "currency",
        /// Price of all rooms, plus add-ons and minus vouchers.
        pub(crate) price: Essential<Decimal> = "price",
        pub(crate) addons_total_amount: Essential<LenientAmount> = "addonsTotalAmount",
        pub(crate) voucher_total_amount: Essential<LenientAmount> = "voucherTotalAmount",
        pub(crate) room_types: Single<OneOrMany<RoomType>> = "roomTypes",
        pub(crate) is_package_rate: LenientFlag = "isPackageRate",
        pub(crate) cancellation_changed: Essential<LenientFlag> = "cancellationChanged",
        pub(crate) board_changed: Essential<LenientFlag> = "boardChanged",
        pub(crate) transaction_id: Essential<NonEmptyText> = "transactionId",
        pub(crate) secret_key: Essential<NonEmptyText> = "secretKey",
    }
}

impl RoomType {
    /// Returns whether the offer may be sold only together with another travel service.
    pub(crate) fn is_package_only(&self) -> bool {
        let rate_type = self.rate_type.as_deref();
        rate_type.is_some_and(|rate_type| rate_type.eq_ignore_ascii_case("package"))
    }

    /// Returns the rates of the rooms.
    ///
    /// # Errors
    /// The rates are repeated.
    pub(crate) fn rates(&self) -> Result<&[Rate], DecodeError> {
        Ok(items(self.rates.as_ref().optional("rates")?))
    }
}

impl Rate {
    /// Returns whether the guest can pay the rate only at the hotel.
    pub(crate) fn is_paid_at_hotel(&self) -> bool {
        let has = |name| self.payment_types.iter().any(|code| code.trim() == name);
        has(PAID_AT_HOTEL) && !has(PREPAID)
    }
}

impl RetailRate {
    /// Returns the amounts that are the price together.
    ///
    /// # Errors
    /// The total is repeated.
    pub(crate) fn total(&self) -> Result<&[Amount], DecodeError> {
        Ok(items(self.total.as_ref().optional("total")?))
    }

    /// Returns the taxes and fees, or `None` if they are repeated.
    pub(crate) fn taxes_and_fees(&self) -> Option<&[TaxOrFee]> {
        let fees = self.taxes_and_fees.as_ref().optional("taxesAndFees");
        Some(items(fees.ok()?))
    }
}

impl CancellationPolicies {
    /// Returns the tag, which is empty if it is missing or repeated.
    pub(crate) fn refundable_tag(&self) -> &str {
        let tag = self.refundable_tag.as_ref().value();
        tag.map_or("", String::as_str)
    }

    /// Returns the penalties, or `None` if they are repeated.
    pub(crate) fn infos(&self) -> Option<&[CancelPolicyInfo]> {
        let infos = self.cancel_policy_infos.as_ref();
        Some(items(infos.optional("cancelPolicyInfos").ok()?))
    }
}

/// Returns the items of a list, of which a missing one has none.
pub(crate) fn items<T>(list: Option<&OneOrMany<T>>) -> &[T] {
    list.map_or(&[], |list| &list.0)
}
