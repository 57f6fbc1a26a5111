//! SQL statements as data, and rows as the database returned them. One SQL text serves both
//! databases; differences are placeholders in braces that the dialect fills in.

use crate::error::DatabaseError;
use crate::sqlite::row::{SqliteRow, SqliteValue, TypeMismatch};
use host_domain::owner::{Mode, Tenant};
use host_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments, Decode, Postgres, Row as _, Type};
use std::borrow::Cow;
use std::error::Error;

/// An argument. Absent values have a type too, because PostgreSQL requires one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Blob(Option<Vec<u8>>),
}

/// SQL text with its arguments, `$1` first.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) args: Vec<Value>,
}

/// Builds a [`Statement`]: `statement!("… $1 … $2", a, b)`. A tenant is two arguments: its
/// organization and its mode.
macro_rules! statement {
    ($sql:expr $(, $arg:expr)* $(,)?) => {
        $crate::statement::Statement::new($sql)$(.bind($arg))*
    };
}
pub(crate) use statement;

impl Statement {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            sql: sql.into(),
            // Most statements have fewer arguments, so that adding them does not reallocate.
            args: Vec::with_capacity(12),
        }
    }

    pub(crate) fn bind(mut self, argument: impl Argument) -> Self {
        argument.add_to(&mut self.args);
        self
    }
}

