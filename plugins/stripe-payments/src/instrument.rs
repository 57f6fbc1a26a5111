//! Stored cards. A browser's token pays only once; a card can pay repeatedly if it belongs to a
//! Customer. Therefore each card gets its own Customer, without any data of the payer. The ids of
//! both form the token to store.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{ensure, single};
use stopover_sdk::payment_processor::Instrument;
use stopover_sdk::{ReadError, Refusal, RefusalReason};

use crate::form::Form;
use crate::upstream::{get, post};
use crate::{fault, map, wire};

/// Maximum length of a token, which is far above that of Stripe's tokens.
const TOKEN_BYTES_MAX: usize = 100;
/// Description of a Customer in Stripe's dashboard.
const DESCRIPTION: &str = "Kept card";

/// The token of a stored card: `cus_…/pm_…`.
pub(crate) struct StoredCard<'a> {
    pub(crate) customer: &'a str,
    pub(crate) payment_method: &'a str,
}

impl<'a> StoredCard<'a> {
    /// Parses a token. Returns `None` if this adapter did not make it.
    pub(crate) fn parse(token: &'a str) -> Option<Self> {
        let (customer, payment_method) = token.split_once('/')?;
        let is_valid = is_id(customer, "cus_") && is_id(payment_method, "pm_");
        is_valid.then_some(Self {
            customer,
            payment_method,
        })
    }
}

/// Returns whether the text is an id with this prefix. No other text is sent to Stripe as a token,
/// in particular no card number.
fn is_id(text: &str, prefix: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= TOKEN_BYTES_MAX
        && text
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_allowed))
}

/// Stores the card of a token. The idempotency keys depend on the token only, so a repeated call
/// stores nothing twice. A card that belongs to another Customer is refused.
pub(crate) fn describe(token: &str) -> Result<Instrument, ReadError> {
    let payment_method = if is_id(token, "tok_") {
        create_payment_method(token)?
    } else if is_id(token, "pm_") {
        token.to_owned()
    } else {
        let text = "The token is not a Stripe token.";
        return Err(ReadError::NotFound(text.to_owned()));
    };
    // One request creates the Customer and attaches the card, so both happen or neither.
    let form = Form::default()
        .field("payment_method", payment_method)
        .field("description", DESCRIPTION);
    let response = post("/customers", &format!("customer-{token}"), form)?.send()?;
    let customer: wire::Customer = fault::check_read(response)?.json()?;
    let customer = customer.id.required("id")?.as_str();
    let methods = get("/payment_methods")?.query("customer", customer);
    let response = methods.query("type", "card").send()?;
    let page: wire::List<wire::PaymentMethod> = fault::check_read(response)?.json()?;
    page.has_more.required("has_more")?;
    let Some(method) = single(page.data.required("data")?)? else {
        let refusal = Refusal::new(RefusalReason::Invalid, "The token belongs to no card.");
        return Err(refusal.into());
    };
    let method = wire::readable(method)?;
    let payment_method = method.id.required("id")?.as_str();
    let card = wire::readable(method.card)?;
    Ok(Instrument {
        token: format!("{customer}/{payment_method}"),
        card: map::card(
            card,
            format_args!("/data/0/card"),
            &mut DroppedItems::default(),
        ),
    })
}

/// Creates the PaymentMethod of an older kind of token.
fn create_payment_method(token: &str) -> Result<String, ReadError> {
    let form = Form::default()
        .field("type", "card")
        .field("card[token]", token);
    let response = post("/payment_methods", &format!("card-{token}"), form)?.send()?;
    let made: wire::PaymentMethod = fault::check_read(response)?.json()?;
    let id = made.id.required("id")?.as_str();
    ensure(is_id(id, "pm_"), "the id is not one of a payment method")?;
    Ok(id.to_owned())
}
