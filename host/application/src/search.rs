//! The search for anything that has an id or a reference.

use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::console::booking::BookingScopeFilter;
use host_domain::console::{AnyBooking, TenantScope};
use host_domain::id::{
    BookingId, DeliveryId, EventId, KeyId, MandateId, PaymentId, SubscriptionId, WatchId,
};
use host_domain::page::CursorRequest;

/// Result of a search. An id is not checked: whoever reads the object learns whether it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTarget {
    Booking(BookingId),
    /// Several bookings have the reference.
    Bookings,
    Delivery(DeliveryId),
    Event(EventId),
    Key(KeyId),
    Mandate(MandateId),
    Request(String),
    Subscription(SubscriptionId),
    Watch(WatchId),
}

/// Finds what an id or a reference belongs to.
pub struct SearchService {
    pub(crate) base: Base,
}

impl SearchService {
    /// Returns the target of an id, or the bookings of a scope with this reference at the supplier or
    /// of the client.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find(
        &self,
        scope: &TenantScope,
        text: &str,
    ) -> Result<Option<SearchTarget>, StorageFailure> {
        if let Some(target) = target_of_id(text) {
            return Ok(Some(target));
        }
        let filter = BookingScopeFilter {
            reference: Some(text.to_owned()),
            ..BookingScopeFilter::default()
        };
        let page = CursorRequest {
            after: None,
            limit: 1,
        };
        let found = self.base.store.booking_page(scope, &filter, &page).await?;
        if found.next.is_some() {
            return Ok(Some(SearchTarget::Bookings));
        }
        let booking = found.items.into_iter().next();
        Ok(booking.map(|booking| SearchTarget::Booking(booking_id(booking))))
    }
}

fn booking_id(booking: AnyBooking) -> BookingId {
    match booking {
        AnyBooking::Hotel(booking) => booking.id,
        AnyBooking::Flight(booking) => booking.id,
    }
}

/// Returns the target of an id with a known prefix.
fn target_of_id(text: &str) -> Option<SearchTarget> {
    let (kind, _) = text.split_once('_')?;
    match kind {
        "bkg" => BookingId::parse(text).ok().map(SearchTarget::Booking),
        "dlv" => DeliveryId::parse(text).ok().map(SearchTarget::Delivery),
        "evt" => EventId::parse(text).ok().map(SearchTarget::Event),
        "key" => KeyId::parse(text).ok().map(SearchTarget::Key),
        "mnd" => MandateId::parse(text).ok().map(SearchTarget::Mandate),
        "pay" => {
            let payment = PaymentId::parse(text).ok()?;
            payment.booking().map(SearchTarget::Booking)
        }
        // Clients may choose the ids of their requests.
        "req" => Some(SearchTarget::Request(text.to_owned())),
        "whs" => {
            let subscription = SubscriptionId::parse(text).ok();
            subscription.map(SearchTarget::Subscription)
        }
        "wtc" => WatchId::parse(text).ok().map(SearchTarget::Watch),
        _ => None,
    }
}
