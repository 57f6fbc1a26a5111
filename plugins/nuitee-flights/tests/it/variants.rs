//! Every variant of Nuitee's responses. The tables say what Nuitee documents; `variants` computes from
//! the changed response which answers it allows.

use serde_json::{Value, json};
use stopover_sdk::ReadError;
use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::flight::SupplierBooking;
use variants::AnswerKind::{Absent, Done, Failed, Limited, Refused, Unknown};
use variants::Requirement::{AnyValue, List, NoOtherReference, OrdinaryValue, SameValue, Terms};
use variants::StepRole::{Change, FollowUp, Prepare, Read};
use variants::{
    Absence, Answer, AnswerKind, ErrorRow, Node, ObjectSummary, Operation, Requirement, Step,
    StepRole,
};

use crate::ask;

#[test]
fn every_variant_has_an_allowed_answer() {
    let operations = [prebooks(), bookings(), cancellations(), reference()];
    let operations: Vec<Operation> = operations.into_iter().flatten().collect();
    variants::check("nuitee-flights", &operations, ask::gateway);
}

/// An error may come with a success status. Otherwise its code counts together with the status that
/// Nuitee documents for it.
const SUCCESS: &[u16] = &[200, 201, 202, 203, 206];
const NOT_SERVER: &[u16] = &[
    200, 201, 202, 203, 206, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 422, 425, 429,
    451,
];

const fn row(
    codes: &'static [&'static str],
    statuses: &'static [u16],
    kind: AnswerKind,
) -> ErrorRow {
    ErrorRow {
        codes,
        words: "",
        statuses,
        possible_statuses: SUCCESS,
        kind,
    }
}

const fn with_possible_statuses(
    codes: &'static [&'static str],
    possible_statuses: &'static [u16],
    kind: AnswerKind,
) -> ErrorRow {
    ErrorRow {
        possible_statuses,
        ..row(codes, &[], kind)
    }
}

const KEY: ErrorRow = row(&["401"], &[401], Refused);
const RIGHTS: ErrorRow = row(&["40301", "40302"], &[403], Refused);
const LIMIT: ErrorRow = ErrorRow {
    possible_statuses: NOT_SERVER,
    ..row(&["429", "4290"], &[429], Limited)
};

const VERIFY: &[ErrorRow] = &[
    KEY,
    RIGHTS,
    LIMIT,
    row(&["42001", "42013", "42015"], &[400], Refused),
    row(&["42003", "42016"], &[401], Refused),
    row(&["42004", "42017", "42018", "42019"], &[404], Refused),
];
const PREBOOK: &[ErrorRow] = &[
    KEY,
    RIGHTS,
    LIMIT,
    row(&["43001", "43007", "43015"], &[400], Refused),
    row(&["43003", "43016"], &[401], Refused),
    row(&["43004", "43017", "43019"], &[404], Refused),
];
/// After a rate limit of a booking, a booking may exist until a read shows otherwise.
const BOOK: &[ErrorRow] = &[
    KEY,
    RIGHTS,
    row(
        &["45004", "45021", "45040", "45063", "45081"],
        &[400],
        Refused,
    ),
    row(&["45028", "45082"], &[401], Refused),
    row(&["45083"], &[403], Refused),
    row(&["45029", "45033", "45084"], &[404], Refused),
    ErrorRow {
        words: "payment not completed",
        ..with_possible_statuses(&["2014"], &[200, 201, 202, 203, 206, 400, 402], Refused)
    },
    UNLISTED,
];
/// Codes that Nuitee documents for no booking, with words that it documents with another code. They refuse
/// nothing.
const UNLISTED: ErrorRow = ErrorRow {
    codes: &["45000", "45099", "45999"],
    words: "payment not completed",
    statuses: &[400, 402],
    possible_statuses: &[],
    kind: Unknown,
};
const CANCEL: &[ErrorRow] = &[KEY, RIGHTS, LIMIT, row(&["46002"], &[404], Refused)];
const NO_RATES: &[ErrorRow] = &[with_possible_statuses(&["2001"], NOT_SERVER, Absent)];
/// With another status than 404, the request was not understood, which proves no absence.
const MISSING: ErrorRow = ErrorRow {
    possible_statuses: &[],
    ..row(&["47002", "47003", "49002"], &[404], Absent)
};
const NO_BOOKING: &[ErrorRow] = &[MISSING, with_possible_statuses(&["4004"], &[404], Absent)];
/// Nuitee documents the code for airports and airlines, whose absence decides nothing.
const NO_REFERENCE: ErrorRow =
    with_possible_statuses(&["4004"], &[200, 201, 202, 203, 206, 400, 404, 410], Absent);
