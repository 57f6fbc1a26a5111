//! The steps of a flight booking.

use crate::booking::aggregate::{
    BookingAggregate, ChangeResponse, ChangeStep, FailureTexts, LookupResponse, PreparedChange,
    SupplierResponse, SupplierTarget,
};
use crate::booking::execution::request_digest;
use crate::booking::interpret::{InterpretContext, Interpretation, purchase};
use crate::booking::passenger_secrets::call_context_with_documents;
use crate::id_generator::IdGenerator;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{BookingEvent, BookingKind, Failure, Notification};
use host_domain::flight::TicketDetails;
use host_domain::flight::booking::{FlightBooking, FlightBookingDetails, FlightEvent, FlightStep};
use host_domain::flight::supplier_api::{
    BuyRequest, FlightBookRequest, FlightCancelRequest, FlightSupplierBooking, ServiceOrderItem,
    SupplierService,
};
use host_domain::id::EventId;
use host_domain::money::Money;
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::{ChangeError, FindRequest, SupplierBookingStatus};
use host_domain::time::Timestamp;
use host_resources::event;

#[derive(Debug, Clone)]
pub enum FlightChangeRequest {
    /// Books. The passengers are added when it is sent, because their documents are encrypted.
    Book(FlightBookRequest),
    Cancel(FlightCancelRequest),
    BuyServices(BuyRequest),
}

impl BookingAggregate for FlightBookingDetails {
    const JOB_KIND: &'static str = "flight_booking";
    const TEXTS: FailureTexts = FailureTexts {
        prebook_failed: "The supplier did not bind the fare.",
        sold_out: "The airline has no seat left at this fare.",
    };
    const CAN_CANCEL_PARTIALLY: bool = false;

    type ChangeRequest = FlightChangeRequest;

    fn prepare_change(
        booking: &FlightBooking,
        step: ChangeStep<'_, FlightStep>,
        next_at: Timestamp,
    ) -> Option<PreparedChange<Self>> {
        Some(match step {
            ChangeStep::Cancel => {
                let request = cancel_request(booking)?;
                PreparedChange {
                    intent: BookingEvent::CancelSent { next_at },
                    client_reference: request.client_reference.clone(),
                    digest: request_digest(&request),
                    request: FlightChangeRequest::Cancel(request),
                }
            }
            ChangeStep::Kind(FlightStep::FindPurchase) => return None,
            ChangeStep::Kind(FlightStep::BuyServices) => {
                let request = purchase_request(booking)?;
                PreparedChange {
                    intent: FlightEvent::PurchaseSent { next_at }.into(),
                    client_reference: request.client_reference.clone(),
                    digest: request_digest(&request),
                    request: FlightChangeRequest::BuyServices(request),
                }
            }
            ChangeStep::Book => PreparedChange {
                intent: BookingEvent::BookSent { next_at },
                client_reference: booking.id.to_string(),
                digest: request_digest(&(&booking.supplier_prebook, booking.details.ticket_total)),
                request: FlightChangeRequest::Book(book_request(booking)),
            },
        })
    }

