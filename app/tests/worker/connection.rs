//! A connection to an engine elsewhere, over which a test has power.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    path::Path,
    process::Stdio,
    sync::Arc,
    thread,
};

use sluice_engine::session::WorkerProgram;

use super::{Program, elsewhere::command};

/// Passes on what one end sends to the other, until either ends or this does.
pub(super) type Pass = Arc<dyn Fn(&mut dyn Read, &mut dyn Write) + Send + Sync>;

/// A command that connects to the listener.
pub(super) fn connection() -> (WorkerProgram, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & cat >&3; kill $!");
    let bash = WorkerProgram {
        engine: "there".to_owned(),
        path: "bash".into(),
        arguments: vec!["-c".into(), script.into()],
        variables: Vec::new(),
    };
    (bash, listener)
}

/// Passes everything on.
pub(super) fn all() -> Pass {
    Arc::new(|from, to| drop(std::io::copy(from, to)))
}

/// Connects the next caller with a worker that keeps its files in `there`, as a network does. `to_worker` and
/// `from_worker` pass on what they send.
pub(super) fn relay(listener: &TcpListener, there: &Path, [to_worker, from_worker]: [Pass; 2]) -> TcpStream {
    let (socket, _) = listener.accept().unwrap();
    let WorkerProgram { path, arguments, .. } = command(there);
    let mut worker = Program::new(path)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (worker.stdin.take().unwrap(), worker.stdout.take().unwrap());
    let [mut from, mut to, both] = [(); 3].map(|()| socket.try_clone().unwrap());
    thread::spawn(move || {
        // The end of either is the end of the connection.
        to_worker(&mut from, &mut input);
        drop(input);
        let _ = both.shutdown(Shutdown::Both);
        let _ = worker.wait();
    });
    thread::spawn(move || {
        from_worker(&mut output, &mut to);
        let _ = to.flush();
        let _ = to.shutdown(Shutdown::Both);
    });
    socket
}
