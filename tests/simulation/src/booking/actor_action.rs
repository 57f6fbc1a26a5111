//! Actions of a scenario's actors.

use host_domain::booking::ChangeSource;

/// An action of the client, the payer, the supplier, the processor or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActorAction {
    Book,
    /// The payer completes the payment in a browser or at the supplier's checkout.
    Pay,
    Cancel,
    /// The client cancels some of the rooms.
    CancelRooms,
    BuyBags,
    /// The supplier or the processor reports a change.
    ReportChange(ChangeSource),
    SupplierCancels,
    /// An operator resolves an unknown outcome.
    ResolveOutcome,
}
