//! Signing secrets: created here, returned once, stored encrypted.

use crate::sealer::{SealError, Sealer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use secrecy::{ExposeSecret, SecretString};

pub const PREFIX: &str = "whsec_";

const SECRET_BYTES: usize = 32;

const PURPOSE: &str = "webhook_secret";

/// The slot of a secret. A secret that is encrypted for one slot is not valid in the other.
#[derive(Debug, Clone, Copy)]
pub enum SecretSlot {
    Current,
    Previous,
}

/// The operation that made a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOrigin {
    Creation,
    Rotation,
}

/// Generates a secret: `whsec_` and 32 random bytes in base64.
pub fn generate() -> Result<SecretString, SealError> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| SealError::SealFailed)?;
    Ok(format!("{PREFIX}{}", STANDARD.encode(bytes)).into())
}

/// Generates the first secret of a subscription. Returns it and its encrypted form.
pub fn generate_sealed(
    sealer: &Sealer,
    tenant: &Tenant,
    id: &SubscriptionId,
) -> Result<(SecretString, Vec<u8>), SealError> {
    let secret = generate()?;
    let sealed = seal(sealer, tenant, id, SecretSlot::Current, &secret)?;
    Ok((secret, sealed))
}

pub fn seal(
    sealer: &Sealer,
    tenant: &Tenant,
    id: &SubscriptionId,
    column: SecretSlot,
    secret: &SecretString,
) -> Result<Vec<u8>, SealError> {
    let text = secret.expose_secret().as_bytes();
    sealer.seal(PURPOSE, &seal_context(tenant, id, column), text)
}

pub fn open(
    sealer: &Sealer,
    tenant: &Tenant,
    id: &SubscriptionId,
    column: SecretSlot,
    sealed: &[u8],
) -> Result<SecretString, SealError> {
    let bytes = sealer.open(PURPOSE, &seal_context(tenant, id, column), sealed)?;
    let text = String::from_utf8(bytes).map_err(|_| SealError::AuthenticationFailed)?;
    Ok(text.into())
}

fn seal_context<'a>(
    tenant: &'a Tenant,
    id: &'a SubscriptionId,
    column: SecretSlot,
) -> [&'a str; 4] {
    let column = match column {
        SecretSlot::Current => "current",
        SecretSlot::Previous => "previous",
    };
    [
        &tenant.organization,
        tenant.mode.as_str(),
        id.as_str(),
        column,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sealer::KEY_BYTES;
    use host_domain::owner::Mode;

    #[test]
    fn secret_has_256_random_bits() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one.expose_secret(), other.expose_secret());
        let text = one.expose_secret().strip_prefix(PREFIX).unwrap();
        assert_eq!(STANDARD.decode(text).unwrap().len(), SECRET_BYTES);
    }

    #[test]
    fn secret_decrypts_only_for_its_subscription_and_slot() {
        let sealer = Sealer::new("k1", &vec![1; KEY_BYTES].into(), &[]).unwrap();
        let tenant = Tenant {
            organization: "acme".into(),
            mode: Mode::Test,
        };
        let (id, secret) = (SubscriptionId::from_bits(1), generate().unwrap());
        let sealed = seal(&sealer, &tenant, &id, SecretSlot::Current, &secret).unwrap();
        let opened = open(&sealer, &tenant, &id, SecretSlot::Current, &sealed).unwrap();
        assert_eq!(opened.expose_secret(), secret.expose_secret());
        let other = SubscriptionId::from_bits(2);
        assert!(open(&sealer, &tenant, &other, SecretSlot::Current, &sealed).is_err());
        assert!(open(&sealer, &tenant, &id, SecretSlot::Previous, &sealed).is_err());
    }
}
