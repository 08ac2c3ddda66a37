//! Requests to servers: redirects, tokens, proxies and errors in plain words.

use std::{
    env, fs, io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jiff::{Timestamp, fmt::rfc2822};
use ureq::{
    Agent, Body, Proxy, Timeout,
    http::{HeaderMap, Uri, header},
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};

use super::{DownloadError, Stop, token::Credentials};

/// The server of Hugging Face.
pub const HUGGING_FACE: &str = "https://huggingface.co";
/// The server of Civitai.
pub const CIVITAI: &str = "https://civitai.com";
/// Redirects that are followed.
const REDIRECTS: usize = 10;
/// The largest answer that is not a file.
const LARGEST_ANSWER: u64 = 32 << 20;
/// What reads certificates of the user's network.
const CERTIFICATE_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"];

/// How long to wait for servers.
#[derive(Debug, Clone, PartialEq)]
pub struct Patience {
    /// For a connection.
    pub connection: Duration,
    /// For the next bytes.
    pub bytes: Duration,
    /// How often a transfer is tried again without having received anything.
    pub retries: u32,
    /// Before the first retry; before the next ones twice as long each.
    pub first_wait: Duration,
    /// The longest time before a retry.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(15),
            bytes: Duration::from_secs(30),
            retries: 6,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// How servers are reached.
#[derive(Debug, Clone)]
pub struct Network {
    /// Where the hub is: Hugging Face, or a mirror of it.
    pub endpoint: String,
    /// Where Civitai is.
    pub civitai: String,
    /// The proxy, such as `http://host:port`; that of the environment if absent.
    pub proxy: Option<String>,
    /// Tokens.
    pub credentials: Credentials,
    /// How long to wait.
    pub patience: Patience,
    /// Tells how many bytes are free where a path is.
    pub free_space: fn(&Path) -> io::Result<u64>,
}

impl Network {
    /// As the environment and these settings say: `HF_ENDPOINT`, `HTTPS_PROXY` and others. Empty settings count as none.
    pub fn of_user(endpoint: Option<&str>, proxy: Option<&str>) -> Self {
        let given =
            |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let endpoint = given(endpoint).or_else(|| given(env::var("HF_ENDPOINT").ok().as_deref()));
        Self {
            endpoint: endpoint.map_or_else(|| HUGGING_FACE.to_owned(), |endpoint| as_address(&endpoint)),
            civitai: CIVITAI.to_owned(),
            proxy: given(proxy),
            credentials: Credentials::of_user(),
            patience: Patience::default(),
            free_space: |path| fs4::available_space(path),
        }
    }

    /// The name of the hub's server.
    pub fn host(&self) -> &str {
        self.endpoint.split_once("://").map_or(self.endpoint.as_str(), |(_, host)| host)
    }
}

/// An address with a scheme and without a slash at its end.
fn as_address(text: &str) -> String {
    let text = text.trim_end_matches('/');
    if text.contains("://") { text.to_owned() } else { format!("https://{text}") }
}

/// Sends requests.
pub(super) struct Client<'a> {
    network: &'a Network,
    agent: Agent,
    stop: Stop,
    /// Whether a server has asked who is there.
    is_asked: AtomicBool,
}

/// An answer.
pub(super) struct Reply {
    pub status: u16,
    pub host: String,
    headers: HeaderMap,
    /// What the hub says about a file before it sends to another server.
    linked: HeaderMap,
    pub body: Body,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn linked(&self, name: &str) -> Option<&str> {
        self.linked.get(name)?.to_str().ok()
    }

    /// What identifies the contents, if something does.
    pub fn identity(&self) -> Option<String> {
        let plain = |etag: &str| etag.trim().trim_start_matches("W/").trim_matches('"').to_owned();
        let tag = self.linked("x-linked-etag").or_else(|| self.header("etag")).map(plain);
        tag.or_else(|| Some(format!("of {}", self.header("last-modified")?)))
    }

    /// The SHA-256 that the hub knows, in lower case.
    pub fn sha256(&self) -> Option<String> {
        let tag = self.linked("x-linked-etag").or_else(|| self.header("x-linked-etag"))?;
        let tag = tag.trim().trim_start_matches("W/").trim_matches('"').to_ascii_lowercase();
        is_sha256(&tag).then_some(tag)
    }

    /// The size of the whole file, as far as it is announced.
    pub fn size(&self) -> Option<u64> {
        let linked = self.linked("x-linked-size").and_then(|size| size.parse().ok());
        linked.or_else(|| match self.status {
            206 | 416 => self.header("content-range")?.rsplit_once('/')?.1.parse().ok(),
            _ => self.header("content-length")?.parse().ok(),
        })
    }

    /// Whether it is a web page, such as one for signing in, and no file.
    pub fn is_page(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/html"))
    }

    /// The first byte of a part of a file.
    pub fn start(&self) -> Option<u64> {
        let range = self.header("content-range")?.strip_prefix("bytes ")?;
        range.split_once('-')?.0.parse().ok()
    }

    /// The address of the next page of a list.
    fn next_page(&self) -> Option<String> {
        let links = self.header("link")?.split(',');
        let mut next = links.filter(|link| link.contains("rel=\"next\""));
        Some(next.next()?.trim().strip_prefix('<')?.split_once('>')?.0.to_owned())
    }

    fn wait(&self) -> Option<Duration> {
        let text = self.header("retry-after")?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let at = rfc2822::parse(text).ok()?.timestamp();
        at.duration_since(Timestamp::now()).try_into().ok()
    }
}

/// Whether a text is a SHA-256 in lower case.
pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|letter| matches!(letter, b'0'..=b'9' | b'a'..=b'f'))
}

