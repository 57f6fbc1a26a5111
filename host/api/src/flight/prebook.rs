//! The operation that binds a fare to a contact and passengers.

use crate::error_code::ErrorCode;
use crate::extract::{
    Context, IdempotencyKeyHeader, OfferBody, OfferRequest, Validate, Validated, Violations,
};
use crate::flight::passenger::{self, PassengerRequest};
use crate::meta::PrebookMeta;
use crate::prebook;
use crate::response::{ApiResult, ResponseMeta};
use axum::extract::State;
use host_application::booking::flight_prebook::PrebookFlightCommand;
use host_application::booking::prebook::{PrebookError, PrebookOutcome, PrebookService};
use host_application::offers::service::OfferService;
use host_application::offers::terms::FlightOfferTerms;
use host_domain::flight::passenger::PassengerContact;
use host_domain::flight::{self, FlightBookingDetails};
use host_domain::owner::Tenant;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_resources::flight::booking::{self, FlightBookingResource};
use host_resources::flight::details::{self, AttachableServiceResource};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Contact for the airline.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlightContactRequest {
    #[schema(
        max_length = 254,
        pattern = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$",
        example = "ada@example.com"
    )]
    email: String,
    /// Phone number in E.164 form: `+`, country code and number, 7 to 15 digits, which may be
    /// grouped by single spaces, dots and hyphens.
    #[schema(
        max_length = 40,
        pattern = r"^\+[1-9]([ .-]?[0-9]){6,14}$",
        example = "+442079460958"
    )]
    phone: String,
}

/// A fare to bind, with contact and passengers.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrebookFlightRequest {
    /// Reference from pricing, to be used before its `expires_at`.
    #[schema(
        min_length = 1,
        max_length = 8_192,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$"
    )]
    offer_reference: String,
    /// Your own reference; need not be unique.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$",
        example = "trip-4711"
    )]
    reference_id: Option<String>,
    /// Whether the payer pays in a browser. If true, the response contains
    /// `meta.payment_sdk.token`, once.
    #[serde(default)]
    #[schema(default = false)]
    use_payment_sdk: bool,
    contact: FlightContactRequest,
    /// Passengers in any order. The number of each `type` must match the fare.
    #[schema(min_items = 1, max_items = 18)]
    passengers: Vec<PassengerRequest>,
}

impl Validate for PrebookFlightRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        passenger::validate_passengers(&self.passengers, now, found);
    }
}

impl OfferRequest for PrebookFlightRequest {
    type Offer = FlightOfferTerms;

    fn open_offer(&self, offers: &OfferService, tenant: &Tenant) -> Option<FlightOfferTerms> {
        offers.open_flight_offer(tenant, &self.offer_reference)
    }

    fn validate_with(&self, offer: &FlightOfferTerms, found: &mut Violations<'_>) {
        passenger::validate_travellers(offer, &self.passengers, found);
    }
}

/// Metadata of a prebooked fare.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FlightPrebookMeta {
    #[serde(flatten)]
    prebook: PrebookMeta,
    /// Services, such as bags and seats, that the supplier offers together with the fare. Present in
    /// the first response only, if the supplier offers any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    available_services: Vec<AttachableServiceResource>,
}

impl ResponseMeta for FlightPrebookMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        self.prebook.supplier()
    }
}

/// Prebook a fare
///
/// Binds a fare to a contact and passengers. The gateway first requests the supplier's current
/// price, with the passengers' `loyalty_accounts`. If the price is higher, the response is 409
/// `offer_price_changed` and nothing can be booked. An equal or lower price becomes the booking's
/// `total_amount`. No seat is held: the booking expires at `expires_at`.
///
/// The number of passengers of each `type` must match the fare, in any order. Travel documents are
/// required if the offer has `documents_required`. The supplier checks whether a child has the age
/// that was priced. Some suppliers allow one unfinished booking for each offer: a second one under
/// a new key is 409 `offer_in_use`. If the supplier collects the payment, `meta.checkout` says
/// where to pay before `book`. `meta.available_services` lists bags and seats that the supplier
/// offers with the fare; they are information and cannot be purchased with the ticket here.
///
/// Responds 201 the first time. Repeating the same request with the same key responds 200 with the
/// booking in its current state, or repeats the refusal. If the supplier did not respond, nothing
/// is reserved or charged: the key is free, and a repeat binds the offer again. A supplier that
/// collects the payment may have made a checkout, so that key is free after 15 minutes.
#[utoipa::path(post, path = "/v1/flight/prebook", tag = "Flight bookings",
    responses((status = 201, description = "Bound."), (status = 200, description = "Bound by an earlier request with this key; the booking in its current state.")),
    extensions(("x-error-codes" = json!(["offer_invalid", "offer_expired", "offer_unavailable", "offer_price_changed", "offer_in_use", "supplier_rejected",
        "supplier_operation_unsupported", "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout", "result_unknown"]))))]
pub(crate) async fn prebook_flight(
    State(prebooks): State<Arc<PrebookService>>,
    Context(context): Context,
    Validated((key, OfferBody { request, offer })): Validated<(
        IdempotencyKeyHeader,
        OfferBody<PrebookFlightRequest>,
    )>,
) -> ApiResult<FlightBookingResource, FlightPrebookMeta> {
    let offer = offer.ok_or(ErrorCode::OfferInvalid)?;
    let supplier = offer.supplier.clone();
    let passengers = request.passengers.into_iter();
    let passengers = passengers.map(flight::Passenger::from);
    let (reference_id, sdk) = (request.reference_id, request.use_payment_sdk);
    let command = PrebookFlightCommand {
        parameters: prebook::to_prebook_parameters(context, key, reference_id, sdk),
        offer,
        contact: to_passenger_contact(request.contact),
        passengers: (0..).zip(passengers).collect(),
    };
    respond(supplier, prebooks.prebook_flight(command).await)
}

/// Responds as other prebooks do, and with the services that the supplier offers with a new booking.
fn respond(
    supplier: SupplierId,
    outcome: Result<PrebookOutcome<FlightBookingDetails>, PrebookError>,
) -> ApiResult<FlightBookingResource, FlightPrebookMeta> {
    let available_services = match &outcome {
        Ok(PrebookOutcome::Created { booking, .. }) => details::attachable_services(booking),
        Ok(PrebookOutcome::Existing(_)) | Err(_) => Vec::new(),
    };
    let response = prebook::respond(supplier, outcome, booking::full_booking)?;
    Ok(response.map_meta(|prebook| FlightPrebookMeta {
        prebook,
        available_services,
    }))
}

fn to_passenger_contact(contact: FlightContactRequest) -> PassengerContact {
    PassengerContact {
        email: contact.email,
        phone: normalize_phone(&contact.phone),
    }
}

/// Returns a phone number in the form that airlines accept: the plus and the digits.
fn normalize_phone(phone: &str) -> String {
    let characters = phone.chars();
    characters
        .filter(|character| *character == '+' || character.is_ascii_digit())
        .collect()
}
