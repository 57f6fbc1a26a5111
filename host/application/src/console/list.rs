//! Lists that people filter and page through.

use crate::account::viewer::Viewer;
use host_domain::account::Permission;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_storage::{DatabaseError, Store};

/// Number of items on a page.
const PAGE_LIMIT: u32 = 50;
/// Maximum number of organizations that an operator can choose from.
const ORGANIZATIONS_MAX: u32 = 500;

/// A request for a page of a list, latest items first.
#[derive(Debug, Clone, Default)]
pub struct ConsoleListRequest<F> {
    /// `None` for all organizations that the person may read.
    pub organization: Option<String>,
    pub filter: F,
    /// The last item of the previous page.
    pub after: Option<Cursor>,
    /// A value of the filter cannot exist, so that no item matches.
    pub matches_nothing: bool,
}

impl<F> ConsoleListRequest<F> {
    pub(crate) fn page(&self) -> CursorRequest {
        CursorRequest {
            after: self.after.clone(),
            limit: PAGE_LIMIT,
        }
    }

    /// Returns the page that `read` finds, or an empty one without a read if no item can match.
    pub(crate) async fn read_page<T, E>(
        &self,
        read: impl Future<Output = Result<CursorPage<T>, E>>,
    ) -> Result<CursorPage<T>, E> {
        if self.matches_nothing {
            return Ok(CursorPage {
                items: Vec::new(),
                next: None,
            });
        }
        read.await
    }
}

/// A page of a list.
#[derive(Debug, Clone)]
pub struct ConsoleList<T> {
    pub page: CursorPage<T>,
    /// The organizations that the person may read, to choose from.
    pub organizations: Vec<String>,
}

impl<T> ConsoleList<T> {
    /// Returns the position at which the search ended before the page was full. `None` if the page
    /// has all items that it could have.
    pub fn search_end(&self) -> Option<&Cursor> {
        let items = u32::try_from(self.page.items.len()).unwrap_or(u32::MAX);
        self.page.next.as_ref().filter(|_| items < PAGE_LIMIT)
    }
}

/// Returns the organizations that the person may read, in alphabetical order. Reads the database
/// for operators only.
pub(crate) async fn readable_organizations(
    store: &Store,
    viewer: &Viewer,
) -> Result<Vec<String>, DatabaseError> {
    match viewer.organizations_with(Permission::Read) {
        Some(organizations) => Ok(organizations),
        None => store.organizations(ORGANIZATIONS_MAX).await,
    }
}
