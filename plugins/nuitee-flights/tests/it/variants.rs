//! Every variant of Nuitee's responses. The tables say what Nuitee documents; `variants` computes from
//! the changed response which answers it allows.

use serde_json::{Value, json};
use stopover_sdk::ReadError;
use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::flight::SupplierBooking;
use variants::Kind::{Done, Failed, Limited, Nothing, Refused, Unknown};
use variants::Need::{Given, List, NoOther, Same, Terms, Usual};
use variants::Role::{Change, Follow, Prepare, Read};
use variants::{Absence, Answer, ErrorRow, Facts, Kind, Need, Node, Operation, Role, Step};

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

const fn row(codes: &'static [&'static str], statuses: &'static [u16], kind: Kind) -> ErrorRow {
    ErrorRow {
        codes,
        words: "",
        statuses,
        also: SUCCESS,
        kind,
    }
}

const fn also(codes: &'static [&'static str], also: &'static [u16], kind: Kind) -> ErrorRow {
    ErrorRow {
        also,
        ..row(codes, &[], kind)
    }
}

const KEY: ErrorRow = row(&["401"], &[401], Refused);
const RIGHTS: ErrorRow = row(&["40301", "40302"], &[403], Refused);
const LIMIT: ErrorRow = ErrorRow {
    also: NOT_SERVER,
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
        ..also(&["2014"], &[200, 201, 202, 203, 206, 400, 402], Refused)
    },
    UNLISTED,
];
/// Codes that Nuitee documents for no booking, with words that it documents with another code. They refuse
/// nothing.
const UNLISTED: ErrorRow = ErrorRow {
    codes: &["45000", "45099", "45999"],
    words: "payment not completed",
    statuses: &[400, 402],
    also: &[],
    kind: Unknown,
};
const CANCEL: &[ErrorRow] = &[KEY, RIGHTS, LIMIT, row(&["46002"], &[404], Refused)];
const NO_RATES: &[ErrorRow] = &[also(&["2001"], NOT_SERVER, Nothing)];
/// With another status than 404, the request was not understood, which proves no absence.
const MISSING: ErrorRow = ErrorRow {
    also: &[],
    ..row(&["47002", "47003", "49002"], &[404], Nothing)
};
const NO_BOOKING: &[ErrorRow] = &[MISSING, also(&["4004"], &[404], Nothing)];
/// Nuitee documents the code for airports and airlines, whose absence decides nothing.
const NO_REFERENCE: ErrorRow = also(
    &["4004"],
    &[200, 201, 202, 203, 206, 400, 404, 410],
    Nothing,
);
const NO_REFERENCES: &[ErrorRow] = &[MISSING, NO_REFERENCE];
/// The airline cannot give a quote.
const NO_QUOTE: &[ErrorRow] = &[
    row(&["59099"], &[500], Nothing),
    row(&["49007"], &[409], Nothing),
    MISSING,
    NO_REFERENCE,
    also(
        &["59099", "49007"],
        &[
            400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 422, 425, 429, 451, 300, 301,
            302, 304, 307, 502, 503, 504, 520, 500,
        ],
        Nothing,
    ),
];

fn error(code: &str, words: &str) -> Value {
    let number: Result<u32, _> = code.parse();
    let code = number.map_or_else(|_| json!(code), |number| json!(number));
    json!({"error": {"code": code, "message": "a message", "description": words}})
}

fn step(role: Role, fixture: &str, needs: &'static [(&'static str, Need)]) -> Step {
    Step {
        needs,
        error_document: error,
        codes: &["/error/code", "/value/error/code"],
        ..Step::new(role, &ask::fixture(fixture))
    }
}

fn operation(name: &'static str, steps: Vec<Step>, call: fn(&MockGateway) -> Answer) -> Operation {
    Operation { name, steps, call }
}

