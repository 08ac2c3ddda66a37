//! What every request passes first: the token, the origin, and the size of the body.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{Refusal, a1111, openai};

/// What requests are checked against.
pub struct Guard {
    token: String,
    largest_body: usize,
    patience: Duration,
}

impl Guard {
    /// Lets in who has the token. A body may have so many bytes, and take so long to arrive.
    pub fn new(token: String, largest_body: usize, patience: Duration) -> Self {
        Self { token, largest_body, patience }
    }

    fn lets_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, credentials)) = given.and_then(|value| value.split_once(' ')) else { return false };
        if scheme.eq_ignore_ascii_case("bearer") {
            return self.is_token(credentials.trim());
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return false;
        }
        let decoded = BASE64_STANDARD.decode(credentials.trim()).ok();
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        text.as_deref()
            .and_then(|text| text.split_once(':'))
            .is_some_and(|(_, password)| self.is_token(password))
    }

    /// Takes the same time for every wrong token of this length.
    fn is_token(&self, given: &str) -> bool {
        let (own, given) = (self.token.as_bytes(), given.as_bytes());
        let differs = own.iter().zip(given).fold(0_u8, |all, (one, other)| all | (one ^ other));
        own.len() == given.len() && std::hint::black_box(differs) == 0
    }
}

/// Whether a page of another address asks. Programs that are no browsers say nothing about it.
fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => false,
        (Some(origin), Some(host)) => {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) != Some(host)
        }
        (Some(_), None) => true,
    }
}

/// Reads the body of a request that is let in.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    match let_in(&guard, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => in_the_form_of(&path, refusal),
    }
}

async fn let_in(guard: &Guard, request: Request) -> Result<Request, Refusal> {
    if is_foreign(request.headers()) {
        return Err(Refusal::foreign());
    }
    if !guard.lets_in(request.headers()) {
        return Err(Refusal::unauthorized());
    }
    let said =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if said.is_some_and(|bytes: usize| bytes > guard.largest_body) {
        return Err(Refusal::too_large(guard.largest_body));
    }
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(guard.patience, to_bytes(body, guard.largest_body)).await;
    let bytes = read.map_err(|_| Refusal::too_slow())?;
    let bytes = bytes.map_err(|_| Refusal::too_large(guard.largest_body))?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The refusal as the clients of an interface expect it.
fn in_the_form_of(path: &str, refusal: Refusal) -> Response {
    let status = refusal.status;
    let mut response = if path.starts_with("/v1/") {
        openai::Refused::from(refusal).into_response()
    } else if path.starts_with("/sdapi/") {
        a1111::Refused::from(refusal).into_response()
    } else {
        super::own::Refused::from(refusal).into_response()
    };
    if status == StatusCode::UNAUTHORIZED {
        let basic = HeaderValue::from_static("Basic realm=\"sluice\", charset=\"UTF-8\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, basic);
    }
    if status == StatusCode::PAYLOAD_TOO_LARGE || status == StatusCode::REQUEST_TIMEOUT {
        // The rest of the body is not read.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_the_token_lets_in() {
        let guard = Guard::new("secret".to_owned(), 0, Duration::ZERO);
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        for (value, expected) in [
            ("Bearer secret".to_owned(), true),
            ("bearer secret".to_owned(), true),
            (basic("anybody:secret"), true),
            (basic(":secret"), true),
            ("Bearer Secret".to_owned(), false),
            ("Bearer secrets".to_owned(), false),
            ("Bearer ".to_owned(), false),
            ("Bearer".to_owned(), false),
            (basic("secret"), false),
            (basic("secret:"), false),
            ("Basic ???".to_owned(), false),
            ("Digest secret".to_owned(), false),
        ] {
            let headers = headers(&[(header::AUTHORIZATION, &value)]);
            assert_eq!(guard.lets_in(&headers), expected, "{value}");
        }
        assert!(!guard.lets_in(&HeaderMap::new()));
    }

    #[test]
    fn pages_of_other_addresses_are_refused() {
        for (origin, foreign) in
            [("http://127.0.0.1:7860", false), ("http://evil.example", true), ("null", true)]
        {
            let headers = headers(&[(header::ORIGIN, origin), (header::HOST, "127.0.0.1:7860")]);
            assert_eq!(is_foreign(&headers), foreign, "{origin}");
        }
        assert!(!is_foreign(&headers(&[(header::HOST, "127.0.0.1:7860")])));
    }
}
