//! Filters and pages of lists, as their templates show them.

use crate::query::{QueryFields, parse_supplier, path_with};
use crate::text::TimeText;
use host_application::console::list::ConsoleList;
use host_domain::page::Cursor;
use host_domain::time::Timestamp;

/// The parameter with the position of a page.
const AFTER: &str = "after";

/// The parameters of a page or form that leads back to no list.
pub(crate) const NO_PARAMETERS: &[(&str, String)] = &[];

const SUPPLIER_PROBLEM: &str = "Enter the name of a supplier, e.g. SANDBOX_HOTELS.";

/// The form that filters a list, for `components/filters.html`. Its values come from the query. A
/// value that cannot exist is kept and stated as a problem, because the list then matches nothing.
pub(crate) struct FilterForm {
    /// Path of the list.
    pub(crate) path: String,
    pub(crate) fields: Vec<FilterField>,
    /// The filters that apply.
    pub(crate) chips: Vec<FilterChip>,
    pub(crate) is_set: bool,
    /// Whether the page is not the first one.
    is_later_page: bool,
}

/// A field of the form.
pub(crate) struct FilterField {
    pub(crate) label: &'static str,
    /// Name of the query parameter.
    pub(crate) name: &'static str,
    /// The value that was sent, empty for none.
    pub(crate) value: String,
    /// `search`, `text`, `choice` or `time`.
    pub(crate) kind: &'static str,
    pub(crate) options: Vec<FilterOption>,
    /// Explanation of the values that the field takes. Empty if the label suffices.
    pub(crate) hint: &'static str,
    /// Why the value that was sent cannot exist.
    pub(crate) problem: Option<&'static str>,
}

/// A choice of a field.
pub(crate) struct FilterOption {
    pub(crate) value: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

/// A filter that applies, and the path of the list without it.
pub(crate) struct FilterChip {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) path: String,
}

/// Links to other pages of a list, for `components/pager.html`.
pub(crate) struct Pager {
    /// Path of the first page, unless this is the first page.
    pub(crate) first: Option<String>,
    pub(crate) next: Option<String>,
    /// Time of the oldest item that was examined, if the search ended before the page was full.
    pub(crate) searched_back_to: Option<TimeText>,
}

/// A list with the filter and the page that a person has chosen. Pages and forms that lead back to
/// it carry its parameters in their own query, so that a change keeps them.
#[derive(Debug, Clone)]
pub(crate) struct ListAddress {
    path: &'static str,
    parameters: Vec<(&'static str, String)>,
}

impl ListAddress {
    /// Reads the parameters of a list's filter and its page from a query. All others are left out.
    pub(crate) fn read(path: &'static str, filters: &[&'static str], query: &QueryFields) -> Self {
        let names = filters.iter().copied().chain([AFTER]);
        let parameters = names.map(|name| (name, query.text(name).to_owned()));
        Self {
            path,
            parameters: parameters.filter(|(_, value)| !value.is_empty()).collect(),
        }
    }

    /// Returns the path of the list.
    pub(crate) fn path(&self) -> String {
        self.add_to(self.path)
    }

    /// Returns the path of the list's first page with the name of a notice of `page.rs`. After a change
    /// a later page may have no rows any more.
    pub(crate) fn path_with_notice(&self, notice: &str) -> String {
        let mut parameters = self.borrowed();
        parameters.retain(|(name, _)| *name != AFTER);
        parameters.push(("done", notice));
        path_with(self.path, &parameters)
    }

    /// Adds the list's parameters to the path of a page or form that leads back to the list.
    pub(crate) fn add_to(&self, path: impl AsRef<str>) -> String {
        path_with(path.as_ref(), &self.borrowed())
    }

    /// Adds the list's parameters and one more to a path.
    pub(crate) fn add_to_with(&self, path: impl AsRef<str>, name: &str, value: &str) -> String {
        let mut parameters = self.borrowed();
        parameters.push((name, value));
        path_with(path.as_ref(), &parameters)
    }

