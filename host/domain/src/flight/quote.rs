//! The cost of cancelling a ticket now, and its source.

use crate::flight::booking::FlightBooking;
use crate::flight::supplier_api::FlightSupplierQuote;
use crate::id::PaymentId;
use crate::money::Money;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlightQuoteSource {
    /// The airline's own quote.
    SupplierQuote,
    /// The stored terms of the fare.
    FareEstimate,
}

/// The reason why a quote has no amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteUnavailableReason {
    /// The fare does not state whether, or at what price, it can be refunded.
    TermsUnknown,
    PenaltyInOtherCurrency,
    QuoteInOtherCurrency,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightCancellationQuote {
    pub source: FlightQuoteSource,
    pub checked_at: Timestamp,
    /// Time until which the airline's quote is valid.
    pub expires_at: Option<Timestamp>,
    /// Fee and refund, or the reason why they are unknown.
    pub amounts: Result<(Money, Money), QuoteUnavailableReason>,
    /// The payments that would be refunded, with their shares.
    pub refund_to: Vec<(PaymentId, Money)>,
}

impl FlightCancellationQuote {
    /// Creates a quote from the airline's response about a booking. If the airline has no quote,
    /// the fare's stored terms apply.
    pub fn new(booking: &FlightBooking, answer: &FlightSupplierQuote, now: Timestamp) -> Self {
        let paid = booking.price_or_zero();
        let (source, expires_at, amounts) = match answer {
            FlightSupplierQuote::Quoted {
                fee,
                refund,
                expires_at,
            } => {
                let amounts = if fee.currency == paid.currency && refund.currency == paid.currency {
                    Ok((*fee, refund.at_most(paid)))
                } else {
                    Err(QuoteUnavailableReason::QuoteInOtherCurrency)
                };
                (FlightQuoteSource::SupplierQuote, *expires_at, amounts)
            }
            FlightSupplierQuote::Unavailable(_) => {
                let estimate = booking.estimate_refund();
                (FlightQuoteSource::FareEstimate, None, estimate)
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

impl FlightBooking {
    /// Returns fee and refund under the fare's terms. The terms apply to the ticket; services count
    /// as not refundable.
    pub(crate) fn estimate_refund(&self) -> Result<(Money, Money), QuoteUnavailableReason> {
        let none = Money::zero(self.details.offered_total.currency);
        let ticket = self.details.ticket_total.unwrap_or(none);
        let terms = self.details.fare_conditions.refund;
        let refund = match (terms.allowed, terms.penalty) {
            (Some(false), _) => none,
            (Some(true), Some(penalty)) if penalty.currency == ticket.currency => {
                ticket.less(penalty)
            }
            (Some(true), Some(_)) => return Err(QuoteUnavailableReason::PenaltyInOtherCurrency),
            (Some(true), None) | (None, _) => return Err(QuoteUnavailableReason::TermsUnknown),
        };
        Ok((self.price_or_zero().less(refund), refund))
    }
}
