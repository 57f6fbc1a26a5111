//! Every variant of Duffel's responses. The tables say what Duffel documents; `variants` computes from
//! the changed response which answers it allows.

use serde_json::{Value, json};
use stopover_sdk::ReadError;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::flight::SupplierBooking;
use variants::AnswerKind::{Absent, Done, Failed, Limited, Refused, Unknown};
use variants::Requirement::{
    AnyValue, List, NoOtherReference, OrdinaryValue, SameValue, StartsWith, Terms,
};
use variants::StepRole::{Change, Prepare, Read};
use variants::{
    Absence, Answer, AnswerKind, ErrorRow, ObjectSummary, Operation, Requirement, Step, StepRole,
};

use crate::ask;

#[test]
fn every_variant_has_an_allowed_answer() {
    let operations = [offers(), orders(), cancellations(), services(), reference()];
    let operations: Vec<Operation> = operations.into_iter().flatten().collect();
    variants::check("duffel-flights", &operations, MockGateway::new);
}

/// A code counts together with the status that Duffel documents for it.
const fn row(codes: &'static [&'static str], status: &'static [u16], kind: AnswerKind) -> ErrorRow {
    ErrorRow {
        codes,
        words: "",
        statuses: status,
        possible_statuses: &[],
        kind,
    }
}

/// Any error of this type: the token is wrong or lacks a permission.
const AUTHENTICATION: ErrorRow = ErrorRow {
    words: "authentication_error",
    possible_statuses: &[401, 403],
    ..row(&["*"], &[], Refused)
};
const VERSION: ErrorRow = row(
    &["missing_version_header", "invalid_version_header"],
    &[400, 401, 403, 406],
    Refused,
);
const FEATURE: ErrorRow = row(&["unavailable_feature"], &[401, 403, 422], Refused);
const VALUES: ErrorRow = row(
    &[
        "validation_required",
        "validation_format",
        "invalid_phone_number",
        "duplicate_passenger_name",
        "invalid_loyalty_card",
    ],
    &[422],
    Refused,
);
const UNSUPPORTED: ErrorRow = row(&["unsupported_action"], &[422], Refused);
const UNSUPPORTED_NUMBER: ErrorRow = row(&["400"], &[400], Refused);
const MISSING: ErrorRow = row(&["not_found"], &[404], Refused);
const OFFER_GONE: ErrorRow = row(
    &["offer_no_longer_available", "offer_expired"],
    &[422],
    Refused,
);
const LIMIT: ErrorRow = row(&["rate_limit_exceeded"], &[429], Limited);

/// The documented refusals of a prebook.
const PREBOOK_REFUSALS: &[ErrorRow] = &[
    AUTHENTICATION,
    VERSION,
    FEATURE,
    VALUES,
    UNSUPPORTED,
    UNSUPPORTED_NUMBER,
    MISSING,
    OFFER_GONE,
    LIMIT,
];
const CHANGED_OFFER_REFUSALS: &[ErrorRow] = &[
    AUTHENTICATION,
    VERSION,
    FEATURE,
    VALUES,
    UNSUPPORTED,
    UNSUPPORTED_NUMBER,
    MISSING,
    OFFER_GONE,
];
const BOOK_REFUSALS: &[ErrorRow] = &[
    AUTHENTICATION,
    VERSION,
    FEATURE,
    VALUES,
    UNSUPPORTED,
    UNSUPPORTED_NUMBER,
    MISSING,
    OFFER_GONE,
    LIMIT,
    row(
        &[
            "offer_request_already_booked",
            "duplicate_booking",
            "insufficient_balance",
            "ancillary_service_not_available",
            "payment_amount_does_not_match_order_amount",
        ],
        &[422],
        Refused,
    ),
    row(&["order_not_created"], &[502], Refused),
];
const QUOTE_REFUSALS: &[ErrorRow] = &[
    AUTHENTICATION,
    VERSION,
    FEATURE,
    VALUES,
    UNSUPPORTED,
    UNSUPPORTED_NUMBER,
    MISSING,
    LIMIT,
];
/// A cancellation that does not exist may be one that was confirmed.
const CANCEL_REFUSALS: &[ErrorRow] = &[
    AUTHENTICATION,
    VERSION,
    FEATURE,
    VALUES,
    UNSUPPORTED,
    UNSUPPORTED_NUMBER,
    LIMIT,
];
const PURCHASE_REFUSALS: &[ErrorRow] = &[
    AUTHENTICATION,
    VERSION,
    FEATURE,
    VALUES,
    UNSUPPORTED,
    UNSUPPORTED_NUMBER,
    MISSING,
    LIMIT,
    row(
        &[
            "insufficient_balance",
            "ancillary_service_not_available",
            "payment_amount_does_not_match_order_amount",
            "pay_later_order_no_payment_for_ancillaries",
        ],
        &[422],
        Refused,
    ),
];
const ABSENCE: &[ErrorRow] = &[row(&["not_found"], &[404], Absent)];