    /// Returns the parameters, for the hidden fields of a form that opens a page.
    pub(crate) fn parameters(&self) -> &[(&'static str, String)] {
        &self.parameters
    }

    fn borrowed(&self) -> Vec<(&str, &str)> {
        let parameters = self.parameters.iter();
        parameters
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
}

/// Builds a [`FilterForm`] from the fields of a list and the values of the query.
pub(crate) struct FilterFormBuilder<'a> {
    query: &'a QueryFields,
    form: FilterForm,
}

impl FilterFormBuilder<'_> {
    /// Adds the field "Search", which is the parameter `q`.
    pub(crate) fn search(self, hint: &'static str) -> Self {
        let value = self.query.search("q").unwrap_or_default();
        self.with(FilterField {
            hint,
            ..FilterField::new("Search", "q", "search", value)
        })
    }

    /// Adds a field for a text.
    pub(crate) fn text(self, label: &'static str, name: &'static str) -> Self {
        let value = self.query.search(name).unwrap_or_default();
        self.with(FilterField::new(label, name, "text", value))
    }

    /// Adds a field for a text that `parse` writes in its usual form. `problem` says what the field
    /// takes.
    pub(crate) fn parsed_text<T: ToString>(
        self,
        label: &'static str,
        name: &'static str,
        problem: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Self {
        let sent = self.query.text(name);
        let value = parse(sent).map(|value| value.to_string());
        let is_wrong = value.is_none() && !sent.is_empty();
        let value = value.unwrap_or_else(|| sent.to_owned());
        self.with(FilterField {
            problem: is_wrong.then_some(problem),
            ..FilterField::new(label, name, "text", value)
        })
    }

    /// Adds the field "Supplier" for a name in upper or lower case.
    pub(crate) fn supplier(self) -> Self {
        self.parsed_text("Supplier", "supplier", SUPPLIER_PROBLEM, parse_supplier)
    }

    /// Adds a field with choices, each of which is a value and a label. A value that was sent in another
    /// case stands for the choice, unless a choice has exactly this value.
    pub(crate) fn choice<V: Into<String>, L: Into<String>>(
        self,
        label: &'static str,
        name: &'static str,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let options = options.into_iter();
        let options: Vec<(String, L)> = options
            .map(|(value, label)| (value.into(), label))
            .collect();
        let sent = self.query.text(name);
        let mut values = options.iter().map(|(value, _)| value);
        let exact = values.clone().find(|value| *value == sent);
        let known = exact.or_else(|| values.find(|value| value.eq_ignore_ascii_case(sent)));
        let sent = known.map_or_else(|| sent.to_owned(), String::clone);
        self.choice_of(label, name, sent, options)
    }

    /// Adds a field with choices as [`Self::choice`] does. `sent` is the usual form of the value that
    /// was sent.
    pub(crate) fn choice_of<V: Into<String>, L: Into<String>>(
        self,
        label: &'static str,
        name: &'static str,
        sent: String,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let options = options.into_iter().map(|(value, label)| {
            let value = value.into();
            FilterOption {
                is_chosen: value == sent,
                value,
                label: label.into(),
            }
        });
        let options: Vec<_> = options.collect();
        let is_wrong = !sent.is_empty() && !options.iter().any(|option| option.is_chosen);
        self.with(FilterField {
            options,
            problem: is_wrong.then_some("Choose a value of the list."),
            ..FilterField::new(label, name, "choice", sent)
        })
    }

    /// Adds the fields "From" and "To" for the time of the items.
    pub(crate) fn period(self) -> Self {
        let (from, to) = (self.query.time("from"), self.query.last_moment("to"));
        self.time("From", "from", from).time("To", "to", to)
    }

    fn time(self, label: &'static str, name: &'static str, at: Option<Timestamp>) -> Self {
        let at = at.map(|at| at.to_string());
        let sent = self.query.text(name);
        let is_wrong = at.is_none() && !sent.is_empty();
        // The form of a `datetime-local` input, which has no zone.
        let local = at.as_deref().and_then(|at| at.get(..19));
        self.with(FilterField {
            hint: "UTC",
            problem: is_wrong.then_some("Enter a time, e.g. 2026-11-26T05:00."),
            ..FilterField::new(label, name, "time", local.unwrap_or(sent).to_owned())
        })
    }

    /// Adds the field "Organization" for people who read several organizations, or if one is chosen.
    pub(crate) fn organization(self, reads_several: bool, organizations: &[String]) -> Self {
        self.organization_labelled("Organization", reads_several, organizations)
    }

    /// Adds the field of [`Self::organization`] with another label, for a page with a second field
    /// "Organization".
    pub(crate) fn organization_labelled(
        self,
        label: &'static str,
        reads_several: bool,
        organizations: &[String],
    ) -> Self {
        let mut organizations = organizations.to_vec();
        // An operator may name an organization that has nothing yet.
        let sent = self.query.some("organization").map(str::to_owned);
        let is_sent = sent.is_some();
        organizations.extend(sent.filter(|sent| !organizations.contains(sent)));
        if !reads_several && !is_sent {
            return self;
        }
        let options = organizations.into_iter().map(|name| (name.clone(), name));
        self.choice(label, "organization", options)
    }

    fn with(mut self, field: FilterField) -> Self {
        self.form.fields.push(field);
        self
    }

    pub(crate) fn build(self) -> FilterForm {
        let mut form = self.form;
        let set = form.fields.iter().filter(|field| !field.value.is_empty());
        let chips = set.map(|field| FilterChip {
            label: field.label,
            value: field.shown_value().to_owned(),
            path: form.path_without(field.name, &[]),
        });
        form.chips = chips.collect();
        form.is_set = !form.chips.is_empty();
        form
    }
}

impl FilterForm {
    /// Begins a form without fields for the list at a path.
    pub(crate) fn builder(path: impl Into<String>, query: &QueryFields) -> FilterFormBuilder<'_> {
        let form = Self {
            path: path.into(),
            fields: Vec::new(),
            chips: Vec::new(),
            is_set: false,
            is_later_page: query.some(AFTER).is_some(),
        };
        FilterFormBuilder { query, form }
    }

