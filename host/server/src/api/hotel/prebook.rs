//! Binding an offer to contact and guests.

use crate::api::answer::{Answer, Meta};
use crate::api::caller::Caller;
use crate::api::code::Code;
use crate::api::extract::{Body, Found, IdempotencyKey, Rules, Valid};
use crate::api::problem::{ApiError, Violation};
use crate::app::App;
use crate::flow::prebook::{OfferTerms, Prebook, Prebound};
use crate::offer_reference;
use crate::render::booking::{self, HotelBooking};
use crate::render::room::GuestType;
use axum::extract::State;
use host_domain::hotel::{self, Occupancy};
use host_domain::supplier::{Checkout, SupplierId};
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Whom to write to about the booking.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContactRequest {
    #[schema(min_length = 1, max_length = 100, pattern = r"\S", example = "Ada")]
    first_name: String,
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"\S",
        example = "Lovelace"
    )]
    last_name: String,
    #[schema(
        max_length = 254,
        pattern = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$",
        example = "ada@example.com"
    )]
    email: String,
    /// With country code: 6 to 15 digits, which may be grouped by spaces, dots, hyphens and parentheses.
    #[schema(
        max_length = 40,
        pattern = r"^\+?[0-9]([ ().-]{0,2}[0-9]){5,14}$",
        example = "+442079460958"
    )]
    phone: String,
}

/// A guest of a room.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuestRequest {
    #[schema(min_length = 1, max_length = 100, pattern = r"\S", example = "Ada")]
    first_name: String,
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"\S",
        example = "Lovelace"
    )]
    last_name: String,
    /// A child is one that the offer was priced for as a child.
    #[serde(rename = "type", default = "adult")]
    #[schema(default = "ADULT")]
    guest_type: GuestType,
    /// The room's contact: exactly one adult of each room.
    #[serde(default)]
    #[schema(default = false)]
    is_lead: bool,
    /// Of a child, as the offer was priced; without it, the next age of the offer is meant.
    #[schema(minimum = 0, maximum = 17)]
    age: Option<u32>,
}

/// The guests of a room.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomRequest {
    #[schema(min_items = 1, max_items = 16)]
    guests: Vec<GuestRequest>,
}

/// An offer to bind, and who travels.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrebookRequest {
    /// From pricing; used before its `expires_at`.
    #[schema(min_length = 1, max_length = 65_536, pattern = "^[A-Za-z0-9_-]+$")]
    offer_reference: String,
    /// The caller's own reference; not unique.
    #[schema(min_length = 1, max_length = 200, example = "trip-4711")]
    reference_id: Option<String>,
    /// Whether the payer pays in a browser: `meta.payment_sdk.token` is then answered, once.
    #[serde(default)]
    #[schema(default = false)]
    use_payment_sdk: bool,
    contact: ContactRequest,
    /// In the order of the offer.
    #[schema(min_items = 1, max_items = 9)]
    rooms: Vec<RoomRequest>,
}

const fn adult() -> GuestType {
    GuestType::Adult
}

/// What a browser needs to pay.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PaymentSdk {
    /// For the payment SDK; not retrievable later.
    token: String,
}

/// What a browser needs at the supplier's own checkout.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CheckoutMeta {
    /// Where to pay; null: the supplier's SDK takes the token.
    #[schema(required)]
    url: Option<String>,
    /// Not retrievable later.
    token: String,
}

/// What is told with a bound offer, once.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PrebookMeta {
    /// The supplier that holds the offer.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// Present the first time, with `use_payment_sdk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_sdk: Option<PaymentSdk>,
    /// Present the first time, where the supplier takes the payment itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<CheckoutMeta>,
}

impl Meta for PrebookMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

impl Rules for PrebookRequest {
    fn check(&self, _: Timestamp, found: &mut Found<'_>) {
        for (index, room) in self.rooms.iter().enumerate() {
            let leads: Vec<&GuestRequest> =
                room.guests.iter().filter(|guest| guest.is_lead).collect();
            if !matches!(leads.as_slice(), [lead] if lead.guest_type == GuestType::Adult) {
                found.push(
                    format!("/rooms/{index}/guests"),
                    "one_adult_lead_required",
                    "exactly one guest of a room, an adult, is its lead",
                );
            }
            for (guest, _) in
                room.guests.iter().enumerate().filter(|(_, guest)| {
                    guest.guest_type == GuestType::Adult && guest.age.is_some()
                })
            {
                found.push(
                    format!("/rooms/{index}/guests/{guest}/age"),
                    "not_allowed",
                    "only children have an age",
                );
            }
        }
    }
}

/// Prebook an offer
///
/// Binds an offer to contact and guests, after asking the supplier for its price once more: a higher one is answered 409
/// `offer_price_changed` and nothing can be booked; an equal or lower one becomes the booking's total. The guests of each room must be the adults that it
/// was priced for and, if any child is named, the children too: as many of each `type` as the occupancy said. 201 the first time; the same key with the same
/// request gives 200 with the booking as it is now, or the same refusal.
#[utoipa::path(post, path = "/v1/hotel/prebook", tag = "Hotel bookings",
    responses((status = 201, description = "Bound."), (status = 200, description = "Bound by an earlier call with this key; the booking as it is now.")),
    extensions(("x-error-codes" = json!(["offer_invalid", "offer_expired", "offer_unavailable", "offer_price_changed", "supplier_rejected",
        "supplier_operation_unsupported", "supplier_error", "supplier_unavailable", "supplier_timeout"]))))]
