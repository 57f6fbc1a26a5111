//! Stored payment instruments: the processor's token is sealed on its way into
//! the database and opened on its way out.

use crate::app::App;
use crate::seal::SealError;
use host_domain::id::InstrumentId;
use host_domain::owner::Owner;
use host_domain::payment::Instrument;
use host_storage::{DatabaseError, StoredInstrument};

const PURPOSE: &str = "payment_instrument_token";

/// Why there is no usable instrument.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstrumentError {
    /// The database.
    #[error("the instrument could not be read")]
    Database(#[from] DatabaseError),
    /// Sealed under another key, or changed.
    #[error("the instrument's token cannot be opened")]
    Sealed(#[from] SealError),
}

impl App {
    /// An instrument as it is stored.
    pub(crate) fn seal_instrument(&self, owner: &Owner, instrument: &Instrument) -> Result<StoredInstrument, SealError> {
        let sealed_token = self.sealer.seal(PURPOSE, &place(owner, &instrument.id), instrument.token.as_bytes())?;
        Ok(StoredInstrument {
            id: instrument.id.clone(),
            processor: instrument.processor.clone(),
            sealed_token,
            card: instrument.card.clone(),
            created_at: instrument.created_at,
        })
    }

    /// An owner's instrument, ready to be charged; none: not theirs, or deleted.
    pub(crate) async fn open_instrument(&self, owner: &Owner, id: &InstrumentId) -> Result<Option<Instrument>, InstrumentError> {
        let Some(stored) = self.store.instrument(owner, id).await? else {
            return Ok(None);
        };
        let token = self.sealer.open(PURPOSE, &place(owner, id), &stored.sealed_token)?;
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
fn place<'a>(owner: &'a Owner, id: &'a InstrumentId) -> [&'a str; 4] {
    [&owner.tenant.organization, owner.tenant.mode.as_str(), &owner.user, id.as_str()]
}