    /// Returns the value of a field that was sent, or an empty text.
    pub(crate) fn value(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|field| field.name == name);
        field.map_or("", |field| &field.value)
    }

    /// Returns the path of the first page, with all filters.
    pub(crate) fn first_page(&self) -> String {
        self.path_without("", &[])
    }

    /// Returns another path with all filters, such as that of an export.
    pub(crate) fn path_of_all(&self, path: &str) -> String {
        let fields = self.fields.iter();
        let fields: Vec<_> = fields.map(|f| (f.name, f.value.as_str())).collect();
        path_with(path, &fields)
    }

    /// Returns the links of a list whose search may end before a page is full.
    pub(crate) fn search_pager<T>(&self, list: &ConsoleList<T>, now: Timestamp) -> Pager {
        let end = list.search_end();
        Pager {
            searched_back_to: end.map(|end| TimeText::new(end.at, now)),
            ..self.pager(list.page.next.as_ref())
        }
    }

    /// Returns the links to the first and the next page.
    pub(crate) fn pager(&self, next: Option<&Cursor>) -> Pager {
        let after = next.map(Cursor::to_string);
        Pager {
            first: self.is_later_page.then(|| self.first_page()),
            next: after.map(|after| self.path_without("", &[(AFTER, &after)])),
            searched_back_to: None,
        }
    }

    /// Returns the path of the list with all filters but one, and with more parameters.
    fn path_without(&self, name: &str, more: &[(&str, &str)]) -> String {
        let kept = self.fields.iter().filter(|field| field.name != name);
        let mut parameters: Vec<_> = kept.map(|f| (f.name, f.value.as_str())).collect();
        parameters.extend(more);
        path_with(&self.path, &parameters)
    }
}

impl FilterField {
    fn new(label: &'static str, name: &'static str, kind: &'static str, value: String) -> Self {
        Self {
            label,
            name,
            value,
            kind,
            options: Vec::new(),
            hint: "",
            problem: None,
        }
    }

