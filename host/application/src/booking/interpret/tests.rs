//! Helpers that the tests of all interpretations share.

use super::{CallOutcome, InterpretContext, Interpretation, ScheduleContext, SupplierGuarantees};
use crate::booking::aggregate::BookingAggregate;
use crate::id_generator::IdGenerator;
use host_domain::booking::{Booking, BookingEvent, BookingState, Named};
use host_domain::flight::TicketDetails;
use host_domain::flight::booking::{FlightBookedState, FlightBooking, FlightBookingDetails};
use host_domain::flight::supplier_api as flight_api;
use host_domain::hotel::booking::{
    CancelableState, HotelBookedState, HotelBooking, HotelBookingDetails,
};
use host_domain::hotel::supplier_api as hotel_api;
use host_domain::id::CancellationId;
use host_domain::money::{Currency, Money};
use host_domain::remote_call::{AbsenceEvidence, BackoffSchedule, RemoteCall, ResendRefusal};
use host_domain::supplier::{ChangeError, Refusal, RefusalReason, SupplierBookingStatus};
use host_domain::time::Timestamp;
use serde_json::{Value, json};

pub(super) const NOW: Timestamp = Timestamp(10_000);

pub(super) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(super) fn sent(since: i64) -> RemoteCall {
    RemoteCall::pending(Timestamp(since)).mark_sent(Timestamp(since), Timestamp(since + 5000))
}

/// A call that was sent and ended without a response.
pub(super) fn lost(since: i64, at: i64) -> RemoteCall {
    sent(since).mark_unresolved(Timestamp(at), Timestamp(at + 5000))
}

/// A call that was not found at this time, when the supplier had to show its effect.
pub(super) fn absent(call: RemoteCall, at: i64) -> RemoteCall {
    call.record_absence(Some(AbsenceEvidence::from_lookup(Timestamp(at))))
}

/// A call that was resent and then refused at this time.
pub(super) fn refused_resend(first: i64, at: i64, refusal: ResendRefusal) -> RemoteCall {
    let evidence = AbsenceEvidence::from_refusal(Timestamp(at), refusal);
    repeated(first, at).record_absence(Some(evidence))
}

/// A call that was resent as the same call.
pub(super) fn repeated(first: i64, again: i64) -> RemoteCall {
    let call = sent(first).schedule_resend(Timestamp(again));
    call.mark_sent(Timestamp(again), Timestamp(again + 5000))
}

pub(super) fn pending(since: i64) -> RemoteCall {
    sent(since).mark_accepted(Timestamp(since), Timestamp(since + 5000))
}

pub(super) fn refusal(reason: RefusalReason) -> Refusal {
    Refusal {
        reason,
        supplier_code: None,
        message: "no".into(),
    }
}

struct SameId;

impl IdGenerator for SameId {
    fn generate(&self) -> u128 {
        1
    }
}

