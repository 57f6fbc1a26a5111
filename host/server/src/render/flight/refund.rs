//! What cancelling a ticket cost, or would cost, and where a refund goes.

use crate::api::value::{IsoDateTime, Money};
use host_domain::flight::booking;
use host_domain::flight::quote::{self, QuoteUnavailableReason};
use serde::Serialize;
use utoipa::ToSchema;

/// Who gives money back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum RefundedBy {
    /// This service.
    Service,
    /// The supplier, to what paid at its checkout.
    Supplier,
}

/// A payment that gets money back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RefundTarget {
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    payment_id: String,
}

/// What the cancellation of a ticket kept and is to give back. Whether the money has arrived is
/// told by the payments.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightCancellation {
    /// Kept by the supplier. Null while it is not known: the supplier released the ticket without
    /// saying, the fare's terms do not decide it, and an operator is going to.
    #[schema(required)]
    fee: Option<Money>,
    /// Who gives the rest back.
    refunded_by: RefundedBy,
    /// How much; null as long as `fee` is.
    #[schema(required)]
    refund_amount: Option<Money>,
    /// To which payments; empty when it is nothing, or not known.
    refund_to: Vec<RefundTarget>,
}

/// Where a quote comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum FlightQuoteSource {
    /// The airline's own word.
    SupplierQuote,
    /// The stored fare terms.
    FareEstimate,
}

/// Why no amounts are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnavailableReason {
    /// The fare does not say whether, or at what price, it can be given back.
    TermsUnknown,
    /// The fare's penalty is in another currency than the price.
    PenaltyInOtherCurrency,
    /// The airline's quote is in another currency than the price.
    QuoteInOtherCurrency,
}

/// What one payment would get back.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct RefundShare {
    #[schema(
        pattern = "^pay_[a-zA-Z0-9-]+$",
        example = "pay_01976f3e4a5b7c8d9e0f112233445566"
    )]
    payment_id: String,
    amount: Money,
}

/// What cancelling a ticket would cost now. Moves no money and promises nothing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightCancellationQuote {
    /// Where it comes from.
    source: FlightQuoteSource,
    /// When the airline was asked.
    checked_at: IsoDateTime,
    /// How long the airline's word holds; null: not told.
    #[schema(required)]
    expires_at: Option<IsoDateTime>,
    /// What would be kept. Absent when it is not known: that is no free cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<Money>,
    /// What would be given back. Absent when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    refund: Option<Money>,
    /// How the refund would be spread; empty when it is nothing, or not known.
    refund_to: Vec<RefundShare>,
    /// Why `fee` and `refund` are absent; null when they are not.
    #[schema(required)]
    unavailable_reason: Option<UnavailableReason>,
}

/// What a cancellation kept and is to give back.
pub(crate) fn cancellation(cancellation: &booking::Cancellation) -> FlightCancellation {
    let returned = cancellation.refund.as_ref();
    let payments = returned
        .into_iter()
        .flat_map(|returned| &returned.refund_to);
    let payments = payments.map(|id| RefundTarget {
        payment_id: id.to_string(),
    });
    FlightCancellation {
        fee: returned.map(|returned| returned.fee.into()),
        refunded_by: match cancellation.refunded_by {
            booking::RefundedBy::Service => RefundedBy::Service,
            booking::RefundedBy::Supplier => RefundedBy::Supplier,
        },
        refund_amount: returned.map(|returned| returned.refund_amount.into()),
        refund_to: payments.collect(),
    }
}

impl From<&quote::CancellationQuote> for FlightCancellationQuote {
    fn from(quote: &quote::CancellationQuote) -> Self {
        let (fee, refund) = quote.amounts.ok().unzip();
        let shares = quote.refund_to.iter().map(|(id, amount)| RefundShare {
            payment_id: id.to_string(),
            amount: (*amount).into(),
        });
        Self {
            source: match quote.source {
                quote::QuoteSource::SupplierQuote => FlightQuoteSource::SupplierQuote,
                quote::QuoteSource::FareEstimate => FlightQuoteSource::FareEstimate,
            },
            checked_at: quote.checked_at.into(),
            expires_at: quote.expires_at.map(IsoDateTime::from),
            fee: fee.map(Money::from),
            refund: refund.map(Money::from),
            refund_to: shares.collect(),
            unavailable_reason: quote.amounts.err().map(UnavailableReason::from),
        }
    }
}

impl From<QuoteUnavailableReason> for UnavailableReason {
    fn from(reason: QuoteUnavailableReason) -> Self {
        match reason {
            QuoteUnavailableReason::TermsUnknown => Self::TermsUnknown,
            QuoteUnavailableReason::PenaltyInOtherCurrency => Self::PenaltyInOtherCurrency,
            QuoteUnavailableReason::QuoteInOtherCurrency => Self::QuoteInOtherCurrency,
        }
    }
}