/// Binds the arguments of one statement or of several combined statements.
pub(crate) fn postgres_args<'a>(
    args: impl IntoIterator<Item = &'a Value>,
) -> Result<PgArguments, sqlx::Error> {
    let mut bound = PgArguments::default();
    for value in args {
        match value {
            Value::Text(text) => bound.add(text.as_deref()),
            Value::Int(number) => bound.add(*number),
            Value::Blob(bytes) => bound.add(bytes.as_deref()),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(bound)
}

/// Sorts the rows of an upsert, so that two processes lock them in the same order and cannot deadlock.
/// Removes duplicates, because a statement cannot write one row twice.
pub(crate) fn sort_upsert<T>(rows: &mut Vec<T>, key: impl Fn(&T) -> &str) {
    rows.sort_by(|one, other| key(one).cmp(key(other)));
    rows.dedup_by(|one, other| key(one) == key(other));
}

/// Encodes texts as one argument, sorted and without duplicates.
pub(crate) fn text_array<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    let mut texts: Vec<&str> = texts.into_iter().collect();
    texts.sort_unstable();
    texts.dedup();
    Value::from(serde_json::Value::from(texts).to_string())
}

/// Joins queries with the same columns to one. Each may have an order and a limit of its own.
pub(crate) fn union_all(queries: &[String]) -> String {
    let queries = queries.iter().enumerate();
    let queries =
        queries.map(|(number, query)| format!("SELECT * FROM ({query}) AS part_{number}"));
    queries.collect::<Vec<_>>().join(" UNION ALL ")
}

/// An argument of [`statement!`].
pub(crate) trait Argument {
    fn add_to(self, values: &mut Vec<Value>);
}

impl<T> Argument for T
where
    Value: From<T>,
{
    fn add_to(self, values: &mut Vec<Value>) {
        values.push(Value::from(self));
    }
}

impl Argument for &Tenant {
    fn add_to(self, values: &mut Vec<Value>) {
        values.extend([self.organization.as_str().into(), self.mode.into()]);
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<Mode> for Value {
    fn from(mode: Mode) -> Self {
        Self::from(mode.as_str())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(Some(i64::from(number)))
    }
}

impl From<u64> for Value {
    /// Values above `i64::MAX` are clamped; no database counter exceeds it.
    fn from(number: u64) -> Self {
        Self::Int(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Int(Some(at.0))
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(at: Option<Timestamp>) -> Self {
        Self::Int(at.map(|at| at.0))
    }
}

impl From<Option<&[u8]>> for Value {
    fn from(bytes: Option<&[u8]>) -> Self {
        Self::Blob(bytes.map(<[u8]>::to_vec))
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Blob(Some(bytes.to_vec()))
    }
}

/// A row of either database, read by column name.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// Reads a number that is never negative.
    pub(crate) fn count(&self, column: &'static str) -> Result<u64, DatabaseError> {
        Ok(self.get::<i64>(column)?.unsigned_abs())
    }

    pub(crate) fn timestamp(&self, column: &'static str) -> Result<Timestamp, DatabaseError> {
        self.get(column).map(Timestamp)
    }

    pub(crate) fn timestamp_opt(
        &self,
        column: &'static str,
    ) -> Result<Option<Timestamp>, DatabaseError> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp))
    }

    /// Reads a text and converts it with `read`.
    pub(crate) fn parsed<T, E>(
        &self,
        column: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, DatabaseError>
    where
        E: Error + Send + Sync + 'static,
    {
        read(&self.get::<String>(column)?).map_err(|error| DatabaseError::unreadable(column, error))
    }

    /// Reads a text that may be absent and converts it with `read`.
    pub(crate) fn parsed_opt<T, E>(
        &self,
        column: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, DatabaseError>
    where
        E: Error + Send + Sync + 'static,
    {
        let value = self
            .get::<Option<String>>(column)?
            .map(|text| read(&text))
            .transpose();
        value.map_err(|error| DatabaseError::unreadable(column, error))
    }

    /// Reads a text that is one of a closed set of values.
    pub(crate) fn enum_value<T>(
        &self,
        column: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DatabaseError> {
        self.parsed(column, |text| {
            read(text).ok_or_else(|| UnknownVariant(text.to_owned()))
        })
    }

    pub(crate) fn tenant(&self) -> Result<Tenant, DatabaseError> {
        Ok(Tenant {
            organization: self.get("organization")?,
            mode: self.enum_value("mode", Mode::parse)?,
        })
    }

    pub(crate) fn json<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<T, DatabaseError> {
        self.parsed(column, |text| serde_json::from_str(text))
    }

    pub(crate) fn json_opt<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, DatabaseError> {
        self.parsed_opt(column, |text| serde_json::from_str(text))
    }

    pub(crate) fn get<T: ColumnValue>(&self, column: &'static str) -> Result<T, DatabaseError> {
        match self {
            Self::Sqlite(row) => {
                let value = row.value(column);
                let value = value.map_err(|error| DatabaseError::unreadable(column, error))?;
                T::of_sqlite(value).ok_or_else(|| DatabaseError::unreadable(column, TypeMismatch))
            }
            Self::Postgres(row) => {
                let value = row.try_get(column);
                value.map_err(|error| DatabaseError::unreadable(column, error))
            }
        }
    }
}

/// A type that a column of either database is read as.
pub(crate) trait ColumnValue: for<'r> Decode<'r, Postgres> + Type<Postgres> {
    /// Returns `None` if the value has another type.
    fn of_sqlite(value: &SqliteValue) -> Option<Self>;
}

impl ColumnValue for i64 {
    fn of_sqlite(value: &SqliteValue) -> Option<Self> {
        match value {
            SqliteValue::Int(number) => Some(*number),
            SqliteValue::Null | SqliteValue::Text(_) | SqliteValue::Blob(_) => None,
        }
    }
}

impl ColumnValue for String {
    fn of_sqlite(value: &SqliteValue) -> Option<Self> {
        match value {
            SqliteValue::Text(text) => Some(text.clone()),
            SqliteValue::Null | SqliteValue::Int(_) | SqliteValue::Blob(_) => None,
        }
    }
}

impl ColumnValue for Vec<u8> {
    fn of_sqlite(value: &SqliteValue) -> Option<Self> {
        match value {
            SqliteValue::Blob(bytes) => Some(bytes.clone()),
            SqliteValue::Null | SqliteValue::Int(_) | SqliteValue::Text(_) => None,
        }
    }
}

impl<T: ColumnValue> ColumnValue for Option<T>
where
    Self: for<'r> Decode<'r, Postgres> + Type<Postgres>,
{
    fn of_sqlite(value: &SqliteValue) -> Option<Self> {
        match value {
            SqliteValue::Null => Some(None),
            SqliteValue::Int(_) | SqliteValue::Text(_) | SqliteValue::Blob(_) => {
                T::of_sqlite(value).map(Some)
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("unknown value {0:?}")]
struct UnknownVariant(String);
