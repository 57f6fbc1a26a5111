//! The steps of a booking's workflow. Each makes one call.

use crate::booking::Named;
use crate::payment::PaymentStep;

/// A call to make. `S` is a step that only one kind of booking has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookingStep<S> {
    Book,
    /// Reconciles a booking whose outcome is unknown.
    FindBooking,
    /// Looks up a booking that failed because its supplier did not have it.
    RecheckAbsence,
    /// Refreshes a booking after a reported change.
    Refresh,
    Cancel,
    /// Reconciles a cancellation whose outcome is unknown.
    FindCancellation,
    Kind(S),
    Payment(PaymentStep),
}

impl<S: Named> Named for BookingStep<S> {
    fn name(&self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::FindBooking => "find_booking",
            Self::RecheckAbsence => "recheck_absence",
            Self::Refresh => "refresh",
            Self::Cancel => "cancel",
            Self::FindCancellation => "find_cancellation",
            Self::Kind(step) => step.name(),
            Self::Payment(step) => step.name(),
        }
    }
}
