//! The signed claims, in the form of the payment mandates of AP2 v0.2. Amounts are in minor units,
//! times in seconds. A mandate is verified by building its claims again from its terms. Whoever
//! changes the form must keep the old one for existing mandates.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use host_domain::mandate::{MandateScope, MandateTerms, MandateUsage};
use host_domain::money::{Currency, Money};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use jsonwebtoken::jwk::Jwk;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The type of every instrument; only cards are supported.
const CARD: &str = "CARD";

/// The purchase that used a mandate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MandateUse {
    pub amount: Money,
    /// Time of the use, to the second.
    pub at: Timestamp,
}

/// Returns the purchases that are allowed. The fields are in alphabetical order, so that the digest
/// can be computed from any JSON form of it.
fn scope_claim(scope: &MandateScope) -> Value {
    match scope {
        MandateScope::Any => json!({ "kind": "ANY" }),
        MandateScope::HotelWatch {
            watch_id,
            hotel_id,
            check_in,
            check_out,
        } => json!({
            "check_in": check_in.to_string(),
            "check_out": check_out.to_string(),
            "hotel_id": hotel_id.as_str(),
            "kind": "HOTEL_WATCH",
            "watch_id": watch_id.as_str(),
        }),
    }
}

/// Builds the claims of a mandate's terms: an open payment mandate. Uses of the mandate are signed
/// with `jwk`.
pub fn open_mandate_claims(
    terms: &MandateTerms,
    issuer: &str,
    jwk: &Jwk,
) -> serde_json::Result<Value> {
    let scope = scope_claim(&terms.scope);
    let reference = digest(&serde_json::to_string(&scope)?);
    Ok(json!({
        "vct": "mandate.payment.open.1",
        "iss": issuer,
        "jti": terms.id.as_str(),
        "sub": terms.owner.user,
        "iat": unix_seconds(terms.created_at),
        "exp": unix_seconds(terms.expires_at),
        "mode": terms.owner.tenant.mode.as_str(),
        "scope": scope,
        "constraints": [
            { "type": "payment.amount_range", "currency": terms.amount.currency.code(), "max": terms.amount.minor },
            { "type": "payment.allowed_payees", "allowed": [payee(&terms.owner.tenant)] },
            { "type": "payment.allowed_payment_instruments", "allowed": [{ "id": terms.instrument.as_str(), "type": CARD }] },
            { "type": "payment.execution_date", "not_after": terms.expires_at.to_string() },
            { "type": "payment.reference", "conditional_transaction_id": reference },
        ],
        "cnf": { "jwk": jwk },
    }))
}

/// Builds the claims of a mandate's use: a closed payment mandate. Its checkout is the booking.
pub fn closed_mandate_claims(
    terms: &MandateTerms,
    usage: &MandateUsage,
    issuer: &str,
    now: Timestamp,
) -> Value {
    json!({
        "vct": "mandate.payment.1",
        "iss": issuer,
        "sub": usage.owner.user,
        "iat": unix_seconds(now),
        "mode": usage.owner.tenant.mode.as_str(),
        "mandate_id": terms.id.as_str(),
        "booking_id": usage.booking.as_str(),
        "transaction_id": digest(usage.booking.as_str()),
        "payee": payee(&usage.owner.tenant),
        "payment_amount": { "amount": usage.amount.minor, "currency": usage.amount.currency.code() },
        "payment_instrument": { "id": usage.instrument.as_str(), "type": CARD },
    })
}

/// Returns the use that a closed payment mandate states. Returns `None` if it cannot be read. The
/// signature is not checked: the caller shows what is stored.
pub fn read_use(jws: &str) -> Option<MandateUse> {
    let payload = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let amount = claims.get("payment_amount")?;
    let currency = Currency::parse(amount.get("currency")?.as_str()?).ok()?;
    Some(MandateUse {
        amount: Money::new(amount.get("amount")?.as_i64()?, currency),
        at: Timestamp(0).plus_s(claims.get("iat")?.as_i64()?),
    })
}

fn payee(tenant: &Tenant) -> Value {
    json!({ "id": tenant.organization, "name": tenant.organization })
}

fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}

fn unix_seconds(at: Timestamp) -> i64 {
    at.0.div_euclid(1000)
}
