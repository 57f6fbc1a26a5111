//! JSON resources of hotel bookings: the full resource and the summary used in lists.

use crate::failure::{FailureResource, failure};
use crate::hotel::cancellation::{self, CancellationResource};
use crate::hotel::policy::{CancellationPolicyResource, LoyaltyResource};
use crate::hotel::room::{self, BookingRoomResource};
use crate::payment::{self, HotelPaymentResource};
use crate::value::{IsoDate, IsoDateTime, MoneyResource, same_variants};
use host_domain::booking::BookingStatus;
use host_domain::hotel;
use host_domain::hotel::booking::HotelBooking;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The status of a hotel booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HotelBookingStatusResource {
    /// The service has accepted the request.
    Created,
    /// The supplier is being asked to bind the offer.
    PrebookInProgress,
    /// The offer is bound and can be completed.
    ReadyForComplete,
    /// The booking is being paid and booked.
    CompleteInProgress,
    Confirmed,
    CancelInProgress,
    PartiallyCanceled,
    Canceled,
    Failed,
    /// The booking was not completed in time.
    Expired,
}

/// The hotel of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BookedHotelResource {
    #[schema(pattern = "^htl_[a-zA-Z0-9-]+$")]
    id: String,
    /// Display name.
    name: String,
    /// Address on one line.
    address: String,
}

/// The contact person of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BookingContactResource {
    first_name: String,
    last_name: String,
    email: String,
    phone: String,
}

/// A hotel booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelBookingResource {
    #[schema(pattern = "^bkg_[a-zA-Z0-9-]+$")]
    id: String,
    /// Reference that the client gave at prebook. It need not be unique.
    #[schema(required)]
    reference_id: Option<String>,
    /// Status of the booking.
    status: HotelBookingStatusResource,
    hotel: BookedHotelResource,
    /// Date of the first night.
    check_in: IsoDate,
    /// Date of departure.
    check_out: IsoDate,
    /// Booked price. A cancellation does not change it.
    total: MoneyResource,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
    /// Time at which the supplier confirmed the booking.
    #[schema(required)]
    confirmed_at: Option<IsoDateTime>,
    /// Time at which the last room was cancelled.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// All payments that were started, oldest first.
    payments: Vec<HotelPaymentResource>,
    /// All cancellations that were started, oldest first.
    cancellations: Vec<CancellationResource>,
    /// The hotel's own confirmation code.
    #[schema(required)]
    hotel_confirmation_code: Option<String>,
    /// Remarks of the hotel for the guest, without markup.
    #[schema(required)]
    hotel_remarks: Option<String>,
    /// Time until which the booking can be completed.
    offer_expires_at: IsoDateTime,
    /// Amount to pay at the hotel in addition to the total, for all rooms. Null if there is none.
    #[schema(required)]
    due_at_property: Option<MoneyResource>,
    /// Cancellation policy of the whole booking. Null until the prebook is confirmed.
    #[schema(required)]
    cancellation_policy: Option<CancellationPolicyResource>,
    contact: BookingContactResource,
    /// Loyalty programme details. Null if there are none.
    #[schema(required)]
    loyalty: Option<LoyaltyResource>,
    /// Rooms in the order in which they were requested.
    rooms: Vec<BookingRoomResource>,
    /// Reason of the failure. Present if the booking failed or a cancellation was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureResource>,
}

/// A hotel booking as an item of a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelBookingSummaryResource {
    #[schema(pattern = "^bkg_[a-zA-Z0-9-]+$")]
    id: String,
    /// Reference that the client gave at prebook. It need not be unique.
    #[schema(required)]
    reference_id: Option<String>,
    /// Status of the booking.
    status: HotelBookingStatusResource,
    hotel: BookedHotelResource,
    /// Date of the first night.
    check_in: IsoDate,
    /// Date of departure.
    check_out: IsoDate,
    /// Booked price.
    total: MoneyResource,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
    /// Time at which the supplier confirmed the booking.
    #[schema(required)]
    confirmed_at: Option<IsoDateTime>,
    /// Time at which the last room was cancelled.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// All payments that were started, oldest first, without cards.
    payments: Vec<HotelPaymentResource>,
}

/// Builds the booking for single reads and events, where payments include cards.
pub fn full_booking(booking: &HotelBooking) -> HotelBookingResource {
    let payments = booking
        .payments
        .iter()
        .map(payment::payment_with_cards)
        .collect();
    HotelBookingResource {
        payments,
        ..booking_without_cards(booking)
    }
}

/// Builds the booking for responses to changes, where payments do not include cards.
pub fn booking_without_cards(booking: &HotelBooking) -> HotelBookingResource {
    let summary = summary(booking);
    let details = &booking.details;
    let cancellations = details.cancellations.iter();
    let rooms = details.rooms.iter().enumerate();
    let rooms = rooms.map(|(position, room)| room::room(booking, position, room));
    HotelBookingResource {
        id: summary.id,
        reference_id: summary.reference_id,
        status: summary.status,
        hotel: summary.hotel,
        check_in: summary.check_in,
        check_out: summary.check_out,
        total: summary.total,
        created_at: summary.created_at,
        updated_at: summary.updated_at,
        confirmed_at: summary.confirmed_at,
        canceled_at: summary.canceled_at,
        payments: summary.payments,
        cancellations: cancellations.map(cancellation::cancellation).collect(),
        hotel_confirmation_code: details.hotel_confirmation_code.clone(),
        hotel_remarks: details.hotel_remarks.clone(),
        offer_expires_at: booking.offer_expires_at.into(),
        due_at_property: booking.due_at_property().map(MoneyResource::from),
        cancellation_policy: details
            .policy
            .as_ref()
            .map(CancellationPolicyResource::from),
        contact: contact(&details.contact),
        loyalty: details.loyalty.as_ref().map(LoyaltyResource::from),
        rooms: rooms.collect(),
        failure: booking.failure.as_ref().map(failure),
    }
}

/// Builds the booking as an item of a list.
pub fn summary(booking: &HotelBooking) -> HotelBookingSummaryResource {
    let payments = booking.payments.iter().map(payment::payment_without_cards);
    HotelBookingSummaryResource {
        id: booking.id.to_string(),
        reference_id: booking.reference_id.clone(),
        status: booking.status().into(),
        hotel: BookedHotelResource {
            id: booking.details.hotel_id.to_string(),
            name: booking.details.hotel.name.clone(),
            address: booking.details.hotel.address.clone(),
        },
        check_in: booking.details.stay.check_in.into(),
        check_out: booking.details.stay.check_out.into(),
        total: booking.details.total.into(),
        created_at: booking.created_at.into(),
        updated_at: booking.updated_at.into(),
        confirmed_at: booking.confirmed_at.map(IsoDateTime::from),
        canceled_at: booking.canceled_at.map(IsoDateTime::from),
        payments: payments.collect(),
    }
}

pub fn contact(contact: &hotel::Contact) -> BookingContactResource {
    BookingContactResource {
        first_name: contact.first_name.clone(),
        last_name: contact.last_name.clone(),
        email: contact.email.clone(),
        phone: contact.phone.clone(),
    }
}

same_variants! {
    HotelBookingStatusResource <=> BookingStatus: Created, PrebookInProgress, ReadyForComplete,
    CompleteInProgress, Confirmed, CancelInProgress, PartiallyCanceled, Canceled, Failed, Expired
}
