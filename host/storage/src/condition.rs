//! SQL conditions of lists and counts.

use crate::statement::{Statement, Value, statement, text_array};
use host_domain::console::TenantScope;
use host_domain::owner::{Owner, Tenant};
use host_domain::page::{Cursor, CursorRequest, PageRequest};

/// Maximum number of organizations for each of which a list reads a range of an index.
const MERGED_ORGANIZATIONS_MAX: usize = 8;

/// Returns the parts of a scope that an index has in the order of a list: one for each organization,
/// because no index has the order across several. Many organizations stay together.
pub(crate) fn ordered_parts(scope: &TenantScope) -> Vec<TenantScope> {
    match scope.organizations.as_deref() {
        Some(organizations) if (2..=MERGED_ORGANIZATIONS_MAX).contains(&organizations.len()) => {
            let part = |organization: &String| TenantScope {
                organizations: Some(vec![organization.clone()]),
                mode: scope.mode,
            };
            organizations.iter().map(part).collect()
        }
        _ => vec![scope.clone()],
    }
}

/// Conditions and their arguments. Only requested filters become conditions: an optional condition
/// in the SQL text would keep the database from using the index of another one.
#[derive(Clone, Default)]
pub(crate) struct ConditionBuilder {
    texts: Vec<String>,
    args: Vec<Value>,
}

impl ConditionBuilder {
    /// Builds the conditions for an owner. `prefix` names the table of the columns.
    pub(crate) fn for_owner(prefix: &str, owner: &Owner) -> Self {
        let mut conditions = Self::for_tenant(prefix, &owner.tenant);
        conditions.add(&format!("{prefix}user_id ="), owner.user.as_str());
        conditions
    }

    /// Builds the conditions for a tenant. `prefix` names the table of the columns.
    pub(crate) fn for_tenant(prefix: &str, tenant: &Tenant) -> Self {
        let mut conditions = Self::default();
        let organization = tenant.organization.as_str();
        conditions.add(&format!("{prefix}organization ="), organization);
        conditions.add(&format!("{prefix}mode ="), tenant.mode);
        conditions
    }

    /// Builds the conditions for what a person may read.
    pub(crate) fn for_scope(scope: &TenantScope) -> Self {
        let mut conditions = Self::default();
        let text = conditions.bind_scope(scope);
        conditions.add_text(text);
        conditions
    }

    /// Returns the conditions of [`Self::for_scope`] without adding them.
    pub(crate) fn bind_scope(&mut self, scope: &TenantScope) -> String {
        let mode = self.bind(scope.mode);
        let mode = format!("mode = {mode}");
        match scope.organizations.as_deref() {
            None => mode,
            Some([organization]) => {
                let organization = self.bind(organization.as_str());
                format!("organization = {organization} AND {mode}")
            }
            Some(organizations) => {
                let list = self.bind(text_array(organizations.iter().map(String::as_str)));
                format!("organization {{in {list}}} AND {mode}")
            }
        }
    }

    /// Builds the conditions of [`Self::for_scope`] in a form that no index serves.
    pub(crate) fn for_scope_without_index(scope: &TenantScope) -> Self {
        let mut conditions = Self::default();
        let text = conditions.bind_scope_without_index(scope);
        conditions.add_text(text);
        conditions
    }

    /// Builds the conditions of a list for what a person may read. They compare expressions, as the
    /// indexes of these lists do, so that no other query considers such an index.
    pub(crate) fn for_scope_list(scope: &TenantScope) -> Self {
        let mut conditions = Self::default();
        let text = conditions.bind_scope_list(scope);
        conditions.add_text(text);
        conditions
    }

    /// Returns the conditions of [`Self::for_scope_list`] without adding them.
    pub(crate) fn bind_scope_list(&mut self, scope: &TenantScope) -> String {
        let mode = self.bind(scope.mode);
        let mode = format!("'' || mode = {mode}");
        match scope.organizations.as_deref() {
            None => mode,
            Some([organization]) => {
                let organization = self.bind(organization.as_str());
                format!("{mode} AND '' || organization = {organization}")
            }
            // No index has this expression, so that one gives the order of the rows.
            Some(organizations) => {
                let list = self.bind(text_array(organizations.iter().map(String::as_str)));
                format!("{mode} AND organization || '' {{in {list}}}")
            }
        }
    }