const NO_REFERENCES: &[ErrorRow] = &[MISSING, NO_REFERENCE];
/// The airline cannot give a quote.
const NO_QUOTE: &[ErrorRow] = &[
    row(&["59099"], &[500], Absent),
    row(&["49007"], &[409], Absent),
    MISSING,
    NO_REFERENCE,
    with_possible_statuses(
        &["59099", "49007"],
        &[
            400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 422, 425, 429, 451, 300, 301,
            302, 304, 307, 502, 503, 504, 520, 500,
        ],
        Absent,
    ),
];

fn error(code: &str, words: &str) -> Value {
    let number: Result<u32, _> = code.parse();
    let code = number.map_or_else(|_| json!(code), |number| json!(number));
    json!({"error": {"code": code, "message": "a message", "description": words}})
}

fn step(
    role: StepRole,
    fixture: &str,
    requirements: &'static [(&'static str, Requirement)],
) -> Step {
    Step {
        requirements,
        error_document: error,
        codes: &["/error/code", "/value/error/code"],
        ..Step::new(role, &ask::fixture(fixture))
    }
}

fn operation(name: &'static str, steps: Vec<Step>, call: fn(&MockGateway) -> Answer) -> Operation {
    Operation { name, steps, call }
}

fn prebooks() -> Vec<Operation> {
    const RATES: &[(&str, Requirement)] = &[("/data", List), ("/data/0", OrdinaryValue)];
    const VERIFIED: &[(&str, Requirement)] = &[
        ("/data/0/journey/segments", Terms),
        ("/data/0/journey/pricing/display/total", Terms),
        ("/data/0/journey/pricing/display/currency", OrdinaryValue),
        ("/data/0/journey/segmentFares", OrdinaryValue),
        ("/data/0/journey/fare", OrdinaryValue),
        ("/data/0/journey/journeyKey", OrdinaryValue),
        ("/data/0/changes", Terms),
    ];
    const PREBOOKED: &[(&str, Requirement)] = &[
        ("/data/0/prebookId", AnyValue),
        ("/data/0/price", Terms),
        ("/data/0/currency", SameValue),
        ("/data/0/transactionId", AnyValue),
        ("/data/0/secretKey", AnyValue),
        ("/data/0/booking/journey/segments", Terms),
    ];
    let rates = Step {
        errors: NO_RATES,
        lists: &["/data", "/data/*/journeys", "/data/*/journeys/*/offers"],
        absence: Some(Absence::of_list("/data")),
        statuses: &[(204, &[Absent])],
        ..step(Read, "rates.json", RATES)
    };
    let verified = Step {
        errors: VERIFY,
        kinds_if_undecided: &[Done, Unknown, AnswerKind::NotSent],
        ..step(Prepare, "verify.json", VERIFIED)
    };
    let prebooked = Step {
        errors: PREBOOK,
        ..step(Change, "prebook.json", PREBOOKED)
    };
    vec![
        operation("price", vec![rates], |gateway| {
            Answer::of_list(ask::price(gateway).map(|response| response.offers))
        }),
        operation("prebook", vec![verified, prebooked], |gateway| {
            Answer::of_change(ask::prebook(gateway), |prebook| {
                ObjectSummary::new(prebook.total)
            })
        }),
    ]
}

