//! The configuration of single sign-on.

use crate::config::secret::Secret;
use host_domain::account::{AccountRole, OrganizationRole, is_organization_id};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use url::{Host, Url};

/// The section `[dashboard.oidc]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcConfig {
    /// Empty if there is no single sign-on.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
    pub scopes: Vec<String>,
    /// The claim of the identity token that decides about roles: a text or a list of texts.
    pub role_claim: String,
    /// The role for each value of the claim. Empty if the provider decides about no roles.
    pub roles: BTreeMap<String, MappedRole>,
}

impl OidcConfig {
    /// Returns whether the section is complete and its issuer keeps secrets off the network in clear
    /// text, or has no issuer.
    pub fn is_valid(&self) -> bool {
        self.issuer.is_empty()
            || (is_protected(&self.issuer)
                && !self.client_id.is_empty()
                && self.scopes.iter().any(|scope| scope == "openid"))
    }
}

/// Returns whether a URL is https, or http on a loopback address.
pub fn is_protected(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

/// A role, written as `operator` or as role and organization, e.g. `developer@acme`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MappedRole(pub AccountRole);

impl TryFrom<String> for MappedRole {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "operator" {
            return Ok(Self(AccountRole::Operator));
        }
        let parts = text.split_once('@');
        let parts = parts.filter(|(_, organization)| is_organization_id(organization));
        let parsed = parts.and_then(|(role, organization)| {
            Some(Self(AccountRole::Organization {
                organization: organization.to_owned(),
                role: OrganizationRole::parse(role)?,
            }))
        });
        parsed.ok_or_else(|| {
            format!(
                "{text} is no role: operator, or admin, developer or viewer, @ and organization"
            )
        })
    }
}

impl From<MappedRole> for String {
    fn from(role: MappedRole) -> Self {
        match role.0 {
            AccountRole::Operator => "operator".to_owned(),
            AccountRole::Organization { organization, role } => {
                format!("{}@{organization}", role.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(issuer: &str, client_id: &str, scope: &str) -> OidcConfig {
        OidcConfig {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            client_secret: Secret::default(),
            scopes: vec![scope.to_owned()],
            role_claim: String::new(),
            roles: BTreeMap::new(),
        }
    }

    #[test]
    fn issuer_must_be_protected_and_have_a_client() {
        for (issuer, client_id, scope, is_valid) in [
            ("", "", "", true),
            ("https://login.example.com", "a", "openid", true),
            ("http://127.0.0.1:9000/realm", "a", "openid", true),
            ("http://login.example.com", "a", "openid", false),
            ("https://login.example.com", "", "openid", false),
            ("https://login.example.com", "a", "email", false),
            ("login.example.com", "a", "openid", false),
        ] {
            let found = config(issuer, client_id, scope).is_valid();
            assert_eq!(found, is_valid, "{issuer} {client_id} {scope}");
        }
    }

    #[test]
    fn role_is_written_with_its_organization() {
        for text in ["operator", "admin@acme", "viewer@a.b-c"] {
            let role = MappedRole::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(role), text);
        }
        for text in [
            "",
            "admin",
            "owner@acme",
            "admin@",
            "operator@acme",
            "admin@a b",
        ] {
            assert!(MappedRole::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
