//! The person who uses the dashboard, and the client that the person uses.

use host_domain::account::{AccountRole, EmailAddress};
use host_domain::audit::{AccessChannel, Actor, ActorKind, ActorSource};
use host_domain::id::{AccountId, SessionId};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use std::net::IpAddr;

/// A person who has signed in, with the scope that the session is set to.
#[derive(Debug, Clone)]
pub struct Viewer {
    pub account: AccountId,
    pub email: EmailAddress,
    pub roles: Vec<AccountRole>,
    /// The mode whose data the pages show.
    pub mode: Mode,
    pub session: SessionId,
    /// Time of the sign-in, or of the change of the password, with which the session began.
    pub signed_in_at: Timestamp,
    /// Address of the client, as in [`ClientInfo`].
    pub address: IpAddr,
}

impl Viewer {
    pub fn is_operator(&self) -> bool {
        self.roles.contains(&AccountRole::Operator)
    }

    /// Returns the person as the audit log names them.
    pub fn actor(&self) -> Actor {
        account_actor(&self.account, &self.email, self.address)
    }
}

/// Returns a person as the audit log names them, also before there is a session.
pub(super) fn account_actor(account: &AccountId, email: &EmailAddress, address: IpAddr) -> Actor {
    Actor {
        kind: ActorKind::Account,
        id: account.to_string(),
        name: email.to_string(),
        source: ActorSource {
            address: Some(address),
            via: AccessChannel::Dashboard,
        },
    }
}

/// The client of a request.
#[derive(Debug, Clone)]
pub struct ClientInfo {
    /// Address of the client, or of the last proxy that is not trusted.
    pub address: IpAddr,
    /// The header `User-Agent`, cut to 200 characters.
    pub user_agent: String,
}
