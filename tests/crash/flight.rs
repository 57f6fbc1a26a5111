//! Every step with a remote call in a flight booking or a purchase of bags, each with the flow that
//! reaches it.

use crate::flow::{EVERYWHERE, Flow, OF_A_READ, Step, Then, Way};

pub(crate) const TICKETED: Flow = Flow {
    way: Way::Flight("LHR-JFK", "SUPPLIER_A"),
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
    way: Way::Flight("STN-LHR", "SUPPLIER_A"),
    ..TICKETED
};

const DECIDED_LATER: Flow = Flow {
    way: Way::Flight("LHR-STN", "SUPPLIER_A"),
    ..TICKETED
};

const LOST_AUTHORIZATION: Flow = Flow {
    card: "tok_timeout",
    ..TICKETED
};

/// The ticket stays confirmed whatever the outcome of the capture.
const CAPTURED_LATER: Flow = Flow {
    card: "tok_capture_fails",
    ..TICKETED
};

const REFUSED: Flow = Flow {
    way: Way::Flight("LHR-LGW", "SUPPLIER_A"),
    end: "FAILED",
    ledger: &[
        ("authorization", 1),
        ("booking", 0),
        ("capture", 0),
        ("void", 1),
    ],
    ..TICKETED
};

/// The call is marked as sent but never left. The supplier's reads prove it, and nothing is owed.
const NEVER_SENT: Flow = Flow {
    way: TICKETED.way,
    ..REFUSED
};

const LOST_AND_NEVER_SENT: Flow = Flow {
    card: LOST_AUTHORIZATION.card,
    ..NEVER_SENT
};

/// The supplier collected the payment in its own checkout, so no card is charged. A booking that
/// was not sent is sent, because the payer has paid for it.
const COLLECTED: Flow = Flow {
    way: Way::Flight("LHR-JFK", "SUPPLIER_B"),
    ledger: &[("booking", 1), ("authorization", 0), ("capture", 0)],
    ..TICKETED
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
    ..TICKETED
};

/// The refund is marked as sent.
const REFUND_IN_DOUBT: Flow = Flow {
    first: Some("refund:marked"),
    ..CANCELED
};

const CANCELED_LATER: Flow = Flow {
    way: Way::Flight("AMS-DXB", "SUPPLIER_A"),
    ..CANCELED
};

/// There are two payments: the ticket's and the bag's own.
const CARRIED: Flow = Flow {
    then: Then::Bags("tok_visa", 200),
    ledger: &[
        ("authorization", 2),
        ("booking", 1),
        ("bags", 1),
        ("capture", 2),
        ("void", 0),
    ],
    ..TICKETED
};

const BAG_LOST_ANSWER: Flow = Flow {
    way: Way::Flight("BTS-LHR", "SUPPLIER_A"),
    ..CARRIED
};

const BAG_LOST_AUTHORIZATION: Flow = Flow {
    then: Then::Bags("tok_timeout", 200),
    ..CARRIED
};

/// The bag stays on the ticket whatever the outcome of the capture.
const BAG_CAPTURED_LATER: Flow = Flow {
    then: Then::Bags("tok_capture_fails", 200),
    ..CARRIED
};

/// The ticket's payment stays captured; the bag's is voided.
const BAG_REFUSED: Flow = Flow {
    way: Way::Flight("BTS-MRU", "SUPPLIER_A"),
    then: Then::Bags("tok_visa", 422),
    ledger: &[
        ("authorization", 2),
        ("booking", 1),
        ("bags", 0),
        ("capture", 1),
        ("void", 1),
    ],
    ..TICKETED
};

const BAG_NEVER_SENT: Flow = Flow {
    way: TICKETED.way,
    ..BAG_REFUSED
};

const BAG_LOST_AND_NEVER_SENT: Flow = Flow {
    then: Then::Bags("tok_timeout", 422),
    ..BAG_NEVER_SENT
};

pub(crate) const STEPS: &[Step] = &[
    ("authorize", &["chosen", "marked", "answered"], TICKETED),
    ("authorize", &["recorded"], NEVER_SENT),
    ("book", &["marked"], NEVER_SENT),
    ("book", &["chosen", "answered", "recorded"], TICKETED),
    ("book", EVERYWHERE, COLLECTED),
    ("capture", EVERYWHERE, TICKETED),
    ("capture", OF_A_READ, CAPTURED_LATER),
    ("find_payment", &["answered"], LOST_AUTHORIZATION),
    ("find_payment", &["recorded"], LOST_AND_NEVER_SENT),
    ("find_booking", OF_A_READ, LOST_ANSWER),
    ("find_booking", OF_A_READ, DECIDED_LATER),
    ("void", EVERYWHERE, REFUSED),
    ("cancel", EVERYWHERE, CANCELED),
    ("refund", EVERYWHERE, CANCELED),
    ("find_refund", OF_A_READ, REFUND_IN_DOUBT),
    ("find_cancellation", OF_A_READ, CANCELED_LATER),
];

pub(crate) const BAG_STEPS: &[Step] = &[
    ("authorize", &["chosen", "marked", "answered"], CARRIED),
    ("authorize", &["recorded"], BAG_NEVER_SENT),
    ("buy", &["marked"], BAG_NEVER_SENT),
    ("buy", &["chosen", "answered", "recorded"], CARRIED),
    ("capture", EVERYWHERE, CARRIED),
    ("capture", OF_A_READ, BAG_CAPTURED_LATER),
    ("find_payment", &["answered"], BAG_LOST_AUTHORIZATION),
    ("find_payment", &["recorded"], BAG_LOST_AND_NEVER_SENT),
    ("find_purchase", OF_A_READ, BAG_LOST_ANSWER),
    ("void", EVERYWHERE, BAG_REFUSED),
];
