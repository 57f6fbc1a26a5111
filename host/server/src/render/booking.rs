//! Hotel bookings: the whole resource, and the summary of lists.

use crate::api::value::{IsoDate, IsoDateTime, Money};
use crate::render::cancellation::{self, Cancellation, Failure};
use crate::render::payment::{self, HotelPayment};
use crate::render::policy::{CancellationPolicy, Loyalty};
use crate::render::room::{self, BookingRoom};
use host_domain::hotel;
use host_domain::hotel::booking::{Booking, Status};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a hotel booking is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum HotelBookingStatus {
    /// Accepted by the gateway.
    Created,
    /// The supplier is asked to bind the offer.
    PrebookInProgress,
    /// Bound; waits to be completed.
    ReadyForComplete,
    /// Being paid and booked.
    CompleteInProgress,
    /// Booked.
    Confirmed,
    /// Being cancelled.
    CancelInProgress,
    /// Some rooms are released.
    PartiallyCanceled,
    /// All rooms are released.
    Canceled,
    /// Came to nothing.
    Failed,
    /// Was not completed in time.
    Expired,
}

/// The hotel of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct BookedHotel {
    #[schema(
        pattern = "^htl_[a-zA-Z0-9-]+$",
        example = "htl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Display name.
    name: String,
    /// One line.
    address: String,
}

/// Whom to write to about a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct BookingContact {
    first_name: String,
    last_name: String,
    email: String,
    phone: String,
}

/// A hotel booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelBooking {
    #[schema(
        pattern = "^bkg_[a-zA-Z0-9-]+$",
        example = "bkg_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// The caller's reference given at prebook; not unique.
    #[schema(required)]
    reference_id: Option<String>,
    /// Where it is.
    status: HotelBookingStatus,
    hotel: BookedHotel,
    /// First night.
    check_in: IsoDate,
    /// Morning of departure.
    check_out: IsoDate,
    /// What was booked; stays so after a cancellation.
    total: Money,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
    /// When the supplier confirmed.
    #[schema(required)]
    confirmed_at: Option<IsoDateTime>,
    /// When the last room was released.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// Every payment that was begun, oldest first.
    payments: Vec<HotelPayment>,
    /// Every cancellation that was begun, oldest first.
    cancellations: Vec<Cancellation>,
    /// The hotel's own number.
    #[schema(required)]
    hotel_confirmation_code: Option<String>,
    /// Plain text of the hotel for the guest.
    #[schema(required)]
    hotel_remarks: Option<String>,
    /// Until when it can be completed.
    offer_expires_at: IsoDateTime,
    /// Paid at the hotel, on top of the total, all rooms; null: nothing.
    #[schema(required)]
    due_at_property: Option<Money>,
    /// Of the whole booking; null until the offer is bound.
    #[schema(required)]
    cancellation_policy: Option<CancellationPolicy>,
    contact: BookingContact,
    /// A loyalty programme's part; null: none.
    #[schema(required)]
    loyalty: Option<Loyalty>,
    /// In the order that they were asked for.
    rooms: Vec<BookingRoom>,
    /// Present when the booking failed or a cancellation was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
}

/// A hotel booking in a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelBookingSummary {
    #[schema(
        pattern = "^bkg_[a-zA-Z0-9-]+$",
        example = "bkg_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// The caller's reference given at prebook; not unique.
    #[schema(required)]
    reference_id: Option<String>,
    /// Where it is.
    status: HotelBookingStatus,
    hotel: BookedHotel,
    /// First night.
    check_in: IsoDate,
    /// Morning of departure.
    check_out: IsoDate,
    /// What was booked.
    total: Money,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
    /// When the supplier confirmed.
    #[schema(required)]
    confirmed_at: Option<IsoDateTime>,
    /// When the last room was released.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// Every payment that was begun, oldest first, without cards.
    payments: Vec<HotelPayment>,
}

/// A booking as its own read and events show it: payments carry cards.
pub(crate) fn full(booking: &Booking) -> HotelBooking {
    let payments = booking.payments.iter().map(payment::with_cards).collect();
    HotelBooking {
        payments,
        ..without_cards(booking)
    }
}

