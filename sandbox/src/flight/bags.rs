//! Bags for an existing ticket.

use serde::Deserialize;

use crate::{
    flight::{
        fare::FareSelection,
        order::requested_order,
        problem::FlightError,
        scenario::Scenario,
        tables::{Bag, Order, OrderState},
        trip::PassengerType,
    },
    ledger::EntryKind,
    money::PER_MAJOR,
    request::Call,
    state::SandboxRecords,
};

/// Price of one bag for a passenger on the whole trip.
const BAG_PRICE: i64 = 60 * PER_MAJOR;
pub(super) const BAG_WEIGHT_KG: u32 = 23;
pub(super) const BAGS_MAX: u8 = 1;

pub(super) struct AvailableBag {
    pub(super) id: String,
    pub(super) traveller: usize,
    pub(super) price: i64,
}

/// Returns the bags that the airline currently sells for this order.
pub(super) fn available(order: &Order) -> Result<Vec<AvailableBag>, FlightError> {
    if order.state != OrderState::Ticketed {
        return Err(FlightError::WrongState);
    }
    if !order.bags.is_empty() {
        return Ok(Vec::new());
    }
    Ok(offered(&order.choice, &order.id))
}

/// Returns the bags that the airline sells for a fare. Their ids begin with `prefix`.
pub(super) fn offered(choice: &FareSelection, prefix: &str) -> Vec<AvailableBag> {
    if choice.scenario() == Scenario::NoBags {
        return Vec::new();
    }
    let price = choice.currency.minor(BAG_PRICE);
    (choice.passengers.iter().enumerate())
        .filter(|(_, passenger)| **passenger != PassengerType::Infant)
        .map(|(traveller, _)| AvailableBag {
            id: format!("{prefix}-bag-{traveller}"),
            traveller,
            price,
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedBag {
    id: String,
    quantity: u8,
}

/// Sells bags. Returns no order if the response is lost.
pub(super) fn buy(
    records: &mut SandboxRecords,
    call: &Call,
    client_ref: &str,
    wanted: &[WantedBag],
    paid: i64,
) -> Result<Option<Order>, FlightError> {
    let mut order = requested_order(records, call)?;
    if order.bags.iter().any(|bag| bag.client_ref == client_ref) {
        return Err(FlightError::DuplicateReference);
    }
    let for_sale = available(&order)?;
    let mut bought: Vec<Bag> = Vec::new();
    for bag in wanted {
        let offered = (for_sale.iter())
            .find(|offered| offered.id == bag.id)
            .ok_or(FlightError::BagUnknown)?;
        let again = bought.iter().any(|bought| bought.id == bag.id);
        if again || !(1..=BAGS_MAX).contains(&bag.quantity) {
            return Err(FlightError::Invalid(format!(
                "quantity: 1 to {BAGS_MAX} of each"
            )));
        }
        bought.push(Bag {
            id: offered.id.clone(),
            client_ref: client_ref.to_owned(),
            traveller: offered.traveller,
            quantity: bag.quantity,
            price: offered.price,
        });
    }
    if bought.is_empty() {
        return Err(FlightError::Invalid("bags: none".to_owned()));
    }
    let cost = (bought.iter())
        .map(|bag| bag.price * i64::from(bag.quantity))
        .sum();
    if paid != cost {
        return Err(FlightError::AmountMismatch);
    }
    if order.scenario() == Scenario::BagsRefused {
        return Err(FlightError::BagsRefused);
    }
    order.bags.extend(bought);
    let entry = order.entry(records, EntryKind::Bags, client_ref, cost);
    records.record(entry);
    records.save(order.clone());
    Ok((order.scenario() != Scenario::BagsLostResponse).then_some(order))
}