    /// Returns the value, or the label of the choice.
    fn shown_value(&self) -> &str {
        let chosen = self.options.iter().find(|option| option.is_chosen);
        chosen.map_or(&self.value, |option| &option.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(query: &str) -> FilterForm {
        FilterForm::builder("/bookings", &QueryFields::parse(query))
            .search("")
            .choice("Status", "status", [("ok", "Good"), ("no", "Bad")])
            .supplier()
            .period()
            .organization(true, &["acme".to_owned(), "zoo".to_owned()])
            .build()
    }

    #[test]
    fn links_keep_the_filters_that_apply() {
        let sent = "q=a%26b&status=ok&from=2026-11-26T05%3A00&organization=&after=1.a&x=y";
        let form = form(sent);
        let kept = "q=a%26b&status=ok&from=2026-11-26T05%3A00%3A00";
        let pager = form.pager(Some(&Cursor::new(Timestamp(2), "b")));
        assert_eq!(pager.first, Some(format!("/bookings?{kept}")));
        assert_eq!(pager.next, Some(format!("/bookings?{kept}&after=2.b")));
        let chips = form.chips.into_iter();
        let chips: Vec<_> = chips
            .map(|chip| (chip.label, chip.value, chip.path))
            .collect();
        let chip = |label, value: &str, query: &str| {
            (label, value.to_owned(), format!("/bookings?{query}"))
        };
        let expected = [
            chip("Search", "a&b", "status=ok&from=2026-11-26T05%3A00%3A00"),
            chip("Status", "Good", "q=a%26b&from=2026-11-26T05%3A00%3A00"),
            chip("From", "2026-11-26T05:00:00", "q=a%26b&status=ok"),
        ];
        assert_eq!(chips, expected);
    }

    #[test]
    fn address_of_a_list_keeps_only_what_the_list_knows() {
        let sent = "q=a%26b&status=&after=1.a&confirm=revoke&next=%2F%2Fevil.example&path=%2Fx";
        let query = QueryFields::parse(sent);
        let address = ListAddress::read("/keys", &["q", "status"], &query);
        assert_eq!(address.path(), "/keys?q=a%26b&after=1.a");
        assert_eq!(
            address.path_with_notice("key-revoked"),
            "/keys?q=a%26b&done=key-revoked"
        );
        let revoke = "/keys/key_1/revoke";
        let carried = format!("{revoke}?q=a%26b&after=1.a");
        assert_eq!(address.add_to(revoke), carried);
        let none = ListAddress::read("/keys", &["q", "status"], &QueryFields::default());
        assert_eq!(none.path(), "/keys");
        assert_eq!(none.parameters(), NO_PARAMETERS);
    }

    #[test]
    fn value_that_cannot_exist_has_a_problem_and_a_chip() {
        let form = form("q=a&status=unknown&from=tomorrow&supplier=a%20b");
        let wrong = form.fields.iter().filter(|field| field.problem.is_some());
        let wrong: Vec<_> = wrong.map(|field| field.name).collect();
        assert_eq!(wrong, ["status", "supplier", "from"]);
        let chips = form.chips.iter().map(|chip| chip.value.as_str());
        let chips: Vec<_> = chips.collect();
        assert_eq!(chips, ["a", "unknown", "a b", "tomorrow"]);
        let pager = form.pager(None);
        assert_eq!((pager.first, pager.next), (None, None));
    }

    #[test]
    fn choice_is_read_in_either_case() {
        let form = form("status=OK&organization=Zoo");
        assert_eq!(form.value("status"), "ok");
        assert_eq!(form.value("organization"), "Zoo");
        assert!(form.fields.iter().all(|field| field.problem.is_none()));
    }

    #[test]
    fn supplier_is_read_in_lower_case() {
        let form = form("supplier=duffel");
        assert_eq!(form.value("supplier"), "DUFFEL");
        assert!(form.fields.iter().all(|field| field.problem.is_none()));
    }
}