fn error(code: &str, kind: &str) -> Value {
    let kind = if kind.is_empty() {
        "invalid_request_error"
    } else {
        kind
    };
    let number: Result<u32, _> = code.parse();
    let code = number.map_or_else(|_| json!(code), |number| json!(number));
    json!({
        "errors": [{ "type": kind, "code": code, "title": "A title", "message": "A message" }],
        "meta": { "status": 400, "request_id": "req-own" },
    })
}

fn step(
    role: StepRole,
    document: &str,
    requirements: &'static [(&'static str, Requirement)],
) -> Step {
    Step {
        requirements,
        error_document: error,
        codes: &["/errors/0/code"],
        // Without a documented body, the limit may be a proxy's.
        is_limited: false,
        ..Step::new(role, document)
    }
}

/// Returns a fixture as the last page of a list.
fn last_page(name: &str) -> String {
    let mut document: Value = serde_json::from_str(&ask::fixture(name)).unwrap();
    document["meta"] = json!(null);
    document.to_string()
}

fn list(document: &str, lists: &'static [&'static str]) -> Step {
    Step {
        lists,
        absence: Some(Absence::of_list("/data")),
        ..step(
            Read,
            document,
            &[
                ("/data", List),
                ("/meta", OrdinaryValue),
                ("/errors", OrdinaryValue),
            ],
        )
    }
}

fn operation(name: &'static str, steps: Vec<Step>, call: fn(&MockGateway) -> Answer) -> Operation {
    Operation { name, steps, call }
}

/// Statements that an offer needs to be prebooked. Passengers and documents decide which passengers may
/// book it.
const OFFER: &[(&str, Requirement)] = &[
    ("/data/id", SameValue),
    ("/data/total_amount", Terms),
    ("/data/total_currency", Terms),
    ("/data/passengers", Terms),
    ("/data/passenger_identity_documents_required", Terms),
    ("/data/supported_passenger_identity_document_types", Terms),
    ("/data/expires_at", OrdinaryValue),
    ("/data/slices", OrdinaryValue),
];

fn offers() -> Vec<Operation> {
    const SEARCH: &[(&str, Requirement)] = &[
        ("/data/id", StartsWith("orq_")),
        ("/data/passengers", OrdinaryValue),
    ];
    const PATCHED: &[(&str, Requirement)] = &[("/data/id", SameValue)];
    const OTHER_OFFER: &[(&str, &str)] = &[("off_flex", "off_other")];
    let search = || step(Read, &ask::fixture("offer-request.json"), SEARCH);
    let offer = |role| Step {
        // Nothing is changed before, so that the status alone shows a rate limit.
        is_limited: role == Prepare,
        errors: PREBOOK_REFUSALS,
        kinds_if_undecided: &[Done, Unknown, AnswerKind::NotSent],
        other_object: OTHER_OFFER,
        ..step(role, &ask::fixture("offer.json"), OFFER)
    };
    let patched = Step {
        errors: PREBOOK_REFUSALS,
        other_object: &[("pas_adult", "pas_other")],
        ..step(
            Change,
            r#"{"data": {"id": "pas_adult", "type": "adult"}}"#,
            PATCHED,
        )
    };
    // A passenger is changed by then, so that the outcome after a rate limit is unknown.
    let changed_offer = Step {
        errors: CHANGED_OFFER_REFUSALS,
        ..offer(Change)
    };
    vec![
        operation(
            "price",
            vec![search(), list(&last_page("offers-1.json"), &["/data"])],
            |gateway| Answer::of_list(ask::price(gateway).map(|response| response.offers)),
        ),
        operation("prebook", vec![offer(Prepare)], |gateway| {
            Answer::of_change(ask::prebook(gateway), |prebook| {
                ObjectSummary::new(prebook.total)
            })
        }),
        operation(
            "loyal prebook",
            vec![offer(Prepare), patched, changed_offer],
            |gateway| {
                let prebook = ask::loyal_prebook(gateway);
                Answer::of_change(prebook, |prebook| ObjectSummary::new(prebook.total))
            },
        ),
    ]
}