fn prebooks() -> Vec<Operation> {
    const RATES: &[(&str, Need)] = &[("/data", List), ("/data/0", Usual)];
    const VERIFIED: &[(&str, Need)] = &[
        ("/data/0/journey/segments", Terms),
        ("/data/0/journey/pricing/display/total", Terms),
        ("/data/0/journey/pricing/display/currency", Usual),
        ("/data/0/journey/segmentFares", Usual),
        ("/data/0/journey/fare", Usual),
        ("/data/0/journey/journeyKey", Usual),
        ("/data/0/changes", Terms),
    ];
    const PREBOOKED: &[(&str, Need)] = &[
        ("/data/0/prebookId", Given),
        ("/data/0/price", Terms),
        ("/data/0/currency", Same),
        ("/data/0/transactionId", Given),
        ("/data/0/secretKey", Given),
        ("/data/0/booking/journey/segments", Terms),
    ];
    let rates = Step {
        errors: NO_RATES,
        lists: &["/data", "/data/*/journeys", "/data/*/journeys/*/offers"],
        nothing: Some(Absence::of_list("/data")),
        statuses: &[(204, &[Nothing])],
        ..step(Read, "rates.json", RATES)
    };
    let verified = Step {
        errors: VERIFY,
        open: &[Done, Unknown, Kind::NotSent],
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
            Answer::of_change(ask::prebook(gateway), |prebook| Facts::new(prebook.total))
        }),
    ]
}

/// What a booking must state. Its price is the bill or, without one, the price of the journey. The
/// reference may be missing, because the id was asked for or is new.
const BOOKING: &[(&str, Need)] = &[
    ("/data/0/booking/bookingId", Same),
    ("/data/0/booking/customTags/GW_REF", NoOther),
    ("/data/0/booking/status", Same),
    ("/data/0/booking/cancelIntentAt", Usual),
    ("/data/0/booking/pricing/totalAmount", Usual),
    ("/data/0/booking/pricing/currency", Usual),
];
/// Statements of a new booking, whose id is not known before.
const NEW_BOOKING: &[(&str, Need)] = &[
    ("/data/0/booking/bookingId", Given),
    ("/data/0/booking/customTags/GW_REF", NoOther),
    ("/data/0/booking/status", Same),
    ("/data/0/booking/cancelIntentAt", Usual),
    ("/data/0/booking/pricing/totalAmount", Usual),
    ("/data/0/booking/pricing/currency", Usual),
];
const OTHER_BOOKING: &[(&str, &str)] = &[
    (ask::BOOKING_ID, "019d0000-eeee-7000-8000-0000000000ee"),
    ("bkg_own_1", "bkg_other"),
];
const BOOKING_LISTS: &[&str] = &["/data/0/booking/bookedServices"];

fn facts(booking: SupplierBooking) -> Facts {
    Facts::new((&booking.status, &booking.supplier_reference))
        .with_items(&booking.services)
        .about(booking.client_reference.as_deref(), "bkg_own_1")
}

fn facts_by_id(booking: SupplierBooking) -> Facts {
    let id = booking.supplier_reference.clone();
    facts(booking).about(Some(&id), ask::BOOKING_ID)
}

fn found(lookup: Result<BookingLookup, ReadError>) -> Answer {
    found_with(lookup, facts)
}

fn found_with(
    lookup: Result<BookingLookup, ReadError>,
    facts: fn(SupplierBooking) -> Facts,
) -> Answer {
    let found = lookup.map(|lookup| match lookup {
        BookingLookup::Found(booking) => Some(booking),
        BookingLookup::NotFound => None,
    });
    Answer::of_read(found, facts)
}

