//! Every step with a remote call in a flight booking or a purchase of bags, each with the flow that
//! reaches it.

use crate::flow::{ALL_PHASES, Flow, FollowUp, PHASES_OF_A_READ, Step};

pub(crate) const TICKETED: Flow = Flow::booked("SUPPLIER_A", "LHR-JFK");
const LOST_ANSWER: Flow = TICKETED.at("STN-LHR");
const DECIDED_LATER: Flow = TICKETED.at("LHR-STN");
const LOST_AUTHORIZATION: Flow = TICKETED.with_card("tok_timeout");
/// The ticket stays confirmed whatever the outcome of the capture.
const CAPTURED_LATER: Flow = TICKETED.with_card("tok_capture_fails");
const REFUSED: Flow = TICKETED.at("LHR-LGW").failed();

/// The call is marked as sent but never left. The supplier's reads prove it, and nothing is owed.
const NEVER_SENT: Flow = TICKETED.failed();
const LOST_AND_NEVER_SENT: Flow = LOST_AUTHORIZATION.failed();
/// The booking has failed because the supplier does not have it, and is looked up again.
const NEVER_FOUND: Flow = NEVER_SENT.after("book:intent_committed");

/// The supplier collected the payment in its own checkout, so no card is charged. A booking that
/// was not sent is sent, because the payer has paid for it.
const PAID_AT_CHECKOUT: Flow = Flow {
    ledger: &[("booking", 1), ("authorization", 0), ("capture", 0)],
    ..Flow::booked("SUPPLIER_B", "LHR-JFK")
};

const CANCELED: Flow = TICKETED.canceled();
/// The refund is marked as sent.
const REFUND_IN_DOUBT: Flow = CANCELED.after("refund:intent_committed");
const CANCELED_LATER: Flow = CANCELED.at("AMS-DXB");

/// There are two payments: the ticket's and the bag's own.
const BAG_BOUGHT: Flow = Flow {
    follow_up: FollowUp::Bags("tok_visa", 200),
    ledger: &[
        ("authorization", 2),
        ("booking", 1),
        ("bags", 1),
        ("capture", 2),
        ("void", 0),
    ],
    ..TICKETED
};

const BAG_LOST_ANSWER: Flow = BAG_BOUGHT.at("BTS-LHR");

const BAG_LOST_AUTHORIZATION: Flow = Flow {
    follow_up: FollowUp::Bags("tok_timeout", 200),
    ..BAG_BOUGHT
};

/// The bag stays on the ticket whatever the outcome of the capture.
const BAG_CAPTURED_LATER: Flow = Flow {
    follow_up: FollowUp::Bags("tok_capture_fails", 200),
    ..BAG_BOUGHT
};

/// The ticket's payment stays captured; the bag's is voided.
const BAG_REFUSED: Flow = Flow {
    follow_up: FollowUp::Bags("tok_visa", 422),
    ledger: &[
        ("authorization", 2),
        ("booking", 1),
        ("bags", 0),
        ("capture", 1),
        ("void", 1),
    ],
    ..TICKETED.at("BTS-MRU")
};

const BAG_NEVER_SENT: Flow = BAG_REFUSED.at("LHR-JFK");

const BAG_LOST_AND_NEVER_SENT: Flow = Flow {
    follow_up: FollowUp::Bags("tok_timeout", 422),
    ..BAG_NEVER_SENT
};

pub(crate) const STEPS: &[Step] = &[
    (
        "authorize",
        &["planned", "intent_committed", "response_received"],
        TICKETED,
    ),
    ("authorize", &["outcome_committed"], NEVER_SENT),
    ("book", &["intent_committed"], NEVER_SENT),
    (
        "book",
        &["planned", "response_received", "outcome_committed"],
        TICKETED,
    ),
    ("book", ALL_PHASES, PAID_AT_CHECKOUT),
    ("capture", ALL_PHASES, TICKETED),
    ("capture", PHASES_OF_A_READ, CAPTURED_LATER),
    ("find_payment", &["response_received"], LOST_AUTHORIZATION),
    ("find_payment", &["outcome_committed"], LOST_AND_NEVER_SENT),
    ("find_booking", PHASES_OF_A_READ, LOST_ANSWER),
    ("recheck_absence", PHASES_OF_A_READ, NEVER_FOUND),
    ("find_booking", PHASES_OF_A_READ, DECIDED_LATER),
    ("void", ALL_PHASES, REFUSED),
    ("cancel", ALL_PHASES, CANCELED),
    ("refund", ALL_PHASES, CANCELED),
    ("find_refund", PHASES_OF_A_READ, REFUND_IN_DOUBT),
    ("find_cancellation", PHASES_OF_A_READ, CANCELED_LATER),
];

pub(crate) const BAG_STEPS: &[Step] = &[
    (
        "authorize",
        &["planned", "intent_committed", "response_received"],
        BAG_BOUGHT,
    ),
    ("authorize", &["outcome_committed"], BAG_NEVER_SENT),
    ("buy", &["intent_committed"], BAG_NEVER_SENT),
    (
        "buy",
        &["planned", "response_received", "outcome_committed"],
        BAG_BOUGHT,
    ),
    ("capture", ALL_PHASES, BAG_BOUGHT),
    ("capture", PHASES_OF_A_READ, BAG_CAPTURED_LATER),
    (
        "find_payment",
        &["response_received"],
        BAG_LOST_AUTHORIZATION,
    ),
    (
        "find_payment",
        &["outcome_committed"],
        BAG_LOST_AND_NEVER_SENT,
    ),
    ("find_purchase", PHASES_OF_A_READ, BAG_LOST_ANSWER),
    ("void", ALL_PHASES, BAG_REFUSED),
];
