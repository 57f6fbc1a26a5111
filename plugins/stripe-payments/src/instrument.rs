//! Cards that are kept. A browser's token pays once; a card pays again and again
//! when it belongs to a Customer. So each gets a Customer of its own, without any
//! data of the payer's, and both ids are the token to keep.

use stopover_sdk::payment_processor::Instrument;
use stopover_sdk::{ReadError, Refusal, RefusalReason};

use crate::form::Form;
use crate::stripe::Stripe;
use crate::{map, refusal, wire};

/// Far longer than Stripe's are.
const TOKEN_BYTES_MAX: usize = 100;
/// Shown in Stripe's dashboard.
const DESCRIPTION: &str = "Kept card";

/// A card that is kept: `cus_…/pm_…`.
pub(crate) struct Kept<'a> {
    pub(crate) customer: &'a str,
    pub(crate) payment_method: &'a str,
}

impl<'a> Kept<'a> {
    /// None: it is not one of ours.
    pub(crate) fn read(token: &'a str) -> Option<Self> {
        let (customer, payment_method) = token.split_once('/')?;
        let is_kept = is_id(customer, "cus_") && is_id(payment_method, "pm_");
        is_kept.then_some(Self {
            customer,
            payment_method,
        })
    }
}

/// Nothing else is sent to Stripe as a token: a card number least of all.
fn is_id(text: &str, prefix: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= TOKEN_BYTES_MAX
        && text
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_allowed))
}

/// Keeps what the token stands for. The keys hang on the token alone, so that a
/// repetition keeps nothing twice; a card that somebody else keeps is refused.
pub(crate) fn describe(token: &str) -> Result<Instrument, ReadError> {
    let stripe = Stripe::open()?;
    let payment_method = if is_id(token, "tok_") {
        made_of(&stripe, token)?
    } else if is_id(token, "pm_") {
        token.to_owned()
    } else {
        let text = "The token is not one of Stripe's.";
        return Err(ReadError::NotFound(text.to_owned()));
    };
    // Customer and card are joined in one request: both, or neither.
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
        let refusal = Refusal::new(RefusalReason::Invalid, "The token stands for no card.");
        return Err(refusal.into());
    };
    Ok(Instrument {
        token: format!("{}/{payment_method}", customer.id),
        card: map::card(card),
    })
}

/// The PaymentMethod that an older kind of token becomes.
fn made_of(stripe: &Stripe, token: &str) -> Result<String, ReadError> {
    let form = Form::default()
        .field("type", "card")
        .field("card[token]", token);
    let response = stripe
        .post("/payment_methods", &format!("card-{token}"), form)
        .send()?;
    let made: wire::PaymentMethod = refusal::read(response)?.json()?;
    let id = made.id.filter(|id| is_id(id, "pm_"));
    id.ok_or_else(|| ReadError::Unreadable("the answer has no id".to_owned()))
}
