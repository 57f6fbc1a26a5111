//! Every variant of Stripe's responses. The tables say what Stripe documents; `variants` computes from
//! the changed response which answers it allows.

use serde_json::{Value, json};
use stopover_sdk::payment_processor::{
    PaymentLookup, ProcessorPayment, ProcessorRefund, RefundLookup,
};
use stopover_sdk::testing::MockGateway;
use stopover_sdk::{PaymentProcessor, ReadError};
use stripe_payments::StripePayments;
use variants::AnswerKind::{Absent, Done, Failed, Refused};
use variants::Requirement::{AnyValue, List, OrdinaryValue, SameValue};
use variants::StepRole::{Change, Read};
use variants::{
    Absence, Answer, AnswerKind, ErrorRow, Node, ObjectSummary, Operation, Requirement, Step,
    StepRole,
};

use crate::script::{
    PAYMENT_ID, REFUND_REF, authorize_request, capture_request, edited, find_request, fixture,
    intent_request, list, refund_request, void_request,
};

#[test]
fn every_variant_has_an_allowed_answer() {
    let operations = [changes(), reads()];
    let operations: Vec<Operation> = operations.into_iter().flatten().collect();
    variants::check("stripe-payments", &operations, MockGateway::new);
}

/// A code counts together with the status that Stripe documents for it.
const fn row(
    codes: &'static [&'static str],
    statuses: &'static [u16],
    kind: AnswerKind,
) -> ErrorRow {
    ErrorRow {
        codes,
        words: "",
        statuses,
        possible_statuses: &[],
        kind,
    }
}

const fn by_status(statuses: &'static [u16], kind: AnswerKind) -> ErrorRow {
    ErrorRow {
        possible_statuses: statuses,
        ..row(&["*"], &[], kind)
    }
}

/// A wrong key and a missing permission, with any code.
const KEY: ErrorRow = by_status(&[401, 403], Refused);
const INVALID: ErrorRow = row(
    &[
        "parameter_invalid_empty",
        "parameter_invalid_integer",
        "parameter_invalid_string_blank",
        "parameter_invalid_string_empty",
        "parameter_missing",
        "parameter_unknown",
        "parameters_exclusive",
    ],
    &[400],
    Refused,
);
const UNPAYABLE: ErrorRow = row(
    &[
        "amount_too_large",
        "amount_too_small",
        "invalid_charge_amount",
        "payment_intent_incompatible_payment_method",
        "payment_intent_invalid_parameter",
        "payment_method_currency_mismatch",
        "payment_method_not_available",
        "payment_method_unactivated",
        "payment_method_unexpected_state",
        "payment_method_unsupported_type",
    ],
    &[400],
    Refused,
);
const DECLINED: ErrorRow = row(
    &[
        "authentication_required",
        "card_decline_rate_limit_exceeded",
        "card_declined",
        "expired_card",
        "incorrect_address",
        "incorrect_cvc",
        "incorrect_number",
        "incorrect_zip",
        "insufficient_funds",
        "invalid_cvc",
        "invalid_expiry_month",
        "invalid_expiry_year",
        "invalid_number",
        "payment_intent_authentication_failure",
        "processing_error",
    ],
    &[402],
    Refused,
);
const ACTION: ErrorRow = row(&["payment_intent_action_required"], &[400, 402], Refused);
const MISSING: ErrorRow = row(&["resource_missing"], &[400, 404], Refused);
const NO_OBJECT: ErrorRow = row(&["resource_missing"], &[400, 404], Absent);

fn error(code: &str, _: &str) -> Value {
    json!({"error": { "type": "invalid_request_error", "code": code, "message": "A message." }})
}

fn step(
    role: StepRole,
    document: &Value,
    requirements: &'static [(&'static str, Requirement)],
) -> Step {
    Step {
        requirements,
        error_document: error,
        // Stripe documents errors without a code; they have a type.
        codes: &["/error/code", "/error/type"],
        error_requirements: &["/error/type"],
        ..Step::new(role, &document.to_string())
    }
}

fn operation(name: &'static str, steps: Vec<Step>, call: fn(&MockGateway) -> Answer) -> Operation {
    Operation { name, steps, call }
}

fn summary(payment: ProcessorPayment) -> ObjectSummary {
    let ProcessorPayment {
        status,
        processor_reference,
        authorized,
        captured,
        refunded,
        currency,
        ..
    } = payment;
    let is_valid = !processor_reference.trim().is_empty() && is_currency(&currency);
    let amounts = (currency, authorized, captured, refunded);
    ObjectSummary::new((status, processor_reference, amounts)).valid_if(is_valid)
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn refund_summary(refund: ProcessorRefund) -> ObjectSummary {
    let is_valid =
        !refund.processor_reference.trim().is_empty() && is_currency(&refund.amount.currency);
    ObjectSummary::new(refund).valid_if(is_valid)
}

/// What a payment must state beside the id and the reference that prove whose it is.
macro_rules! payment_requirements {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            ("/status", SameValue),
            ("/currency", SameValue),
            ("/amount_received", OrdinaryValue),
            ("/metadata/made_for", OrdinaryValue),
            ("/latest_charge/status", OrdinaryValue),
            ("/latest_charge/amount", OrdinaryValue),
            ("/latest_charge/amount_refunded", OrdinaryValue),
        ]
    };
}

