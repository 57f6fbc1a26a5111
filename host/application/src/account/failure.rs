//! Conversions of the failures that sign-in, set-up and changes of passwords share.

/// Implements the conversions for an error with the variants `Busy`, `Storage` and `Internal`.
macro_rules! convert_shared_failures {
    ($error:ty) => {
        impl From<$crate::account::password::HashError> for $error {
            fn from(error: $crate::account::password::HashError) -> Self {
                match error {
                    $crate::account::password::HashError::Busy => Self::Busy,
                    $crate::account::password::HashError::Failed(_) => Self::Internal(error.into()),
                }
            }
        }

        impl From<$crate::account::secret::RandomSourceFailure> for $error {
            fn from(error: $crate::account::secret::RandomSourceFailure) -> Self {
                Self::Internal(error.into())
            }
        }

        impl From<host_storage::DatabaseError> for $error {
            fn from(error: host_storage::DatabaseError) -> Self {
                Self::Storage(error.into())
            }
        }
    };
}
pub(super) use convert_shared_failures;
