//! Stored payment instruments. The processor's token is sealed before it is stored and opened when
//! it is read.

use crate::base::Base;
use crate::context::RequestContext;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::sealer::{SealError, Sealer};
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::router::read_call_context;
use host_domain::id::InstrumentId;
use host_domain::owner::Owner;
use host_domain::payment::{Card, Instrument};
use host_domain::supplier::{ReadError, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::CallContext;
use host_storage::{CommitError, Conflict, DatabaseError, StoredInstrument, UnitOfWork};
use std::sync::Arc;

const PURPOSE: &str = "payment_instrument_token";

#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    #[error("the instrument could not be read")]
    Database(#[from] DatabaseError),
    /// The token was sealed with a key that is not configured, or was changed.
    #[error("the instrument's sealed token cannot be opened")]
    Seal(#[from] SealError),
}

#[derive(Debug, thiserror::Error)]
pub enum AddInstrumentError {
    #[error("the instrument could not be stored")]
    Commit(#[from] CommitError),
    #[error("the instrument's token cannot be sealed")]
    Seal(#[from] SealError),
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error("no payment processor is configured")]
    NoProcessor,
    /// The processor did not recognize the token or did not respond.
    #[error("the processor {0} did not describe the instrument")]
    Processor(SupplierId, #[source] ReadError),
    /// An earlier call with the same key added the instrument, and it was deleted since.
    #[error("the instrument was added with this idempotency key and deleted since")]
    Deleted,
}

/// A stored instrument as its owner may see it, without the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstrumentDetails {
    pub id: InstrumentId,
    pub card: Option<Card>,
    pub created_at: Timestamp,
}

impl From<StoredInstrument> for InstrumentDetails {
    fn from(stored: StoredInstrument) -> Self {
        Self {
            id: stored.id,
            card: stored.card,
            created_at: stored.created_at,
        }
    }
}

#[derive(Debug)]
pub enum Added {
    /// The processor described the instrument.
    New {
        instrument: InstrumentDetails,
        processor: SupplierId,
    },
    /// An earlier call with the same key stored the instrument.
    Existing(InstrumentDetails),
}

/// Adds, lists, opens and deletes stored payment instruments.
pub struct PaymentInstrumentService {
    pub(crate) base: Base,
    pub(crate) suppliers: Arc<SupplierDirectory>,
    pub(crate) sealer: Arc<Sealer>,
}

impl PaymentInstrumentService {
    /// Asks the processor about a browser's token and stores the instrument, once for each key.
    pub async fn add(
        &self,
        context: &RequestContext,
        token: &str,
        key: Option<&IdempotentRequest>,
    ) -> Result<Added, AddInstrumentError> {
        let owner = &context.owner;
        loop {
            if let Some(made) = self.base.find_idempotent_result(key).await? {
                let id = InstrumentId::parse(&made).map_err(|_| AddInstrumentError::Deleted)?;
                let stored = self.base.store.instrument(owner, &id).await;
                let stored = stored.map_err(CommitError::from)?;
                let stored = stored.ok_or(AddInstrumentError::Deleted)?;
                return Ok(Added::Existing(stored.into()));
            }
            let call = read_call_context(context);
            let instrument = self.describe(owner, token, &call).await?;
            let stored = self.seal(owner, &instrument)?;
            let mut write = UnitOfWork::new(instrument.created_at);
            claim_in(&mut write, key, stored.id.as_str());
            write.insert_instrument(owner, &stored);
            // If another call with the same key was faster, the next iteration reads its instrument.
            let conflict = Conflict::IdempotencyKeyExists;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(Added::New {
                    instrument: stored.into(),
                    processor: instrument.processor,
                });
            }
        }
    }

    async fn describe(
        &self,
        owner: &Owner,
        token: &str,
        context: &CallContext,
    ) -> Result<Instrument, AddInstrumentError> {
        let processor = self.suppliers.processor(owner.tenant.mode);
        let processor = processor.ok_or(AddInstrumentError::NoProcessor)?;
        let supplier = self.suppliers.loaded(processor);
        let supplier = supplier.ok_or(AddInstrumentError::NoProcessor)?;
        let found = supplier.describe_instrument(context, token.to_owned());
        let failed = |error| AddInstrumentError::Processor(processor.clone(), error);
        let found = found.await.map_err(failed)?;
        Ok(Instrument {
            id: InstrumentId::from_bits(self.base.ids.generate()),
            processor: processor.clone(),
            token: found.token,
            card: found.card,
            created_at: self.base.now(),
        })
    }

    /// Seals an instrument's token and returns the instrument as it is stored.
    pub fn seal(
        &self,
        owner: &Owner,
        instrument: &Instrument,
    ) -> Result<StoredInstrument, SealError> {
        let (context, token) = (seal_context(owner, &instrument.id), &instrument.token);
        let sealed_token = self.sealer.seal(PURPOSE, &context, token.as_bytes())?;
        Ok(StoredInstrument {
            id: instrument.id.clone(),
            processor: instrument.processor.clone(),
            sealed_token,
            card: instrument.card.clone(),
            created_at: instrument.created_at,
        })
    }

    pub async fn list(&self, owner: &Owner) -> Result<Vec<InstrumentDetails>, StorageFailure> {
        let stored = self.base.store.instruments(owner).await?;
        Ok(stored.into_iter().map(InstrumentDetails::from).collect())
    }

    /// Returns an owner's instrument, or `None` if there is none or it is deleted.
    pub async fn find(
        &self,
        owner: &Owner,
        id: &InstrumentId,
    ) -> Result<Option<InstrumentDetails>, StorageFailure> {
        let stored = self.base.store.instrument(owner, id).await?;
        Ok(stored.map(InstrumentDetails::from))
    }

    /// Deletes an owner's instrument. Returns whether the owner had such an instrument.
    pub async fn delete(&self, owner: &Owner, id: &InstrumentId) -> Result<bool, StorageFailure> {
        let mut write = self.base.unit_of_work();
        write.delete_instrument(owner, id);
        let conflict = Conflict::InstrumentNotFound;
        Ok(self.base.commit_unless(conflict, write).await?)
    }

    /// Returns an owner's instrument with its token, or `None` if there is none or it is deleted.
    pub async fn open(
        &self,
        owner: &Owner,
        id: &InstrumentId,
    ) -> Result<Option<Instrument>, InstrumentError> {
        let Some(stored) = self.base.store.instrument(owner, id).await? else {
            return Ok(None);
        };
        let (context, sealed) = (seal_context(owner, id), &stored.sealed_token);
        let token = self.sealer.open(PURPOSE, &context, sealed)?;
        Ok(Some(Instrument {
            id: stored.id,
            processor: stored.processor,
            token: String::from_utf8_lossy(&token).into_owned(),
            card: stored.card,
            created_at: stored.created_at,
        }))
    }
}

/// Returns the context of a sealed token, which cannot be opened in another row.
fn seal_context<'a>(owner: &'a Owner, id: &'a InstrumentId) -> [&'a str; 4] {
    let (organization, mode) = (&owner.tenant.organization, owner.tenant.mode);
    [organization, mode.as_str(), &owner.user, id.as_str()]
}
