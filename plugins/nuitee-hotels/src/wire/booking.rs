//! `POST /rates/book` and `GET|PUT /bookings`. What these responses mean is in essential fields. Every
//! other part is optional: if it cannot be read, the booking still can. The parts that decide money are
//! unreadable if they are repeated.

use stopover_sdk::lenient::{
    Essential, LenientCount, LenientFlag, LenientList, NonEmptyText, OneOrMany, Part, Single,
};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

use crate::wire::rate::CancellationPolicies;
use crate::wire::{Amount, LenientTextList};

/// The policies of a booking or a room. Repeated ones are unreadable.
type BookedPolicies<'a> = Single<Part<CancellationPolicies<'a>>>;

lenient_struct! {
    #[derive(Debug)]
    pub(crate) struct Booking<'a> {
        pub(crate) booking_id: Essential<NonEmptyText> = "bookingId",
        pub(crate) client_reference: Essential<String> = "clientReference",
        pub(crate) status: Essential<NonEmptyText> = "status",
        pub(crate) currency: Essential<NonEmptyText> = "currency",
        pub(crate) price: Essential<Decimal> = "price",
        pub(crate) addons_total_amount: Essential<Decimal> = "addonsTotalAmount",
        pub(crate) voucher_total_amount: Essential<Decimal> = "voucherTotalAmount",
        pub(crate) amount_refunded: Essential<Decimal> = "amountRefunded",
        pub(crate) supplier_booking_id: Essential<NonEmptyText> = "supplierBookingId",
        pub(crate) hotel_confirmation_code: Essential<NonEmptyText> = "hotelConfirmationCode",
        pub(crate) booked_rooms: Single<Part<LenientList<SupplierRoom<'a>>>> = "bookedRooms",
        /// Rooms of a listed booking, which uses this name for `booked_rooms`.
        pub(crate) rooms: Single<Part<LenientList<SupplierRoom<'a>>>> = "rooms",
        pub(crate) cancellation_policies: BookedPolicies<'a> = "cancellationPolicies",
        pub(crate) last_free_cancellation_date: Essential<NonEmptyText> = "lastFreeCancellationDate",
        /// HTML text.
        pub(crate) remarks: Part<LenientTextList> = "remarks",
        pub(crate) hotel_remarks: Part<LenientTextList> = "hotelRemarks",
        pub(crate) mandatory_fees: Part<LenientTextList> = "mandatoryFees",
        pub(crate) optional_fees: Part<LenientTextList> = "optionalFees",
        pub(crate) know_before_you_go: Part<LenientTextList> = "knowBeforeYouGo",
        pub(crate) sandbox: LenientFlag = "sandbox",
    }

    #[derive(Debug)]
    pub(crate) struct SupplierRoom<'a> {
        pub(crate) occupancy_number: Essential<LenientCount> = "occupancy_number",
        pub(crate) cancellation_policies: BookedPolicies<'a> = "cancellationPolicies",
        pub(crate) rate: Single<Part<BookedRate<'a>>> = "rate",
    }

    #[derive(Debug)]
    pub(crate) struct BookedRate<'a> {
        pub(crate) retail_rate: Single<Part<BookedRetailRate<'a>>> = "retailRate",
        pub(crate) cancellation_policies: BookedPolicies<'a> = "cancellationPolicies",
    }

    #[derive(Debug)]
    pub(crate) struct BookedRetailRate<'a> {
        /// The total: an object here, a list in rates.
        pub(crate) total: Single<Part<OneOrMany<Amount<'a>>>> = "total",
    }

    #[derive(Debug)]
    pub(crate) struct Cancellation {
        pub(crate) booking_id: Essential<NonEmptyText> = "bookingId",
        pub(crate) status: Essential<NonEmptyText> = "status",
        pub(crate) cancellation_fee: Essential<Decimal> = "cancellation_fee",
        pub(crate) refund_amount: Essential<Decimal> = "refund_amount",
        pub(crate) currency: Essential<NonEmptyText> = "currency",
    }
}
