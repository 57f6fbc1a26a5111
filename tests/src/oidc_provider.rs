//! A provider of OpenID Connect that can answer wrongly.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256,
};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Redirect;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use url::{Url, form_urlencoded};

const CLIENT_ID: &str = "stopover dashboard";
const CLIENT_SECRET: &str = "a secret: of the client";

/// Creating an RSA key takes a moment.
static RSA_KEY: LazyLock<RsaKeyPair> =
    LazyLock::new(|| RsaKeyPair::generate(KeySize::Rsa2048).unwrap());

/// Signature of the provider's identity tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSignature {
    /// The token is signed with the published RSA key.
    Rs256,
    /// The token is signed with the published elliptic curve key.
    Es256,
    /// The key is an elliptic curve key that is not published, under the id of the published one.
    OtherKey,
    /// The token has the algorithm `none` and no signature.
    None,
    /// The key is the client's secret.
    Hs256,
    /// The published RSA modulus is the symmetric key.
    PublicKeyAsSecret,
}

/// A running provider. It takes every person without asking.
pub struct OidcProvider {
    /// Base URL, without a trailing slash.
    pub issuer: String,
    /// Base URL of the page to which browsers are sent, without a trailing slash. For a browser it
    /// is another site than the dashboard.
    pub site: String,
    state: Arc<Mutex<ProviderState>>,
}

struct ProviderState {
    issuer: String,
    site: String,
    signature: TokenSignature,
    /// Claims that replace those of a right token; a null removes one.
    claims: Value,
    /// Authorization requests by their codes.
    requests: BTreeMap<String, BTreeMap<String, String>>,
    ec_key: EcdsaKeyPair,
    other_key: EcdsaKeyPair,
}

type Shared = Arc<Mutex<ProviderState>>;

impl OidcProvider {
    /// # Panics
    /// Panics if there is no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let issuer = format!("http://{address}");
        let site = format!("http://localhost:{}", address.port());
        let ec_key = || EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let state = Arc::new(Mutex::new(ProviderState {
            issuer: issuer.clone(),
            site: site.clone(),
            signature: TokenSignature::Rs256,
            claims: json!({}),
            requests: BTreeMap::new(),
            ec_key: ec_key(),
            other_key: ec_key(),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/authorize", get(authorize))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            issuer,
            site,
            state,
        }
    }

    /// Returns the configuration of a gateway that uses this provider. `roles` is a table in TOML.
    pub fn config(&self, roles: &str) -> String {
        format!(
            "[dashboard.oidc]\nissuer = {:?}\nclient_id = {CLIENT_ID:?}\n\
             client_secret = {CLIENT_SECRET:?}\nroles = {roles}\n",
            self.issuer
        )
    }

    /// Sets how the next tokens are signed, and which of their claims differ from right ones.
    ///
    /// # Panics
    /// Panics if a request has panicked.
    pub fn answer(&self, signature: TokenSignature, claims: Value) {
        let mut state = self.state.lock().unwrap();
        state.signature = signature;
        state.claims = claims;
    }

    /// Authorizes a request as the provider's page does. Returns the URL to which the person is
    /// sent back.
    ///
    /// # Panics
    /// Panics if the URL is no authorization request.
    pub fn authorize(&self, url: &str) -> Url {
        let url = Url::parse(url).unwrap();
        let request = url.query_pairs().into_owned().collect();
        self.state.lock().unwrap().authorize(request)
    }
}

/// The page of the provider: it sends the person back at once.
async fn authorize(
    State(state): State<Shared>,
    Query(request): Query<BTreeMap<String, String>>,
) -> Redirect {
    let back = state.lock().unwrap().authorize(request);
    Redirect::to(back.as_str())
}

async fn discovery(State(state): State<Shared>) -> Json<Value> {
    let state = state.lock().unwrap();
    let (issuer, site) = (&state.issuer, &state.site);
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{site}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
    }))
}

async fn keys(State(state): State<Shared>) -> Json<Value> {
    let state = state.lock().unwrap();
    let point = state.ec_key.public_key().as_ref();
    let rsa = RSA_KEY.public_key();
    Json(json!({ "keys": [
        {
            "kty": "EC", "crv": "P-256", "kid": "ec", "use": "sig",
            "x": encode(&point[1..33]), "y": encode(&point[33..65]),
        },
        {
            "kty": "RSA", "kid": "rsa", "use": "sig",
            "n": encode(rsa.modulus().big_endian_without_leading_zero()),
            "e": encode(rsa.exponent().big_endian_without_leading_zero()),
        },
        { "kty": "future", "kid": "unknown" },
    ] }))
}

