//! Stripe's JSON, with only the fields that are used. Times are Unix seconds, currencies are
//! lower-case codes, and `amount` describes amounts.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::form::{CLIENT_REFERENCE, PAYMENT_ORIGIN};

/// Metadata of a Stripe object, which may contain keys of the gateway and of others.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Metadata(BTreeMap<String, String>);

impl Metadata {
    pub(crate) fn client_reference(&self) -> Option<&str> {
        self.0.get(CLIENT_REFERENCE).map(String::as_str)
    }

    pub(crate) fn has_payment_origin(&self, whom: &str) -> bool {
        self.0
            .get(PAYMENT_ORIGIN)
            .is_some_and(|known| known == whom)
    }
}

#[derive(Deserialize)]
pub(crate) struct PaymentIntent {
    pub(crate) id: String,
    pub(crate) status: Status,
    pub(crate) currency: String,
    /// Amount to be paid.
    pub(crate) amount: i64,
    /// Amount that was captured.
    pub(crate) amount_received: i64,
    pub(crate) metadata: Option<Metadata>,
    /// Secret with which a browser completes the payment.
    pub(crate) client_secret: Option<String>,
    /// The latest attempt. Every request expands it.
    pub(crate) latest_charge: Option<Charge>,
    pub(crate) last_payment_error: Option<Failure>,
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

#[derive(Deserialize)]
pub(crate) struct Charge {
    pub(crate) status: ChargeStatus,
    /// Amount that was authorized, if the charge succeeded.
    pub(crate) amount: i64,
    /// Refunded amount, including the authorized part that is never captured.
    pub(crate) amount_refunded: i64,
    pub(crate) payment_method_details: Option<PaymentMethod>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChargeStatus {
    Succeeded,
    Pending,
    Failed,
}

/// The reason why an attempt to pay failed.
#[derive(Deserialize)]
pub(crate) struct Failure {
    pub(crate) code: Option<String>,
    pub(crate) decline_code: Option<String>,
    pub(crate) payment_method: Option<PaymentMethod>,
}

/// A PaymentMethod, or a charge's details of one.
#[derive(Deserialize)]
pub(crate) struct PaymentMethod {
    pub(crate) id: Option<String>,
    pub(crate) card: Option<Card>,
}

#[derive(Deserialize)]
pub(crate) struct Card {
    pub(crate) brand: Option<Brand>,
    pub(crate) last4: Option<String>,
    pub(crate) funding: Option<Funding>,
    pub(crate) exp_month: u8,
    pub(crate) exp_year: u16,
    pub(crate) wallet: Option<Wallet>,
    /// Time at which the authorization expires.
    pub(crate) capture_before: Option<i64>,
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

#[derive(Deserialize)]
pub(crate) struct Wallet {
    #[serde(rename = "type")]
    pub(crate) kind: WalletKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletKind {
    ApplePay,
    GooglePay,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) status: RefundStatus,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) payment_intent: Option<String>,
    pub(crate) metadata: Option<Metadata>,
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

#[derive(Deserialize)]
pub(crate) struct Customer {
    pub(crate) id: String,
}

/// A page of a list or of a search result.
#[derive(Deserialize)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    pub(crate) has_more: bool,
}

/// The part of a webhook event that shows what the event is about.
#[derive(Deserialize)]
pub(crate) struct EventHead {
    pub(crate) id: String,
    /// `event`; other API versions use other values.
    pub(crate) object: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) data: Option<EventHeadData>,
}

#[derive(Deserialize)]
pub(crate) struct EventHeadData {
    pub(crate) object: Option<SubjectHead>,
}

#[derive(Deserialize)]
pub(crate) struct SubjectHead {
    pub(crate) object: Option<String>,
}

/// The remaining fields of an event about a payment.
#[derive(Deserialize)]
pub(crate) struct Event {
    pub(crate) created: i64,
    pub(crate) data: EventData,
}

#[derive(Deserialize)]
pub(crate) struct EventData {
    pub(crate) object: Subject,
}

/// A PaymentIntent, or an object that refers to one.
#[derive(Deserialize)]
pub(crate) struct Subject {
    pub(crate) id: String,
    pub(crate) payment_intent: Option<String>,
    pub(crate) metadata: Option<Metadata>,
}
