//! Downloads through a proxy on this computer.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use tempfile::TempDir;

use super::{
    assert_fails, assert_fine,
    download::{download_from, hub},
};

/// A proxy that leads to one server, whatever is asked for, and wants a name and a password.
struct Proxy {
    address: SocketAddr,
    /// The first lines of what it was sent.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(server: String, password: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let proxy = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let asked = Arc::clone(&proxy.asked);
        let wanted = format!("proxy-authorization: basic {}", BASE64_STANDARD.encode(password));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, wanted, asked) = (server.clone(), wanted.clone(), Arc::clone(&asked));
                thread::spawn(move || lead(client, &server, &wanted, &asked));
            }
        });
        proxy
    }

    fn url(&self, password: &str) -> String {
        format!("http://{password}@{}", self.address)
    }
}

fn lead(mut client: TcpStream, server: &str, wanted: &str, asked: &Mutex<Vec<String>>) -> io::Result<()> {
    let lines = BufReader::new(client.try_clone()?).lines();
    let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    asked.lock().unwrap().extend(head.first().cloned());
    if !head.iter().any(|line| line.eq_ignore_ascii_case(wanted)) {
        return client.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    }
    let mut behind = TcpStream::connect(server)?;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut from, mut to) = (client.try_clone()?, behind.try_clone()?);
    thread::spawn(move || io::copy(&mut from, &mut to));
    io::copy(&mut behind, &mut client).map(drop)
}

/// The server's name is known to the proxy only.
const ELSEWHERE: &str = "http://models.invalid";

#[test]
fn a_proxy_leads_to_a_server_that_only_it_knows() {
    let (folder, server) = (TempDir::new().unwrap(), hub());
    let proxy = Proxy::start(server.url().replace("http://", ""), "me:secret");
    let fetch = |proxy: &str, to: &str| {
        let mut command = download_from(folder.path(), ELSEWHERE, &["o/one", "--to", to]);
        command.env("HTTP_PROXY", proxy).output().unwrap()
    };
    let output = fetch(&proxy.url("me:secret"), "models");
    assert_fine(&output);
    assert_eq!(fs::read(folder.path().join("models/a.gguf")).unwrap(), b"some weights");
    assert!(proxy.asked.lock().unwrap().iter().all(|line| line == "CONNECT models.invalid:80 HTTP/1.1"));

    let refused = fetch(&proxy.url("me:wrong"), "others");
    assert_fails(&refused, "the proxy does not work", "Write it as http://host:port");
    assert!(!String::from_utf8_lossy(&refused.stderr).contains("wrong"), "passwords are not shown");
    let nobody = fetch("http://127.0.0.1:9", "others");
    assert_fails(&nobody, "there is no connection", "Check the connection, the proxy");
    assert!(!folder.path().join("others/a.gguf").exists());
}
