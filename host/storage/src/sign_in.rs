//! Failed sign-ins by account and by address.

use crate::statement::{Row, statement, text_array};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::time::Timestamp;

/// The failures of one subject: an account, which need not exist, or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInGuard {
    pub subject: String,
    /// Increases with each change. A new row begins with its time in milliseconds, so that it is
    /// not mistaken for a deleted row of the same subject.
    pub revision: i64,
    /// Oldest first.
    pub failures: Vec<Timestamp>,
}

impl UnitOfWork {
    /// Stores failures that were read at revision `read_revision`, or of a subject without a row.
    /// Fails with [`Conflict::SignInRaced`] if the stored revision is another one.
    pub fn put_sign_in_guard(
        &mut self,
        guard: &SignInGuard,
        read_revision: Option<i64>,
    ) -> &mut Self {
        let failures = self.encode_json(&guard.failures);
        let put = match read_revision {
            None => statement!(
                "INSERT INTO sign_in_guard (subject, revision, failures, updated_at) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                guard.subject.as_str(),
                guard.revision,
                failures,
                self.now,
            ),
            Some(read_revision) => statement!(
                "UPDATE sign_in_guard SET revision = $2, failures = $3, updated_at = $4 \
                 WHERE subject = $1 AND revision = $5",
                guard.subject.as_str(),
                guard.revision,
                failures,
                self.now,
                read_revision,
            ),
        };
        self.add_expecting_one(put, Conflict::SignInRaced)
    }

    /// Forgets the failures of a subject.
    pub fn delete_sign_in_guard(&mut self, subject: &str) -> &mut Self {
        self.add(statement!(
            "DELETE FROM sign_in_guard WHERE subject = $1",
            subject,
        ))
    }
}

impl Store {
    /// Returns the failures of these subjects, ordered by subject. Subjects without a row are
    /// omitted.
    pub async fn sign_in_guards(
        &self,
        subjects: &[String],
    ) -> Result<Vec<SignInGuard>, DatabaseError> {
        let select = statement!(
            "SELECT subject, revision, failures FROM sign_in_guard \
             WHERE subject {in $1} ORDER BY subject",
            text_array(subjects.iter().map(String::as_str)),
        );
        self.read_all(select, read).await
    }

    /// Deletes up to `limit` rows that were last changed before `before`. Returns their number.
    pub async fn purge_sign_in_guards(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let delete = statement!(
            "DELETE FROM sign_in_guard WHERE subject IN (SELECT subject FROM sign_in_guard \
             WHERE updated_at < $1 ORDER BY updated_at LIMIT $2)",
            before,
            limit,
        );
        self.execute_statement(delete).await
    }
}

fn read(row: &Row) -> Result<SignInGuard, DatabaseError> {
    Ok(SignInGuard {
        subject: row.get("subject")?,
        revision: row.get("revision")?,
        failures: row.json("failures")?,
    })
}
