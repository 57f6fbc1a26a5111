//! What cancelling a ticket would cost now, and where that is known from.

use crate::flight::booking::Booking;
use crate::flight::supply::SupplierQuote;
use crate::id::PaymentId;
use crate::money::Money;
use crate::time::Timestamp;

/// Where a quote comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteSource {
    /// The airline's own word.
    SupplierQuote,
    /// The stored fare terms.
    FareEstimate,
}

/// Why no amounts are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteUnavailableReason {
    /// The fare does not say whether, or at what price, it can be given back.
    TermsUnknown,
    /// The penalty is in another currency than the price.
    PenaltyInOtherCurrency,
    /// The airline's quote is in another currency than the price.
    QuoteInOtherCurrency,
}

/// What cancelling would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancellationQuote {
    /// Where it comes from.
    pub source: QuoteSource,
    /// When it was asked.
    pub checked_at: Timestamp,
    /// How long the airline's word holds.
    pub expires_at: Option<Timestamp>,
    /// Fee and refund, or why they are not known.
    pub amounts: Result<(Money, Money), QuoteUnavailableReason>,
    /// Where a refund would go, and how much of it.
    pub refund_to: Vec<(PaymentId, Money)>,
}

impl CancellationQuote {
    /// From the airline's answer about a booking; from its stored terms where
    /// the airline has none.
    #[must_use]
    pub fn new(booking: &Booking, answer: &SupplierQuote, now: Timestamp) -> Self {
        let paid = booking
            .total()
            .unwrap_or(Money::zero(booking.offered_total.currency));
        let (source, expires_at, amounts) = match answer {
            SupplierQuote::Quoted {
                fee,
                refund,
                expires_at,
            } => {
                let amounts = if fee.currency == paid.currency && refund.currency == paid.currency {
                    Ok((*fee, refund.at_most(paid)))
                } else {
                    Err(QuoteUnavailableReason::QuoteInOtherCurrency)
                };
                (QuoteSource::SupplierQuote, *expires_at, amounts)
            }
            SupplierQuote::Unavailable(_) => {
                let estimate = booking.estimate_refund();
                (QuoteSource::FareEstimate, None, estimate)
            }
        };
        let refund_to = match amounts {
            Ok((_, refund)) => booking.allocate_refund(refund),
            Err(_) => Vec::new(),
        };
        Self {
            source,
            checked_at: now,
            expires_at,
            amounts,
            refund_to,
        }
    }
}

impl Booking {
    /// Fee and refund by the fare's terms. They speak of the ticket: extras are
    /// taken to be lost.
    pub(crate) fn estimate_refund(&self) -> Result<(Money, Money), QuoteUnavailableReason> {
        let none = Money::zero(self.offered_total.currency);
        let (ticket, paid) = (self.ticket_total.unwrap_or(none), self.total().unwrap_or(none));
        let terms = self.fare_conditions.refund;
        let refund = match (terms.allowed, terms.penalty) {
            (Some(false), _) => none,
            (Some(true), Some(penalty)) if penalty.currency == ticket.currency => {
                ticket.less(penalty)
            }
            (Some(true), Some(_)) => return Err(QuoteUnavailableReason::PenaltyInOtherCurrency),
            (Some(true), None) | (None, _) => return Err(QuoteUnavailableReason::TermsUnknown),
        };
        Ok((paid.less(refund), refund))
    }
}