impl<'a> Client<'a> {
    /// Sends requests until it is stopped.
    ///
    /// # Errors
    /// If the proxy is no address, or the certificates cannot be read.
    pub fn new(network: &'a Network, stop: &Stop) -> Result<Self, DownloadError> {
        let proxy = match &network.proxy {
            Some(proxy) => Some(
                Proxy::new(proxy)
                    .map_err(|_| DownloadError::Proxy { reason: "it is not an address".to_owned() })?,
            ),
            None => Proxy::try_from_env(),
        };
        let Patience { connection, bytes, .. } = network.patience;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(connection))
            .timeout_connect(Some(connection))
            .timeout_recv_response(Some(bytes))
            .timeout_per_read(Some(bytes))
            .tls_config(TlsConfig::builder().root_certs(certificates()?).build())
            .user_agent(concat!("sluice/", env!("CARGO_PKG_VERSION")))
            .proxy(proxy)
            .build();
        let agent = Agent::new_with_config(config);
        stop.closes(&agent);
        Ok(Self { network, agent, stop: stop.clone(), is_asked: AtomicBool::new(false) })
    }

    /// Requests a file from a byte on. `what` names it in errors, and `page` is where its conditions are.
    ///
    /// # Errors
    /// If there is no answer, or it says no.
    pub fn get(
        &self,
        address: &str,
        from: Option<u64>,
        (what, page): (&str, Option<&str>),
    ) -> Result<Reply, DownloadError> {
        let first = self.address(address)?;
        let mut with_token = self.is_asked.load(Ordering::Relaxed);
        let reply = loop {
            let reply = self.follow(&first, from, with_token)?;
            let asks = matches!(reply.status, 401 | 403);
            if !asks || with_token || self.token(&first).is_none() {
                break reply;
            }
            with_token = true;
            self.is_asked.store(true, Ordering::Relaxed);
        };
        let host = reply.host.clone();
        let (what, page) = (what.to_owned(), page.map(str::to_owned));
        let has_token = with_token && self.token(&first).is_some();
        Err(match reply.status {
            // The caller knows what to do about a range beyond the end.
            200 | 206 | 416 => return Ok(reply),
            // The hub also says so about what does not exist, to those whom it does not know.
            401 if reply.header("x-error-code") == Some("RepoNotFound") && has_token => {
                DownloadError::NotFound { what, host }
            }
            401 => DownloadError::NeedsToken { what, page, has_token },
            403 if has_token => DownloadError::NotAllowed { what, page },
            403 => DownloadError::NeedsToken { what, page, has_token },
            404 | 410 => DownloadError::NotFound { what, host },
            429 => DownloadError::Busy { host, wait: reply.wait() },
            408 | 500.. => DownloadError::Server { host, status: reply.status, wait: reply.wait() },
            status => DownloadError::Answer { host, reason: format!("status {status}") },
        })
    }

    /// Requests JSON, all its pages.
    ///
    /// # Errors
    /// As [`get`](Self::get), and if it is no JSON.
    pub fn json(
        &self,
        address: &str,
        what: (&str, Option<&str>),
    ) -> Result<Vec<serde_json::Value>, DownloadError> {
        const PAGES: usize = 50;
        let mut pages = Vec::new();
        let mut next = Some(address.to_owned());
        while let Some(address) = next.take().filter(|_| pages.len() < PAGES) {
            let mut reply = self.get(&address, None, what)?;
            let text = reply.body.with_config().limit(LARGEST_ANSWER).read_to_string();
            let text = text.map_err(|error| self.failed(&reply.host, error))?;
            let page = serde_json::from_str(&text).map_err(|error| DownloadError::Answer {
                host: reply.host.clone(),
                reason: error.to_string(),
            })?;
            pages.push(page);
            // Only pages of the same server.
            let is_same =
                |next: &String| self.address(next).ok().and_then(|to| Some(to.host()? == reply.host));
            next = reply.next_page().filter(|next| is_same(next) == Some(true));
        }
        Ok(pages)
    }

    fn follow(&self, first: &Uri, from: Option<u64>, with_token: bool) -> Result<Reply, DownloadError> {
        let mut address = first.clone();
        let mut linked = HeaderMap::new();
        for _ in 0..=REDIRECTS {
            let host = address.host().unwrap_or_default().to_owned();
            let mut request = self.agent.get(address.clone()).header(header::ACCEPT_ENCODING, "identity");
            if let Some(from) = from {
                request = request.header(header::RANGE, format!("bytes={from}-"));
            }
            // A redirect to another server gets no token.
            if let Some(token) = self.token(&address).filter(|_| with_token) {
                request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.secret()));
            }
            let (parts, body) = request.call().map_err(|error| self.failed(&host, error))?.into_parts();
            // Only the first server knows which file was asked for.
            if address.authority() == first.authority() {
                for name in ["x-linked-etag", "x-linked-size"] {
                    if let Some(value) = parts.headers.get(name) {
                        linked.insert(name, value.clone());
                    }
                }
            }
            let target = parts
                .headers
                .get(header::LOCATION)
                .filter(|_| matches!(parts.status.as_u16(), 301..=303 | 307 | 308));
            let Some(target) = target else {
                let (status, headers) = (parts.status.as_u16(), parts.headers);
                return Ok(Reply { status, host, headers, linked, body });
            };
            let target = target.to_str().ok().and_then(|target| beside(&address, target));
            let wrong =
                |reason: &str| DownloadError::Answer { host: host.clone(), reason: reason.to_owned() };
            let target = target.ok_or_else(|| wrong("it redirects to something that is no address"))?;
            if address.scheme_str() == Some("https") && target.scheme_str() != Some("https") {
                return Err(wrong("it redirects to a connection that is not secure"));
            }
            address = target;
        }
        Err(DownloadError::Answer {
            host: first.host().unwrap_or_default().to_owned(),
            reason: "it redirects without end".to_owned(),
        })
    }

    /// The token for a server, if it may have one: over a secure connection, or on this computer.
    fn token(&self, address: &Uri) -> Option<&super::Token> {
        let is_local = address.host().is_some_and(|host| matches!(host, "127.0.0.1" | "[::1]" | "localhost"));
        if address.scheme_str() != Some("https") && !is_local {
            return None;
        }
        let is_of = |server: &str| {
            let server: Option<Uri> = server.parse().ok();
            server.is_some_and(|server| {
                server.authority() == address.authority() && server.scheme() == address.scheme()
            })
        };
        if is_of(&self.network.endpoint) {
            self.network.credentials.hub()
        } else if is_of(&self.network.civitai) {
            self.network.credentials.civitai()
        } else {
            None
        }
    }

    fn address(&self, text: &str) -> Result<Uri, DownloadError> {
        let uri: Option<Uri> = text.parse().ok();
        uri.filter(|uri| uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https")))
            .ok_or_else(|| DownloadError::Answer {
                host: self.network.host().to_owned(),
                reason: format!("{text} is no address"),
            })
    }

    /// What a failed request means.
    pub fn failed(&self, host: &str, error: ureq::Error) -> DownloadError {
        use io::ErrorKind::{
            AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable, TimedOut,
        };
        let host = host.to_owned();
        if self.stop.is_stopped() {
            return DownloadError::Stopped;
        }
        match error {
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => DownloadError::Offline { host },
            ureq::Error::Timeout(_) => DownloadError::Stalled { host },
            ureq::Error::Io(error) => match error.kind() {
                ConnectionRefused | HostUnreachable | NetworkUnreachable | NetworkDown | AddrNotAvailable => {
                    DownloadError::Offline { host }
                }
                TimedOut => DownloadError::Stalled { host },
                _ => match error.downcast::<ureq::Error>() {
                    Ok(error) => self.failed(&host, error),
                    Err(_) => DownloadError::Dropped { host },
                },
            },
            ureq::Error::Tls(reason) => DownloadError::Insecure { host, reason: reason.to_owned() },
            ureq::Error::Rustls(error) => DownloadError::Insecure { host, reason: error.to_string() },
            ureq::Error::InvalidProxyUrl => {
                DownloadError::Proxy { reason: "it is not an address".to_owned() }
            }
            ureq::Error::ConnectProxyFailed(reason) => DownloadError::Proxy { reason },
            ureq::Error::Protocol(_) | ureq::Error::BodyStalled => DownloadError::Dropped { host },
            error => DownloadError::Answer { host, reason: error.to_string() },
        }
    }

    /// What it means that a file ends with an error.
    pub fn broken(&self, host: &str, error: io::Error) -> DownloadError {
        self.failed(host, ureq::Error::Io(error))
    }
}

