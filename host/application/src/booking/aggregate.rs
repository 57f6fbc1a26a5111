//! The interface of a kind of booking that the workflow uses: its requests to suppliers, and the
//! events that follow from their responses.

use crate::booking::interpret::{InterpretContext, Interpretation};
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::id_generator::IdGenerator;
use futures::future::BoxFuture;
use host_domain::booking::{Booking, BookingEvent, BookingKind, Notification};
use host_domain::id::EventId;
use host_domain::money::Money;
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{
    BookingLookup, ChangeError, FindRequest, ReadError, SupplierBookingStatus,
};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, Supplier};
use host_storage::BookingTable;
use std::fmt::Debug;

/// The supplier's response to a call that changes something.
pub type ChangeResponse<K> = Result<<K as BookingKind>::SupplierBooking, ChangeError>;

pub type LookupResponse<K> = Result<BookingLookup<<K as BookingKind>::SupplierBooking>, ReadError>;

pub enum SupplierResponse<K: BookingKind> {
    Change(ChangeResponse<K>),
    /// The response to the lookup that reconciles such a call.
    Lookup(LookupResponse<K>),
}

#[derive(Debug, Clone, Copy)]
pub enum ChangeStep<'a, S> {
    Book,
    Cancel,
    /// Does what only this kind of booking has.
    Kind(&'a S),
}

/// A request that changes something at the supplier, and what is committed before it is sent.
pub struct PreparedChange<K: BookingAggregate> {
    pub intent: BookingEvent<K>,
    pub client_reference: String,
    pub digest: String,
    /// The request. Passengers are added when it is sent, because their documents are encrypted.
    pub request: K::ChangeRequest,
}

/// The supplier that is called, and the context of the call.
pub struct SupplierTarget<'a> {
    pub supplier: &'a Supplier,
    pub context: &'a CallContext,
    pub passenger_secrets: &'a PassengerSecrets,
}

/// A kind of booking whose steps the workflow executes.
pub trait BookingAggregate: BookingTable {
    const JOB_KIND: &'static str;
    const TEXTS: FailureTexts;
    const CAN_CANCEL_PARTIALLY: bool;

    type ChangeRequest: Clone + Debug + Send + Sync;

    /// Returns the request of a step that changes something. If its response is lost, the call is
    /// reconciled at `next_at`. Returns `None` if the part of the booking that the step concerns no
    /// longer exists.
    fn prepare_change(
        booking: &Booking<Self>,
        step: ChangeStep<'_, Self::Step>,
        next_at: Timestamp,
    ) -> Option<PreparedChange<Self>>;
    fn send_change<'a>(
        booking: &'a Booking<Self>,
        request: Self::ChangeRequest,
        call: SupplierTarget<'a>,
    ) -> BoxFuture<'a, ChangeResponse<Self>>;
    fn find<'a>(
        booking: &Booking<Self>,
        request: FindRequest,
        call: SupplierTarget<'a>,
    ) -> BoxFuture<'a, LookupResponse<Self>>;
    /// Returns the step whose call `step` reconciles. `None` means that `step` makes a change.
    fn reconciled_step(step: &Self::Step) -> Option<Self::Step>;
    fn interpret_kind_step(
        booking: &Booking<Self>,
        step: &Self::Step,
        response: SupplierResponse<Self>,
        context: &InterpretContext<'_>,
    ) -> Interpretation<BookingEvent<Self>>;

    /// Returns whether the supplier cancelled all that the current cancellation is about.
    fn is_canceled_as_requested(
        booking: &Booking<Self>,
        supplier_booking: &Self::SupplierBooking,
    ) -> bool;
    fn cancel_succeeded_event(
        supplier_booking: Box<Self::SupplierBooking>,
        ids: &dyn IdGenerator,
    ) -> Self::Event;
    /// Returns the event of a refresh, with the time of the change that caused it.
    fn refreshed_event(
        supplier_booking: Box<Self::SupplierBooking>,
        change_reported_at: Timestamp,
        ids: &dyn IdGenerator,
    ) -> Self::Event;

    /// Returns a step that only this kind has, with its call, whose outcome may be unknown.
    fn unresolved_kind_call(_booking: &Booking<Self>) -> Option<(Self::Step, &RemoteCall)> {
        None
    }
    /// Returns the event for an operator's decision about such a call: the booking as the supplier
    /// has it if the call succeeded, `None` if it was not executed.
    fn resolved_kind_event(
        step: &Self::Step,
        resolved: Option<Box<Self::SupplierBooking>>,
    ) -> Self::Event;
    /// Returns the booking as the supplier has it according to the operator.
    fn resolved_booking(
        booking: &Booking<Self>,
        supplier_reference: &str,
        status: SupplierBookingStatus,
    ) -> Self::SupplierBooking;
    /// Returns the gateway's references of the cancellations whose refund is undecided, oldest
    /// first.
    fn undecided_refunds(booking: &Booking<Self>) -> Vec<String>;
    /// Returns the event for an operator's refund amount. `client_reference` is that of an
    /// undecided refund. Returns `None` if there is no such cancellation.
    fn refund_decided_event(
        booking: &Booking<Self>,
        client_reference: &str,
        amount: Money,
        ids: &dyn IdGenerator,
    ) -> Option<Self::Event>;

    /// Returns the JSON document of an event for subscribers.
    fn event_payload(booking: &Booking<Self>, id: &EventId, notification: &Notification) -> String;
}

/// Sentences of failures that differ between the kinds of booking.
#[derive(Debug, Clone, Copy)]
pub struct FailureTexts {
    pub prebook_failed: &'static str,
    pub sold_out: &'static str,
}
