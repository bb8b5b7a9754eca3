//! What every request passes: the name by which the server was called, the page that sent it, the token, its size.

use std::{net::IpAddr, sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{
            AUTHORIZATION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use rehearsal_files::sha256::sha256;
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{ApiError, Limits, error::Answer, metrics::Metrics, page::Page, photos::body_too_large};

/// The cookie of a page that was given the token.
pub(crate) const SESSION: &str = "rehearsal-session";
/// The page runs its own scripts and talks to its own server, and shows photos that it was given.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

/// Bytes are counted by so many.
const KILOBYTE: usize = 1024;

/// What a server lets in.
pub(crate) struct Gate {
    token: Option<String>,
    names: Vec<String>,
    limits: Limits,
    page: Page,
    /// Kilobytes that requests may still bring.
    bodies: Arc<Semaphore>,
    pub metrics: Metrics,
}

impl Gate {
    pub fn new(token: Option<String>, names: Vec<String>, limits: Limits, page: Page) -> Self {
        let bodies = Arc::new(Semaphore::new(limits.bodies.div_ceil(KILOBYTE)));
        Self { token, names, limits, page, bodies, metrics: Metrics::default() }
    }

    /// A file of the page.
    pub fn file(&self, path: &str) -> Option<Response> {
        self.page.file(path)
    }

    /// Room for the bytes of a request, until the last copy of this is gone.
    pub fn reserve(&self, bytes: usize) -> Answer<Reserved> {
        let kilobytes = u32::try_from(bytes.div_ceil(KILOBYTE)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.bodies).try_acquire_many_owned(kilobytes);
        permit.map(Arc::new).map_err(|_| ApiError::busy("too many bytes are being answered"))
    }
}

/// The bytes of a request count until the last copy of this is gone.
pub(crate) type Reserved = Arc<OwnedSemaphorePermit>;

/// Checks a request, passes it on, counts it, and says to the browser what an answer may do.
pub(crate) async fn guard(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = counted(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let checked = check(&gate, &request).and_then(|()| reserve(&gate, &request));
    let (reserved, mut response) = match checked {
        Err(refused) => (None, refused.into_response()),
        Ok(reserved) => {
            if let Some(reserved) = &reserved {
                request.extensions_mut().insert(Arc::clone(reserved));
            }
            (reserved, next.run(request).await)
        }
    };
    drop(reserved);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    gate.metrics.request(method, &route, response.status().as_u16(), begun.elapsed());
    response
}

/// A method as it is counted: a client may invent others.
fn counted(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        _ => "other",
    }
}

fn check(gate: &Gate, request: &Request) -> Answer<()> {
    let (headers, uri) = (request.headers(), request.uri());
    let host = host(headers, uri)?;
    if !is_ours(&host, &gate.names) {
        let error = ApiError::new(StatusCode::FORBIDDEN, "forbidden_host", format!("this server is not called {host}"));
        return Err(error.hint("name it when the server is started"));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        check_origin(headers, uri)?;
    }
    match &gate.token {
        Some(token) if !gate.page.is_open(request.method(), uri.path()) && !is_known(headers, token) => {
            let error = ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "this server needs a token");
            Err(error.hint("send it as `Authorization: Bearer TOKEN`"))
        }
        _ => Ok(()),
    }
}

/// The host and port that the request is for.
fn authority(headers: &HeaderMap, uri: &Uri) -> Answer<String> {
    let mut given = headers.get_all(HOST).iter();
    match (given.next(), given.next(), uri.authority()) {
        (Some(host), None, _) => host.to_str().map(str::to_lowercase).map_err(|_| ()),
        (None, None, Some(authority)) => Ok(authority.as_str().to_lowercase()),
        _ => Err(()),
    }
    .map_err(|()| ApiError::bad_request("the request must name one host"))
}

/// The host without its port.
fn host(headers: &HeaderMap, uri: &Uri) -> Answer<String> {
    let authority = authority(headers, uri)?;
    let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']')).unwrap_or(authority.len());
    Ok(authority[..port_at].to_owned())
}

/// A page of a stranger can make a browser ask a name of the stranger's, which points here (DNS rebinding). It cannot
/// for addresses and for `localhost`.
fn is_ours(host: &str, names: &[String]) -> bool {
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    is_address || host == "localhost" || names.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Refuses what the page of another server sent. Programs that are not browsers do not say where they come from.
fn check_origin(headers: &HeaderMap, uri: &Uri) -> Answer<()> {
    let refused = || ApiError::new(StatusCode::FORBIDDEN, "forbidden_origin", "the request comes from another site");
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return Err(refused());
    }
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let ours = authority(headers, uri)?;
    let theirs = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host.to_lowercase());
    if theirs.is_some_and(|theirs| theirs == ours) { Ok(()) } else { Err(refused()) }
}

