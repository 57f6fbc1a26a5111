//! Entries of the audit log: their JSON, their canonical form and their hash.

use host_domain::audit::{Actor, ActorKind, ActorSource};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_storage::StoredAuditEntry;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The hash before the first entry: 64 zeros.
const NO_HASH: [u8; 32] = [0; 32];

/// An actor in the JSON of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditActor {
    #[serde(rename = "type")]
    pub kind: ActorKind,
    /// Empty if actors of this kind have no id.
    pub id: String,
    /// Empty if the actor has no name.
    pub name: String,
}

impl From<&Actor> for AuditActor {
    fn from(actor: &Actor) -> Self {
        Self {
            kind: actor.kind,
            id: actor.id.clone(),
            name: actor.name.clone(),
        }
    }
}

/// The changed object in the JSON of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTarget {
    /// For example `api_key`.
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
}

/// A change as JSON, before it has a place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChange {
    /// RFC 3339, UTC.
    pub at: String,
    pub actor: AuditActor,
    /// The name of an [`AuditAction`](host_domain::audit::AuditAction), for example
    /// `api_key.created`.
    pub action: String,
    pub target: AuditTarget,
    /// `None` for changes of the whole installation.
    pub organization: Option<String>,
    /// `None` for changes of both modes.
    pub mode: Option<Mode>,
    pub source: ActorSource,
    /// The changed properties as they were. `null` if the object is new.
    pub before: Value,
    /// The changed properties as they are now. `null` if the object is gone.
    pub after: Value,
}

/// An entry of the chain as JSON, except its own hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    #[serde(flatten)]
    pub change: RecordedChange,
    /// The position in the chain: 1, 2, 3, …
    pub sequence: i64,
    /// The hash of the entry before this one, in hexadecimal; zeros for the first one.
    pub previous_hash: String,
}

/// The position at which the next entry is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// The number of entries.
    pub sequence: i64,
    /// The hash of the last entry in hexadecimal; zeros if there is none.
    pub hash: String,
}

impl ChainHead {
    /// Returns the head of a chain without entries.
    pub(super) fn empty() -> Self {
        Self {
            sequence: 0,
            hash: hex::encode(NO_HASH),
        }
    }
}

impl From<Option<(i64, String)>> for ChainHead {
    fn from(last: Option<(i64, String)>) -> Self {
        last.map_or_else(Self::empty, |(sequence, hash)| Self { sequence, hash })
    }
}

impl From<&StoredAuditEntry> for ChainHead {
    fn from(entry: &StoredAuditEntry) -> Self {
        Self {
            sequence: entry.sequence,
            hash: entry.hash.clone(),
        }
    }
}

impl AuditEntry {
    /// Appends a change to a chain. Fails if the change is not the JSON of a [`RecordedChange`].
    pub(super) fn append(head: &ChainHead, change: &str) -> Result<Self, serde_json::Error> {
        Ok(Self {
            change: serde_json::from_str(change)?,
            sequence: head.sequence + 1,
            previous_hash: head.hash.clone(),
        })
    }

    /// Returns the entry with its hash as it is stored.
    pub(super) fn seal(&self) -> Result<StoredAuditEntry, serde_json::Error> {
        let body = canonical_json(&serde_json::to_value(self)?);
        let change = &self.change;
        Ok(StoredAuditEntry {
            sequence: self.sequence,
            at: Timestamp::parse(&change.at).unwrap_or(Timestamp(0)),
            organization: change.organization.clone().unwrap_or_default(),
            mode: change.mode.map_or("", Mode::as_str).to_owned(),
            actor_kind: change.actor.kind.as_str().to_owned(),
            actor_id: change.actor.id.clone(),
            actor_name: change.actor.name.clone(),
            action: change.action.clone(),
            target_id: change.target.id.clone(),
            hash: hex::encode(Sha256::digest(&body)),
            body,
        })
    }

    /// Returns the head after an entry as it is stored, if the entry continues a chain: every
    /// column has what the body says, and the body continues `head`.
    pub(super) fn check(head: &ChainHead, stored: &StoredAuditEntry) -> Option<ChainHead> {
        let entry: Self = serde_json::from_str(&stored.body).ok()?;
        let continues = entry.sequence == head.sequence + 1 && entry.previous_hash == head.hash;
        let is_unchanged = entry.seal().is_ok_and(|sealed| sealed == *stored);
        (continues && is_unchanged).then(|| stored.into())
    }
}

/// Serializes JSON with the members of objects sorted by name and without spaces, so that the same
/// value always has the same text.
pub(super) fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (number, (name, value)) in members.into_iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}
