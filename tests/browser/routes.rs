//! The routes of the dashboard, read from its source, so that tables of tests can be compared with
//! them.

use std::path::Path;

/// Folder whose files have the routes.
const SOURCE: &str = "../host/dashboard/src";

/// A route as the router has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    /// `GET` or `POST`.
    pub(crate) method: &'static str,
    /// Path with parameters in braces, e.g. `/keys/{id}`.
    pub(crate) path: String,
}

impl Route {
    /// Returns whether the route has a path. A parameter stands for one part of the path, and one
    /// that begins with `*` for the rest. The query of the path does not matter.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.split('?').next().unwrap();
        let mut parts = path.split('/');
        for own in self.path.split('/') {
            if own.starts_with("{*") {
                return parts.next().is_some();
            }
            let is_parameter = own.starts_with('{');
            let fits = |part: &str| part == own || (is_parameter && !part.is_empty());
            if !parts.next().is_some_and(fits) {
                return false;
            }
        }
        parts.next().is_none()
    }
}

/// Returns all routes.
pub(crate) fn routes() -> Vec<Route> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE);
    let mut routes = Vec::new();
    read_folder(&folder, &mut routes);
    assert!(!routes.is_empty(), "{} has no routes", folder.display());
    routes.sort();
    routes
}

fn read_folder(folder: &Path, routes: &mut Vec<Route>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_folder(&path, routes);
        } else {
            let source = std::fs::read_to_string(&path).unwrap();
            let calls = source.split(".route(").skip(1);
            calls.for_each(|call| read_call(call, routes));
        }
    }
}

/// Reads the arguments of a call of `Router::route`: a path, and handlers by method.
fn read_call(call: &str, routes: &mut Vec<Route>) {
    let Some((_, rest)) = call.split_once('"') else {
        return;
    };
    let (path, rest) = rest.split_once('"').unwrap();
    let handlers = arguments(rest);
    for (method, word) in [("GET", "get("), ("POST", "post(")] {
        if handlers.contains(word) {
            let path = path.to_owned();
            routes.push(Route { method, path });
        }
    }
}

/// Returns the text before the parenthesis that ends the call.
fn arguments(text: &str) -> &str {
    let mut depth = 0_i32;
    let end = text.find(|character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth < 0
    });
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn path_belongs_to_the_route_with_its_parts() {
    for (route, path, belongs) in [
        ("/", "/?window=day", true),
        ("/", "/keys", false),
        ("/keys/{id}", "/keys/key_1?confirm=revoke", true),
        ("/keys/{id}", "/keys/", false),
        ("/keys/{id}", "/keys/key_1/revoke", false),
        ("/assets/{*path}", "/assets/1/app.js", true),
    ] {
        let path_of_route = route.to_owned();
        let route = Route {
            method: "GET",
            path: path_of_route,
        };
        assert_eq!(route.has(path), belongs, "{route:?} {path}");
    }
}