    /// Returns the condition of a range that an index has in the order of a list, and the condition
    /// of its rows that are in the part of a scope, unless all are.
    pub(crate) fn bind_ordered_part(&mut self, part: &TenantScope) -> (String, Option<String>) {
        match part.organizations.as_deref() {
            None | Some([] | [_]) => (self.bind_scope_list(part), None),
            Some(_) => {
                let range = self.bind_scope_list(&TenantScope {
                    organizations: None,
                    mode: part.mode,
                });
                (range, Some(self.bind_scope_without_index(part)))
            }
        }
    }

    /// Returns the conditions of a scope in a form that no index has, for reads that begin with
    /// another column.
    pub(crate) fn bind_scope_without_index(&mut self, scope: &TenantScope) -> String {
        let mode = self.bind(scope.mode);
        let mode = format!("mode || '' = {mode}");
        match &scope.organizations {
            None => mode,
            Some(organizations) => {
                let list = self.bind(text_array(organizations.iter().map(String::as_str)));
                format!("{mode} AND organization || '' {{in {list}}}")
            }
        }
    }

    /// Builds the conditions for organizations in both modes. `None` means all organizations, which
    /// is no condition.
    pub(crate) fn for_organizations(organizations: Option<&[String]>) -> Self {
        let mut conditions = Self::default();
        match organizations {
            None => {}
            // An equality lets an index give the order of the rows.
            Some([organization]) => conditions.add("organization =", organization.as_str()),
            Some(organizations) => {
                let list = conditions.bind(text_array(organizations.iter().map(String::as_str)));
                conditions.add_text(format!("organization {{in {list}}}"));
            }
        }
        conditions
    }

    /// Adds a condition whose arguments are bound already.
    pub(crate) fn add_text(&mut self, text: String) {
        self.texts.push(text);
    }

    pub(crate) fn add(&mut self, left: &str, right: impl Into<Value>) {
        let right = self.bind(right);
        self.texts.push(format!("{left} {right}"));
    }

    /// Adds a condition if its filter is requested.
    pub(crate) fn add_some(&mut self, left: &str, right: Option<impl Into<Value>>) {
        if let Some(right) = right {
            self.add(left, right);
        }
    }

    /// Adds an argument and returns its parameter.
    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    pub(crate) fn text(&self) -> String {
        self.texts.join(" AND ")
    }

    /// Returns the `LIMIT` of a page, with one row more than the page has.
    pub(crate) fn limit(&mut self, page: PageRequest) -> String {
        let limit = self.bind(page.limit.saturating_add(1));
        let offset = self.bind(page.offset);
        format!("LIMIT {limit} OFFSET {offset}")
    }

    /// Adds the condition of the rows that follow a position, and returns the `ORDER BY` and the
    /// `LIMIT` of the page, with one row more than the page has. `at` and `id` are the columns of
    /// the order, which an index should have.
    pub(crate) fn cursor_order(&mut self, at: &str, id: &str, page: &CursorRequest) -> String {
        if let Some(after) = &page.after {
            self.add_position(&format!("({at}, {id}) <"), after);
        }
        let limit = self.bind(page.limit.saturating_add(1));
        format!("ORDER BY {at} DESC, {id} DESC LIMIT {limit}")
    }

    /// Adds a condition that compares the columns of an order with a position.
    pub(crate) fn add_position(&mut self, left: &str, position: &Cursor) {
        let (at, id) = (self.bind(position.at), self.bind(position.id.as_str()));
        self.add_text(format!("{left} ({at}, {id})"));
    }

    pub(crate) fn statement(self, sql: String) -> Statement {
        Statement {
            args: self.args,
            ..statement!(sql)
        }
    }

    /// Builds the statement that counts the rows of a table that meet the conditions.
    pub(crate) fn count(self, table: &str) -> Statement {
        let condition = self.text();
        self.statement(format!(
            "SELECT COUNT(*) AS number FROM {table} WHERE {condition}"
        ))
    }
}

/// Returns a text as part of a pattern for `LIKE`. The databases fold only ASCII letters alike.
pub(crate) fn escape_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '!' | '%' | '_') {
            pattern.push('!');
        }
        pattern.push(character.to_ascii_lowercase());
    }
    pattern
}
