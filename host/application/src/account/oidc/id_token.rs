//! Verification of identity tokens.

use crate::config::oidc::{MappedRole, OidcConfig};
use host_domain::account::{AccountRole, EmailAddress};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The algorithms that are accepted. All are asymmetric: with a symmetric one, whoever knows a
/// public key or the client's secret could make tokens.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256];

/// Difference between the clocks of the provider and the gateway that is tolerated.
const LEEWAY_S: u64 = 60;

/// Maximum length of the identifier of a person at the provider.
const SUBJECT_BYTES_MAX: usize = 255;

#[derive(Debug, thiserror::Error)]
pub(super) enum IdTokenError {
    /// The provider may have begun to use another key.
    #[error("the key of the identity token is unknown")]
    UnknownKey,
    #[error("the algorithm {0:?} of the identity token is not accepted")]
    Algorithm(Algorithm),
    #[error("the identity token is not valid")]
    Invalid(#[from] jsonwebtoken::errors::Error),
    #[error("the identity token was made for another sign-in")]
    OtherNonce,
    #[error("the identity token was made for another client")]
    OtherParty,
    #[error("the identity token has no usable subject")]
    Subject,
}

/// The person whom an identity token names.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) subject: String,
    /// The address, unless the provider has not verified it.
    pub(super) email: Option<EmailAddress>,
    /// The claims, from which [`Identity::roles`] reads.
    claims: Map<String, Value>,
}

impl Identity {
    /// Returns the roles of the person: those that the configuration has for the values of a claim.
    /// Of several roles in one organization, the highest counts.
    pub(super) fn roles(&self, config: &OidcConfig) -> Vec<AccountRole> {
        let values: Vec<&str> = match self.claims.get(&config.role_claim) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mapped = values.iter().filter_map(|value| config.roles.get(*value));
        let mut highest = BTreeMap::new();
        let mut is_operator = false;
        for MappedRole(role) in mapped {
            match role {
                AccountRole::Operator => is_operator = true,
                AccountRole::Organization { organization, role } => {
                    let held = highest.entry(organization.clone()).or_insert(*role);
                    *held = (*held).max(*role);
                }
            }
        }
        let operator = is_operator.then_some(AccountRole::Operator);
        let members = highest
            .into_iter()
            .map(|(organization, role)| AccountRole::Organization { organization, role });
        operator.into_iter().chain(members).collect()
    }
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    nonce: Option<String>,
    /// The client that the token was made for, if there are several.
    azp: Option<String>,
    aud: Value,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Verifies a token that the provider made for this client and for the sign-in with this nonce.
///
/// # Errors
/// [`IdTokenError`].
pub(super) fn verify(
    token: &str,
    keys: &JwkSet,
    config: &OidcConfig,
    nonce: &str,
) -> Result<Identity, IdTokenError> {
    let header = decode_header(token)?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(IdTokenError::Algorithm(header.alg));
    }
    let mut validation = Validation::new(header.alg);
    validation.leeway = LEEWAY_S;
    validation.validate_nbf = true;
    validation.set_audience(&[&config.client_id]);
    validation.set_issuer(&[&config.issuer]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let mut refusal = IdTokenError::UnknownKey;
    for key in keys.keys.iter().filter(|key| is_usable(key, &header)) {
        match decode::<Claims>(token, &DecodingKey::from_jwk(key)?, &validation) {
            Ok(verified) => return identity(verified.claims, config, nonce),
            Err(error) => refusal = error.into(),
        }
    }
    Err(refusal)
}

/// Returns whether a key may have signed a token with this header.
fn is_usable(key: &Jwk, header: &Header) -> bool {
    let is_named = header.kid.is_none() || key.common.key_id == header.kid;
    let is_for_signatures = key.common.public_key_use != Some(PublicKeyUse::Encryption);
    let is_of_family = matches!(
        (&key.algorithm, header.alg),
        (
            AlgorithmParameters::RSA(_),
            Algorithm::RS256 | Algorithm::PS256
        ) | (AlgorithmParameters::EllipticCurve(_), Algorithm::ES256)
    );
    is_named && is_for_signatures && is_of_family
}

fn identity(claims: Claims, config: &OidcConfig, nonce: &str) -> Result<Identity, IdTokenError> {
    if claims.nonce.as_deref() != Some(nonce) {
        return Err(IdTokenError::OtherNonce);
    }
    let clients = claims.aud.as_array();
    let is_shared = clients.is_some_and(|clients| clients.len() > 1);
    let azp = claims.azp.as_ref();
    let is_other = azp.map_or(is_shared, |azp| *azp != config.client_id);
    if is_other {
        return Err(IdTokenError::OtherParty);
    }
    if claims.sub.is_empty() || claims.sub.len() > SUBJECT_BYTES_MAX {
        return Err(IdTokenError::Subject);
    }
    Ok(Identity {
        subject: claims.sub,
        email: verified_email(&claims.others),
        claims: claims.others,
    })
}

/// Some providers write `email_verified` as a text.
fn verified_email(claims: &Map<String, Value>) -> Option<EmailAddress> {
    let is_refuted = match claims.get("email_verified") {
        Some(Value::Bool(is_verified)) => !is_verified,
        Some(Value::String(text)) => text != "true",
        _ => false,
    };
    let email = claims.get("email").and_then(Value::as_str);
    let email = email.filter(|_| !is_refuted)?;
    EmailAddress::parse(email).ok()
}
