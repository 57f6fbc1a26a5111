//! Reading payments and refunds back. Nothing here changes anything. Repeating a request under its
//! idempotency key would also return the result, but would execute a request that never arrived.

use stopover_sdk::http::Request;
use stopover_sdk::payment_processor::{FindRequest, PaymentLookup, RefundLookup};
use stopover_sdk::{ReadError, Refusal, RefusalReason};

use crate::form::CLIENT_REFERENCE;
use crate::payment::{WRITTEN_OUT, path};
use crate::stripe::Stripe;
use crate::{map, refusal, wire};

/// Maximum number of items of a response.
const PAGE: u8 = 100;

/// Finds a payment by Stripe's id or by its client reference. The client reference is searched
/// first among the newest payments, which are listed immediately. It is then searched in Stripe's
/// index of all payments, which is updated within a minute, or later during disruptions.
pub(crate) fn payment(request: &FindRequest) -> Result<PaymentLookup, ReadError> {
    let stripe = Stripe::open()?;
    if let Some(id) = &request.processor_reference {
        let response = stripe
            .get(&path(id))
            .query("expand[]", WRITTEN_OUT)
            .send()?;
        if !refusal::is_missing(&response) {
            let intent: wire::PaymentIntent = refusal::read(response)?.json()?;
            map::check(intent.id == *id, map::WHICH)?;
            return Ok(PaymentLookup::Found(map::payment(intent)?));
        }
    }
    let newest = stripe.get("/payment_intents");
    let all = stripe
        .get("/payment_intents/search")
        .query("query", query(&request.client_reference));
    for listing in [newest, all] {
        if let Some(intent) = in_page(listing, &request.client_reference)? {
            return Ok(PaymentLookup::Found(map::payment(intent)?));
        }
    }
    Ok(PaymentLookup::NotFound)
}

/// Finds a refund among the few refunds of its payment.
pub(crate) fn refund(
    processor_reference: &str,
    client_reference: &str,
) -> Result<RefundLookup, ReadError> {
    let response = Stripe::open()?
        .get("/refunds")
        .query("payment_intent", processor_reference)
        .query("limit", PAGE)
        .send()?;
    let page: wire::List<wire::Refund> = refusal::read(response)?.json()?;
    let is_ours = |refund: &wire::Refund| map::is_ours(refund.metadata.as_ref(), client_reference);
    let Some(refund) = map::the_only(page.data.into_iter().filter(is_ours))? else {
        map::check(!page.has_more, "the payment has more refunds than listed")?;
        return Ok(RefundLookup::NotFound);
    };
    map::check(
        refund.payment_intent.as_deref() == Some(processor_reference),
        map::WHICH,
    )?;
    match refund.status {
        wire::RefundStatus::Succeeded
        | wire::RefundStatus::Pending
        | wire::RefundStatus::RequiresAction => Ok(RefundLookup::Found(map::refund(refund)?)),
        // The refund was requested and the money was not returned, so a person must decide.
        wire::RefundStatus::Failed | wire::RefundStatus::Canceled => {
            let reason = RefusalReason::Other("refund_failed".to_owned());
            Err(Refusal::new(reason, "Stripe could not refund the money.").into())
        }
    }
}

fn in_page(
    listing: Request,
    client_reference: &str,
) -> Result<Option<wire::PaymentIntent>, ReadError> {
    let response = listing
        .query("limit", PAGE)
        .query("expand[]", format!("data.{WRITTEN_OUT}"))
        .send()?;
    let page: wire::List<wire::PaymentIntent> = refusal::read(response)?.json()?;
    let is_ours =
        |intent: &wire::PaymentIntent| map::is_ours(intent.metadata.as_ref(), client_reference);
    Ok(map::the_only(page.data.into_iter().filter(is_ours))?)
}

/// Formats a query in Stripe's search language.
fn query(client_reference: &str) -> String {
    let quoted = client_reference.replace('\\', r"\\").replace('\'', r"\'");
    format!("metadata['{CLIENT_REFERENCE}']:'{quoted}'")
}