/// Stripe returns the metadata of each payment that this gateway makes.
const OWN: (&str, Requirement) = ("/metadata/client_reference", SameValue);
const OTHER_PAYMENT: &[(&str, &str)] = &[
    (PAYMENT_ID, "pi_3RkGateway0009"),
    ("bkg_1-authorize-1-1", "bkg_2-authorize-1-1"),
];

fn payment(
    requirements: &'static [(&'static str, Requirement)],
    errors: &'static [ErrorRow],
) -> Step {
    Step {
        errors,
        other_object: OTHER_PAYMENT,
        ..step(Change, &fixture("payment"), requirements)
    }
}

const UNCAPTURABLE: ErrorRow = row(
    &[
        "amount_too_large",
        "capture_charge_authorization_expired",
        "capture_unauthorized_payment",
        "charge_expired_for_capture",
    ],
    &[400, 402],
    Refused,
);
const REVOKED: ErrorRow = row(&["card_declined"], &[402], Refused);

fn changes() -> Vec<Operation> {
    let authorized = payment(
        payment_requirements![("/id", AnyValue), OWN, ("/amount", SameValue)],
        &[KEY, INVALID, UNPAYABLE, DECLINED, ACTION, MISSING],
    );
    let captured = payment(
        payment_requirements![("/id", SameValue)],
        &[KEY, INVALID, MISSING, UNCAPTURABLE, REVOKED],
    );
    let voided = payment(
        payment_requirements![("/id", SameValue)],
        &[KEY, INVALID, MISSING],
    );
    vec![
        intent(),
        operation("authorize", vec![authorized], |gateway| {
            let payment = gateway.run(|| StripePayments::authorize(authorize_request()));
            Answer::of_change(payment, summary)
        }),
        operation("capture", vec![captured], |gateway| {
            let payment = gateway.run(|| StripePayments::capture(capture_request()));
            Answer::of_change(payment, summary)
        }),
        operation("void", vec![voided], |gateway| {
            let payment = gateway.run(|| StripePayments::void(void_request()));
            Answer::of_change(payment, summary)
        }),
        refund(),
    ]
}

fn intent() -> Operation {
    const REQUIREMENTS: &[(&str, Requirement)] = &[
        ("/id", AnyValue),
        OWN,
        ("/amount", SameValue),
        ("/currency", SameValue),
        ("/client_secret", AnyValue),
        ("/status", OrdinaryValue),
    ];
    let created = Step {
        errors: &[KEY, INVALID, UNPAYABLE],
        other_object: &[("bkg_1-intent-1-1", "bkg_2-intent-1-1")],
        ..step(Change, &fixture("intent"), REQUIREMENTS)
    };
    operation("intent", vec![created], |gateway| {
        let intent = gateway.run(|| StripePayments::create_intent(intent_request()));
        Answer::of_change(intent, |intent| {
            let is_valid = !intent.processor_reference.trim().is_empty();
            ObjectSummary::new(intent.processor_reference).valid_if(is_valid)
        })
    })
}

fn refund() -> Operation {
    const REQUIREMENTS: &[(&str, Requirement)] = &[
        ("/id", AnyValue),
        OWN,
        ("/payment_intent", SameValue),
        ("/currency", SameValue),
        ("/amount", OrdinaryValue),
        ("/status", SameValue),
    ];
    const UNREFUNDABLE: ErrorRow = row(
        &[
            "amount_too_large",
            "charge_disputed",
            "charge_not_refundable",
            "refund_disputed_payment",
        ],
        &[400],
        Refused,
    );
    let refunded = Step {
        errors: &[KEY, INVALID, MISSING, UNREFUNDABLE],
        other_object: &[
            (PAYMENT_ID, "pi_3RkGateway0009"),
            (REFUND_REF, "bkg_2-refund-1-1-1"),
        ],
        ..step(Change, &fixture("refund"), REQUIREMENTS)
    };
    operation("refund", vec![refunded], |gateway| {
        let refund = gateway.run(|| StripePayments::refund(refund_request()));
        Answer::of_change(refund, refund_summary)
    })
}

