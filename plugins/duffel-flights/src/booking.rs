//! Prebooking, booking and reading a booking back.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::http::{self, Method, Response};
use stopover_sdk::json::ensure;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::flight::{Passenger, SupplierBooking};
use stopover_sdk::{ChangeError, FlightBooking, ReadError, Refusal, RefusalReason};

use crate::fault::{Change, Fault};
use crate::map::offer::PrebookReference;
use crate::map::passenger::{self, PassengerIds};
use crate::settings::Settings;
use crate::upstream::{
    AIRLINE_TIMEOUT_MS, CHANGE_TIMEOUT_MS, api_request, get, open, open_change, open_read,
    read_page, with_data,
};
use crate::wire::cancellation::OrderCancellation;
use crate::wire::offer::Offer;
use crate::wire::order::Order;
use crate::{DuffelFlights, map};

/// Maximum number of pages of orders that are read for one offer. An offer has at most one order,
/// so a longer list is not a valid response.
const PAGES_MAX: usize = 5;

impl FlightBooking for DuffelFlights {
    fn prebook(request: PrebookRequest) -> Result<PrebookResponse, ChangeError> {
        let settings = Settings::read()?;
        let id = &request.supplier_offer;
        let mut offer = read_offer(&settings, id).map_err(unsent_change_error)?;
        let ids = check_passengers(&request, &offer)?;
        let mut is_patched = false;
        for (passenger, passenger_id) in request.passengers.iter().zip(&ids.0) {
            if !passenger.loyalty_accounts.is_empty() {
                set_loyalty(&settings, id, passenger_id, passenger)?;
                is_patched = true;
            }
        }
        if is_patched {
            offer = read_offer(&settings, id).map_err(unknown_change_error)?;
        }
        map::offer::prebook_response(offer, ids, &request.currency, request.total)
    }

    fn book(request: BookRequest) -> Result<SupplierBooking, ChangeError> {
        let settings = Settings::read()?;
        let bound = PrebookReference::read(&request.supplier_prebook)
            .ok_or_else(|| Refusal::new(RefusalReason::Invalid, "not a prebook of this adapter"))?;
        let passengers = passenger::order_passengers(
            &request.passengers,
            &bound.passengers,
            &bound.documents,
            &request.contact,
        )?;
        let payment = payment(request.total, &request.currency)?;
        // The order is found by its metadata, whose values have at most 500 characters.
        let order = json!({
            "type": "instant",
            "selected_offers": [bound.offer],
            "payments": [payment],
            "passengers": passengers,
            "metadata": {
                "gateway_booking_id": request.client_reference,
                "gateway_passengers": map::order::passengers_label(&bound.passengers),
            },
        });
        let http_request =
            api_request(&settings, Method::Post, "/air/orders").timeout_ms(CHANGE_TIMEOUT_MS);
        let response = with_data(http_request, order)?.send()?;
        if response.status == 202 {
            return Ok(pending_booking(&response, &request));
        }
        match open::<Order>(&response)? {
            Ok(page) => {
                map::order::check_booking(&page.data, None, &request.client_reference)?;
                Ok(map::order::supplier_booking(page.data, None)?)
            }
            Err(fault) if fault.is_price_change() => {
                Err(price_changed_error(&settings, &bound.offer, fault))
            }
            Err(fault) => Err(fault.into_change_error(Change::Book)),
        }
    }

    fn find(request: FindRequest) -> Result<BookingLookup, ReadError> {
        let settings = Settings::read()?;
        let known = request.supplier_reference.filter(|id| !id.is_empty());
        let mut order = match known.map(|id| read_order(&settings, &id)).transpose() {
            Err(ReadError::NotFound(_)) => None,
            order => order?,
        };
        // Without the prebook the order cannot be searched for: Duffel does not filter orders by
        // their metadata.
        if let (None, Some(prebook)) = (&order, &request.supplier_prebook)
            && let Some(bound) = PrebookReference::read(prebook)
        {
            order = find_order(&settings, &bound.offer, &request.client_reference)?;
        }
        let Some(order) = order else {
            return Ok(BookingLookup::NotFound);
        };
        map::order::check_booking(&order, None, &request.client_reference)?;
        Ok(BookingLookup::Found(state(&settings, order)?))
    }
}

pub(crate) fn read_order(settings: &Settings, id: &str) -> Result<Order, ReadError> {
    let path = format!("/air/orders/{}", http::percent_encode(id));
    let order: Order = open_read(&get(settings, &path).send()?)?;
    ensure(order.id == id, "the response is about another order")?;
    Ok(order)
}

/// Returns the booking's current state. For a cancelled order the state must include the
/// cancellation's amounts, so they are read if the order does not contain them.
pub(crate) fn state(settings: &Settings, mut order: Order) -> Result<SupplierBooking, ReadError> {
    let cancellation = match order.cancellation.take() {
        _ if order.cancelled_at.is_none() => None,
        Some(cancellation) if cancellation.confirmed_at.is_some() => Some(cancellation),
        _ => {
            let http_request =
                get(settings, "/air/order_cancellations").query("order_id", &order.id);
            let all: Vec<OrderCancellation> = open_read(&http_request.send()?)?;
            map::cancellation::find_confirmed(&order.id, all)
        }
    };
    Ok(map::order::supplier_booking(order, cancellation.as_ref())?)
}