/// Exchanges a code once, for the client with the secret and the verifier of the request.
async fn token(
    State(state): State<Shared>,
    headers: HeaderMap,
    body: String,
) -> Result<Json<Value>, StatusCode> {
    let form: BTreeMap<String, String> = form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect();
    let mut state = state.lock().unwrap();
    let encode_part =
        |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
    let client = format!("{}:{}", encode_part(CLIENT_ID), encode_part(CLIENT_SECRET));
    let expected = format!("Basic {}", STANDARD.encode(client));
    let is_client = headers
        .get("authorization")
        .is_some_and(|sent| *sent == expected);
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
    let request = state.requests.get_mut(&field("code")).map(std::mem::take);
    let request = request.filter(|request| !request.is_empty());
    let request = request.ok_or(StatusCode::BAD_REQUEST)?;
    let verifier = encode(&Sha256::digest(field("code_verifier")));
    let is_right = is_client
        && field("grant_type") == "authorization_code"
        && field("redirect_uri") == request["redirect_uri"]
        && verifier == request["code_challenge"];
    if !is_right {
        return Err(StatusCode::BAD_REQUEST);
    }
    let token = state.sign(&state.claims_of(&request));
    Ok(Json(
        json!({ "access_token": "none", "token_type": "Bearer", "id_token": token }),
    ))
}

impl ProviderState {
    /// Keeps an authorization request under a new code and returns the URL that leads back.
    fn authorize(&mut self, request: BTreeMap<String, String>) -> Url {
        assert_eq!(request["response_type"], "code");
        assert_eq!(request["client_id"], CLIENT_ID);
        assert_eq!(request["code_challenge_method"], "S256");
        let code = format!("code-{}", self.requests.len());
        let mut back = Url::parse(&request["redirect_uri"]).unwrap();
        back.query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &request["state"])
            .append_pair("iss", &self.issuer);
        self.requests.insert(code, request);
        back
    }

    fn claims_of(&self, request: &BTreeMap<String, String>) -> Value {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let mut claims = json!({
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "person-1",
            "nonce": request["nonce"],
            "iat": now,
            "exp": now + 300,
            "email": "ada@example.com",
            "email_verified": true,
        });
        for (name, value) in self.claims.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        claims
    }

    fn sign(&self, claims: &Value) -> String {
        let (algorithm, key_id) = match self.signature {
            TokenSignature::Rs256 => ("RS256", "rsa"),
            TokenSignature::Es256 | TokenSignature::OtherKey => ("ES256", "ec"),
            TokenSignature::None => ("none", "rsa"),
            TokenSignature::Hs256 | TokenSignature::PublicKeyAsSecret => ("HS256", "rsa"),
        };
        let header = json!({ "alg": algorithm, "typ": "JWT", "kid": key_id });
        let parts = [header.to_string(), claims.to_string()];
        let signed = parts.map(|part| encode(part.as_bytes())).join(".");
        let random = SystemRandom::new();
        let signature = match self.signature {
            TokenSignature::Rs256 => {
                let mut signature = vec![0; RSA_KEY.public_modulus_len()];
                let message = signed.as_bytes();
                let done = RSA_KEY.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                done.unwrap();
                signature
            }
            TokenSignature::Es256 => {
                let signature = self.ec_key.sign(&random, signed.as_bytes());
                signature.unwrap().as_ref().to_vec()
            }
            TokenSignature::OtherKey => {
                let signature = self.other_key.sign(&random, signed.as_bytes());
                signature.unwrap().as_ref().to_vec()
            }
            TokenSignature::None => Vec::new(),
            TokenSignature::Hs256 => authenticate(CLIENT_SECRET.as_bytes(), &signed),
            TokenSignature::PublicKeyAsSecret => {
                let modulus = RSA_KEY.public_key().modulus();
                authenticate(modulus.big_endian_without_leading_zero(), &signed)
            }
        };
        format!("{signed}.{}", encode(&signature))
    }
}

fn authenticate(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
