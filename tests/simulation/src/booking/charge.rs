//! Authorizations of the processor.

use host_domain::money::Money;
use host_domain::payment::{ProcessorPayment, ProcessorPaymentStatus};
use host_domain::time::Timestamp;

/// An authorization with its current state.
#[derive(Debug)]
pub(super) struct Charge {
    pub(super) reference: String,
    pub(super) status: ProcessorPaymentStatus,
    pub(super) amount: Money,
    /// Refunds: client reference, amount and the time from which reads return the refund.
    pub(super) refunds: Vec<(String, Money, Timestamp)>,
    pub(super) readable_from: Timestamp,
    pub(super) captured_by: Option<String>,
}

impl Charge {
    pub(super) fn refunded(&self) -> i64 {
        self.refunds.iter().map(|(_, amount, _)| amount.minor).sum()
    }

    /// Returns whether the payer's money is authorized or captured.
    pub(super) fn is_live(&self) -> bool {
        matches!(
            self.status,
            ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured
        )
    }

    /// Returns the times from which reads return the payment and its refunds.
    pub(super) fn seen_times(&mut self) -> impl Iterator<Item = &mut Timestamp> {
        let refunds = self
            .refunds
            .iter_mut()
            .map(|(_, _, readable_from)| readable_from);
        refunds.chain([&mut self.readable_from])
    }

    pub(super) fn state(&self) -> ProcessorPayment {
        let none = Money::zero(self.amount.currency);
        let captured = self.status == ProcessorPaymentStatus::Captured;
        let held = captured || self.status == ProcessorPaymentStatus::Authorized;
        ProcessorPayment {
            status: self.status,
            processor_reference: self.reference.clone(),
            authorized: if held { self.amount } else { none },
            captured: if captured { self.amount } else { none },
            refunded: Money::new(self.refunded(), self.amount.currency),
            card: None,
            expires_at: None,
        }
    }
}
