//! Which components the workspace describes.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo::{Package, Workspace};

/// One component to build.
pub(super) struct Guest<'a> {
    /// Also the name of its file.
    pub(super) name: String,
    pub(super) package: &'a Package,
    /// Exactly these features; `None` for the default ones.
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

/// Every component, by name.
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
                "{} and {} both build a plugin called {}",
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
            bail!("there is no plugin {name}; there are {}", known.join(", "));
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

    fn workspace(metadata: &str) -> Workspace {
        let text = r#"{ "workspace_default_members": [], "packages": [
            { "id": "a", "name": "fakes", "manifest_path": "/w/fakes/Cargo.toml",
              "dependencies": [], "metadata": METADATA }] }"#;
        Workspace::parse(&text.replace("METADATA", metadata)).unwrap()
    }

    #[test]
    fn a_guest_without_variants_is_one_component_of_its_own_name() {
        let workspace = workspace(r#"{ "stopover": {} }"#);
        let guests = all(&workspace).unwrap();
        assert_eq!(guests.len(), 1);
        assert_eq!(guests[0].name, "fakes");
        assert_eq!(guests[0].features, None);
    }

    #[test]
    fn each_variant_is_a_component_with_exactly_its_features() {
        let workspace = workspace(
            r#"{ "stopover": { "variants": [
                { "name": "mini", "features": [] }, { "name": "all", "features": ["full"] }] } }"#,
        );
        let guests = all(&workspace).unwrap();
        let described: Vec<_> = guests
            .iter()
            .map(|guest| (guest.name.as_str(), guest.features.clone().unwrap()))
            .collect();
        assert_eq!(
            described,
            [("all", vec!["full".to_owned()]), ("mini", Vec::new())]
        );
    }

    #[test]
    fn a_crate_without_the_section_is_no_guest() {
        assert!(all(&workspace("null")).unwrap().is_empty());
    }

    #[test]
    fn two_components_of_one_name_are_refused() {
        let workspace = workspace(
            r#"{ "stopover": { "variants": [
                { "name": "mini", "features": [] }, { "name": "mini", "features": ["full"] }] } }"#,
        );
        assert!(all(&workspace).is_err());
    }

    #[test]
    fn selection_keeps_named_guests_and_refuses_unknown_names() {
        let workspace = workspace(
            r#"{ "stopover": { "variants": [
                { "name": "mini", "features": [] }, { "name": "all", "features": ["full"] }] } }"#,
        );
        let mut guests = all(&workspace).unwrap();
        select(&mut guests, &[]).unwrap();
        assert_eq!(guests.len(), 2);
        assert!(select(&mut guests, &["maxi".to_owned()]).is_err());
        select(&mut guests, &["mini".to_owned()]).unwrap();
        assert_eq!(guests.len(), 1);
        assert_eq!(guests[0].name, "mini");
    }

    #[test]
    fn a_misspelt_key_is_refused_and_names_the_crate() {
        let Err(error) = all(&workspace(r#"{ "stopover": { "variant": [] } }"#)) else {
            panic!("accepted");
        };
        assert!(format!("{error:#}").contains("fakes"));
    }
}
