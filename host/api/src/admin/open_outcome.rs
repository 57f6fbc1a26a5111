//! JSON of a call with an unknown outcome or of an undecided refund: the evidence, and what each
//! decision does.

use crate::admin::parameter::with_members;
use crate::admin::requests::call_json;
use host_application::booking::consequence::{Consequence, MoneyEffect};
use host_application::booking::open_outcome::{OpenChoice, OutcomeEvidence, SentCall};
use host_application::jobs::operator::UnresolvedCallEntry;
use host_domain::money::Money;
use host_resources::value::MoneyResource;
use serde_json::{Value, json};

/// Renders an open outcome as `GET /unresolved` lists it, with what only a single one shows.
pub(super) fn outcome_json(found: OutcomeEvidence) -> Value {
    let outcome = found.outcome;
    let choices: Vec<Value> = outcome.choices.iter().map(choice_json).collect();
    let waiting = outcome.waiting.map(|decision| {
        json!({
            "outcome": decision.choice.as_str(),
            "refund": decision.refund.map(MoneyResource::from),
            "supplier_reference": decision.reference,
            "note": decision.note,
            "decided_by": decision.decided_by,
            "decided_at": decision.decided_at.to_string(),
        })
    });
    let mut call = UnresolvedCallEntry::from(outcome.attempt);
    call.supplier_reference = outcome.known_reference.or(call.supplier_reference);
    let details = json!({
        "booking_status": outcome.booking.status().as_str(),
        "first_evidence": outcome.first_evidence,
        "sent_call": found.sent_call.as_ref().map(sent_call_json),
        "lookups": outcome.lookups,
        "next_lookup_at": outcome.next_lookup_at.map(|at| at.to_string()),
        "choices": choices,
        "waiting_decision": waiting,
    });
    with_members(json!(call), details)
}

/// Renders the call of the plugin with the HTTP requests that the plugin made.
fn sent_call_json(sent: &SentCall) -> Value {
    let exchanges: Vec<Value> = sent.exchanges.iter().map(call_json).collect();
    let own = json!({ "request_id": sent.request_id, "exchanges": exchanges });
    with_members(call_json(&sent.call), own)
}

fn choice_json(choice: &OpenChoice) -> Value {
    json!({
        "outcome": choice.choice.as_str(),
        "needs_supplier_reference": choice.needs_reference,
        "consequence": choice.consequence.as_ref().map(consequence_json),
    })
}

fn consequence_json(consequence: &Consequence) -> Value {
    let money: Vec<Value> = consequence.money.iter().map(effect_json).collect();
    json!({
        "booking_status": consequence.status.as_str(),
        "money": money,
        "leaves_refund_undecided": consequence.leaves_refund_undecided,
        "next_step": consequence.next_step,
    })
}

fn effect_json(effect: &MoneyEffect) -> Value {
    let (name, amount) = name_and_amount(*effect);
    json!({ "effect": name, "amount": MoneyResource::from(amount) })
}

fn name_and_amount(effect: MoneyEffect) -> (&'static str, Money) {
    match effect {
        MoneyEffect::Capture(amount) => ("capture", amount),
        MoneyEffect::Release(amount) => ("release", amount),
        MoneyEffect::Refund(amount) => ("refund", amount),
        MoneyEffect::CountAsAuthorized(amount) => ("count_as_authorized", amount),
        MoneyEffect::CountAsCaptured(amount) => ("count_as_captured", amount),
        MoneyEffect::CountAsReleased(amount) => ("count_as_released", amount),
        MoneyEffect::CountAsRefunded(amount) => ("count_as_refunded", amount),
        MoneyEffect::CountAsNotCharged(amount) => ("count_as_not_charged", amount),
    }
}
