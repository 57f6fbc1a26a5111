//! The steps of an integration until it may go live.

use crate::named_enum::named_enum;

named_enum! {
    /// A step that has happened or has not.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum GoLiveStep {
        /// A test key was created.
        TestKey = "test_key",
        /// A program has called the API with a test key.
        FirstCall = "first_call",
        /// A supplier has confirmed a booking in test mode.
        Booking = "booking",
        /// A booking in test mode was cancelled, in whole or in part.
        Cancellation = "cancellation",
        /// The outcome of a call was unknown for a time, and is known now.
        UnknownOutcome = "unknown_outcome",
        /// An endpoint has accepted an event in test mode.
        Webhook = "webhook",
        /// All admins who sign in with a password use two-factor authentication.
        TwoFactor = "two_factor",
        /// A live key that expires is active.
        LiveKey = "live_key",
    }
}
