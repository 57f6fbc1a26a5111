//! A minimal handler of a booking: one query by primary key, and the row's document unchanged. It
//! has no keys, limits, checks or mapping.

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{PgPool, SqlitePool};
use tokio::net::TcpListener;

const ROW: &str = "SELECT document FROM hotel_booking WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id = $4";
/// Numbers of connections, equal to the gateway's defaults.
const POSTGRES_CONNECTIONS: u32 = 20;
const SQLITE_READERS: u32 = 4;

pub(super) async fn serve(listener: TcpListener, database: &str) -> Result<()> {
    let router = match database.strip_prefix("sqlite:") {
        Some(file) => {
            let options = SqliteConnectOptions::new()
                .filename(file)
                .pragma("query_only", "ON");
            let pool = SqlitePoolOptions::new()
                .max_connections(SQLITE_READERS)
                .test_before_acquire(false)
                .connect_with(options)
                .await?;
            Router::new()
                .route("/{id}", get(from_sqlite))
                .with_state(pool)
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

async fn from_sqlite(State(pool): State<SqlitePool>, Path(id): Path<String>) -> Response {
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

fn answer(row: Result<Option<String>, sqlx::Error>) -> Response {
    match row {
        Ok(Some(document)) => ([(CONTENT_TYPE, "application/json")], document).into_response(),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
