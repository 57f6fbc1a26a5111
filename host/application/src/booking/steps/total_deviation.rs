//! Comparison of the total of a confirmed booking with the one that the supplier bound.

use crate::booking::aggregate::{BookingAggregate, SupplierResponse};
use crate::metric_names::BOOKED_TOTAL_DEVIATIONS_TOTAL;
use host_domain::booking::{Booking, ReportedBooking};
use host_domain::supplier::{BookingLookup, SupplierBookingStatus};

/// Counts and logs a booking that the supplier confirmed at another total than it bound. Returns
/// the deviation as evidence for operators. The booking stays confirmed, because the supplier has
/// it, and the payer is charged the total that was bound.
pub fn report<K: BookingAggregate>(
    booking: &Booking<K>,
    response: &SupplierResponse<K>,
) -> Option<String> {
    let supplier_booking: &K::SupplierBooking = match response {
        SupplierResponse::Change(Ok(supplier_booking)) => supplier_booking,
        SupplierResponse::Lookup(Ok(BookingLookup::Found(supplier_booking))) => supplier_booking,
        SupplierResponse::Change(Err(_))
        | SupplierResponse::Lookup(Ok(BookingLookup::NotFound) | Err(_)) => return None,
    };
    let (bound, booked) = (booking.details.booked_price(), supplier_booking.total());
    let is_confirmed = *supplier_booking.status() == SupplierBookingStatus::Confirmed;
    if !is_confirmed || booked == bound {
        return None;
    }
    let supplier = &booking.supplier;
    metrics::counter!(BOOKED_TOTAL_DEVIATIONS_TOTAL, "supplier" => supplier.to_string())
        .increment(1);
    tracing::warn!(booking = %booking.id, %supplier, %bound, %booked, "the supplier booked at another total than it bound; compare its invoice with the price that was charged");
    Some(format!(
        "{supplier} booked at {booked}, but bound at {bound}"
    ))
}