/// Mozilla's roots, and those in a file that a variable names.
fn certificates() -> Result<RootCerts, DownloadError> {
    let named =
        CERTIFICATE_VARIABLES.iter().find_map(|name| env::var_os(name).filter(|path| !path.is_empty()));
    let Some(path) = named else { return Ok(RootCerts::WebPki) };
    let insecure =
        |reason: String| DownloadError::Insecure { host: path.to_string_lossy().into_owned(), reason };
    let text = fs::read(&path).map_err(|error| insecure(error.to_string()))?;
    let all = parse_pem(&text).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let all: Vec<_> = all.collect();
    match all.is_empty() {
        true => Err(insecure("it has no certificates".to_owned())),
        false => Ok(RootCerts::new_with_certs(&all)),
    }
}

/// The address that a link on a page leads to.
fn beside(page: &Uri, link: &str) -> Option<Uri> {
    let (scheme, authority) = (page.scheme_str()?, page.authority()?);
    let link = link.split('#').next()?;
    if let Some((scheme, _)) = link.split_once("://")
        && scheme.bytes().all(|letter| letter.is_ascii_alphanumeric())
    {
        return link.parse().ok().filter(|uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")));
    }
    let whole = match link {
        _ if link.starts_with("//") => format!("{scheme}:{link}"),
        _ if link.starts_with('/') => format!("{scheme}://{authority}{link}"),
        _ => {
            let folder = page.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{scheme}://{authority}{folder}/{link}")
        }
    };
    whole.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_on_pages_are_followed() {
        let page: Uri = "https://hub.example/owner/name/resolve/main/a.gguf?download=true".parse().unwrap();
        for (link, expected) in [
            ("https://cdn.example/x?y=1#z", "https://cdn.example/x?y=1"),
            ("//cdn.example/x", "https://cdn.example/x"),
            ("/api/resolve-cache/x", "https://hub.example/api/resolve-cache/x"),
            ("b.gguf", "https://hub.example/owner/name/resolve/main/b.gguf"),
        ] {
            assert_eq!(beside(&page, link).unwrap().to_string(), expected);
        }
        for wrong in ["ftp://a/b", "file:///etc/passwd"] {
            assert_eq!(beside(&page, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_endpoint_may_lack_its_scheme() {
        assert_eq!(as_address("hf-mirror.com/"), "https://hf-mirror.com");
        assert_eq!(as_address("http://localhost:8080"), "http://localhost:8080");
        assert_eq!(Network::of_user(Some(" mirror.example "), Some("")).endpoint, "https://mirror.example");
        assert_eq!(Network::of_user(Some("mirror.example"), None).host(), "mirror.example");
    }
}
