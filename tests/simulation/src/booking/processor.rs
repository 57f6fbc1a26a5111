//! The processor: authorizations and their captures, voids and refunds.

use super::charge::Charge;
use super::external_systems::ExternalSystems;
use host_domain::money::Money;
use host_domain::payment::{DeclineReason, PaymentError, ProcessorPayment, ProcessorPaymentStatus};
use host_domain::time::Timestamp;

impl ExternalSystems<'_> {
    /// Creates a payment that the payer completes in a browser.
    pub(super) fn create_browser_payment(
        &mut self,
        reference: String,
        amount: Money,
        now: Timestamp,
    ) {
        self.charges.push(Charge {
            reference,
            status: ProcessorPaymentStatus::RequiresAction,
            amount,
            refunds: Vec::new(),
            readable_from: now,
            captured_by: None,
        });
    }

    pub(super) fn complete_in_browser(&mut self) -> bool {
        let declines = self.injects_fault(20);
        let mut charges = self.charges.iter_mut();
        let waits = charges.find(|charge| charge.status == ProcessorPaymentStatus::RequiresAction);
        let Some(charge) = waits else { return false };
        charge.status = if declines {
            ProcessorPaymentStatus::Declined
        } else {
            ProcessorPaymentStatus::Authorized
        };
        true
    }

    pub(super) fn authorize(
        &mut self,
        reference: &str,
        amount: Money,
        now: Timestamp,
    ) -> Result<ProcessorPayment, PaymentError> {
        if self.injects_fault(12) {
            let declines = [
                DeclineReason::InsufficientFunds,
                DeclineReason::RequiresAction,
            ];
            return Err(PaymentError::Declined(self.random.one_of(&declines)));
        }
        if self.charge(reference).is_ok() {
            self.report_violation(format!("{reference} is authorized twice"));
        }
        let charge = Charge {
            reference: reference.to_owned(),
            status: ProcessorPaymentStatus::Authorized,
            amount,
            refunds: Vec::new(),
            readable_from: self.readable(self.scenario.processor, now),
            captured_by: None,
        };
        let state = charge.state();
        self.charges.push(charge);
        Ok(state)
    }

    fn charge(&mut self, id: &str) -> Result<&mut Charge, PaymentError> {
        let mut charges = self.charges.iter_mut();
        let found = charges.find(|charge| charge.reference == id);
        found.ok_or_else(|| PaymentError::Refused("no such charge".to_owned()))
    }

    pub(super) fn capture(
        &mut self,
        reference: &str,
        id: &str,
    ) -> Result<ProcessorPayment, PaymentError> {
        let refuses = self.injects_fault(8);
        let charge = self.charge(id)?;
        match charge.status {
            ProcessorPaymentStatus::Authorized if refuses => {
                Err(PaymentError::Refused("not now".to_owned()))
            }
            ProcessorPaymentStatus::Authorized => {
                charge.status = ProcessorPaymentStatus::Captured;
                charge.captured_by = Some(reference.to_owned());
                Ok(charge.state())
            }
            ProcessorPaymentStatus::Captured
                if charge.captured_by.as_deref() == Some(reference) =>
            {
                Ok(charge.state())
            }
            // The payment may have been captured by this call under another reference, so this is
            // not a definitive refusal.
            ProcessorPaymentStatus::Captured => {
                Err(PaymentError::Unknown("already captured".into()))
            }
            _ => Err(PaymentError::Refused("nothing is authorized".to_owned())),
        }
    }

    pub(super) fn void(&mut self, id: &str) -> Result<ProcessorPayment, PaymentError> {
        let charge = self.charge(id)?;
        match charge.status {
            ProcessorPaymentStatus::Captured => {
                Err(PaymentError::Refused("it is captured".to_owned()))
            }
            ProcessorPaymentStatus::Declined => {
                Err(PaymentError::Refused("nothing is authorized".to_owned()))
            }
            _ => {
                charge.status = ProcessorPaymentStatus::Voided;
                Ok(charge.state())
            }
        }
    }

    pub(super) fn refund(
        &mut self,
        reference: &str,
        id: &str,
        amount: Money,
        now: Timestamp,
    ) -> Result<String, PaymentError> {
        if self.injects_fault(8) {
            return Err(PaymentError::Refused("not now".to_owned()));
        }
        let readable_from = self.readable(self.scenario.processor, now);
        let charge = self.charge(id)?;
        if charge.status != ProcessorPaymentStatus::Captured {
            return Err(PaymentError::Refused("nothing is captured".to_owned()));
        }
        if charge.refunded() + amount.minor > charge.amount.minor {
            let violation = format!("{reference} refunds more than was captured");
            self.report_violation(violation);
            return Err(PaymentError::Refused("too much".to_owned()));
        }
        charge
            .refunds
            .push((reference.to_owned(), amount, readable_from));
        Ok(reference.to_owned())
    }
}
