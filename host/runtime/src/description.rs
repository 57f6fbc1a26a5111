//! Validation of the description that a plugin returns.

use crate::allow_list::RequestedHost;
use crate::bindings::exports::stopover::supplier::plugin as wit;
use host_domain::supplier::PluginDescription;
use serde_json::Value;

const NAME_CHARS_MAX: usize = 64;
const LIST_ITEMS_MAX: usize = 32;
const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// A description that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plugin's description has no usable {field}: {reason}")]
pub struct DescriptionError {
    /// Name of the invalid field.
    pub field: &'static str,
    /// Reason why the field is invalid.
    pub reason: &'static str,
}

/// A valid description with the parsed parts that the host uses.
pub(crate) struct ValidatedDescription {
    pub(crate) description: PluginDescription,
    pub(crate) requested_hosts: Vec<RequestedHost>,
    pub(crate) settings_schema: Value,
}

pub(crate) fn validate(wire: wit::Description) -> Result<ValidatedDescription, DescriptionError> {
    let bad = |field, reason| DescriptionError { field, reason };
    if !is_name(&wire.name) {
        return Err(bad("name", "it does not match [a-z][a-z0-9-]{0,63}"));
    }
    if !is_version(&wire.version) {
        return Err(bad("version", "it is not a semantic version"));
    }
    if wire.hosts.len() > LIST_ITEMS_MAX || wire.secrets.len() > LIST_ITEMS_MAX {
        return Err(bad("hosts or secrets", "the list is too long"));
    }
    let requested_hosts = wire.hosts.iter().map(|host| host.parse());
    let requested_hosts = requested_hosts
        .collect::<Result<Vec<RequestedHost>, _>>()
        .map_err(|_| bad("hosts", "one is not `name`, `name:port`, `*.name` or `*`"))?;
    if wire
        .secrets
        .iter()
        .any(|name| name.is_empty() || name.len() > NAME_CHARS_MAX)
    {
        return Err(bad("secrets", "a name is empty or too long"));
    }
    if wire.settings_schema.len() > SCHEMA_BYTES_MAX {
        return Err(bad("settings schema", "it is too long"));
    }
    let settings_schema = serde_json::from_str(&wire.settings_schema)
        .ok()
        .filter(|schema: &Value| schema.is_object() || schema.is_boolean());
    let settings_schema =
        settings_schema.ok_or_else(|| bad("settings schema", "it is not a JSON Schema"))?;
    let description = PluginDescription {
        name: wire.name,
        version: wire.version,
        collects_payment: wire.collects_payment,
        one_booking_per_offer: wire.one_booking_per_offer,
        supports_partial_cancellation: wire.supports_partial_cancellation,
        reads_consistent_after_ms: wire.reads_consistent_after_ms,
        supports_idempotent_resend: wire.supports_idempotent_resend,
        hosts: wire.hosts,
        secrets: wire.secrets,
        settings_schema: wire.settings_schema,
    };
    Ok(ValidatedDescription {
        description,
        requested_hosts,
        settings_schema,
    })
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= NAME_CHARS_MAX
        && bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_version(text: &str) -> bool {
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| {
        !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.len() <= NAME_CHARS_MAX
        && text.is_ascii()
        && numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::tests::InvalidField;

    fn described(
        change: impl FnOnce(&mut wit::Description),
    ) -> Result<ValidatedDescription, DescriptionError> {
        let mut wire = wit::Description {
            name: "fake-hotels".to_owned(),
            version: "1.2.3".to_owned(),
            collects_payment: false,
            one_booking_per_offer: true,
            supports_partial_cancellation: true,
            reads_consistent_after_ms: Some(0),
            supports_idempotent_resend: true,
            hosts: vec!["*".to_owned(), "api.example.com:8443".to_owned()],
            secrets: vec!["shared".to_owned()],
            settings_schema: "{}".to_owned(),
        };
        change(&mut wire);
        validate(wire)
    }

    #[test]
    fn valid_description_is_accepted_unchanged() {
        let described = described(|_| ()).unwrap();
        assert_eq!(described.description.name, "fake-hotels");
        assert_eq!(described.requested_hosts.len(), 2);
    }

    #[test]
    fn invalid_field_is_rejected_by_name() {
        let cases: [InvalidField<wit::Description>; 9] = [
            ("name", |wire| wire.name = "Fake".into()),
            ("name", |wire| wire.name.clear()),
            ("version", |wire| wire.version = "1.2".into()),
            ("version", |wire| wire.version = "1.2.x".into()),
            ("hosts", |wire| wire.hosts = vec!["https://a.com".into()]),
            ("hosts or secrets", |wire| {
                wire.hosts = vec!["a.com".to_owned(); LIST_ITEMS_MAX + 1]
            }),
            ("secrets", |wire| wire.secrets = vec![String::new()]),
            ("settings schema", |wire| wire.settings_schema = "[]".into()),
            ("settings schema", |wire| wire.settings_schema = "{".into()),
        ];
        for (field, change) in cases {
            assert_eq!(described(change).err().unwrap().field, field);
        }
    }
}
