//! The audit log: who changed what, when and from where. Each entry has the hash of the previous
//! one, so that a changed, removed or added entry is found.

use crate::named_enum::named_enum;
use crate::owner::Mode;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

named_enum! {
    /// The kind of an actor.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ActorKind {
        /// A person. The id is the account's, the name its e-mail address.
        Account = "account",
        /// A caller of the admin listener.
        AdminToken = "admin_token",
        /// A program with an API key.
        ApiKey = "api_key",
        /// A command on the gateway's host. The name is that of the operating system's user.
        Cli = "cli",
        /// A background task of the gateway.
        System = "system",
    }
}

named_enum! {
    /// The interface through which an actor reaches the gateway.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AccessChannel {
        Api = "api",
        Dashboard = "dashboard",
        Admin = "admin",
        Cli = "cli",
        Background = "background",
    }
}

/// The origin of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActorSource {
    /// The client's IP address. `None` for commands and background tasks.
    pub address: Option<IpAddr>,
    pub via: AccessChannel,
}

/// The person or program that causes a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorKind,
    /// Empty if actors of this kind have no id.
    pub id: String,
    /// Empty if the actor has no name.
    pub name: String,
    pub source: ActorSource,
}

impl Actor {
    /// Returns the actor of background tasks.
    pub const fn system() -> Self {
        Self {
            kind: ActorKind::System,
            id: String::new(),
            name: String::new(),
            source: ActorSource {
                address: None,
                via: AccessChannel::Background,
            },
        }
    }

    /// Returns the actor of a command that a user of the operating system runs.
    pub const fn cli(user: String) -> Self {
        Self {
            kind: ActorKind::Cli,
            id: String::new(),
            name: user,
            source: ActorSource {
                address: None,
                via: AccessChannel::Cli,
            },
        }
    }

    /// Returns the actor of a call of the admin listener.
    pub const fn admin_listener(address: Option<IpAddr>) -> Self {
        Self {
            kind: ActorKind::AdminToken,
            id: String::new(),
            name: String::new(),
            source: ActorSource {
                address,
                via: AccessChannel::Admin,
            },
        }
    }
}

named_enum! {
    /// A recorded change. The text before the dot is the type of its target.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum AuditAction {
        ApiKeyCreated = "api_key.created",
        ApiKeyRevoked = "api_key.revoked",
        WebhookCreated = "webhook.created",
        WebhookChanged = "webhook.changed",
        WebhookPaused = "webhook.paused",
        WebhookResumed = "webhook.resumed",
        WebhookSecretRotated = "webhook.secret_rotated",
        /// The gateway stopped sending, because the receiver did not accept events for long.
        WebhookDisabled = "webhook.disabled",
        WebhookDeleted = "webhook.deleted",
        /// A test event was sent.
        WebhookTested = "webhook.tested",
        /// Deliveries that failed since a time were replayed.
        WebhookRecovered = "webhook.recovered",
        DeliveryReplayed = "delivery.replayed",
        BulkReplayStarted = "bulk_replay.started",
        BulkReplayStopped = "bulk_replay.stopped",
        /// A person saw the personal data of an event's payload.
        EventRevealed = "event.revealed",
        WatchCreated = "watch.created",
        WatchConfirmed = "watch.confirmed",
        WatchCanceled = "watch.canceled",
        MandateIssued = "mandate.issued",
        MandateRevoked = "mandate.revoked",
        /// A person read the personal data of a booking.
        BookingRevealed = "booking.revealed",
        /// An operator decided about a call with an unknown outcome.
        BookingSettled = "booking.settled",
        /// An operator took back a decision that was not applied yet.
        BookingSettlementWithdrawn = "booking.settlement_withdrawn",
        /// An operator retried a parked job.
        JobRetried = "job.retried",
        SupplierReloaded = "supplier.reloaded",
        /// An operator began or ended to drain a supplier.
        SupplierDrained = "supplier.drained",
        /// An operator changed priority and weight of a supplier.
        SupplierRanked = "supplier.ranked",
        AccountCreated = "account.created",
        AccountSetUp = "account.set_up",
        AccountPasswordChanged = "account.password_changed",
        AccountDisabled = "account.disabled",
        AccountReset = "account.reset",
        AccountRolesChanged = "account.roles_changed",
        AccountTotpEnabled = "account.totp_enabled",
        AccountTotpDisabled = "account.totp_disabled",
        AccountRecoveryCodesReplaced = "account.recovery_codes_replaced",
        MemberInvited = "member.invited",
        MemberInvitationRevoked = "member.invitation_revoked",
        MemberJoined = "member.joined",
        MemberRoleChanged = "member.role_changed",
        MemberRemoved = "member.removed",
    }
}

impl AuditAction {
    /// Returns the type of the objects that the action changes, e.g. `api_key`.
    pub fn target_type(self) -> &'static str {
        let name = self.as_str();
        name.split_once('.').map_or(name, |(target, _)| target)
    }
}

/// The entries of the audit log that a reader may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditScope {
    /// `None` for all entries. Otherwise only entries about these organizations.
    pub organizations: Option<Vec<String>>,
    /// `None` for both modes. Otherwise entries of this mode and entries that have no mode.
    pub mode: Option<Mode>,
}

impl AuditScope {
    /// The whole log.
    pub const ALL: Self = Self {
        organizations: None,
        mode: None,
    };
}

/// Filter of the audit log. `None` means any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The name of a kind of actors, or the id or the name of an actor.
    pub actor: Option<String>,
    pub action: Option<AuditAction>,
    /// The id of the changed object.
    pub target: Option<String>,
    /// The time of the first entry.
    pub from: Option<Timestamp>,
    /// The time before which the last entry was made.
    pub until: Option<Timestamp>,
}
