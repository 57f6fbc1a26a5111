//! Merges the layers of the configuration into one table: defaults, overlay, file and environment.
//! Then expands `${NAME}` in the keys that may hold secrets.

use crate::config::DEFAULTS;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration {} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the configuration {} is not valid TOML", path.display())]
    Syntax {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("the environment variable {name} must be {expected}")]
    InvalidVariable {
        name: String,
        expected: &'static str,
    },
    #[error("{key} uses the environment variable {name}, which is not set")]
    MissingVariable { key: String, name: String },
    /// An environment variable with the prefix `STOPOVER_` belongs to no key.
    #[error("the environment variable {0} belongs to no configuration key")]
    UnknownVariable(String),
    #[error("the configuration is not valid: {0}")]
    Invalid(String),
}

/// Environment variables as they were when the process started.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    pub fn from_process() -> Self {
        let text = |value: std::ffi::OsString| value.into_string().ok();
        let variables = std::env::vars_os();
        let variables = variables.filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Self(variables.collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        Self(
            variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        )
    }
}

const PREFIX: &str = "STOPOVER_";
/// Prefixes of variables for tests, tools and commands, which are not configuration keys.
const IGNORED_PREFIXES: [&str; 3] = ["STOPOVER_TEST_", "STOPOVER_XTASK_", "STOPOVER_API_KEY"];

pub fn merge_layers(
    overlay: Option<Table>,
    file: Option<&Path>,
    environment: &Environment,
) -> Result<Table, ConfigError> {
    let mut table: Table = DEFAULTS
        .parse()
        .map_err(|error: toml::de::Error| ConfigError::Invalid(error.to_string()))?;
    if let Some(overlay) = overlay {
        merge(&mut table, overlay);
    }
    if let Some(path) = file {
        merge(&mut table, read_file(path)?);
    }
    apply_environment(&mut table, environment)?;
    expand_variables(&mut table, environment)?;
    Ok(table)
}

fn read_file(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    text.parse()
        .map_err(|source: toml::de::Error| ConfigError::Syntax {
            path: path.to_owned(),
            source: Box::new(source),
        })
}

/// Merges `over` into `base`: tables recursively, suppliers by id; all other values are replaced.
fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => merge(base, over),
            (Some(Value::Array(base)), Value::Array(over)) if key == "suppliers" => {
                merge_suppliers(base, over)
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn merge_suppliers(base: &mut Vec<Value>, over: Vec<Value>) {
    for supplier in over {
        let id = supplier.get("id").cloned();
        let mut known = base.iter_mut();
        match known.find(|known| id.is_some() && known.get("id") == id.as_ref()) {
            Some(known) => *known = supplier,
            None => base.push(supplier),
        }
    }
}

fn apply_environment(table: &mut Table, environment: &Environment) -> Result<(), ConfigError> {
    let mut known = BTreeMap::new();
    variables(table, PREFIX, &mut Vec::new(), &mut known);
    for (name, text) in &environment.0 {
        let is_foreign = IGNORED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if !name.starts_with(PREFIX) || is_foreign {
            continue;
        }
        let place = known.get(name).and_then(|path| value_at_path(table, path));
        let place = place.ok_or_else(|| ConfigError::UnknownVariable(name.clone()))?;
        let wrong = |expected| ConfigError::InvalidVariable {
            name: name.clone(),
            expected,
        };
        *place = match place {
            Value::String(_) => Value::String(text.clone()),
            Value::Integer(_) => Value::Integer(text.parse().map_err(|_| wrong("an integer"))?),
            Value::Boolean(_) => Value::Boolean(text.parse().map_err(|_| wrong("true or false"))?),
            _ => parse_list(text).ok_or_else(|| wrong("a list, written as in TOML"))?,
        };
    }
    Ok(())
}

/// Collects the variable name of every key that is not a table.
fn variables(
    table: &Table,
    prefix: &str,
    path: &mut Vec<String>,
    known: &mut BTreeMap<String, Vec<String>>,
) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.to_ascii_uppercase());
        path.push(key.clone());
        match value {
            Value::Table(inner) => variables(inner, &format!("{name}_"), path, known),
            _ => {
                known.insert(name, path.clone());
            }
        }
        path.pop();
    }
}

fn value_at_path<'a>(table: &'a mut Table, path: &[String]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(table.get_mut(first)?, |value, key| value.get_mut(key))
}

fn parse_list(text: &str) -> Option<Value> {
    let mut table: Table = format!("list = {text}").parse().ok()?;
    table.remove("list").filter(Value::is_array)
}

/// Expands `${NAME}` in the keys that hold secrets or addresses.
fn expand_variables(table: &mut Table, environment: &Environment) -> Result<(), ConfigError> {
    for key in ["database", "master_key", "old_master_keys"] {
        if let Some(value) = table.get_mut(key) {
            expand_value(value, key, environment)?;
        }
    }
    let oidc = value_at_path(
        table,
        &["dashboard", "oidc", "client_secret"].map(str::to_owned),
    );
    if let Some(value) = oidc {
        expand_value(value, "dashboard.oidc.client_secret", environment)?;
    }
    let suppliers = table.get_mut("suppliers").and_then(Value::as_array_mut);
    for supplier in suppliers.into_iter().flatten() {
        let id = supplier.get("id").and_then(Value::as_str);
        let id = id.unwrap_or("?").to_owned();
        for key in ["credentials", "secrets", "events_token", "settings"] {
            if let Some(value) = supplier.get_mut(key) {
                expand_value(value, &format!("{key} of {id}"), environment)?;
            }
        }
    }
    Ok(())
}

fn expand_value(
    value: &mut Value,
    key: &str,
    environment: &Environment,
) -> Result<(), ConfigError> {
    match value {
        Value::String(text) => *text = expand_text(text, key, environment)?,
        Value::Array(elements) => {
            for element in elements {
                expand_value(element, key, environment)?;
            }
        }
        Value::Table(members) => {
            for (_, member) in members.iter_mut() {
                expand_value(member, key, environment)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn expand_text(text: &str, key: &str, environment: &Environment) -> Result<String, ConfigError> {
    let mut pieces = text.split("${");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let parts = piece.split_once('}');
        let unclosed = || ConfigError::Invalid(format!("{key}: `${{` without `}}`"));
        let (name, rest) = parts.ok_or_else(unclosed)?;
        let missing = || ConfigError::MissingVariable {
            key: key.to_owned(),
            name: name.to_owned(),
        };
        out.push_str(environment.get(name).ok_or_else(missing)?);
        out.push_str(rest);
    }
    Ok(out)
}