/// Returns a payment of exactly `total` from the account's balance at Duffel.
pub(crate) fn payment(total: i64, currency: &str) -> Result<Value, Refusal> {
    let amount = Decimal::from_minor(total, currency)
        .map_err(|error| Refusal::new(RefusalReason::Invalid, error.to_string()))?;
    Ok(json!({ "type": "balance", "amount": amount.to_string(), "currency": currency }))
}

/// Converts the error of a read into the outcome of a change that was not sent yet.
pub(crate) fn unsent_change_error(error: ReadError) -> ChangeError {
    match error {
        ReadError::Rejected(refusal) => refusal.into(),
        ReadError::RateLimited(wait_s) => ChangeError::RateLimited(wait_s),
        ReadError::NotFound(text) => Refusal::new(RefusalReason::Expired, text).into(),
        ReadError::Misconfigured(text) => Refusal::new(RefusalReason::Account, text).into(),
        ReadError::TimedOut(text)
        | ReadError::Unavailable(text)
        | ReadError::Failed(text)
        | ReadError::InvalidResponse(text) => ChangeError::NotSent(text),
    }
}

/// Converts the error of a read after loyalty programmes were set on the offer. A change was
/// already sent, so "not sent" becomes "unknown".
fn unknown_change_error(error: ReadError) -> ChangeError {
    match unsent_change_error(error) {
        ChangeError::NotSent(text) => ChangeError::Unknown(text),
        error => error,
    }
}

fn read_offer(settings: &Settings, id: &str) -> Result<Offer, ReadError> {
    let path = format!("/air/offers/{}", http::percent_encode(id));
    let response = get(settings, &path).timeout_ms(AIRLINE_TIMEOUT_MS).send()?;
    let offer: Offer = open_read(&response)?;
    ensure(offer.id == id, "the response is about another offer")?;
    Ok(offer)
}

/// Returns the passengers' ids. Refuses passengers that Duffel would refuse at booking, before the
/// customer is charged.
fn check_passengers(request: &PrebookRequest, offer: &Offer) -> Result<PassengerIds, Refusal> {
    let invalid = |message: &str| Refusal::new(RefusalReason::Invalid, message);
    let last_departure = offer
        .slices
        .last()
        .and_then(|slice| slice.segments.last())
        .map_or("", |segment| segment.departing_at.as_str());
    let categories = passenger::categories_on(&request.passengers, last_departure);
    let ids = passenger::match_ids(&categories, &offer.passengers)
        .ok_or_else(|| invalid("the offer is for other passengers"))?;
    let types = &offer.document_types;
    passenger::order_passengers(&request.passengers, &ids.0, types, &request.contact)?;
    let has_document = |passenger: &Passenger| passenger::document(passenger, types).is_some();
    if offer.documents_required && !request.passengers.iter().all(has_document) {
        return Err(invalid("the offer requires a passport of each passenger"));
    }
    Ok(ids)
}

fn set_loyalty(
    settings: &Settings,
    offer_id: &str,
    passenger_id: &str,
    passenger: &Passenger,
) -> Result<(), ChangeError> {
    let (offer_id, passenger_id) = (
        http::percent_encode(offer_id),
        http::percent_encode(passenger_id),
    );
    let path = format!("/air/offers/{offer_id}/passengers/{passenger_id}");
    let accounts = passenger.loyalty_accounts.iter();
    let accounts = accounts.map(|account| {
        json!({
            "airline_iata_code": account.airline_iata_code,
            "account_number": account.membership_number,
        })
    });
    let loyalty = json!({
        "given_name": passenger.first_name,
        "family_name": passenger.last_name,
        "loyalty_programme_accounts": accounts.collect::<Vec<Value>>(),
    });
    let http_request = api_request(settings, Method::Patch, &path).timeout_ms(AIRLINE_TIMEOUT_MS);
    let response = with_data(http_request, loyalty)?.send()?;
    open_change::<crate::wire::offer::Passenger>(&response, Change::Passenger)?;
    Ok(())
}

/// Returns the pending state of an order that Duffel accepted and decides later. The content of
/// this response is undocumented.
fn pending_booking(response: &Response, request: &BookRequest) -> SupplierBooking {
    let id = match open::<Order>(response) {
        Ok(Ok(page)) if page.data.id.starts_with("ord_") => page.data.id,
        _ => String::new(),
    };
    map::order::pending(
        id,
        &request.client_reference,
        request.total,
        &request.currency,
    )
}

/// Returns the refusal of a payment that differs from the price, with the current price if it can
/// be read.
fn price_changed_error(settings: &Settings, offer_id: &str, fault: Fault) -> ChangeError {
    let now = read_offer(settings, offer_id).ok().and_then(|offer| {
        let total = map::minor(offer.total_amount, &offer.total_currency).ok()?;
        Some(map::offer::price_changed(total, &offer.total_currency))
    });
    match now {
        Some(refusal) => refusal
            .with_code("payment_amount_does_not_match_order_amount")
            .into(),
        None => fault.into_change_error(Change::Book),
    }
}

fn find_order(
    settings: &Settings,
    offer_id: &str,
    client_reference: &str,
) -> Result<Option<Order>, ReadError> {
    let mut after: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let list = get(settings, "/air/orders").query("offer_id", offer_id);
        let page = read_page(list, after.as_deref())?;
        if let Some(order) = map::order::with_reference(page.data, client_reference) {
            return Ok(Some(order));
        }
        after = page.after;
        if after.is_none() {
            return Ok(None);
        }
    }
    Err(ReadError::InvalidResponse(
        "Duffel lists more pages of orders for one offer than are possible".to_owned(),
    ))
}
