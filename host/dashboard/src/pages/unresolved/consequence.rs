//! Sentences about the effects of a decision.

use crate::text::{booking_state, money, words};
use host_application::booking::consequence::{Consequence, MoneyEffect};
use host_domain::booking::BookingStatus;

/// Steps that the effects on the money describe.
const MONEY_STEPS: [&str; 3] = ["capture", "void", "refund"];

/// Returns what a decision does to a booking with this status.
pub(super) fn sentences(consequence: &Consequence, status: BookingStatus) -> String {
    let label = booking_state(consequence.status).label;
    let booking = if consequence.status == status {
        format!("The booking stays “{label}”.")
    } else {
        format!("The booking becomes “{label}”.")
    };
    let mut sentences = vec![booking];
    sentences.extend(consequence.money.iter().copied().map(effect));
    if consequence.money.is_empty() && consequence.next_step.is_none() {
        sentences.push("No money moves.".to_owned());
    }
    if let Some(step) = consequence.next_step
        && (consequence.money.is_empty() || !MONEY_STEPS.contains(&step))
    {
        sentences.push(format!("Next call: {}.", words(step).to_lowercase()));
    }
    if consequence.leaves_refund_undecided {
        sentences.push("Then decide the amount of the refund.".to_owned());
    }
    sentences.join(" ")
}

fn effect(effect: MoneyEffect) -> String {
    match effect {
        MoneyEffect::Capture(amount) => format!("{} is captured.", money(amount)),
        MoneyEffect::Release(amount) => format!("{} is released.", money(amount)),
        MoneyEffect::Refund(amount) => format!("{} is refunded.", money(amount)),
        MoneyEffect::CountAsAuthorized(amount) => {
            format!("{} counts as authorized.", money(amount))
        }
        MoneyEffect::CountAsCaptured(amount) => format!("{} counts as captured.", money(amount)),
        MoneyEffect::CountAsReleased(amount) => format!("{} counts as released.", money(amount)),
        MoneyEffect::CountAsRefunded(amount) => format!("{} counts as refunded.", money(amount)),
        MoneyEffect::CountAsNotCharged(amount) => {
            format!("{} counts as not charged.", money(amount))
        }
    }
}