pub(crate) async fn prebook_hotel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid((key, Body(request))): Valid<(IdempotencyKey, Body<PrebookRequest>)>,
) -> Result<Answer<HotelBooking, PrebookMeta>, ApiError> {
    let offer = offer_reference::read(&app.sealer, &caller.owner.tenant, &request.offer_reference)
        .ok_or(Code::OfferInvalid)?;
    let supplier = offer.supplier.clone();
    let wish = wish(caller, key, offer, request)?;
    let prebound = app
        .prebook_hotel(wish)
        .await
        .map_err(|error| ApiError::prebook(&supplier, error))?;
    Ok(match prebound {
        Prebound::Fresh {
            booking,
            sdk_token,
            checkout,
        } => Answer::created(booking::changed(&booking)).meta(meta(supplier, sdk_token, checkout)),
        Prebound::Existing(booking) => {
            Answer::ok(booking::changed(&booking)).meta(meta(booking.supplier, None, None))
        }
    })
}

fn meta(
    supplier: SupplierId,
    sdk_token: Option<String>,
    checkout: Option<Checkout>,
) -> PrebookMeta {
    PrebookMeta {
        supplier,
        payment_sdk: sdk_token.map(|token| PaymentSdk { token }),
        checkout: checkout.map(|Checkout { url, token }| CheckoutMeta { url, token }),
    }
}

fn wish(
    caller: Caller,
    key: IdempotencyKey,
    offer: OfferTerms,
    request: PrebookRequest,
) -> Result<Prebook, ApiError> {
    let rooms = guests(&offer.stay.occupancies, request.rooms)?;
    let contact = request.contact;
    Ok(Prebook {
        owner: caller.owner,
        key: key.key,
        fingerprint: key.fingerprint,
        offer,
        reference_id: request.reference_id,
        contact: hotel::Contact {
            first_name: contact.first_name,
            last_name: contact.last_name,
            email: contact.email,
            phone: contact.phone,
        },
        rooms,
        use_payment_sdk: request.use_payment_sdk,
        request_id: caller.request_id.to_string(),
        deadline: caller.deadline.instant(),
    })
}

/// Guests room by room, as the offer was priced; every violation at once.
fn guests(
    occupancies: &[Occupancy],
    rooms: Vec<RoomRequest>,
) -> Result<Vec<Vec<hotel::Guest>>, ApiError> {
    let mut violations = Vec::new();
    if rooms.len() != occupancies.len() {
        let detail = format!("the offer has {} rooms", occupancies.len());
        return Err(ApiError::violation(Violation::body(
            "/rooms",
            "other_than_offered",
            detail,
        )));
    }
    let mut guests = Vec::with_capacity(rooms.len());
    for (index, (occupancy, room)) in occupancies.iter().zip(rooms).enumerate() {
        match room_guests(occupancy, room) {
            Ok(room) => guests.push(room),
            Err(detail) => violations.push(Violation::body(
                format!("/rooms/{index}/guests"),
                "other_than_offered",
                detail,
            )),
        }
    }
    if violations.is_empty() {
        Ok(guests)
    } else {
        Err(ApiError::violations(violations))
    }
}

/// The guests of a room, children with the ages that were priced.
fn room_guests(occupancy: &Occupancy, room: RoomRequest) -> Result<Vec<hotel::Guest>, String> {
    let of_type = |wanted: GuestType| {
        room.guests
            .iter()
            .filter(move |guest| guest.guest_type == wanted)
    };
    let (adults, children) = (
        of_type(GuestType::Adult).count(),
        of_type(GuestType::Child).count(),
    );
    if adults != usize::from(occupancy.adults) {
        return Err(format!(
            "the room was priced for {} adults",
            occupancy.adults
        ));
    }
    if children != 0 && children != occupancy.children.len() {
        return Err(format!(
            "the room was priced for {} children",
            occupancy.children.len()
        ));
    }
    let mut unnamed = occupancy.children.clone();
    for age in of_type(GuestType::Child).filter_map(|guest| guest.age) {
        let at = unnamed.iter().position(|priced| u32::from(*priced) == age);
        let at = at.ok_or_else(|| format!("the room was not priced for a child of age {age}"))?;
        unnamed.remove(at);
    }
    let mut unnamed = unnamed.into_iter();
    let guests = room.guests.into_iter().map(|guest| {
        let is_child = guest.guest_type == GuestType::Child;
        let age = guest.age.and_then(|age| u8::try_from(age).ok());
        hotel::Guest {
            first_name: guest.first_name,
            last_name: guest.last_name,
            guest_type: if is_child {
                hotel::GuestType::Child
            } else {
                hotel::GuestType::Adult
            },
            is_lead: guest.is_lead,
            age: if is_child {
                age.or_else(|| unnamed.next())
            } else {
                None
            },
        }
    });
    Ok(guests.collect())
}