fn bookings() -> Vec<Operation> {
    let booked = Step {
        errors: BOOK,
        success: &[200, 201],
        lists: BOOKING_LISTS,
        other: OTHER_BOOKING,
        is_limited: false,
        ..step(Change, "booking.json", NEW_BOOKING)
    };
    // Without this booking, the list is read, which has no response here.
    let by_id = Step {
        lists: BOOKING_LISTS,
        other: OTHER_BOOKING,
        statuses: &[(204, &[Failed])],
        ..step(Read, "booking.json", BOOKING)
    };
    vec![
        operation("book", vec![booked], |gateway| {
            Answer::of_change(ask::book(gateway), facts)
        }),
        operation("find by id", vec![by_id], |gateway| {
            found_with(ask::find(gateway, Some(ask::BOOKING_ID)), facts_by_id)
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
    const NEEDS: &[(&str, Need)] = &[
        ("/data/0/bookings/0/bookingId", Given),
        ("/data/0/bookings/0/customTags/GW_REF", Given),
        ("/data/0/bookings/0/status", Same),
        ("/data/0/bookings/0/cancelIntentAt", Usual),
        ("/data/0/bookings/0/pricing/totalAmount", Usual),
        ("/data/0/bookings/0/pricing/currency", Usual),
        // The other booking may have the same reference; then it must be known to be cancelled.
        ("/data/0/bookings/1/customTags", Usual),
        ("/data/0/bookings/1/status", Usual),
    ];
    let mut document: Value = serde_json::from_str(&ask::fixture("bookings.json")).unwrap();
    let bookings = document["data"][0]["bookings"].take();
    let kept = kept.iter().map(|index| bookings[index].clone());
    document["data"][0]["bookings"] = kept.collect();
    Step {
        document: Node::from(document),
        lists: &["/data/0/bookings", "/data/0/bookings/*/bookedServices"],
        errors: NO_BOOKING,
        nothing: Some(Absence {
            kind: Nothing,
            list: "/data/0/bookings",
            reference: Some(("/customTags/GW_REF", "bkg_own_1")),
            is_filtered: true,
            may_lack_reference: false,
        }),
        statuses: &[(204, &[Failed])],
        ..step(Read, "bookings.json", NEEDS)
    }
}

fn cancellations() -> Vec<Operation> {
    const QUOTE: &[(&str, Need)] = &[
        ("/data/0/bookingId", NoOther),
        ("/data/0/confidence", Usual),
        ("/data/0/isRefundable", Usual),
        ("/data/0/refund/display/amount", Usual),
        ("/data/0/refund/display/currency", Usual),
        ("/data/0/penalty/display/amount", Usual),
        ("/data/0/penalty/display/currency", Usual),
        ("/data/0/destination", Usual),
    ];
    const CANCELLATION: &[(&str, Need)] = &[
        ("/data/bookingId", NoOther),
        ("/data/status", Same),
        ("/data/cancellation_fee", Usual),
        ("/data/refund_amount", Usual),
        ("/data/currency", Usual),
        ("/data/destination", Usual),
    ];
    let quoted = Step {
        errors: NO_QUOTE,
        open: &[Done, Nothing, Failed],
        other: &[(ask::BOOKING_ID, "019d0000-eeee-7000-8000-0000000000ee")],
        nothing: Some(Absence::of_list("/data")),
        statuses: &[(204, &[Nothing])],
        ..step(Read, "quote.json", QUOTE)
    };
    // 202: the airline has not answered yet.
    let canceled = Step {
        errors: CANCEL,
        success: &[200],
        other: &[(ask::BOOKING_ID, "019d0000-eeee-7000-8000-0000000000ee")],
        ..step(Change, "cancel.json", CANCELLATION)
    };
    let after = ask::changed("booking.json", |document| {
        document["data"][0]["booking"]["status"] = json!("CANCELLED");
    });
    let read = Step {
        document: Node::parse(&after),
        other: OTHER_BOOKING,
        ..step(Follow, "booking.json", &[])
    };
    vec![
        operation("quote", vec![quoted], |gateway| {
            let quote = ask::quote(gateway).map(|quote| match quote {
                Quote::Quoted(quote) => Some(quote),
                Quote::Unavailable(_) => None,
            });
            Answer::of_read(quote, |_| Facts::new("quoted"))
        }),
        operation("cancel", vec![canceled, read], |gateway| {
            Answer::of_change(ask::cancel(gateway), facts_by_id)
        }),
    ]
}

fn reference() -> Vec<Operation> {
    const AIRLINE: &[(&str, Need)] = &[
        ("/data/0/airline/iata", Same),
        ("/data/0/airline/name", Usual),
    ];
    let airports = Step {
        lists: &["/data/0/airports"],
        nothing: Some(Absence::of_list("/data/0/airports")),
        errors: NO_REFERENCES,
        statuses: &[(204, &[Nothing])],
        ..step(Read, "airports.json", &[("/data/0/airports", List)])
    };
    let airline = Step {
        errors: NO_REFERENCES,
        statuses: &[(204, &[Nothing])],
        ..step(Read, "airline.json", AIRLINE)
    };
    vec![
        operation("airports", vec![airports], |gateway| {
            Answer::of_list(ask::airports(gateway, 10).map(|response| response.airports))
        }),
        operation("airline", vec![airline], |gateway| {
            let airline = ask::airline(gateway, "XO").map(Some);
            Answer::of_read(airline, |airline| Facts::new(airline.iata_code))
        }),
    ]
}
