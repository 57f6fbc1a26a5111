//! Names of the metrics that the application records.

/// Entries of the request log and of the statistics that were not recorded, by kind.
pub const RECORDING_DROPPED_TOTAL: &str = "stopover_recording_dropped_total";
/// Failed bookings that were found at their supplier later, by supplier.
pub const ORPHANED_BOOKINGS_TOTAL: &str = "stopover_orphaned_bookings_total";
/// Events reported by suppliers, by supplier, kind and result.
pub const SUPPLIER_EVENTS_TOTAL: &str = "stopover_supplier_events_total";
/// Bookings that a supplier confirmed at another total than it bound, by supplier.
pub const BOOKED_TOTAL_DEVIATIONS_TOTAL: &str = "stopover_booked_total_deviations_total";
/// Requests to webhook endpoints, by product and result.
pub const WEBHOOK_ATTEMPTS_TOTAL: &str = "stopover_webhook_attempts_total";
/// Subscriptions that the gateway disabled.
pub const WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL: &str =
    "stopover_webhook_subscriptions_disabled_total";
/// Age of the oldest delivery that waits for an `ACTIVE` subscription.
pub const WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS: &str =
    "stopover_webhook_oldest_pending_delivery_age_seconds";
/// Price checks of watches that were due, by result.
pub const WATCH_CHECKS_TOTAL: &str = "stopover_watch_checks_total";
/// Background jobs that were parked because they never finished.
pub const JOBS_PARKED_TOTAL: &str = "stopover_jobs_parked_total";
/// Background jobs that are parked now.
pub const PARKED_JOBS: &str = "stopover_parked_jobs";
/// Calls whose outcome has been unknown for more than a day.
pub const UNRESOLVED_CALLS: &str = "stopover_unresolved_calls";
