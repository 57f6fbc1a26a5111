//! A minimal handler of a booking: one query by primary key, and the row's document unchanged. It
//! has no keys, limits, checks or mapping.

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use rusqlite::{Connection, OptionalExtension};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;

const ROW: &str = "SELECT document FROM hotel_booking WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id = $4";
/// Numbers of connections, equal to the gateway's defaults.
const POSTGRES_CONNECTIONS: u32 = 20;
const SQLITE_READERS: usize = 4;

type Readers = Arc<[Mutex<Connection>]>;

pub(super) async fn serve(listener: TcpListener, database: &str) -> Result<()> {
    let router = match database.strip_prefix("sqlite:") {
        Some(file) => {
            let connect = |_| {
                let connection = Connection::open(file)?;
                connection.execute_batch("PRAGMA query_only = ON")?;
                anyhow::Ok(Mutex::new(connection))
            };
            let readers: Readers = (0..SQLITE_READERS).map(connect).collect::<Result<_>>()?;
            Router::new()
                .route("/{id}", get(from_sqlite))
                .with_state(readers)
        }
        None => {
            let pool = PgPoolOptions::new()
                .max_connections(POSTGRES_CONNECTIONS)
                .test_before_acquire(false)
                .connect(database)
                .await?;
            Router::new()
                .route("/{id}", get(from_postgres))
                .with_state(pool)
        }
    };
    // The gateway sets the same option. If that fails, the connection works without it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router)
        .await
        .context("the bare handler failed")
}

async fn from_sqlite(State(readers): State<Readers>, Path(id): Path<String>) -> Response {
    let mut free = readers.iter().filter_map(|reader| reader.try_lock().ok());
    let reader = free.next().or_else(|| {
        let first = readers.first()?;
        Some(first.lock().unwrap_or_else(PoisonError::into_inner))
    });
    let Some(reader) = reader else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let row = reader.prepare_cached(ROW).and_then(|mut select| {
        let row = select.query_row(["demo", "test", &id, "org"], |row| row.get(0));
        row.optional()
    });
    answer(row)
}

async fn from_postgres(State(pool): State<PgPool>, Path(id): Path<String>) -> Response {
    answer(
        sqlx::query_scalar(ROW)
            .bind("demo")
            .bind("test")
            .bind(id)
            .bind("org")
            .fetch_optional(&pool)
            .await,
    )
}

fn answer(row: Result<Option<String>, impl Error>) -> Response {
    match row {
        Ok(Some(document)) => ([(CONTENT_TYPE, "application/json")], document).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
