pub mod claims;
pub mod service;
pub mod signing_key;
