//! One-time passwords (TOTP, RFC 6238) and recovery codes.

use crate::account::secret::{RandomSourceFailure, digest_token};
use crate::sealer::{SealError, Sealer};
use host_domain::account::EmailAddress;
use host_domain::id::AccountId;
use host_domain::time::Timestamp;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use totp_rs::{Builder, Secret, Totp, TotpError};

/// The name that authenticator apps show.
const ISSUER: &str = "Stopover";

/// Size of a secret, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;

const PURPOSE: &str = "account_totp";

pub(super) const RECOVERY_CODES: usize = 10;
const RECOVERY_CODE_BYTES: usize = 10;
/// Number of characters between the hyphens of a recovery code.
const GROUP_CHARS: usize = 4;

/// The secret that an account shares with an authenticator app.
pub(super) struct TotpSecret(SecretSlice<u8>);

impl TotpSecret {
    pub(super) fn generate() -> Result<Self, RandomSourceFailure> {
        let bytes: [u8; SECRET_BYTES] = random_bytes()?;
        Ok(Self(bytes.to_vec().into()))
    }

    pub(super) fn open(
        sealer: &Sealer,
        account: &AccountId,
        sealed: &[u8],
    ) -> Result<Self, SealError> {
        let bytes = sealer.open(PURPOSE, &[account.as_str()], sealed)?;
        Ok(Self(bytes.into()))
    }

    pub(super) fn seal(&self, sealer: &Sealer, account: &AccountId) -> Result<Vec<u8>, SealError> {
        sealer.seal(PURPOSE, &[account.as_str()], self.0.expose_secret())
    }

    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.expose_secret()
    }

    /// Returns the secret in base 32, for people who type it.
    pub(super) fn to_text(&self) -> SecretString {
        Secret::from(self.bytes().to_vec()).to_base32().into()
    }

    /// Returns the address that authenticator apps read from a QR code.
    pub(super) fn to_uri(&self, email: &EmailAddress) -> Result<SecretString, TotpError> {
        // A colon would end the issuer.
        let name = email.as_str().replace(':', " ");
        let builder = self.builder().with_issuer(Some(ISSUER));
        let uri = builder.with_account_name(name).build()?.to_url()?;
        Ok(uri.into())
    }

    /// Returns the time step of a code of six digits, or `None` if it is no code of the current
    /// step, the previous one or the next one.
    pub(super) fn step_of(&self, code: &str, now: Timestamp) -> Result<Option<i64>, TotpError> {
        let seconds = u64::try_from(now.0 / 1000).unwrap_or_default();
        let digits: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let step = self.totp()?.check(&digits, seconds);
        Ok(step.and_then(|step| i64::try_from(step).ok()))
    }

    fn totp(&self) -> Result<Totp, TotpError> {
        self.builder().build()
    }

    /// Six digits, steps of 30 s, SHA-1 and a tolerance of one step: the only parameters that all
    /// apps support.
    fn builder(&self) -> Builder {
        Builder::new().with_secret(self.bytes().to_vec())
    }
}

/// Generates recovery codes of 80 random bits.
pub(super) fn generate_recovery_codes() -> Result<Vec<SecretString>, RandomSourceFailure> {
    let codes = (0..RECOVERY_CODES).map(|_| {
        let bytes: [u8; RECOVERY_CODE_BYTES] = random_bytes()?;
        let text = Secret::from(bytes.to_vec()).to_base32().to_lowercase();
        let characters: Vec<char> = text.chars().collect();
        let groups: Vec<String> = characters
            .chunks(GROUP_CHARS)
            .map(|group| group.iter().collect())
            .collect();
        Ok(groups.join("-").into())
    });
    codes.collect()
}

/// Returns the SHA-256 digest of a recovery code, whose hyphens, spaces and case do not matter.
pub(super) fn digest_recovery_code(code: &str) -> [u8; 32] {
    let letters = code.chars().filter(char::is_ascii_alphanumeric);
    digest_token(&letters.collect::<String>().to_lowercase())
}

fn random_bytes<const N: usize>() -> Result<[u8; N], RandomSourceFailure> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).map_err(|_| RandomSourceFailure)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 6238, appendix B, for SHA-1, cut to six digits.
    #[test]
    fn code_is_that_of_the_rfc_and_tolerates_one_step() {
        let secret = TotpSecret::from_bytes(b"12345678901234567890".to_vec());
        for (code, at_s, expected) in [
            ("287082", 59, Some(1)),
            ("081804", 1_111_111_109, Some(37_037_036)),
            ("050471", 1_111_111_111, Some(37_037_037)),
            ("005924", 1_234_567_890, Some(41_152_263)),
            ("279037", 2_000_000_000, Some(66_666_666)),
            ("279 037", 2_000_000_000, Some(66_666_666)),
            ("279037", 2_000_000_000 + 30, Some(66_666_666)),
            ("279037", 2_000_000_000 - 30, Some(66_666_666)),
            ("279037", 2_000_000_000 + 60, None),
            ("279037", 2_000_000_000 - 60, None),
            ("279038", 2_000_000_000, None),
            ("79037", 2_000_000_000, None),
            ("", 2_000_000_000, None),
        ] {
            let step = secret.step_of(code, Timestamp(at_s * 1000)).unwrap();
            assert_eq!(step, expected, "{code} at {at_s}");
        }
    }

    #[test]
    fn address_names_the_issuer_and_the_account() {
        let secret = TotpSecret::from_bytes(b"12345678901234567890".to_vec());
        let email = EmailAddress::parse("a:da+test@example.com").unwrap();
        let uri = secret.to_uri(&email).unwrap();
        assert_eq!(
            uri.expose_secret(),
            "otpauth://totp/Stopover:a%20da%2Btest%40example.com\
             ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Stopover"
        );
    }

    #[test]
    fn recovery_codes_differ_and_are_read_in_any_spelling() {
        let codes = generate_recovery_codes().unwrap();
        let digests: Vec<_> = codes
            .iter()
            .map(|code| digest_recovery_code(code.expose_secret()))
            .collect();
        for (number, digest) in digests.iter().enumerate() {
            assert!(!digests.iter().skip(number + 1).any(|other| other == digest));
        }
        let expected = digest_recovery_code("abcd-efgh-2345-mnop");
        for spelling in [
            "ABCD-EFGH-2345-MNOP",
            " abcdefgh2345mnop ",
            "abcd efgh 2345 mnop",
        ] {
            assert_eq!(digest_recovery_code(spelling), expected, "{spelling}");
        }
        assert_eq!(codes[0].expose_secret().len(), 19);
    }
}