/// Whether a request has the token, or the cookie that was given for it.
fn is_known(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if given.and_then(|given| given.strip_prefix("Bearer ")).is_some_and(|given| is_token(given, token)) {
        return true;
    }
    if given.and_then(|given| password(given.strip_prefix("Basic ")?)).is_some_and(|given| is_token(&given, token)) {
        return true;
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let expected = session(token);
    pairs.any(|(name, value)| name == SESSION && bool::from(value.as_bytes().ct_eq(expected.as_bytes())))
}

/// The password of basic authentication, in which some clients send the token, under any name.
fn password(basic: &str) -> Option<String> {
    let text = String::from_utf8(BASE64_STANDARD.decode(basic.trim()).ok()?).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

/// Whether that is the token: the time that it takes says nothing about it.
pub(crate) fn is_token(given: &str, token: &str) -> bool {
    sha256(given.as_bytes()).as_bytes().ct_eq(sha256(token.as_bytes()).as_bytes()).into()
}

/// What the cookie of a page holds.
pub(crate) fn session(token: &str) -> String {
    sha256(format!("rehearsal-session {token}").as_bytes())
}

/// Refuses a request that is too large, or that there is no room for now.
fn reserve(gate: &Gate, request: &Request) -> Answer<Option<Reserved>> {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS | Method::DELETE) {
        return Ok(None);
    }
    let limits = &gate.limits;
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let length = length.unwrap_or(limits.body);
    if length > limits.body {
        return Err(body_too_large(limits));
    }
    gate.reserve(length).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (axum::http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_addresses_localhost_and_given_names_are_ours() {
        let uri = Uri::from_static("/");
        let is_allowed =
            |value: &str| is_ours(&host(&headers(&[("host", value)]), &uri).unwrap(), &["shop.example".into()]);
        for ours in ["localhost:7860", "127.0.0.1:7860", "[::1]:7860", "192.168.1.7", "Shop.Example", "[::1]"] {
            assert!(is_allowed(ours), "{ours}");
        }
        for other in ["evil.example", "localhost.evil.example:7860", "127.0.0.1.evil.example", "", "1.2.3.4.5"] {
            assert!(!is_allowed(other), "{other}");
        }
        assert!(host(&headers(&[]), &uri).is_err(), "no host");
        let mut two = headers(&[("host", "localhost")]);
        two.append("host", "evil.example".parse().unwrap());
        assert!(host(&two, &uri).is_err());
    }

    #[test]
    fn what_changes_something_comes_from_our_own_page() {
        let uri = Uri::from_static("/");
        let check = |more: &[(&'static str, &str)]| {
            let mut all = headers(more);
            all.insert("host", "localhost:7860".parse().unwrap());
            check_origin(&all, &uri).is_ok()
        };
        assert!(check(&[]), "a program");
        assert!(check(&[("origin", "http://localhost:7860"), ("sec-fetch-site", "same-origin")]));
        assert!(check(&[("origin", "https://localhost:7860")]), "behind a proxy that encrypts");
        assert!(!check(&[("origin", "http://localhost:8000")]));
        assert!(!check(&[("origin", "http://evil.example")]));
        assert!(!check(&[("origin", "null")]));
        assert!(!check(&[("sec-fetch-site", "cross-site")]));
        assert!(!check(&[("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn the_token_or_its_cookie_is_needed() {
        let cookie = |value: &str| headers(&[("cookie", value)]);
        assert!(is_known(&headers(&[("authorization", "Bearer secret")]), "secret"));
        assert!(is_known(&headers(&[("authorization", "Basic YW55OnNlY3JldA==")]), "secret"), "any:secret");
        assert!(is_known(&cookie(&format!("a=b; {SESSION}={}", session("secret"))), "secret"));
        let wrong = ["Bearer secre", "secret", "Basic c2VjcmV0", "Basic c2VjcmV0Og==", "Basic !", "Basic /////w=="];
        for wrong in wrong.map(|value| headers(&[("authorization", value)])).into_iter().chain([headers(&[])]) {
            assert!(!is_known(&wrong, "secret"), "{wrong:?}");
        }
        assert!(!is_known(&cookie(&format!("{SESSION}=secret")), "secret"));
        assert!(!is_known(&cookie(&format!("{SESSION}={}", session("other"))), "secret"));
    }
}