/// Calls `with` with the schedules at [`NOW`].
pub(super) fn scheduled<T>(with: impl FnOnce(ScheduleContext<'_>) -> T) -> T {
    with(ScheduleContext {
        now: NOW,
        requested_at: NOW,
        reconcile: &BackoffSchedule::new(vec![5, 15]),
        call_retry: &BackoffSchedule::new(vec![30]),
        absence_recheck: &BackoffSchedule::new(vec![600, 3600]),
        undeclared_reads_ms: 6_000,
    })
}

pub(super) fn interpret<T>(with: impl FnOnce(&InterpretContext<'_>) -> T) -> T {
    interpret_with(consistent(None), with)
}

pub(super) fn interpret_with<T>(
    guarantees: SupplierGuarantees,
    with: impl FnOnce(&InterpretContext<'_>) -> T,
) -> T {
    scheduled(|schedules| {
        with(&InterpretContext {
            schedules,
            guarantees,
            ids: &SameId,
        })
    })
}

pub(super) fn refused(reason: RefusalReason) -> ChangeError {
    ChangeError::Refused(refusal(reason))
}

/// The refusal of an adapter that did not ask its supplier.
pub(super) fn unasked() -> ChangeError {
    ChangeError::RefusedByAdapter(refusal(RefusalReason::Invalid))
}

pub(super) fn unknown() -> ChangeError {
    ChangeError::Unknown("cut".into())
}

/// Errors after which nothing can have arrived.
pub(super) fn unsent() -> [ChangeError; 3] {
    [
        ChangeError::NotSent("refused".into()),
        ChangeError::RateLimited {
            retry_after_s: None,
        },
        ChangeError::Overloaded,
    ]
}

/// Guarantees of a supplier whose reads are consistent after this delay, or never. Its calls take no
/// time.
pub(super) fn consistent(after_ms: Option<u32>) -> SupplierGuarantees {
    SupplierGuarantees {
        reads_consistent_after_ms: after_ms,
        call_ms_max: 0,
        supports_idempotent_resend: false,
    }
}

/// Guarantees of a supplier that returns the first result for a resent reference.
pub(super) const REPEATABLE: SupplierGuarantees = SupplierGuarantees {
    reads_consistent_after_ms: None,
    call_ms_max: 0,
    supports_idempotent_resend: true,
};

/// Returns the name of the event, and the outcome of the call.
pub(super) fn named<K: SampleKind>(
    interpretation: &Interpretation<BookingEvent<K>>,
) -> (&'static str, CallOutcome) {
    (interpretation.event.name(), interpretation.outcome)
}

/// Returns a booking as it is stored.
fn booking<K: BookingAggregate>(
    supplier_reference: Option<&str>,
    state: &BookingState<K::BookedState>,
    details: &Value,
) -> Booking<K> {
    let stored = json!({
        "id": "bkg_1",
        "owner": { "tenant": { "organization": "demo", "mode": "test" }, "user": "org" },
        "version": 1,
        "supplier": "SANDBOX",
        "supplier_offer": "o",
        "supplier_prebook": "p",
        "supplier_reference": supplier_reference,
        "use_payment_sdk": false,
        "payment_collector": "gateway",
        "offer_expires_at": 1_000_000,
        "state": state,
        "payments": [],
        "created_at": 0,
        "updated_at": 0,
        "details": details,
    });
    serde_json::from_value(stored).unwrap()
}

pub(in crate::booking) trait SampleKind: BookingAggregate {
    fn completing(book: RemoteCall) -> Booking<Self> {
        Self::sample(BookingState::CompleteInProgress { book })
    }
    fn canceling(cancel: RemoteCall) -> Booking<Self>;
    fn confirmed(refresh: Option<RemoteCall>) -> Booking<Self>;
    fn sample(state: BookingState<Self::BookedState>) -> Booking<Self>;
    fn reported(status: SupplierBookingStatus) -> Self::SupplierBooking;
}

impl SampleKind for HotelBookingDetails {
    fn canceling(cancel: RemoteCall) -> HotelBooking {
        Self::sample(BookingState::Booked(HotelBookedState::CancelInProgress {
            previous: CancelableState::Confirmed,
            cancellation: CancellationId::from_bits(1),
            cancel,
        }))
    }

    fn confirmed(refresh: Option<RemoteCall>) -> HotelBooking {
        Self::sample(BookingState::Booked(HotelBookedState::Confirmed {
            refresh,
        }))
    }

    fn sample(state: BookingState<HotelBookedState>) -> HotelBooking {
        let details = json!({
            "hotel_id": "htl_1",
            "hotel": { "supplier_hotel_id": "OK", "name": "H", "address": "A" },
            "stay": {
                "check_in": "2027-01-01",
                "check_out": "2027-01-02",
                "occupancies": [{ "adults": 1, "children": [] }],
                "guest_nationality": "DE",
                "currency": "EUR",
            },
            "contact": {
                "first_name": "A",
                "last_name": "L",
                "email": "a@example.org",
                "phone": "+491",
            },
            "rooms": [],
            "total": euros(100),
            "promotions": [],
            "cancellations": [],
        });
        booking(None, &state, &details)
    }

    fn reported(status: SupplierBookingStatus) -> hotel_api::HotelSupplierBooking {
        hotel_api::HotelSupplierBooking {
            status,
            supplier_reference: "S1".into(),
            client_reference: None,
            total: euros(100),
            hotel_confirmation_code: None,
            remarks: None,
            rooms: vec![],
            policy: None,
            cancellation: None,
            has_unreadable_amounts: false,
        }
    }
}

impl SampleKind for FlightBookingDetails {
    fn canceling(cancel: RemoteCall) -> FlightBooking {
        Self::sample(BookingState::Booked(FlightBookedState::CancelInProgress {
            requested_at: NOW,
            cancel,
        }))
    }

    fn confirmed(refresh: Option<RemoteCall>) -> FlightBooking {
        Self::sample(BookingState::Booked(FlightBookedState::Confirmed {
            refresh,
        }))
    }

    fn sample(state: BookingState<FlightBookedState>) -> FlightBooking {
        let unknown = json!({ "allowed": null, "penalty": null });
        let details = json!({
            "contact": { "email": "a@example.org", "phone": "+4912345678" },
            "travellers": { "adults": 1, "children": [], "infants": 0 },
            "passengers": [],
            "offered_total": euros(100),
            "ticket_total": euros(100),
            "fare_conditions": { "refund": unknown, "change": unknown },
            "journeys": [],
            "services": [],
            "purchases": [],
            "changes": [],
            "id_sequence": 0,
            "cancellation_count": 1,
        });
        booking(Some("S1"), &state, &details)
    }

    fn reported(status: SupplierBookingStatus) -> flight_api::FlightSupplierBooking {
        flight_api::FlightSupplierBooking {
            status,
            supplier_reference: "S1".into(),
            client_reference: None,
            airline_pnr: None,
            total: euros(100),
            fare: None,
            fare_tax: None,
            journeys: vec![],
            services: vec![],
            has_unreadable_services: false,
            changes: vec![],
            cancellation: None,
            has_unreadable_amounts: false,
            details: TicketDetails::default(),
        }
    }
}
