//! Statuses of each path and form, in the order of nobody and `PEOPLE`.

/// Method, path, fields of the form, and the statuses. `{test}` and `{live}` are keys of the
/// organization, `{session}` is a session of nobody in the table.
pub(super) type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    [u16; 6],
);

const TEST_KEY: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("mode", "test"),
    ("scopes", "read"),
];
const LIVE_KEY: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("mode", "live"),
    ("scopes", "read"),
];

const GUEST: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("email", "guest@example.com"),
    ("role", "viewer"),
];

/// A sign-in, which is refused while the address is locked.
const NOBODY: &[(&str, &str)] = &[("email", "nobody"), ("password", "a")];

/// A webhook whose URL is refused, so that nothing is stored.
const WEBHOOK: &[(&str, &str)] = &[
    ("organization", "acme"),
    ("product", "hotel"),
    ("url", "ftp://shop.example"),
    ("events", "*"),
];

/// The requests while the session shows test data.
pub(super) const IN_TEST_MODE: &[Row] = &[
    ("GET", "/", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/keys", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/requests", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/requests?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/requests/req_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "GET",
        "/keys?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    ("GET", "/keys?create=1", &[], [303, 403, 200, 200, 200, 200]),
    ("GET", "/keys/{test}", &[], [303, 200, 200, 200, 200, 404]),
    (
        "GET",
        "/keys/{test}?confirm=revoke",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    ("GET", "/keys/{live}", &[], [303, 404, 404, 404, 404, 404]),
    ("GET", "/keys/unknown", &[], [303, 404, 404, 404, 404, 404]),
    ("GET", "/webhooks", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/webhooks?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/webhooks?create=1",
        &[],
        [303, 403, 403, 200, 200, 200],
    ),
    (
        "GET",
        "/webhooks/whs_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/deliveries", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/deliveries?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/deliveries/dlv_1-1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/events/evt_1", &[], [303, 404, 404, 404, 404, 404]),
    ("POST", "/webhooks", WEBHOOK, [303, 403, 403, 422, 422, 404]),
    (
        "POST",
        "/webhooks/whs_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/rotate",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/test",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/deliveries/replay",
        &[("status", "FAILED")],
        [303, 403, 409, 409, 409, 409],
    ),
    (
        "POST",
        "/deliveries/replays/blk_1/stop",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/deliveries/dlv_1-1/replay",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/events/evt_1/reveal",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/bookings", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/bookings?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/bookings/bkg_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/bookings/bkg_1/reveal",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/pause",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/resume",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/delete",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/webhooks/whs_1/recover",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/deliveries/dlv_1-1/reveal",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/watches", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/watches?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    ("GET", "/watches/wtc_1", &[], [303, 404, 404, 404, 404, 404]),
    (
        "POST",
        "/watches/wtc_1/cancel",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/mandates", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/mandates?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/mandates/mnd_1",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/mandates/mnd_1/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/search", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/search?q=bkg_1",
        &[],
        [303, 303, 303, 303, 303, 303],
    ),
    ("GET", "/go-live", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/go-live?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/stream/requests",
        &[],
        [204, 200, 200, 200, 200, 200],
    ),
    (
        "GET",
        "/stream/requests?organization=acme",
        &[],
        [204, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/stream/deliveries",
        &[],
        [204, 200, 200, 200, 200, 200],
    ),
    (
        "GET",
        "/stream/deliveries?organization=acme",
        &[],
        [204, 200, 200, 200, 200, 404],
    ),
    ("GET", "/login/oidc", &[], [404, 404, 404, 404, 404, 404]),
    (
        "GET",
        "/login/oidc/callback",
        &[],
        [404, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/members/acme/acc_1/role",
        &[("role", "viewer")],
        [303, 403, 403, 404, 404, 404],
    ),
    (
        "POST",
        "/members/acme/acc_1/remove",
        &[],
        [303, 403, 403, 404, 404, 404],
    ),
    ("GET", "/account", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/audit", &[], [303, 403, 403, 200, 200, 200]),
    (
        "GET",
        "/audit?organization=acme",
        &[],
        [303, 403, 403, 200, 200, 404],
    ),
    (
        "GET",
        "/audit/export?organization=acme",
        &[],
        [303, 403, 403, 200, 200, 404],
    ),
    ("POST", "/audit/verify", &[], [303, 403, 403, 200, 200, 200]),
    ("GET", "/unresolved", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/unresolved?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "POST",
        "/unresolved/settle",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/unresolved/withdraw",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/unresolved/retry",
        &[("kind", "hotel_booking"), ("subject", "bkg_1")],
        [303, 403, 403, 403, 303, 403],
    ),
    // The operator's call fills the demo, which changes no status of the table.
    ("POST", "/sample-data", &[], [303, 403, 403, 403, 303, 403]),
    ("GET", "/suppliers", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/suppliers/SANDBOX_HOTELS",
        &[],
        [303, 200, 200, 200, 200, 200],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/reload",
        &[],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/drain",
        &[],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/undrain",
        &[],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/SANDBOX_HOTELS/rank",
        &[("reset", "1")],
        [303, 403, 403, 403, 303, 403],
    ),
    (
        "POST",
        "/suppliers/UNKNOWN/drain",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("GET", "/unknown", &[], [303, 404, 404, 404, 404, 404]),
    ("GET", "/login", &[], [200, 303, 303, 303, 303, 303]),
    ("GET", "/setup/unknown", &[], [404, 404, 404, 404, 404, 404]),
    (
        "GET",
        "/assets/unknown",
        &[],
        [404, 404, 404, 404, 404, 404],
    ),
    ("POST", "/keys", TEST_KEY, [303, 403, 200, 200, 200, 404]),
    (
        "POST",
        "/keys/{live}/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/keys/unknown/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/keys/{test}/revoke",
        &[],
        [303, 403, 303, 303, 303, 404],
    ),
    (
        "POST",
        "/account/sessions/{session}/revoke",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/account/password",
        &[("new_password", "a")],
        [303, 422, 422, 422, 422, 422],
    ),
    (
        "POST",
        "/setup/unknown",
        &[],
        [404, 404, 404, 404, 404, 404],
    ),
    ("GET", "/members", &[], [303, 200, 200, 200, 200, 200]),
    (
        "GET",
        "/members?organization=acme",
        &[],
        [303, 200, 200, 200, 200, 404],
    ),
    (
        "GET",
        "/members/acme/unknown",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    ("POST", "/members", GUEST, [303, 403, 403, 200, 200, 404]),
    (
        "POST",
        "/members/invitations/revoke",
        GUEST,
        [303, 403, 403, 303, 303, 404],
    ),
    (
        "POST",
        "/account/two-factor",
        &[],
        [303, 200, 200, 200, 200, 200],
    ),
    // Nobody has codes, so there are none to replace.
    (
        "POST",
        "/account/two-factor/recovery-codes",
        &[],
        [303, 303, 303, 303, 303, 303],
    ),
    (
        "POST",
        "/account/two-factor/confirm",
        &[],
        [303, 303, 303, 303, 303, 303],
    ),
    ("POST", "/login/code", &[], [401, 401, 401, 401, 401, 401]),
    (
        "POST",
        "/setup/unknown/accept",
        &[],
        [303, 404, 404, 404, 404, 404],
    ),
    // Each person enters a wrong password, which locks the address that all of them share.
    (
        "POST",
        "/account/two-factor/turn-off",
        &[],
        [303, 422, 422, 422, 422, 422],
    ),
    // A live key switches the session of its creator to live data.
    ("POST", "/keys", LIVE_KEY, [303, 403, 403, 200, 200, 404]),
    (
        "POST",
        "/mode",
        &[("mode", "live")],
        [303, 303, 303, 303, 303, 303],
    ),
];

/// The requests while the session shows live data, to which the last row above has switched.
pub(super) const IN_LIVE_MODE: &[Row] = &[
    ("GET", "/", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/keys", &[], [303, 200, 200, 200, 200, 200]),
    ("GET", "/keys/{live}", &[], [303, 200, 200, 200, 200, 404]),
    ("GET", "/keys/{test}", &[], [303, 404, 404, 404, 404, 404]),
    (
        "POST",
        "/keys/{live}/revoke",
        &[],
        [303, 403, 403, 303, 303, 404],
    ),
    ("POST", "/sign-out", &[], [303, 303, 303, 303, 303, 303]),
    ("GET", "/", &[], [303, 303, 303, 303, 303, 303]),
    ("POST", "/login", NOBODY, [429, 429, 429, 429, 429, 429]),
];
