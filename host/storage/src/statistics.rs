//! PostgreSQL plans by what it has counted. Of tables where nothing was counted yet,
//! because a database is new or was restored, it believes that hardly any rows are of
//! one organization: it looks for one of them by whatever index begins with that, and
//! reads all of them. Autovacuum counts within a minute or so; this does until then.

use crate::dialect::failed;
use crate::error::DatabaseError;
use crate::postgres;
use sqlx::postgres::PgPool;
use sqlx::{AssertSqlSafe, Row as _};
use std::time::Duration;

/// The first pause; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Beyond this autovacuum is as quick.
const LAST_PAUSE: Duration = Duration::from_secs(64);

/// Tables that have rows and were never counted, as they are written in SQL. Fewer rows
/// are read as a whole more quickly than one is found: such a plan would stay.
const UNCOUNTED: &str = "SELECT CAST(CAST(relid AS regclass) AS text) AS name \
     FROM pg_stat_user_tables \
     WHERE schemaname = current_schema() AND n_live_tup >= 500 \
       AND last_analyze IS NULL AND last_autoanalyze IS NULL";

/// Counts what nobody did, for the first minutes or until the pool is closed.
pub(crate) async fn keep(pool: PgPool) {
    let mut pause = FIRST_PAUSE;
    while pause <= LAST_PAUSE {
        postgres::pause(&pool, pause).await;
        if pool.is_closed() {
            return;
        }
        // Without it everything works, only slower.
        if let Err(error) = count(&pool).await {
            tracing::info!(error = %error, "tables could not be analyzed; autovacuum will do so");
        }
        pause *= 2;
    }
}

/// Counts what nobody counted.
pub(crate) async fn count(pool: &PgPool) -> Result<(), DatabaseError> {
    for row in sqlx::query(UNCOUNTED)
        .fetch_all(pool)
        .await
        .map_err(failed)?
    {
        let name: String = row.try_get("name").map_err(failed)?;
        let analyze = AssertSqlSafe(format!("ANALYZE {name}"));
        sqlx::query(analyze).execute(pool).await.map_err(failed)?;
    }
    Ok(())
}
