//! Stored payment instruments: the processor's token is sealed on its way into
//! the database and opened on its way out.

use crate::app::Application;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::seal::SealError;
use host_domain::id::InstrumentId;
use host_domain::owner::Owner;
use host_domain::payment::Instrument;
use host_domain::supplier::{ReadError, SupplierId};
use host_runtime::CallContext;
use host_storage::{CommitError, Conflict, DatabaseError, StoredInstrument, UnitOfWork};

const PURPOSE: &str = "payment_instrument_token";

/// Why there is no usable instrument.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstrumentError {
    /// The database.
    #[error("the instrument could not be read")]
    Database(#[from] DatabaseError),
    /// Sealed under another key, or changed.
    #[error("the instrument's token cannot be opened")]
    Seal(#[from] SealError),
}

/// Why an instrument was not added.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddInstrumentError {
    /// The database.
    #[error("the instrument could not be stored")]
    Commit(#[from] CommitError),
    /// The token cannot be sealed.
    #[error("the instrument's token cannot be sealed")]
    Seal(#[from] SealError),
    /// The idempotency key.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// Nobody takes cards in this mode.
    #[error("no payment processor is configured")]
    NoProcessor,
    /// The processor does not know the token, or gave no answer.
    #[error("the processor {0} did not describe the instrument")]
    Processor(SupplierId, #[source] ReadError),
    /// It was added with this key, and deleted since.
    #[error("the instrument is deleted")]
    Deleted,
}

/// An instrument that is stored.
#[derive(Debug)]
pub(crate) enum Added {
    /// Now.
    New(StoredInstrument),
    /// By an earlier call with the same key.
    Existing(StoredInstrument),
}

impl Application {
    /// Asks the processor what a browser's token stands for, and keeps it; once
    /// for each key.
    pub(crate) async fn add_instrument(
        &self,
        owner: &Owner,
        token: &str,
        key: Option<&IdempotentRequest>,
        context: &CallContext,
    ) -> Result<Added, AddInstrumentError> {
        loop {
            if let Some(made) = self.find_result(key).await? {
                let id = InstrumentId::parse(&made).map_err(|_| AddInstrumentError::Deleted)?;
                let stored = self
                    .store
                    .instrument(owner, &id)
                    .await
                    .map_err(CommitError::from)?;
                return stored.map(Added::Existing).ok_or(AddInstrumentError::Deleted);
            }
            let instrument = self.describe_instrument(owner, token, context).await?;
            let stored = self.seal_instrument(owner, &instrument)?;
            let mut write = UnitOfWork::new(instrument.created_at);
            claim_in(&mut write, key, stored.id.as_str());
            write.insert_instrument(owner, &stored);
            match self.store.commit(write).await {
                Ok(()) => return Ok(Added::New(stored)),
                // Another call with the same key was faster.
                Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn describe_instrument(
        &self,
        owner: &Owner,
        token: &str,
        context: &CallContext,
    ) -> Result<Instrument, AddInstrumentError> {
        let processor = self
            .suppliers
            .processor(owner.tenant.mode)
            .ok_or(AddInstrumentError::NoProcessor)?;
        let supplier = self
            .runtime
            .supplier(processor)
            .ok_or(AddInstrumentError::NoProcessor)?;
        let found = supplier
            .describe_instrument(context, token.to_owned())
            .await;
        let found = found.map_err(|error| AddInstrumentError::Processor(processor.clone(), error))?;
        Ok(Instrument {
            id: InstrumentId::from_bits(self.ids.generate()),
            processor: processor.clone(),
            token: found.token,
            card: found.card,
            created_at: self.clock.now(),
        })
    }

    /// An instrument as it is stored.
    pub(crate) fn seal_instrument(
        &self,
        owner: &Owner,
        instrument: &Instrument,
    ) -> Result<StoredInstrument, SealError> {
        let sealed_token = self.sealer.seal(
            PURPOSE,
            &seal_context(owner, &instrument.id),
            instrument.token.as_bytes(),
        )?;
        Ok(StoredInstrument {
            id: instrument.id.clone(),
            processor: instrument.processor.clone(),
            sealed_token,
            card: instrument.card.clone(),
            created_at: instrument.created_at,
        })
    }

    /// An owner's instrument, ready to be charged; none: not theirs, or deleted.
    pub(crate) async fn open_instrument(
        &self,
        owner: &Owner,
        id: &InstrumentId,
    ) -> Result<Option<Instrument>, InstrumentError> {
        let Some(stored) = self.store.instrument(owner, id).await? else {
            return Ok(None);
        };
        let token = self
            .sealer
            .open(PURPOSE, &seal_context(owner, id), &stored.sealed_token)?;
        Ok(Some(Instrument {
            id: stored.id,
            processor: stored.processor,
            token: String::from_utf8_lossy(&token).into_owned(),
            card: stored.card,
            created_at: stored.created_at,
        }))
    }
}

/// Where a token belongs: moved to another row, it does not open.
fn seal_context<'a>(owner: &'a Owner, id: &'a InstrumentId) -> [&'a str; 4] {
    [
        &owner.tenant.organization,
        owner.tenant.mode.as_str(),
        &owner.user,
        id.as_str(),
    ]
}