/// What an order must state. The reference may be missing, because the id was asked for or is new.
const ORDER: &[(&str, Requirement)] = &[
    ("/data/id", SameValue),
    ("/data/metadata/gateway_booking_id", NoOtherReference),
    ("/data/metadata", OrdinaryValue),
    ("/data/total_amount", OrdinaryValue),
    ("/data/total_currency", OrdinaryValue),
    ("/data/cancelled_at", OrdinaryValue),
    ("/data/payment_status", OrdinaryValue),
    // They decide whose the services are.
    ("/data/passengers", OrdinaryValue),
    ("/errors", OrdinaryValue),
];
/// The same for a new order, whose id is not known before.
const NEW_ORDER: &[(&str, Requirement)] = &[
    ("/data/id", StartsWith("ord_")),
    ("/data/metadata/gateway_booking_id", NoOtherReference),
    ("/data/metadata", OrdinaryValue),
    ("/data/total_amount", OrdinaryValue),
    ("/data/total_currency", OrdinaryValue),
    ("/data/cancelled_at", OrdinaryValue),
    ("/data/payment_status", OrdinaryValue),
    // They decide whose the services are.
    ("/data/passengers", OrdinaryValue),
    ("/errors", OrdinaryValue),
];
const ORDER_LISTS: &[&str] = &["/data/services", "/data/airline_initiated_changes"];
const OTHER_ORDER: &[(&str, &str)] = &[("ord_own", "ord_other"), ("bkg_own_1", "bkg_other")];

fn summary(booking: SupplierBooking) -> ObjectSummary {
    // Journeys are whole or left out, because the gateway then keeps those that it has.
    ObjectSummary::new((&booking.status, &booking.supplier_reference))
        .with_items(&booking.services)
        .with_items(&booking.changes)
        .about(booking.client_reference.as_deref(), "bkg_own_1")
}

/// The summary of a booking whose id was asked for.
fn summary_by_id(booking: SupplierBooking) -> ObjectSummary {
    let id = booking.supplier_reference.clone();
    summary(booking).about(Some(&id), "ord_own")
}

fn order(role: StepRole, requirements: &'static [(&'static str, Requirement)]) -> Step {
    Step {
        lists: ORDER_LISTS,
        other_object: OTHER_ORDER,
        ..step(role, &ask::fixture("order.json"), requirements)
    }
}

fn orders() -> Vec<Operation> {
    const LISTED: &[(&str, Requirement)] = &[
        ("/data/0/id", StartsWith("ord_")),
        // Without it, the passengers of the offer show whose the order is.
        ("/data/0/metadata/gateway_booking_id", NoOtherReference),
        ("/data/0/total_amount", OrdinaryValue),
        ("/data/0/total_currency", OrdinaryValue),
        ("/data/0/cancelled_at", OrdinaryValue),
        ("/data/0/payment_status", OrdinaryValue),
        // The other order may have the same reference; then it must be known to be cancelled.
        ("/data/1/metadata", OrdinaryValue),
        ("/errors", OrdinaryValue),
    ];
    let booked = Step {
        errors: BOOK_REFUSALS,
        success: &[201],
        // Duffel accepts the order and decides later; the body is not documented.
        statuses: &[(202, &[Done, Unknown])],
        ..order(Change, NEW_ORDER)
    };
    let by_id = Step {
        errors: ABSENCE,
        ..order(Read, ORDER)
    };
    let other = ask::changed(
        "order.json",
        &[
            ("/id", json!("ord_other")),
            ("/metadata/gateway_booking_id", json!("bkg_other")),
        ],
    );
    let listed = Step {
        absence: Some(Absence {
            kind: Absent,
            list: "/data",
            reference: Some(("/metadata/gateway_booking_id", "bkg_own_1")),
            is_filtered: false,
            may_lack_reference: false,
        }),
        requirements: LISTED,
        ..list(
            &ask::list(&[&ask::fixture("order.json"), &other], None),
            &[
                "/data",
                "/data/*/services",
                "/data/*/airline_initiated_changes",
            ],
        )
    };
    vec![
        operation("book", vec![booked], |gateway| {
            Answer::of_change(ask::book(gateway), summary)
        }),
        operation("find by id", vec![by_id], |gateway| {
            Answer::of_read(ask::found(gateway), summary_by_id)
        }),
        operation("find by offer", vec![listed], |gateway| {
            found(ask::find_by_offer(gateway))
        }),
    ]
}

fn found(lookup: Result<stopover_sdk::flight_booking::BookingLookup, ReadError>) -> Answer {
    use stopover_sdk::flight_booking::BookingLookup;
    let found = lookup.map(|lookup| match lookup {
        BookingLookup::Found(booking) => Some(booking),
        BookingLookup::NotFound => None,
    });
    Answer::of_read(found, summary)
}

const QUOTE: &[(&str, Requirement)] = &[
    ("/data/id", StartsWith("ore_")),
    ("/data/order_id", SameValue),
    ("/data/refund_amount", OrdinaryValue),
    ("/data/refund_currency", OrdinaryValue),
    ("/data/refund_to", OrdinaryValue),
    // A quote that may be confirmed already is none.
    ("/data/confirmed_at", OrdinaryValue),
    ("/errors", OrdinaryValue),
];
const OTHER_QUOTE: &[(&str, &str)] = &[("ord_own", "ord_other")];

