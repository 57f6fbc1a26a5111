//! Whose something is: organization, mode and user.

use serde::{Deserialize, Serialize};

/// Two worlds that never see each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Deterministic suppliers, no money.
    Test,
    /// Real suppliers, real money.
    Live,
}

impl Mode {
    /// `test` or `live`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }

    /// Reads `test` or `live`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "test" => Some(Self::Test),
            "live" => Some(Self::Live),
            _ => None,
        }
    }
}

/// The tenant that a key resolves to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tenant {
    /// The organization's id, as its key was made for it.
    pub organization: String,
    /// Which of the two worlds.
    pub mode: Mode,
}

/// Who a booking, an instrument or an idempotency key belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owner {
    /// Organization and mode.
    pub tenant: Tenant,
    /// The organization's end user; [`Owner::ORGANIZATION_USER`] without one.
    pub user: String,
}

impl Owner {
    /// The user of calls that name none.
    pub const ORGANIZATION_USER: &'static str = "org";

    /// Whether this caller may act for a user: each for themselves, the organization for all.
    #[must_use]
    pub fn can_act_for(&self, user: &str) -> bool {
        self.user == user || self.user == Self::ORGANIZATION_USER
    }
}
