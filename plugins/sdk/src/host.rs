//! The interface to the gateway: its imports in a component, [`crate::testing`] in a native build.
//! No other module calls an import.

#[cfg(target_arch = "wasm32")]
mod import {
    use crate::bindings::shared::stopover::host;
    use crate::http::{Error, Request, Response};
    use crate::log::Level;
    use crate::secret;

    pub(crate) fn send(request: &Request) -> Result<Response, Error> {
        host::http::send(request)
    }

    pub(crate) fn send_many(requests: &[Request]) -> Vec<Result<Response, Error>> {
        host::http::send_many(requests)
    }

    pub(crate) fn log(level: Level, message: &str) {
        host::log::log(level, message);
    }

    pub(crate) fn now_ms() -> i64 {
        host::clock::now_ms()
    }

    pub(crate) fn cache_get(key: &str) -> Option<Vec<u8>> {
        host::cache::get(key)
    }

    pub(crate) fn cache_set(key: &str, value: &[u8], ttl_ms: u32) {
        host::cache::set(key, value, ttl_ms);
    }

    pub(crate) fn hmac_sha256(name: &str, message: &[u8]) -> Result<Vec<u8>, secret::Error> {
        host::secret::hmac_sha256(name, message)
    }

    pub(crate) fn sha256_with_secret(
        prefix: &[u8],
        name: &str,
        suffix: &[u8],
    ) -> Result<Vec<u8>, secret::Error> {
        host::secret::sha256_with_secret(prefix, name, suffix)
    }

    pub(crate) fn settings() -> String {
        host::settings::get()
    }
}

#[cfg(target_arch = "wasm32")]
pub(crate) use import::*;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::import::*;
