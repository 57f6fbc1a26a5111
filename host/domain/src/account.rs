//! Accounts of people: their roles, what the roles permit, and the rules for e-mail addresses and
//! passwords.

use crate::id::text_newtype;
use crate::named_enum::named_enum;
use crate::owner::Mode;
use serde::{Deserialize, Serialize};
use std::fmt;

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AccountState {
        /// The account was created, but nobody has set its password yet.
        Invited = "invited",
        Active = "active",
        /// The account cannot sign in, and its sessions have ended.
        Disabled = "disabled",
    }
}

named_enum! {
    /// A role in one organization, from the least to the most permissions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum OrganizationRole {
        Viewer = "viewer",
        Developer = "developer",
        Admin = "admin",
    }
}

/// A role of an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountRole {
    /// May do everything, in all organizations.
    Operator,
    Organization {
        organization: String,
        role: OrganizationRole,
    },
}

named_enum! {
    /// A permission on data of an organization.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Permission {
        Read = "read",
        ManageTestKeys = "manage_test_keys",
        ManageLiveKeys = "manage_live_keys",
        ManageMembers = "manage_members",
        ManageWebhooks = "manage_webhooks",
        /// Send a test event, replay deliveries and recover missed ones.
        ReplayDeliveries = "replay_deliveries",
        ManageWatches = "manage_watches",
        ManageMandates = "manage_mandates",
        RevealPersonalData = "reveal_personal_data",
        ReadAuditLog = "read_audit_log",
    }
}

impl Permission {
    /// Returns the permission to create and revoke keys of a mode.
    pub const fn manage_keys(mode: Mode) -> Self {
        match mode {
            Mode::Test => Self::ManageTestKeys,
            Mode::Live => Self::ManageLiveKeys,
        }
    }

    /// Returns the lowest role of an organization that has this permission.
    const fn lowest_role(self) -> OrganizationRole {
        match self {
            Self::Read => OrganizationRole::Viewer,
            Self::ManageTestKeys | Self::ReplayDeliveries => OrganizationRole::Developer,
            Self::ManageLiveKeys
            | Self::ManageMembers
            | Self::ManageWebhooks
            | Self::ManageWatches
            | Self::ManageMandates
            | Self::RevealPersonalData
            | Self::ReadAuditLog => OrganizationRole::Admin,
        }
    }
}

impl AccountRole {
    /// Returns whether this role permits something on data of `organization`.
    pub fn permits(&self, permission: Permission, organization: &str) -> bool {
        match self {
            Self::Operator => true,
            Self::Organization {
                organization: own,
                role,
            } => own == organization && *role >= permission.lowest_role(),
        }
    }

    /// Returns the organization of the role, or `None` for operators, who have all.
    pub fn organization(&self) -> Option<&str> {
        match self {
            Self::Operator => None,
            Self::Organization { organization, .. } => Some(organization),
        }
    }
}

/// Maximum length of the identifier of an organization.
const ORGANIZATION_CHARS_MAX: usize = 64;

/// Returns whether a text is the identifier of an organization: 1 to 64 of `[A-Za-z0-9._-]`.
pub fn is_organization_id(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=ORGANIZATION_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Error for text that is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an e-mail address")]
pub struct InvalidEmailAddress;

/// Maximum length of an e-mail address in bytes.
pub const EMAIL_BYTES_MAX: usize = 254;

/// An e-mail address in lower case. It names an account; no mail is sent to it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Parses an address: a local part, `@` and a domain, without spaces and control characters, of
    /// at most [`EMAIL_BYTES_MAX`] bytes. Spaces around it are removed.
    ///
    /// # Errors
    /// [`InvalidEmailAddress`].
    pub fn parse(text: &str) -> Result<Self, InvalidEmailAddress> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(InvalidEmailAddress)?;
        let is_valid = !local.is_empty()
            && !domain.is_empty()
            && !local.contains('@')
            && text.len() <= EMAIL_BYTES_MAX
            && !text.chars().any(|c| c.is_control() || c.is_whitespace());
        let lower = text.to_lowercase();
        // Lower case may be longer than the text.
        let is_valid = is_valid && lower.len() <= EMAIL_BYTES_MAX;
        is_valid.then_some(Self(lower)).ok_or(InvalidEmailAddress)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_newtype!(EmailAddress, InvalidEmailAddress);

pub const PASSWORD_CHARS_MIN: usize = 12;
pub const PASSWORD_CHARS_MAX: usize = 128;

/// Reason why a password is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordProblem {
    #[error("the password has fewer than {PASSWORD_CHARS_MIN} characters")]
    TooShort,
    #[error("the password has more than {PASSWORD_CHARS_MAX} characters")]
    TooLong,
    #[error("the password is the e-mail address")]
    EqualsEmail,
    #[error("the password is one of the most common passwords")]
    TooCommon,
}