/// Creates a step with a page, of which the first payment is the requested one.
fn page() -> Step {
    const REQUIREMENTS: &[(&str, Requirement)] = &[
        ("/data/0/id", AnyValue),
        ("/data/0/metadata/client_reference", SameValue),
        ("/data/0/metadata/made_for", OrdinaryValue),
        ("/data/0/status", SameValue),
        ("/data/0/currency", SameValue),
        ("/data/0/amount_received", OrdinaryValue),
        ("/data/0/latest_charge/status", OrdinaryValue),
        ("/data/0/latest_charge/amount", OrdinaryValue),
        ("/data/0/latest_charge/amount_refunded", OrdinaryValue),
        ("/has_more", OrdinaryValue),
    ];
    let text = list(&[fixture("payment"), of_another()]);
    Step {
        lists: &["/data"],
        document: Node::parse(&text),
        ..step(Read, &Value::Null, REQUIREMENTS)
    }
}

fn of_another() -> Value {
    let reference = json!("bkg_2-authorize-1-1");
    edited("payment", &[("/metadata/client_reference", reference)])
}

fn found(lookup: Result<PaymentLookup, ReadError>) -> Answer {
    let found = lookup.map(|lookup| match lookup {
        PaymentLookup::Found(payment) => Some(payment),
        PaymentLookup::NotFound => None,
    });
    Answer::of_read(found, summary)
}

fn reads() -> Vec<Operation> {
    // Without this payment, the newest ones are listed, which have no response here.
    let by_id = Step {
        other_object: OTHER_PAYMENT,
        ..step(
            Read,
            &fixture("payment"),
            payment_requirements![("/id", SameValue)],
        )
    };
    let others = Step {
        lists: &["/data"],
        ..step(
            Read,
            &json!({"data": [of_another()], "has_more": false}),
            &[("/data", List), ("/has_more", OrdinaryValue)],
        )
    };
    // The index is the last place that is searched.
    let indexed = Step {
        absence: Some(Absence {
            kind: Absent,
            list: "/data",
            reference: Some(("/metadata/client_reference", "bkg_1-authorize-1-1")),
            is_filtered: true,
            may_lack_reference: false,
        }),
        ..page()
    };
    vec![
        operation("find by id", vec![by_id], |gateway| {
            found(gateway.run(|| StripePayments::find(find_request(Some(PAYMENT_ID)))))
        }),
        operation("find among newest", vec![page()], |gateway| {
            found(gateway.run(|| StripePayments::find(find_request(None))))
        }),
        operation("find in index", vec![others, indexed], |gateway| {
            found(gateway.run(|| StripePayments::find(find_request(None))))
        }),
        found_refund(),
        instrument(),
    ]
}

fn found_refund() -> Operation {
    const REFUNDS: &[(&str, Requirement)] = &[
        ("/data/0/id", AnyValue),
        ("/data/0/metadata/client_reference", SameValue),
        ("/data/0/payment_intent", SameValue),
        ("/data/0/currency", SameValue),
        ("/data/0/amount", OrdinaryValue),
        ("/data/0/status", SameValue),
        ("/has_more", OrdinaryValue),
    ];
    let refunds = Step {
        lists: &["/data"],
        errors: &[NO_OBJECT],
        absence: Some(Absence {
            kind: Absent,
            list: "/data",
            reference: Some(("/metadata/client_reference", REFUND_REF)),
            is_filtered: false,
            // A refund without it was made by hand.
            may_lack_reference: true,
        }),
        ..step(
            Read,
            &json!({"data": [fixture("refund")], "has_more": false}),
            REFUNDS,
        )
    };
    operation("find refund", vec![refunds], |gateway| {
        let (payment, reference) = (PAYMENT_ID.to_owned(), REFUND_REF.to_owned());
        let lookup = gateway.run(|| StripePayments::find_refund(payment, reference));
        let found = lookup.map(|lookup| match lookup {
            RefundLookup::Found(refund) => Some(refund),
            RefundLookup::NotFound => None,
        });
        Answer::of_read(found, refund_summary)
    })
}

fn instrument() -> Operation {
    const STORED: &[(&str, Requirement)] = &[
        ("/data/0/id", AnyValue),
        ("/data/0/card/last4", OrdinaryValue),
        ("/has_more", OrdinaryValue),
    ];
    let customer = Step {
        errors: &[NO_OBJECT],
        ..step(Read, &fixture("customer"), &[("/id", AnyValue)])
    };
    let methods = Step {
        errors: &[NO_OBJECT],
        lists: &["/data"],
        absence: Some(Absence {
            kind: Refused,
            ..Absence::of_list("/data")
        }),
        // A method without a card is no card.
        kinds_if_undecided: &[Done, Failed, Refused],
        ..step(
            Read,
            &json!({"data": [fixture("payment_method")], "has_more": false}),
            STORED,
        )
    };
    operation("instrument", vec![customer, methods], |gateway| {
        let token = "pm_1RkGateway0001".to_owned();
        let instrument = gateway.run(|| StripePayments::describe_instrument(token));
        Answer::of_read(instrument.map(Some), |instrument| {
            ObjectSummary::new(instrument.token)
        })
    })
}
