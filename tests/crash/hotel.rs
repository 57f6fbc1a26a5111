//! Every step with a remote call in a hotel booking, each with the flow that reaches it.
//!
//! The outcome of a call is stored together with the mark of the next one, so `authorize:outcome_committed`
//! equals `book:intent_committed`: the call is marked as sent but never left.

use crate::flow::{ALL_PHASES, Flow, PHASES_OF_A_READ, Step};

pub(crate) const BOOKED: Flow = Flow::booked("SANDBOX_HOTELS", "OK");
const LOST_ANSWER: Flow = BOOKED.at("BOOK_LOST_ANSWER");
const LOST_AUTHORIZATION: Flow = BOOKED.with_card("tok_timeout");
const REFUSED: Flow = BOOKED.at("BOOK_REFUSED").failed();

/// The call is marked as sent but never left. The supplier's reads prove it, and nothing is owed.
const NEVER_SENT: Flow = BOOKED.failed();
const LOST_AND_NEVER_SENT: Flow = LOST_AUTHORIZATION.failed();
/// The booking has failed because the supplier does not have it, and is looked up again.
const NEVER_FOUND: Flow = NEVER_SENT.after("book:intent_committed");

const CANCELED: Flow = BOOKED.canceled();
/// The refund is marked as sent.
const REFUND_IN_DOUBT: Flow = CANCELED.after("refund:intent_committed");
const CANCEL_LOST_ANSWER: Flow = CANCELED.at("CANCEL_LOST_ANSWER");

pub(crate) const STEPS: &[Step] = &[
    (
        "authorize",
        &["planned", "intent_committed", "response_received"],
        BOOKED,
    ),
    ("authorize", &["outcome_committed"], NEVER_SENT),
    ("book", &["intent_committed"], NEVER_SENT),
    (
        "book",
        &["planned", "response_received", "outcome_committed"],
        BOOKED,
    ),
    ("capture", ALL_PHASES, BOOKED),
    ("find_payment", &["response_received"], LOST_AUTHORIZATION),
    ("find_payment", &["outcome_committed"], LOST_AND_NEVER_SENT),
    ("find_booking", PHASES_OF_A_READ, LOST_ANSWER),
    ("recheck_absence", PHASES_OF_A_READ, NEVER_FOUND),
    ("void", ALL_PHASES, REFUSED),
    ("cancel", ALL_PHASES, CANCELED),
    ("refund", ALL_PHASES, CANCELED),
    ("find_refund", PHASES_OF_A_READ, REFUND_IN_DOUBT),
    ("find_cancellation", PHASES_OF_A_READ, CANCEL_LOST_ANSWER),
];