    fn send_change<'a>(
        booking: &'a FlightBooking,
        request: FlightChangeRequest,
        call: SupplierTarget<'a>,
    ) -> BoxFuture<'a, ChangeResponse<Self>> {
        let (supplier, context) = (call.supplier, call.context);
        let currency = booking.details.booked_price().currency;
        match request {
            FlightChangeRequest::Book(request) => send_book(booking, request, call).boxed(),
            FlightChangeRequest::Cancel(request) => {
                supplier.cancel_flight(context, request, currency).boxed()
            }
            FlightChangeRequest::BuyServices(request) => {
                let response = supplier.buy_flight_services(context, request, currency);
                response.boxed()
            }
        }
    }

    fn find<'a>(
        booking: &FlightBooking,
        request: FindRequest,
        call: SupplierTarget<'a>,
    ) -> BoxFuture<'a, LookupResponse<Self>> {
        let currency = booking.lookup_currency();
        let supplier = call.supplier;
        let response = supplier.find_flight_booking(call.context, request, currency);
        response.boxed()
    }

    fn reconciled_step(step: &FlightStep) -> Option<FlightStep> {
        match step {
            FlightStep::BuyServices => None,
            FlightStep::FindPurchase => Some(FlightStep::BuyServices),
        }
    }

    fn interpret_kind_step(
        booking: &FlightBooking,
        _step: &FlightStep,
        response: SupplierResponse<Self>,
        context: &InterpretContext<'_>,
    ) -> Interpretation<BookingEvent<Self>> {
        match response {
            SupplierResponse::Change(response) => {
                purchase::purchase_response(booking, response, context)
            }
            SupplierResponse::Lookup(response) => {
                purchase::purchase_lookup(booking, response, context)
            }
        }
    }

    fn is_canceled_as_requested(
        _booking: &FlightBooking,
        supplier_booking: &FlightSupplierBooking,
    ) -> bool {
        supplier_booking.status == SupplierBookingStatus::Canceled
    }

    fn cancel_succeeded_event(
        supplier_booking: Box<FlightSupplierBooking>,
        _ids: &dyn IdGenerator,
    ) -> FlightEvent {
        FlightEvent::CancelSucceeded(supplier_booking)
    }

    fn refreshed_event(
        supplier_booking: Box<FlightSupplierBooking>,
        change_reported_at: Timestamp,
        _ids: &dyn IdGenerator,
    ) -> FlightEvent {
        FlightEvent::Refreshed {
            supplier_booking,
            change_reported_at,
        }
    }

    fn unresolved_kind_call(booking: &FlightBooking) -> Option<(FlightStep, &RemoteCall)> {
        let call = booking.open_purchase()?.call()?;
        Some((FlightStep::BuyServices, call))
    }

    fn resolved_kind_event(
        _step: &FlightStep,
        resolved: Option<Box<FlightSupplierBooking>>,
    ) -> FlightEvent {
        match resolved {
            Some(supplier_booking) => FlightEvent::PurchaseSucceeded(supplier_booking),
            None => FlightEvent::PurchaseRefused(Failure::new(
                "purchase_failed",
                "The supplier did not sell the extras.",
            )),
        }
    }

    fn resolved_booking(
        booking: &FlightBooking,
        supplier_reference: &str,
        status: SupplierBookingStatus,
    ) -> FlightSupplierBooking {
        let details = &booking.details;
        let on_ticket = details.services.iter().map(|service| SupplierService {
            supplier_service_id: service.supplier_service_id.clone(),
            service_type: service.service_type,
            passenger: Some(service.passenger),
            supplier_segment_ids: service.supplier_segment_ids.clone(),
            baggage: service.baggage,
            quantity: service.quantity,
            unit_amount: service.unit_amount,
        });
        FlightSupplierBooking {
            status,
            supplier_reference: supplier_reference.to_owned(),
            client_reference: Some(booking.id.to_string()),
            airline_pnr: details.airline_pnr.clone(),
            total: booking.total().unwrap_or(details.offered_total),
            fare: None,
            fare_tax: None,
            journeys: Vec::new(),
            services: on_ticket.collect(),
            has_unreadable_services: false,
            changes: Vec::new(),
            cancellation: None,
            has_unreadable_amounts: false,
            details: TicketDetails::default(),
        }
    }

    fn undecided_refunds(booking: &FlightBooking) -> Vec<String> {
        match booking.is_refund_undecided() {
            true => vec![booking.id.to_string()],
            false => Vec::new(),
        }
    }

    fn refund_decided_event(
        _booking: &FlightBooking,
        _client_reference: &str,
        amount: Money,
        _ids: &dyn IdGenerator,
    ) -> Option<FlightEvent> {
        Some(FlightEvent::RefundDecided(amount))
    }

    fn event_payload(booking: &FlightBooking, id: &EventId, notification: &Notification) -> String {
        event::flight_event_payload(id, notification, booking)
    }
}

async fn send_book(
    booking: &FlightBooking,
    request: FlightBookRequest,
    call: SupplierTarget<'_>,
) -> Result<FlightSupplierBooking, ChangeError> {
    let passengers = call.passenger_secrets.open(booking);
    let passengers = passengers.map_err(|error| ChangeError::NotSent(error.to_string().into()))?;
    let context = call_context_with_documents(call.context, &passengers);
    let request = FlightBookRequest {
        passengers,
        ..request
    };
    call.supplier.book_flight(&context, request).await
}

fn book_request(booking: &FlightBooking) -> FlightBookRequest {
    FlightBookRequest {
        client_reference: booking.id.to_string(),
        supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
        total: booking.details.booked_price(),
        contact: booking.details.contact.clone(),
        passengers: Vec::new(),
    }
}

fn cancel_request(booking: &FlightBooking) -> Option<FlightCancelRequest> {
    Some(FlightCancelRequest {
        client_reference: booking.cancellation_client_reference(),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
    })
}

fn purchase_request(booking: &FlightBooking) -> Option<BuyRequest> {
    let purchase = booking.open_purchase()?;
    let services = booking.details.services.iter();
    let services = services.filter(|service| purchase.services.contains(&service.id));
    let services = services.map(|service| ServiceOrderItem {
        supplier_service_id: service.supplier_service_id.clone(),
        quantity: service.quantity,
        unit_amount: service.unit_amount,
    });
    Some(BuyRequest {
        client_reference: booking.purchase_client_reference(&purchase.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        total: purchase.total,
        services: services.collect(),
    })
}
