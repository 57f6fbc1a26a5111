//! The components that the workspace defines.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo::{Package, Workspace};

pub(super) struct Guest<'a> {
    /// Name of the component and of its file.
    pub(super) name: String,
    pub(super) package: &'a Package,
    /// Features to build with; `None` for the default features.
    pub(super) features: Option<Vec<String>>,
}

/// `[package.metadata.stopover]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    #[serde(default)]
    variants: Vec<Variant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    name: String,
    features: Vec<String>,
}

/// Returns every component, sorted by name.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<Guest<'_>>> {
    let mut guests = Vec::new();
    for package in &workspace.packages {
        let Some(metadata) = package.metadata.get("stopover") else {
            continue;
        };
        let metadata: Metadata = serde_json::from_value(metadata.clone())
            .with_context(|| format!("{}: [package.metadata.stopover]", package.name))?;
        if metadata.variants.is_empty() {
            guests.push(Guest {
                name: package.name.clone(),
                package,
                features: None,
            });
        }
        guests.extend(metadata.variants.into_iter().map(|variant| Guest {
            name: variant.name,
            package,
            features: Some(variant.features),
        }));
    }
    guests.sort_by(|left, right| left.name.cmp(&right.name));
    for (left, right) in guests.iter().zip(guests.iter().skip(1)) {
        if left.name == right.name {
            bail!(
                "{} and {} both define a plugin {}: rename one of them",
                left.package.name,
                right.package.name,
                left.name
            );
        }
    }
    Ok(guests)
}

/// Keeps the guests of these names; all of them if there are no names.
pub(super) fn select(guests: &mut Vec<Guest<'_>>, names: &[String]) -> Result<()> {
    for name in names {
        if !guests.iter().any(|guest| guest.name == *name) {
            let known: Vec<&str> = guests.iter().map(|guest| guest.name.as_str()).collect();
            bail!(
                "no plugin is named {name}; the plugins are {}",
                known.join(", ")
            );
        }
    }
    if !names.is_empty() {
        guests.retain(|guest| names.contains(&guest.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANTS: &str = r#"{ "stopover": { "variants": [
        { "name": "mini", "features": [] }, { "name": "all", "features": ["full"] }] } }"#;

    fn workspace(metadata: &str) -> Workspace {
        let text = r#"{ "workspace_default_members": [], "packages": [
            { "id": "a", "name": "fakes", "manifest_path": "/w/fakes/Cargo.toml",
              "dependencies": [], "metadata": METADATA }] }"#;
        Workspace::parse(&text.replace("METADATA", metadata)).unwrap()
    }

    #[test]
    fn component_is_defined_by_the_section_or_by_each_of_its_variants() {
        let full = Some(vec!["full".to_owned()]);
        for (metadata, expected) in [
            ("null", vec![]),
            (r#"{ "stopover": {} }"#, vec![("fakes", None)]),
            (VARIANTS, vec![("all", full), ("mini", Some(Vec::new()))]),
        ] {
            let workspace = workspace(metadata);
            let guests = all(&workspace).unwrap();
            let described: Vec<_> = guests
                .iter()
                .map(|guest| (guest.name.as_str(), guest.features.clone()))
                .collect();
            assert_eq!(described, expected, "{metadata}");
        }
    }

    #[test]
    fn two_components_with_one_name_and_misspelt_keys_are_rejected() {
        for metadata in [
            VARIANTS.replace("all", "mini"),
            VARIANTS.replace("variants", "variant"),
        ] {
            let workspace = workspace(&metadata);
            let error = all(&workspace).err().expect(&metadata);
            assert!(format!("{error:#}").contains("fakes"), "{error:#}");
        }
    }

    #[test]
    fn selection_keeps_named_guests_and_rejects_unknown_names() {
        let workspace = workspace(VARIANTS);
        let mut guests = all(&workspace).unwrap();
        select(&mut guests, &[]).unwrap();
        assert_eq!(guests.len(), 2);
        assert!(select(&mut guests, &["maxi".to_owned()]).is_err());
        select(&mut guests, &["mini".to_owned()]).unwrap();
        assert_eq!(guests.len(), 1);
        assert_eq!(guests[0].name, "mini");
    }
}
