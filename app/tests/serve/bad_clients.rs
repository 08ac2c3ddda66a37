//! Clients that are wrong, slow, many, or gone.

use std::{
    collections::HashSet,
    io::{Read as _, Write as _},
    thread,
    time::{Duration, Instant},
};

use ::sluice::serve::Patience;
use serde_json::{Value, json};

use crate::{
    bytes_of,
    client::{Response, Server, TOKEN, sluice},
    pixels, small,
};

#[test]
fn without_the_token_nothing_is_answered() {
    let server = Server::start(&[]);
    let basic = |text: &str| {
        use base64::{Engine as _, prelude::BASE64_STANDARD};
        format!("Authorization: Basic {}\r\n", BASE64_STANDARD.encode(text))
    };
    let heads = [
        String::new(),
        "Authorization: Bearer wrong-token-here\r\n".to_owned(),
        format!("Authorization: Bearer {TOKEN}x\r\n"),
        basic("user:wrong"),
        basic(&format!("{TOKEN}:")),
    ];
    for head in &heads {
        for (method, path) in [
            ("GET", "/sdapi/v1/options"),
            ("POST", "/sdapi/v1/txt2img"),
            ("GET", "/v1/models"),
            ("POST", "/v1/images/edits"),
            ("GET", "/api/jobs"),
            ("GET", "/nowhere"),
        ] {
            // Refused before the body is read, however long it is said to be.
            let body = vec![b'x'; 100];
            let answer = server.send(method, path, head, &body);
            assert_eq!(answer.status, 401, "{method} {path} {head}");
            assert!(answer.head.to_lowercase().contains("www-authenticate: basic"), "{}", answer.head);
            assert!(!answer.text().contains(TOKEN));
        }
    }
    let answer = server.send("GET", "/v1/models", &heads[1], b"").json();
    assert_eq!(answer["error"]["code"], "invalid_api_key");
    assert_eq!(server.send("GET", "/sdapi/v1/options", &basic(&format!("me:{TOKEN}")), b"").status, 200);
    let foreign = format!("Authorization: Bearer {TOKEN}\r\nOrigin: http://evil.example\r\n");
    assert_eq!(server.send("GET", "/sdapi/v1/options", &foreign, b"").status, 403);
}

