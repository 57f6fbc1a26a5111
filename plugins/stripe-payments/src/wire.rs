//! Stripe's JSON, with only the fields that are used. Times are Unix seconds, currencies are
//! lower-case codes, and `amount` describes amounts.

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, NonEmptyText, Part, Single};
use stopover_sdk::lenient_struct;

lenient_struct! {
    /// The keys of the gateway in the metadata of a Stripe object. Other keys are skipped.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Metadata {
        client_reference: Essential<String>,
        payment_origin: Essential<String> = "made_for",
    }

    /// A member that only an error response has.
    pub(crate) struct ErrorMember {
        pub(crate) error: Part<IgnoredAny>,
    }

    /// A payment. What it means is in essential fields; the rest is optional.
    pub(crate) struct PaymentIntent {
        pub(crate) id: Essential<NonEmptyText>,
        pub(crate) status: Essential<Status>,
        pub(crate) currency: Essential<NonEmptyText>,
        /// Amount to be paid.
        pub(crate) amount: Essential<i64>,
        /// Amount that was captured.
        pub(crate) amount_received: Essential<i64>,
        pub(crate) metadata: Essential<Metadata>,
        /// Secret with which a browser completes the payment.
        pub(crate) client_secret: Essential<NonEmptyText>,
        /// The latest attempt; missing before the first one. Every request expands it.
        pub(crate) latest_charge: Essential<Charge>,
        /// With a code, it declines a payment with a stored card.
        pub(crate) last_payment_error: Essential<Failure>,
    }

    /// An attempt to pay. Its amounts are essential for those of the payment.
    #[derive(Clone, PartialEq)]
    pub(crate) struct Charge {
        pub(crate) status: Essential<ChargeStatus>,
        /// Amount that was authorized, if the charge succeeded.
        pub(crate) amount: Essential<i64>,
        /// Refunded amount, including the authorized part that is never captured.
        pub(crate) amount_refunded: Essential<i64>,
        pub(crate) payment_method_details: Part<PaymentMethod>,
    }

    /// The reason why an attempt to pay failed.
    #[derive(Clone, PartialEq)]
    pub(crate) struct Failure {
        pub(crate) code: Essential<String>,
        pub(crate) decline_code: Essential<String>,
        pub(crate) payment_method: Part<PaymentMethod>,
    }

    /// A PaymentMethod, or a charge's details of one.
    #[derive(Clone, PartialEq)]
    pub(crate) struct PaymentMethod {
        pub(crate) id: Essential<NonEmptyText>,
        pub(crate) card: Part<Card>,
    }

    #[derive(Clone, PartialEq)]
    pub(crate) struct Card {
        pub(crate) brand: Part<Brand>,
        pub(crate) last4: Part<String>,
        pub(crate) funding: Part<Funding>,
        pub(crate) exp_month: Part<u8>,
        pub(crate) exp_year: Part<u16>,
        pub(crate) wallet: Part<Wallet>,
        /// Time at which the authorization expires.
        pub(crate) capture_before: Part<i64>,
    }

    pub(crate) struct Refund {
        pub(crate) id: Essential<NonEmptyText>,
        pub(crate) status: Essential<RefundStatus>,
        pub(crate) amount: Essential<i64>,
        pub(crate) currency: Essential<NonEmptyText>,
        pub(crate) payment_intent: Essential<NonEmptyText>,
        pub(crate) metadata: Essential<Metadata>,
    }

    pub(crate) struct Customer {
        pub(crate) id: Essential<NonEmptyText>,
    }

    /// A page of a list or of a search result. Its items may be unreadable.
    pub(crate) struct List<T> {
        pub(crate) data: Single<Vec<Part<T>>>,
        pub(crate) has_more: Essential<bool>,
    }

    #[derive(Clone, PartialEq)]
    pub(crate) struct Wallet {
        pub(crate) kind: Part<WalletKind> = "type",
    }

    /// A webhook event. Only an event about a payment must have the data.
    pub(crate) struct Event {
        pub(crate) id: Essential<NonEmptyText>,
        /// `event`; other API versions use other values.
        pub(crate) object: Essential<String>,
        pub(crate) kind: Essential<String> = "type",
        pub(crate) created: Essential<i64>,
        pub(crate) data: Essential<EventData>,
    }

    #[derive(Clone, PartialEq)]
    pub(crate) struct EventData {
        pub(crate) object: Essential<Subject>,
    }

    /// A PaymentIntent, or an object that refers to one.
    #[derive(Clone, PartialEq)]
    pub(crate) struct Subject {
        pub(crate) id: Essential<NonEmptyText>,
        /// Kind of the object, such as `payment_intent`.
        pub(crate) object: Essential<String>,
        pub(crate) payment_intent: Essential<NonEmptyText>,
        pub(crate) metadata: Essential<Metadata>,
    }
}

impl Metadata {
    pub(crate) fn client_reference(&self) -> Result<Option<&str>, DecodeError> {
        let reference = self.client_reference.optional("client_reference")?;
        Ok(reference.map(String::as_str))
    }

    /// Returns the party that completes the payment, or `None` if it is missing, unreadable or ambiguous.
    pub(crate) fn payment_origin(&self) -> Option<&str> {
        self.payment_origin.value().map(String::as_str)
    }
}

/// Returns an item of a list.
///
/// # Errors
/// The item is missing or cannot be decoded.
pub(crate) fn readable<T>(item: Part<T>) -> Result<T, DecodeError> {
    let item = item.into_readable()?;
    item.ok_or_else(|| DecodeError::missing("it is null"))
}

/// The complete list of statuses. A new one makes a response unreadable, because its meaning is
/// unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    Processing,
    RequiresCapture,
    Canceled,
    Succeeded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChargeStatus {
    Succeeded,
    Pending,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Brand {
    Amex,
    Diners,
    Discover,
    Jcb,
    Mastercard,
    Unionpay,
    Visa,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Funding {
    Credit,
    Debit,
    Prepaid,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletKind {
    ApplePay,
    GooglePay,
    #[serde(other)]
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefundStatus {
    Pending,
    RequiresAction,
    Succeeded,
    Failed,
    Canceled,
}