/// A booking as a call that changes it answers.
pub(crate) fn without_cards(booking: &Booking) -> HotelBooking {
    let HotelBookingSummary {
        id,
        reference_id,
        status,
        hotel,
        check_in,
        check_out,
        total,
        created_at,
        updated_at,
        confirmed_at,
        canceled_at,
        payments,
    } = summary(booking);
    HotelBooking {
        id,
        reference_id,
        status,
        hotel,
        check_in,
        check_out,
        total,
        created_at,
        updated_at,
        confirmed_at,
        canceled_at,
        payments,
        cancellations: booking
            .cancellations
            .iter()
            .map(cancellation::cancellation)
            .collect(),
        hotel_confirmation_code: booking.hotel_confirmation_code.clone(),
        hotel_remarks: booking.hotel_remarks.clone(),
        offer_expires_at: booking.offer_expires_at.into(),
        due_at_property: booking.due_at_property().map(Money::from),
        cancellation_policy: booking.policy.as_ref().map(CancellationPolicy::from),
        contact: contact(&booking.contact),
        loyalty: booking.loyalty.as_ref().map(Loyalty::from),
        rooms: booking
            .rooms
            .iter()
            .enumerate()
            .map(|(position, room)| room::room(booking, position, room))
            .collect(),
        failure: booking.failure.as_ref().map(cancellation::failure),
    }
}

/// A booking in a list.
pub(crate) fn summary(booking: &Booking) -> HotelBookingSummary {
    HotelBookingSummary {
        id: booking.id.to_string(),
        reference_id: booking.reference_id.clone(),
        status: booking.status().into(),
        hotel: BookedHotel {
            id: booking.hotel_id.to_string(),
            name: booking.hotel.name.clone(),
            address: booking.hotel.address.clone(),
        },
        check_in: booking.stay.check_in.into(),
        check_out: booking.stay.check_out.into(),
        total: booking.total.into(),
        created_at: booking.created_at.into(),
        updated_at: booking.updated_at.into(),
        confirmed_at: booking.confirmed_at.map(IsoDateTime::from),
        canceled_at: booking.canceled_at.map(IsoDateTime::from),
        payments: booking.payments.iter().map(payment::without_cards).collect(),
    }
}

/// Whom to write to.
pub(super) fn contact(contact: &hotel::Contact) -> BookingContact {
    BookingContact {
        first_name: contact.first_name.clone(),
        last_name: contact.last_name.clone(),
        email: contact.email.clone(),
        phone: contact.phone.clone(),
    }
}

impl From<Status> for HotelBookingStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Created => Self::Created,
            Status::PrebookInProgress => Self::PrebookInProgress,
            Status::ReadyForComplete => Self::ReadyForComplete,
            Status::CompleteInProgress => Self::CompleteInProgress,
            Status::Confirmed => Self::Confirmed,
            Status::CancelInProgress => Self::CancelInProgress,
            Status::PartiallyCanceled => Self::PartiallyCanceled,
            Status::Canceled => Self::Canceled,
            Status::Failed => Self::Failed,
            Status::Expired => Self::Expired,
        }
    }
}

impl From<HotelBookingStatus> for Status {
    fn from(status: HotelBookingStatus) -> Self {
        match status {
            HotelBookingStatus::Created => Self::Created,
            HotelBookingStatus::PrebookInProgress => Self::PrebookInProgress,
            HotelBookingStatus::ReadyForComplete => Self::ReadyForComplete,
            HotelBookingStatus::CompleteInProgress => Self::CompleteInProgress,
            HotelBookingStatus::Confirmed => Self::Confirmed,
            HotelBookingStatus::CancelInProgress => Self::CancelInProgress,
            HotelBookingStatus::PartiallyCanceled => Self::PartiallyCanceled,
            HotelBookingStatus::Canceled => Self::Canceled,
            HotelBookingStatus::Failed => Self::Failed,
            HotelBookingStatus::Expired => Self::Expired,
        }
    }
}
