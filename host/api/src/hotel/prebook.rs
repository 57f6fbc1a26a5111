//! The operation that binds an offer to a contact and guests.

use crate::error_code::ErrorCode;
use crate::extract::{
    Context, IdempotencyKeyHeader, OfferBody, OfferRequest, Validate, Validated, Violations,
};
use crate::hotel::guest::{self, RoomGuestsRequest};
use crate::meta::PrebookMeta;
use crate::prebook;
use crate::response::ApiResult;
use axum::extract::State;
use host_application::booking::hotel_prebook::PrebookHotelCommand;
use host_application::booking::prebook::PrebookService;
use host_application::offers::service::OfferService;
use host_application::offers::terms::HotelOfferTerms;
use host_domain::hotel;
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_resources::hotel::booking::{self, HotelBookingResource};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Contact for the booking.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ContactRequest)]
pub(crate) struct HotelContactRequest {
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "Ada"
    )]
    first_name: String,
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$",
        example = "Lovelace"
    )]
    last_name: String,
    #[schema(
        max_length = 254,
        pattern = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$",
        example = "ada@example.com"
    )]
    email: String,
    /// Phone number with country code: 6 to 15 digits, which may be grouped by spaces, dots,
    /// hyphens and parentheses.
    #[schema(
        max_length = 40,
        pattern = r"^\+?[0-9]([ ().-]{0,2}[0-9]){5,14}$",
        example = "+442079460958"
    )]
    phone: String,
}

/// An offer to bind, with contact and guests.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PrebookRequest)]
pub(crate) struct PrebookHotelRequest {
    /// Reference from pricing, to be used before its `expires_at`.
    #[schema(
        min_length = 1,
        max_length = 65_536,
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
    contact: HotelContactRequest,
    /// Guests of each room, in the order of the offer.
    #[schema(min_items = 1, max_items = 9)]
    rooms: Vec<RoomGuestsRequest>,
}

impl From<HotelContactRequest> for hotel::Contact {
    fn from(contact: HotelContactRequest) -> Self {
        Self {
            first_name: contact.first_name,
            last_name: contact.last_name,
            email: contact.email,
            phone: contact.phone,
        }
    }
}

impl Validate for PrebookHotelRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        guest::validate_rooms(&self.rooms, "/rooms", found);
    }
}

impl OfferRequest for PrebookHotelRequest {
    type Offer = HotelOfferTerms;

    fn open_offer(&self, offers: &OfferService, tenant: &Tenant) -> Option<HotelOfferTerms> {
        offers.open_hotel_offer(tenant, &self.offer_reference)
    }

    fn validate_with(&self, offer: &HotelOfferTerms, found: &mut Violations<'_>) {
        guest::validate_occupancies(&offer.stay.occupancies, &self.rooms, "/rooms", found);
    }
}

/// Prebook an offer
///
/// Binds an offer to a contact and guests. The gateway first requests the supplier's current price.
/// If the price is higher, the response is 409 `offer_price_changed` and nothing can be booked. An
/// equal or lower price becomes the booking's total.
///
/// The guests of each room must be the adults that it was priced for and, if any child is named,
/// all its children. The number of each `type` must match the occupancy. Children need no name,
/// because suppliers book them by their age: the booking has the ages of all children in `children`
/// of their room, and in its `guests` only the children that were named, with their ages.
///
/// Responds 201 the first time. Repeating the same request with the same key responds 200 with the
/// booking in its current state, or repeats the refusal. If the supplier did not respond, nothing
/// is reserved or charged: the key is free, and a repeat binds the offer again. A supplier that
/// collects the payment may have made a checkout, so that key is free after 15 minutes.
#[utoipa::path(post, path = "/v1/hotel/prebook", tag = "Hotel bookings",
    responses((status = 201, description = "Bound."), (status = 200, description = "Bound by an earlier request with this key; the booking in its current state.")),
    extensions(("x-error-codes" = json!(["offer_invalid", "offer_expired", "offer_unavailable", "offer_price_changed", "supplier_rejected",
        "supplier_operation_unsupported", "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout",
        "result_unknown"]))))]
pub(crate) async fn prebook_hotel(
    State(prebooks): State<Arc<PrebookService>>,
    Context(context): Context,
    Validated((key, OfferBody { request, offer })): Validated<(
        IdempotencyKeyHeader,
        OfferBody<PrebookHotelRequest>,
    )>,
) -> ApiResult<HotelBookingResource, PrebookMeta> {
    let offer = offer.ok_or(ErrorCode::OfferInvalid)?;
    let supplier = offer.supplier.clone();
    let rooms = guest::to_guests(&offer.stay.occupancies, request.rooms);
    let (reference_id, sdk) = (request.reference_id, request.use_payment_sdk);
    let command = PrebookHotelCommand {
        parameters: prebook::to_prebook_parameters(context, key, reference_id, sdk),
        offer,
        contact: request.contact.into(),
        rooms,
    };
    let outcome = prebooks.prebook_hotel(command).await;
    prebook::respond(supplier, outcome, booking::booking_without_cards)
}
