//! Reading payments and refunds back. Nothing here changes anything. Repeating a request under its
//! idempotency key would also return the result, but would execute a request that never arrived.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::http::Request;
use stopover_sdk::json::{DecodeError, ensure, single};
use stopover_sdk::lenient::{Essential, Part};
use stopover_sdk::payment_processor::{FindRequest, PaymentLookup, RefundLookup};
use stopover_sdk::{ReadError, Refusal, RefusalReason};

use crate::form::CLIENT_REFERENCE;
use crate::upstream::{EXPANDED_FIELD, get, payment_path};
use crate::{fault, map, wire};

/// Maximum number of items of a response.
const PAGE_SIZE: u8 = 100;

/// Finds a payment by Stripe's id or by its client reference. The client reference is searched
/// first among the newest payments, which are listed immediately. It is then searched in Stripe's
/// index of all payments, which is updated within a minute, or later during disruptions. Only the index
/// proves that there is no payment: Stripe filters it, and its result fits into one page.
pub(crate) fn payment(request: &FindRequest) -> Result<PaymentLookup, ReadError> {
    if let Some(id) = &request.processor_reference {
        let by_id = get(&payment_path(id))?.query("expand[]", EXPANDED_FIELD);
        let response = by_id.send()?;
        if !fault::is_missing(&response) {
            let intent: wire::PaymentIntent = fault::check_read(response)?.json()?;
            ensure(intent.id.required("id")?.as_str() == id, map::OTHER_PAYMENT)?;
            return found_payment(intent);
        }
    }
    let client_reference = &request.client_reference;
    let mut found = find_among_newest(client_reference)?;
    if found.is_none() {
        found = find_in_index(client_reference)?;
    }
    found.map_or(Ok(PaymentLookup::NotFound), found_payment)
}

/// Converts a payment.
fn found_payment(intent: wire::PaymentIntent) -> Result<PaymentLookup, ReadError> {
    let payment = map::payment(intent, None, &mut DroppedItems::default())?;
    let payment = payment.ok_or_else(|| undecided(map::UNDECIDED))?;
    Ok(PaymentLookup::Found(payment))
}

/// Returns the rejection of a payment or a refund that Stripe has not decided. It is a valid response, but
/// the interface has no status for it.
fn undecided(message: &str) -> Refusal {
    let reason = RefusalReason::Other("undecided".to_owned());
    Refusal::new(reason, message)
}

/// Finds a refund among the few refunds of its payment.
pub(crate) fn refund(
    processor_reference: &str,
    client_reference: &str,
) -> Result<RefundLookup, ReadError> {
    let response = get("/refunds")?
        .query("payment_intent", processor_reference)
        .query("limit", PAGE_SIZE)
        .send()?;
    let page: wire::List<wire::Refund> = fault::check_read(response)?.json()?;
    let refunds = page.data.required("data")?;
    let refund = with_client_reference(refunds, client_reference, |refund: &wire::Refund| {
        refund.status.required("status").map(|_| &refund.metadata)
    });
    let Some(refund) = refund? else {
        let has_more = *page.has_more.required("has_more")?;
        ensure(!has_more, "the payment has more refunds than listed")?;
        return Ok(RefundLookup::NotFound);
    };
    let payment = refund.payment_intent.required("payment_intent")?;
    ensure(payment.as_str() == processor_reference, map::OTHER_PAYMENT)?;
    match refund.status.required("status")? {
        wire::RefundStatus::Succeeded => Ok(RefundLookup::Found(map::refund(&refund)?)),
        wire::RefundStatus::Pending | wire::RefundStatus::RequiresAction => {
            Err(undecided(map::PENDING_REFUND).into())
        }
        // The refund was requested and the money was not returned, so a person must decide.
        wire::RefundStatus::Failed | wire::RefundStatus::Canceled => {
            let reason = RefusalReason::Other("refund_failed".to_owned());
            Err(Refusal::new(reason, "Stripe could not refund the money.").into())
        }
    }
}

fn find_among_newest(client_reference: &str) -> Result<Option<wire::PaymentIntent>, ReadError> {
    let page = read_page(get("/payment_intents")?)?;
    let found = find_payment(page.data.required("data")?, client_reference)?;
    if found.is_none() {
        page.has_more.required("has_more")?;
    }
    Ok(found)
}

/// Finds a payment in Stripe's index.
///
/// # Errors
/// The result proves nothing: it has an unreadable item, or it lacks the payment and has further pages or
/// a payment with another client reference. Stripe's search ignores case, so a reference that differs in
/// case only may be in the result.
fn find_in_index(client_reference: &str) -> Result<Option<wire::PaymentIntent>, ReadError> {
    let search = get("/payment_intents/search")?.query("query", query(client_reference));
    let page = read_page(search)?;
    let payments = page.data.required("data")?;
    let is_result = |payment: &Part<wire::PaymentIntent>| {
        let metadata = payment.as_decoded()?.metadata.value()?;
        let reference = metadata.client_reference().ok()??;
        Some(reference.eq_ignore_ascii_case(client_reference))
    };
    let are_results = payments
        .iter()
        .all(|payment| is_result(payment) == Some(true));
    let found = find_payment(payments, client_reference)?;
    if found.is_none() {
        let has_more = *page.has_more.required("has_more")?;
        ensure(!has_more, "the result of the search has further pages")?;
        ensure(are_results, "the result of the search has other payments")?;
    }
    Ok(found)
}

fn read_page(listing: Request) -> Result<wire::List<wire::PaymentIntent>, ReadError> {
    let response = listing
        .query("limit", PAGE_SIZE)
        .query("expand[]", format!("data.{EXPANDED_FIELD}"))
        .send()?;
    Ok(fault::check_read(response)?.json()?)
}

/// Returns the only payment with the client reference. An item without a status is no payment.
fn find_payment(
    payments: Vec<Part<wire::PaymentIntent>>,
    client_reference: &str,
) -> Result<Option<wire::PaymentIntent>, DecodeError> {
    with_client_reference(
        payments,
        client_reference,
        |intent: &wire::PaymentIntent| intent.status.required("status").map(|_| &intent.metadata),
    )
}

/// Returns the only item of a list with the client reference. Unreadable items are left out.
///
/// # Errors
/// Several items have the client reference, or none has it and an item cannot be read.
fn with_client_reference<T>(
    items: Vec<Part<T>>,
    client_reference: &str,
    metadata: impl Fn(&T) -> Result<&Essential<wire::Metadata>, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    let mut dropped = DroppedItems::default();
    let mut found = Vec::new();
    for (position, item) in items.into_iter().enumerate() {
        let item = wire::readable(item).and_then(|item| {
            let is_found = map::has_client_reference(metadata(&item)?, client_reference)?;
            Ok(is_found.then_some(item))
        });
        found.extend(
            dropped
                .keep(format_args!("/data/{position}"), item)
                .flatten(),
        );
    }
    let found = single(found)?;
    dropped.check_remaining(found.is_some())?;
    Ok(found)
}

/// Formats a query in Stripe's search language.
fn query(client_reference: &str) -> String {
    let quoted = client_reference.replace('\\', r"\\").replace('\'', r"\'");
    format!("metadata['{CLIENT_REFERENCE}']:'{quoted}'")
}
