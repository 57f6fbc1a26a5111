//! A row of SQLite with its values.

use rusqlite::types::{FromSqlError, FromSqlResult, ValueRef};
use std::sync::Arc;

/// A row, read by column name.
#[derive(Debug)]
pub(crate) struct SqliteRow {
    /// The names of the columns, which all rows of a result share.
    columns: Arc<[Box<str>]>,
    values: Box<[SqliteValue]>,
}

/// A value as SQLite stores it. No column holds numbers with a fraction.
#[derive(Debug)]
pub(crate) enum SqliteValue {
    Null,
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// A column that a statement does not return.
#[derive(Debug, thiserror::Error)]
#[error("the statement returns no such column")]
pub(crate) struct MissingColumn;

/// A value of another type than the one that is read.
#[derive(Debug, thiserror::Error)]
#[error("the value has another type")]
pub(crate) struct TypeMismatch;

impl SqliteRow {
    pub(super) fn read(
        row: &rusqlite::Row<'_>,
        columns: &Arc<[Box<str>]>,
    ) -> rusqlite::Result<Self> {
        let values = (0..columns.len()).map(|index| {
            let value = SqliteValue::read(row.get_ref(index)?);
            value.map_err(|error| {
                let data_type = rusqlite::types::Type::Text;
                rusqlite::Error::FromSqlConversionFailure(index, data_type, Box::new(error))
            })
        });
        Ok(Self {
            values: values.collect::<rusqlite::Result<_>>()?,
            columns: Arc::clone(columns),
        })
    }

    pub(crate) fn value(&self, column: &str) -> Result<&SqliteValue, MissingColumn> {
        let index = self.columns.iter().position(|name| **name == *column);
        index
            .and_then(|index| self.values.get(index))
            .ok_or(MissingColumn)
    }
}

impl SqliteValue {
    fn read(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(Self::Null),
            ValueRef::Integer(number) => Ok(Self::Int(number)),
            ValueRef::Real(_) => Err(FromSqlError::InvalidType),
            ValueRef::Text(_) => value.as_str().map(|text| Self::Text(text.to_owned())),
            ValueRef::Blob(bytes) => Ok(Self::Blob(bytes.to_vec())),
        }
    }
}
