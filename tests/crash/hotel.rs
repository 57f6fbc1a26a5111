//! Every step with a remote call in a hotel booking, each with the flow that reaches it.
//!
//! The outcome of a call is stored together with the mark of the next one, so `authorize:recorded`
//! equals `book:marked`: the call is marked as sent but never left.

use crate::flow::{EVERYWHERE, Flow, OF_A_READ, Step, Then, Way};

pub(crate) const BOOKED: Flow = Flow {
    way: Way::Hotel("OK"),
    card: "tok_visa",
    then: Then::Nothing,
    first: None,
    end: "CONFIRMED",
    ledger: &[
        ("authorization", 1),
        ("booking", 1),
        ("capture", 1),
        ("void", 0),
    ],
};

const LOST_ANSWER: Flow = Flow {
    way: Way::Hotel("BOOK_LOST_ANSWER"),
    ..BOOKED
};

const LOST_AUTHORIZATION: Flow = Flow {
    card: "tok_timeout",
    ..BOOKED
};

const REFUSED: Flow = Flow {
    way: Way::Hotel("BOOK_REFUSED"),
    end: "FAILED",
    ledger: &[
        ("authorization", 1),
        ("booking", 0),
        ("capture", 0),
        ("void", 1),
    ],
    ..BOOKED
};

/// The call is marked as sent but never left. The supplier's reads prove it, and nothing is owed.
const NEVER_SENT: Flow = Flow {
    way: BOOKED.way,
    ..REFUSED
};

const LOST_AND_NEVER_SENT: Flow = Flow {
    card: LOST_AUTHORIZATION.card,
    ..NEVER_SENT
};

const CANCELED: Flow = Flow {
    then: Then::Cancel,
    end: "CANCELED",
    ledger: &[
        ("authorization", 1),
        ("booking", 1),
        ("capture", 1),
        ("cancellation", 1),
        ("refund", 1),
    ],
    ..BOOKED
};

/// The refund is marked as sent.
const REFUND_IN_DOUBT: Flow = Flow {
    first: Some("refund:marked"),
    ..CANCELED
};

const CANCEL_LOST_ANSWER: Flow = Flow {
    way: Way::Hotel("CANCEL_LOST_ANSWER"),
    ..CANCELED
};

pub(crate) const STEPS: &[Step] = &[
    ("authorize", &["chosen", "marked", "answered"], BOOKED),
    ("authorize", &["recorded"], NEVER_SENT),
    ("book", &["marked"], NEVER_SENT),
    ("book", &["chosen", "answered", "recorded"], BOOKED),
    ("capture", EVERYWHERE, BOOKED),
    ("find_payment", &["answered"], LOST_AUTHORIZATION),
    ("find_payment", &["recorded"], LOST_AND_NEVER_SENT),
    ("find_booking", OF_A_READ, LOST_ANSWER),
    ("void", EVERYWHERE, REFUSED),
    ("cancel", EVERYWHERE, CANCELED),
    ("refund", EVERYWHERE, CANCELED),
    ("find_refund", OF_A_READ, REFUND_IN_DOUBT),
    ("find_cancellation", OF_A_READ, CANCEL_LOST_ANSWER),
];