#[test]
fn bodies_that_are_too_large_are_refused() {
    let server = Server::start(&["--max-body", "100KB"]);
    let mut request = small("a red circle");
    request["init_images"] = json!(["A".repeat(200_000)]);
    let answer = server.post("/sdapi/v1/img2img", &request);
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert!(answer.text().contains("--max-body"), "{}", answer.text());
    // The same from a client that does not say how much it will send.
    let mut stream = server.connect();
    let head = format!(
        "POST /sdapi/v1/txt2img HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"4000\r\n", "x".repeat(0x4000).as_bytes(), b"\r\n"].concat();
    for _ in 0..20 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    assert_eq!(server.post("/sdapi/v1/txt2img", &small("a red circle")).status, 200);
}

#[test]
fn no_path_of_a_client_is_opened() {
    let server = Server::start(&[]);
    let secret = server.folder.path().join("secret.png");
    std::fs::write(&secret, crate::picture()).unwrap();
    let secret = secret.to_str().unwrap();
    for path in ["/etc/passwd", "../../etc/passwd", secret, "file:///etc/passwd", "http://127.0.0.1:1/a.png"]
    {
        let model = json!({ "override_settings": { "sd_model_checkpoint": path }, "prompt": "a" });
        let with = |field: &str, value: Value| {
            let mut request = small("a red circle");
            request[field] = value;
            request
        };
        let unit = json!({ "model": path, "image": path });
        for (address, request) in [
            ("/sdapi/v1/txt2img", model),
            ("/sdapi/v1/img2img", with("init_images", json!([path]))),
            ("/sdapi/v1/txt2img", with("refiner_checkpoint", json!(path))),
            ("/sdapi/v1/txt2img", with("alwayson_scripts", json!({ "ControlNet": { "args": [unit] } }))),
            ("/sdapi/v1/extra-single-image", json!({ "image": path })),
            ("/sdapi/v1/extra-single-image", json!({ "image": path, "upscaler_1": path })),
            ("/sdapi/v1/png-info", json!({ "image": path })),
            ("/sdapi/v1/options", json!({ "sd_model_checkpoint": path })),
            ("/v1/images/generations", json!({ "prompt": "a", "model": path })),
            ("/api/jobs", json!({ "prompt": "a", "image": path })),
            ("/api/jobs", json!({ "prompt": "a", "loras": [{ "name": path }] })),
            ("/api/jobs", json!({ "prompt": "a", "output": path })),
            ("/api/forecast", json!({ "prompt": format!("a <lora:{path}:1>") })),
        ] {
            let answer = server.post(address, &request);
            assert!(
                [400, 422].contains(&answer.status),
                "{address} {request}: {} {}",
                answer.status,
                answer.text()
            );
            assert!(!answer.text().contains("root:"), "{}", answer.text());
        }
    }
    // A word of a prompt may be a line of a text file, but only of one in the folders for that.
    for path in ["/etc/passwd", "../../etc/passwd", "../../../../etc/passwd"] {
        let answer = server.post("/sdapi/v1/txt2img", &small(&format!("a __{path}__")));
        assert!(!answer.text().contains("root:"), "{}", answer.text());
        // What is no name of a file is a word like any other.
        let is_literal = answer.text().contains(&format!("a __{path}__"));
        assert!(answer.status == 422 || is_literal, "{}", answer.text());
    }
    for path in [
        "/api/jobs/1/results/../../../etc/passwd",
        "/api/jobs/%2e%2e/events",
        "/../../../../etc/passwd",
        "/sdapi/v1/..%2f..%2fetc%2fpasswd",
        "/file=/etc/passwd",
    ] {
        let answer = server.get(path);
        assert!([400, 404].contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.text().contains("root:"));
    }
}

#[test]
fn what_is_no_request_is_answered_in_words() {
    let server = Server::start(&[]);
    let head = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n");
    for (body, words) in [("{", "JSON"), ("[]", "expected a map"), ("\u{0}", "JSON")] {
        let answer = server.send("POST", "/sdapi/v1/txt2img", &head, body.as_bytes());
        assert!([400, 422].contains(&answer.status), "{body}");
        assert!(answer.text().contains(words), "{body}: {}", answer.text());
    }
    for (field, value, words) in [
        ("width", json!(63), "multiple"),
        ("width", json!(99_999_999), "too large"),
        ("steps", json!(0), "step"),
        ("steps", json!("many"), "whole number"),
        ("sampler_name", json!("Restart"), "sampler"),
        ("batch_size", json!(100_000), "batch"),
        ("restore_faces", json!(true), "restore_faces"),
        ("script_name", json!("x/y/z plot"), "script_name"),
    ] {
        let mut request = small("a red circle");
        request[field] = value;
        let answer = server.post("/sdapi/v1/txt2img", &request);
        assert_eq!(answer.status, 422, "{field}: {}", answer.text());
        assert!(answer.text().contains(words), "{field}: {}", answer.text());
    }
    assert_eq!(server.ask("POST", "/sdapi/v1/samplers", None).status, 405);
    assert_eq!(server.get("/sdapi/v1/interrogate").status, 404);
}

#[test]
fn fifty_clients_at_once_get_their_own_images() {
    let server = Server::start(&[]);
    let answers: Vec<(u64, Response)> = thread::scope(|scope| {
        let ask = |number: u64| {
            let server = &server;
            scope.spawn(move || {
                let answer = match number % 2 {
                    0 => {
                        let mut request = small("a red circle");
                        (request["seed"], request["steps"]) = (json!(number), json!(1));
                        server.post("/sdapi/v1/txt2img", &request)
                    }
                    _ => server.post(
                        "/v1/images/generations",
                        &json!({ "prompt": "a red circle", "size": "64x64", "steps": 1, "seed": number }),
                    ),
                };
                (number, answer)
            })
        };
        let clients: Vec<_> = (0..50).map(ask).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut images = HashSet::new();
    for (number, answer) in answers {
        let answer = answer.fine();
        let image = match number % 2 {
            0 => {
                let info: Value = serde_json::from_str(answer["info"].as_str().unwrap()).unwrap();
                assert_eq!(info["seed"], json!(number));
                &answer["images"][0]
            }
            _ => {
                assert_eq!(answer["data"][0]["seed"], json!(number));
                &answer["data"][0]["b64_json"]
            }
        };
        images.insert(pixels(&bytes_of(image)).into_raw());
    }
    assert_eq!(images.len(), 50);
}

#[test]
fn clients_that_vanish_leave_no_jobs() {
    let server = Server::start(&[]);
    let mut request = small("a red circle");
    (request["steps"], request["n_iter"]) = (json!(1000), json!(3));
    let body = request.to_string();
    let head = format!(
        "POST /sdapi/v1/txt2img HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let gone: Vec<_> = (0..5)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    server.wait_for_a_step();
    drop(gone);
    server.wait_until_idle();
    assert_eq!(server.post("/sdapi/v1/txt2img", &small("a red circle")).status, 200);
}

#[test]
fn slow_clients_hold_up_nobody_and_are_sent_away() {
    let patience = Patience { header: Duration::from_secs(4), body: Duration::from_secs(6) };
    let server = Server::start_with_patience(patience);
    let started = Instant::now();
    let slow: Vec<_> = (0..100)
        .map(|number| {
            let mut stream = server.connect();
            let head =
                format!("POST /sdapi/v1/txt2img HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n");
            // Half of them stop in the header, the others in the body.
            let rest = if number % 2 == 0 { "X-Slow: " } else { "Content-Length: 1000\r\n\r\n{" };
            stream.write_all(format!("{head}{rest}").as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.post("/sdapi/v1/txt2img", &small("a red circle")).status, 200);
    for (mut stream, patience) in slow.into_iter().zip([patience.header, patience.body]) {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.is_empty() || answer.contains("408"), "{answer}");
        assert!(started.elapsed() >= patience, "sent away after {:?}", started.elapsed());
    }
}

#[test]
fn other_machines_are_no_clients_unless_that_is_said_twice() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0", "::", "192.0.2.1"] {
        let output = sluice(folder.path(), &["serve", "--port", "0", "--listen", address]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(
            text.contains("can be reached from other machines") && text.contains("--allow-remote"),
            "{text}"
        );
        assert!(output.stdout.is_empty());
    }
    let weak = sluice(folder.path(), &["serve", "--port", "0", "--token", "1234"]).output().unwrap();
    assert!(String::from_utf8(weak.stderr).unwrap().contains("too easy to guess"));
    let allowed = Server::start(&["--listen", "0.0.0.0", "--allow-remote"]);
    assert!(allowed.address.ip().is_unspecified());
}

#[test]
fn a_port_that_is_taken_is_said() {
    let server = Server::start(&[]);
    let port = server.address.port().to_string();
    let output = sluice(server.folder.path(), &["serve", "--port", &port]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("cannot be listened on") && text.contains("--port"), "{text}");
}