fn cancellations() -> Vec<Operation> {
    const CONFIRMED: &[(&str, Requirement)] = &[
        ("/data/id", SameValue),
        ("/data/order_id", SameValue),
        ("/data/confirmed_at", OrdinaryValue),
        ("/errors", OrdinaryValue),
    ];
    // Whether the order may be cancelled is a statement of its own.
    const CANCELLABLE: &[(&str, Requirement)] = &[
        ("/data/id", SameValue),
        ("/data/metadata/gateway_booking_id", NoOtherReference),
        ("/data/metadata", OrdinaryValue),
        ("/data/total_amount", OrdinaryValue),
        ("/data/total_currency", OrdinaryValue),
        ("/data/cancelled_at", Terms),
        ("/data/payment_status", OrdinaryValue),
        ("/data/available_actions", Terms),
        ("/data/passengers", OrdinaryValue),
        ("/errors", OrdinaryValue),
    ];
    let quoted_order = Step {
        errors: ABSENCE,
        kinds_if_undecided: &[Done, Absent, Failed],
        ..order(Read, CANCELLABLE)
    };
    let quote = |role| Step {
        other_object: OTHER_QUOTE,
        ..step(role, &ask::fixture("quote.json"), QUOTE)
    };
    // Duffel or the airline cannot quote.
    const NO_QUOTE: &[ErrorRow] = &[
        row(&["unsupported_action"], &[422], Absent),
        row(&["400"], &[400], Absent),
        row(&["not_found"], &[404], Absent),
    ];
    let quoted = Step {
        errors: NO_QUOTE,
        kinds_if_undecided: &[Done, Absent, Failed],
        ..quote(Read)
    };
    let read = Step {
        is_limited: true,
        errors: QUOTE_REFUSALS,
        kinds_if_undecided: &[Done, Unknown, AnswerKind::NotSent],
        ..order(Prepare, CANCELLABLE)
    };
    let requested = Step {
        errors: QUOTE_REFUSALS,
        ..quote(Prepare)
    };
    let confirmed = Step {
        errors: CANCEL_REFUSALS,
        other_object: OTHER_QUOTE,
        ..step(Change, &ask::confirmed(), CONFIRMED)
    };
    vec![
        operation("quote", vec![quoted_order, quoted], |gateway| {
            let quote = ask::quote(gateway).map(|quote| match quote {
                Quote::Quoted(quote) => Some(quote),
                Quote::Unavailable(_) => None,
            });
            Answer::of_read(quote, |_| ObjectSummary::new("quoted"))
        }),
        operation("cancel", vec![read, requested, confirmed], |gateway| {
            Answer::of_change(ask::cancel(gateway), summary_by_id)
        }),
    ]
}

fn services() -> Vec<Operation> {
    let for_sale = Step {
        errors: ABSENCE,
        // Without passengers, nothing is for sale to them.
        kinds_if_undecided: &[Done, Absent, Failed],
        ..order(Read, ORDER)
    };
    let bags = Step {
        errors: ABSENCE,
        ..list(&ask::fixture("services.json"), &["/data"])
    };
    let bought = Step {
        errors: PURCHASE_REFUSALS,
        ..order(Change, ORDER)
    };
    vec![
        operation("services", vec![for_sale, bags], |gateway| {
            Answer::of_list(ask::list_services(gateway).map(|list| list.services))
        }),
        operation("purchase", vec![bought], |gateway| {
            Answer::of_change(ask::buy_bags(gateway), summary_by_id)
        }),
    ]
}

fn reference() -> Vec<Operation> {
    // An airport that is named twice would be in the answer without one of the two.
    let mut named: Value = serde_json::from_str(&ask::fixture("suggestions.json")).unwrap();
    named["data"].as_array_mut().unwrap().truncate(2);
    let suggestions = list(&named.to_string(), &["/data", "/data/*/airports"]);
    let airlines = Step {
        absence: Some(Absence {
            kind: Absent,
            list: "/data",
            reference: Some(("/iata_code", "OW")),
            is_filtered: false,
            may_lack_reference: true,
        }),
        requirements: &[
            ("/data/0/id", AnyValue),
            ("/data/0/iata_code", AnyValue),
            ("/data/0/name", OrdinaryValue),
            ("/meta", OrdinaryValue),
            ("/errors", OrdinaryValue),
        ],
        ..list(&last_page("airlines-1.json"), &["/data"])
    };
    vec![
        operation("airports", vec![suggestions], |gateway| {
            Answer::of_list(ask::airports(gateway).map(|response| response.airports))
        }),
        operation("airline", vec![airlines], |gateway| {
            let airline = ask::airline(gateway, "OW").map(Some);
            Answer::of_read(airline, |airline| ObjectSummary::new(airline.iata_code))
        }),
    ]
}