/// What a booking must state. Its price is the bill or, without one, the price of the journey. The
/// reference may be missing, because the id was asked for or is new.
const BOOKING: &[(&str, Requirement)] = &[
    ("/data/0/booking/bookingId", SameValue),
    ("/data/0/booking/customTags/GW_REF", NoOtherReference),
    ("/data/0/booking/status", SameValue),
    ("/data/0/booking/cancelIntentAt", OrdinaryValue),
    ("/data/0/booking/pricing/totalAmount", OrdinaryValue),
    ("/data/0/booking/pricing/currency", OrdinaryValue),
];
/// Statements of a new booking, whose id is not known before.
const NEW_BOOKING: &[(&str, Requirement)] = &[
    ("/data/0/booking/bookingId", AnyValue),
    ("/data/0/booking/customTags/GW_REF", NoOtherReference),
    ("/data/0/booking/status", SameValue),
    ("/data/0/booking/cancelIntentAt", OrdinaryValue),
    ("/data/0/booking/pricing/totalAmount", OrdinaryValue),
    ("/data/0/booking/pricing/currency", OrdinaryValue),
];
const OTHER_BOOKING: &[(&str, &str)] = &[
    (ask::BOOKING_ID, "019d0000-eeee-7000-8000-0000000000ee"),
    ("bkg_own_1", "bkg_other"),
];
const BOOKING_LISTS: &[&str] = &["/data/0/booking/bookedServices"];

fn summary(booking: SupplierBooking) -> ObjectSummary {
    ObjectSummary::new((&booking.status, &booking.supplier_reference))
        .with_items(&booking.services)
        .about(booking.client_reference.as_deref(), "bkg_own_1")
}

fn summary_by_id(booking: SupplierBooking) -> ObjectSummary {
    let id = booking.supplier_reference.clone();
    summary(booking).about(Some(&id), ask::BOOKING_ID)
}

fn found(lookup: Result<BookingLookup, ReadError>) -> Answer {
    found_with(lookup, summary)
}

fn found_with(
    lookup: Result<BookingLookup, ReadError>,
    summary: fn(SupplierBooking) -> ObjectSummary,
) -> Answer {
    let found = lookup.map(|lookup| match lookup {
        BookingLookup::Found(booking) => Some(booking),
        BookingLookup::NotFound => None,
    });
    Answer::of_read(found, summary)
}

fn bookings() -> Vec<Operation> {
    let booked = Step {
        errors: BOOK,
        success: &[200, 201],
        lists: BOOKING_LISTS,
        other_object: OTHER_BOOKING,
        is_limited: false,
        ..step(Change, "booking.json", NEW_BOOKING)
    };
    // Without this booking, the list is read, which has no response here.
    let by_id = Step {
        lists: BOOKING_LISTS,
        other_object: OTHER_BOOKING,
        statuses: &[(204, &[Failed])],
        ..step(Read, "booking.json", BOOKING)
    };
    vec![
        operation("book", vec![booked], |gateway| {
            Answer::of_change(ask::book(gateway), summary)
        }),
        operation("find by id", vec![by_id], |gateway| {
            found_with(ask::find(gateway, Some(ask::BOOKING_ID)), summary_by_id)
        }),
        operation("find by reference", vec![listed(&[2, 0])], |gateway| {
            found(ask::find(gateway, None))
        }),
        operation("find among canceled", vec![listed(&[2, 1])], |gateway| {
            found(ask::find(gateway, None))
        }),
    ]
}

/// Creates a step that lists two bookings of the fixture, of which the first is the requested one.
fn listed(kept: &[usize]) -> Step {
    const REQUIREMENTS: &[(&str, Requirement)] = &[
        ("/data/0/bookings/0/bookingId", AnyValue),
        ("/data/0/bookings/0/customTags/GW_REF", AnyValue),
        ("/data/0/bookings/0/status", SameValue),
        ("/data/0/bookings/0/cancelIntentAt", OrdinaryValue),
        ("/data/0/bookings/0/pricing/totalAmount", OrdinaryValue),
        ("/data/0/bookings/0/pricing/currency", OrdinaryValue),
        // The other booking may have the same reference; then it must be known to be cancelled.
        ("/data/0/bookings/1/customTags", OrdinaryValue),
        ("/data/0/bookings/1/status", OrdinaryValue),
    ];
    let mut document: Value = serde_json::from_str(&ask::fixture("bookings.json")).unwrap();
    let bookings = document["data"][0]["bookings"].take();
    let kept = kept.iter().map(|index| bookings[index].clone());
    document["data"][0]["bookings"] = kept.collect();
    Step {
        document: Node::from(document),
        lists: &["/data/0/bookings", "/data/0/bookings/*/bookedServices"],
        errors: NO_BOOKING,
        absence: Some(Absence {
            kind: Absent,
            list: "/data/0/bookings",
            reference: Some(("/customTags/GW_REF", "bkg_own_1")),
            is_filtered: true,
            may_lack_reference: false,
        }),
        statuses: &[(204, &[Failed])],
        ..step(Read, "bookings.json", REQUIREMENTS)
    }
}

