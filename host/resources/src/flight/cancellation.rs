//! JSON resources of ticket cancellations, cancellation quotes and refunds.

use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::flight::booking;
use host_domain::flight::quote::{self, QuoteUnavailableReason};
use serde::Serialize;
use utoipa::ToSchema;

/// The party that refunds money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefundedByResource {
    Service,
    /// The supplier, to the means of payment used at its checkout.
    Supplier,
}

/// A payment that receives a refund.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = RefundTo)]
pub struct RefundTargetResource {
    #[schema(pattern = "^pay_[a-zA-Z0-9-]+$")]
    payment_id: String,
}

/// Fee and refund of a cancelled ticket. The payments show whether the refund has completed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightCancellationResource {
    /// Amount that the supplier keeps. Null while it is not known: the supplier cancelled the
    /// ticket without naming a fee, the fare's terms do not determine it, and an operator will set
    /// it.
    #[schema(required)]
    fee: Option<MoneyResource>,
    /// Party that pays the refund.
    refunded_by: RefundedByResource,
    /// Refund amount. Null as long as `fee` is null.
    #[schema(required)]
    refund_amount: Option<MoneyResource>,
    /// Payments that receive the refund. Empty if there is no refund or its amount is not known.
    refund_to: Vec<RefundTargetResource>,
}

/// The source of a cancellation quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FlightQuoteSourceResource {
    /// A quote by the airline.
    SupplierQuote,
    /// A calculation from the stored fare terms.
    FareEstimate,
}

/// The reason why a quote has no amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnavailableReasonResource {
    /// The fare terms do not say whether the ticket is refundable, or at what fee.
    TermsUnknown,
    /// The fare's penalty is in a different currency than the price.
    PenaltyInOtherCurrency,
    /// The airline's quote is in a different currency than the price.
    QuoteInOtherCurrency,
}

/// The part of a refund that one payment receives.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RefundShareResource {
    #[schema(pattern = "^pay_[a-zA-Z0-9-]+$")]
    payment_id: String,
    amount: MoneyResource,
}

/// The current cost of cancelling a ticket. A quote moves no money and is not binding.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightCancellationQuoteResource {
    /// Source of the amounts.
    source: FlightQuoteSourceResource,
    /// Time at which the quote was requested from the airline.
    checked_at: IsoDateTime,
    /// Time until which the airline's quote is valid. Null if it is not known.
    #[schema(required)]
    expires_at: Option<IsoDateTime>,
    /// Cancellation fee. Absent if it is not known; an absent fee does not mean a free
    /// cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<MoneyResource>,
    /// Refund amount. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    refund: Option<MoneyResource>,
    /// Distribution of the refund over the payments. Empty if there is no refund or its amount is
    /// not known.
    refund_to: Vec<RefundShareResource>,
    /// Reason why `fee` and `refund` are absent. Null if they are present.
    #[schema(required)]
    unavailable_reason: Option<UnavailableReasonResource>,
}

/// Builds fee and refund of a cancellation.
pub fn cancellation(cancellation: &booking::FlightCancellation) -> FlightCancellationResource {
    let returned = cancellation.refund.as_ref();
    let payments = returned.into_iter().flat_map(|one| &one.refund_to);
    let payments = payments.map(|id| RefundTargetResource {
        payment_id: id.to_string(),
    });
    FlightCancellationResource {
        fee: returned.map(|returned| returned.fee.into()),
        refunded_by: cancellation.refunded_by.into(),
        refund_amount: returned.map(|returned| returned.refund_amount.into()),
        refund_to: payments.collect(),
    }
}

impl From<&quote::FlightCancellationQuote> for FlightCancellationQuoteResource {
    fn from(quote: &quote::FlightCancellationQuote) -> Self {
        let (fee, refund) = quote.amounts.ok().unzip();
        let shares = quote.refund_to.iter();
        let shares = shares.map(|(id, amount)| RefundShareResource {
            payment_id: id.to_string(),
            amount: (*amount).into(),
        });
        Self {
            source: quote.source.into(),
            checked_at: quote.checked_at.into(),
            expires_at: quote.expires_at.map(IsoDateTime::from),
            fee: fee.map(MoneyResource::from),
            refund: refund.map(MoneyResource::from),
            refund_to: shares.collect(),
            unavailable_reason: quote.amounts.err().map(UnavailableReasonResource::from),
        }
    }
}

same_variants! { RefundedByResource <= booking::RefundedBy: Service, Supplier }

same_variants! {
    FlightQuoteSourceResource <= quote::FlightQuoteSource: SupplierQuote, FareEstimate
}

same_variants! {
    UnavailableReasonResource <= QuoteUnavailableReason: TermsUnknown, PenaltyInOtherCurrency,
    QuoteInOtherCurrency
}
