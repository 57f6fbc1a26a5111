//! Prebooks of the supplier that collects the end user's payment itself, and that payment.

use std::collections::HashMap;

use crate::{
    clock::MINUTE_MS,
    flight::{
        fare::FareSelection,
        order::{PlaceOrder, by_client_ref, place},
        problem::FlightError,
        scenario::Scenario,
        tables::{Order, Prebook},
    },
    money::Currency,
    payments::{IntentCompletion, secret_token},
    state::{Record, SandboxRecords},
};

const PREBOOK_LIFE_MS: i64 = 30 * MINUTE_MS;

impl Record for Prebook {
    const TABLE: &'static str = "flight_prebook";

    fn id(&self) -> &str {
        &self.id
    }

    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self> {
        &mut records.flight.prebooks
    }

    fn index(&self, records: &mut SandboxRecords) {
        (records.flight.by_checkout_token).insert(self.token.clone(), self.id.clone());
    }
}

pub(super) fn prebook(
    records: &mut SandboxRecords,
    account: &str,
    offer: String,
    loyal: bool,
) -> Result<Prebook, FlightError> {
    let choice = FareSelection::from_id(&offer)?;
    choice.check(records.now())?;
    let total = choice.current_total(&choice.fare()?, loyal);
    let id = records.reference("JPB-");
    let prebook = Prebook {
        token: secret_token(&id),
        id,
        account: account.to_owned(),
        offer,
        choice,
        total,
        expires_at: records.now() + PREBOOK_LIFE_MS,
        paid: false,
        refused: false,
        order: None,
    };
    records.save(prebook.clone());
    Ok(prebook)
}

/// Books a paid prebook. A repeated call returns the current order. Returns no order if the
/// response is lost.
pub(super) fn book(
    records: &mut SandboxRecords,
    account: &str,
    id: &str,
    client_ref: &str,
) -> Result<Option<Order>, FlightError> {
    let mut prebook = (records.flight.prebooks.get(id))
        .filter(|prebook| prebook.account == account)
        .cloned()
        .ok_or(FlightError::PrebookUnknown)?;
    let ordered = (prebook.order.as_ref()).and_then(|id| records.flight.orders.get(id));
    if let Some(order) = ordered.cloned() {
        return Ok((order.scenario() != Scenario::BookNeverKnown).then_some(order));
    }
    if by_client_ref(records, account, client_ref).is_some() {
        return Err(FlightError::DuplicateReference);
    }
    if prebook.refused {
        return Err(FlightError::RejectedByAirline);
    }
    if records.now() >= prebook.expires_at {
        return Err(FlightError::PrebookExpired);
    }
    if !prebook.paid {
        return Err(FlightError::Unpaid);
    }
    let order_request = PlaceOrder {
        account,
        client_ref,
        offer: prebook.offer.clone(),
        choice: prebook.choice.clone(),
        total: prebook.total,
    };
    let placed = place(records, order_request);
    match &placed {
        Ok(order) => prebook.order = Some(order.id.clone()),
        Err(_) => prebook.refused = true,
    }
    records.save(prebook);
    placed.map(Order::unless_lost)
}

pub(super) fn amount_due(records: &SandboxRecords, token: &str) -> Option<(Currency, i64)> {
    let id = records.flight.by_checkout_token.get(token)?;
    let prebook = records.flight.prebooks.get(id)?;
    Some((prebook.choice.currency, prebook.total))
}

/// Pays at the checkout as the end user does.
pub(crate) fn complete_checkout(records: &mut SandboxRecords, token: &str) -> IntentCompletion {
    let prebook = (records.flight.by_checkout_token.get(token))
        .and_then(|id| records.flight.prebooks.get(id))
        .cloned();
    let Some(mut prebook) = prebook else {
        return IntentCompletion::UnknownToken;
    };
    if prebook.paid && !prebook.refused {
        return IntentCompletion::Paid;
    }
    if prebook.refused || records.now() >= prebook.expires_at {
        return IntentCompletion::AlreadyFinished;
    }
    prebook.paid = true;
    records.save(prebook);
    IntentCompletion::Paid
}