fn cancellations() -> Vec<Operation> {
    const QUOTE: &[(&str, Requirement)] = &[
        ("/data/0/bookingId", NoOtherReference),
        ("/data/0/confidence", OrdinaryValue),
        ("/data/0/isRefundable", OrdinaryValue),
        ("/data/0/refund/display/amount", OrdinaryValue),
        ("/data/0/refund/display/currency", OrdinaryValue),
        ("/data/0/penalty/display/amount", OrdinaryValue),
        ("/data/0/penalty/display/currency", OrdinaryValue),
        ("/data/0/destination", OrdinaryValue),
    ];
    const CANCELLATION: &[(&str, Requirement)] = &[
        ("/data/bookingId", NoOtherReference),
        ("/data/status", SameValue),
        ("/data/cancellation_fee", OrdinaryValue),
        ("/data/refund_amount", OrdinaryValue),
        ("/data/currency", OrdinaryValue),
        ("/data/destination", OrdinaryValue),
    ];
    let quoted = Step {
        errors: NO_QUOTE,
        kinds_if_undecided: &[Done, Absent, Failed],
        other_object: &[(ask::BOOKING_ID, "019d0000-eeee-7000-8000-0000000000ee")],
        absence: Some(Absence::of_list("/data")),
        statuses: &[(204, &[Absent])],
        ..step(Read, "quote.json", QUOTE)
    };
    // 202: the airline has not answered yet.
    let canceled = Step {
        errors: CANCEL,
        success: &[200],
        other_object: &[(ask::BOOKING_ID, "019d0000-eeee-7000-8000-0000000000ee")],
        ..step(Change, "cancel.json", CANCELLATION)
    };
    let after = ask::changed("booking.json", |document| {
        document["data"][0]["booking"]["status"] = json!("CANCELLED");
    });
    let read = Step {
        document: Node::parse(&after),
        other_object: OTHER_BOOKING,
        ..step(FollowUp, "booking.json", &[])
    };
    vec![
        operation("quote", vec![quoted], |gateway| {
            let quote = ask::quote(gateway).map(|quote| match quote {
                Quote::Quoted(quote) => Some(quote),
                Quote::Unavailable(_) => None,
            });
            Answer::of_read(quote, |_| ObjectSummary::new("quoted"))
        }),
        operation("cancel", vec![canceled, read], |gateway| {
            Answer::of_change(ask::cancel(gateway), summary_by_id)
        }),
    ]
}

fn reference() -> Vec<Operation> {
    const AIRLINE: &[(&str, Requirement)] = &[
        ("/data/0/airline/iata", SameValue),
        ("/data/0/airline/name", OrdinaryValue),
    ];
    let airports = Step {
        lists: &["/data/0/airports"],
        absence: Some(Absence::of_list("/data/0/airports")),
        errors: NO_REFERENCES,
        statuses: &[(204, &[Absent])],
        ..step(Read, "airports.json", &[("/data/0/airports", List)])
    };
    let airline = Step {
        errors: NO_REFERENCES,
        statuses: &[(204, &[Absent])],
        ..step(Read, "airline.json", AIRLINE)
    };
    vec![
        operation("airports", vec![airports], |gateway| {
            Answer::of_list(ask::airports(gateway, 10).map(|response| response.airports))
        }),
        operation("airline", vec![airline], |gateway| {
            let airline = ask::airline(gateway, "XO").map(Some);
            Answer::of_read(airline, |airline| ObjectSummary::new(airline.iata_code))
        }),
    ]
}
