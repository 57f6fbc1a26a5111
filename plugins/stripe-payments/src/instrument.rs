//! Stored cards. A browser's token pays only once; a card can pay repeatedly if it belongs to a
//! Customer. Therefore each card gets its own Customer, without any data of the payer. The ids of
//! both form the token to store.

use stopover_sdk::payment_processor::Instrument;
use stopover_sdk::{ReadError, Refusal, RefusalReason};

use crate::form::Form;
use crate::stripe::Stripe;
use crate::{map, refusal, wire};

/// Maximum length of a token, which is far above that of Stripe's tokens.
const TOKEN_BYTES_MAX: usize = 100;
/// Description of a Customer in Stripe's dashboard.
const DESCRIPTION: &str = "Kept card";

/// The token of a stored card: `cus_…/pm_…`.
pub(crate) struct Kept<'a> {
    pub(crate) customer: &'a str,
    pub(crate) payment_method: &'a str,
}

impl<'a> Kept<'a> {
    /// Parses a token. Returns `None` if this adapter did not make it.
    pub(crate) fn read(token: &'a str) -> Option<Self> {
        let (customer, payment_method) = token.split_once('/')?;
        let is_kept = is_id(customer, "cus_") && is_id(payment_method, "pm_");
        is_kept.then_some(Self {
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
    let stripe = Stripe::open()?;
    let payment_method = if is_id(token, "tok_") {
        made_of(&stripe, token)?
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
    let response = stripe
        .post("/customers", &format!("customer-{token}"), form)
        .send()?;
    let customer: wire::Customer = refusal::read(response)?.json()?;
    let response = stripe
        .get("/payment_methods")
        .query("customer", &customer.id)
        .query("type", "card")
        .send()?;
    let page: wire::List<wire::PaymentMethod> = refusal::read(response)?.json()?;
    let kept = map::the_only(page.data)?.and_then(|method| method.id.zip(method.card));
    let Some((payment_method, card)) = kept else {
        let refusal = Refusal::new(RefusalReason::Invalid, "The token belongs to no card.");
        return Err(refusal.into());
    };
    Ok(Instrument {
        token: format!("{}/{payment_method}", customer.id),
        card: map::card(card),
    })
}

/// Creates the PaymentMethod of an older kind of token.
fn made_of(stripe: &Stripe, token: &str) -> Result<String, ReadError> {
    let form = Form::default()
        .field("type", "card")
        .field("card[token]", token);
    let response = stripe
        .post("/payment_methods", &format!("card-{token}"), form)
        .send()?;
    let made: wire::PaymentMethod = refusal::read(response)?.json()?;
    let id = made.id.filter(|id| is_id(id, "pm_"));
    id.ok_or_else(|| ReadError::InvalidResponse("the response has no id".to_owned()))
}