/// Checks a new password against the rules that need no list of common passwords.
///
/// # Errors
/// The first rule that is broken.
pub fn check_password(password: &str, email: &EmailAddress) -> Result<(), PasswordProblem> {
    // Counting at most this many characters bounds the work for a very long text.
    let characters = password.chars().take(PASSWORD_CHARS_MAX + 1).count();
    if characters < PASSWORD_CHARS_MIN {
        return Err(PasswordProblem::TooShort);
    }
    if characters > PASSWORD_CHARS_MAX {
        return Err(PasswordProblem::TooLong);
    }
    if password.trim().to_lowercase() == email.as_str() {
        return Err(PasswordProblem::EqualsEmail);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(organization: &str, role: OrganizationRole) -> AccountRole {
        AccountRole::Organization {
            organization: organization.to_owned(),
            role,
        }
    }

    #[test]
    fn role_permits_the_actions_of_the_table() {
        use Permission::{ManageTestKeys, Read, ReplayDeliveries};
        let all = Permission::ALL;
        let developer = [Read, ManageTestKeys, ReplayDeliveries];
        for (held, permitted) in [
            (AccountRole::Operator, &all[..]),
            (role("acme", OrganizationRole::Admin), &all),
            (role("acme", OrganizationRole::Developer), &developer),
            (role("acme", OrganizationRole::Viewer), &[Read]),
            (role("other", OrganizationRole::Admin), &[]),
        ] {
            for permission in all {
                let found = held.permits(permission, "acme");
                assert_eq!(
                    found,
                    permitted.contains(&permission),
                    "{held:?} {permission:?}"
                );
            }
        }
    }

    #[test]
    fn email_address_is_checked_and_converted_to_lower_case() {
        let address = EmailAddress::parse(" Ada@Example.COM ").unwrap();
        assert_eq!(address.as_str(), "ada@example.com");
        let long = format!("{}@example.com", "a".repeat(250));
        for text in ["", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\n", &long] {
            let is_trimmed = text == "a@b\n";
            assert_eq!(EmailAddress::parse(text).is_ok(), is_trimmed, "{text}");
        }
    }

    #[test]
    fn password_length_is_counted_in_characters() {
        let email = EmailAddress::parse("someone@example.com").unwrap();
        for (password, result) in [
            ("ä".repeat(11), Err(PasswordProblem::TooShort)),
            ("ä".repeat(12), Ok(())),
            ("ä".repeat(128), Ok(())),
            ("ä".repeat(129), Err(PasswordProblem::TooLong)),
            (
                "Someone@Example.com".to_owned(),
                Err(PasswordProblem::EqualsEmail),
            ),
        ] {
            assert_eq!(check_password(&password, &email), result, "{password}");
        }
    }

    #[test]
    fn organization_id_has_a_closed_alphabet() {
        for (text, is_valid) in [("a.B_c-9", true), ("", false), ("a b", false), ("ä", false)] {
            assert_eq!(is_organization_id(text), is_valid, "{text}");
        }
        assert!(!is_organization_id(&"a".repeat(65)));
    }
}
