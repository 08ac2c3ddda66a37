//! `sluice serve`: other programs as clients.

use std::{
    env,
    hash::{BuildHasher as _, RandomState},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    thread,
};

use anyhow::Context;
use tokio::sync::oneshot;

use super::{
    exit::{self, Outcome, refuse, stderr_line},
    serving_args::ServingArgs,
    size, stdout,
};
use crate::serve::{ServeOptions, serve};

const EXAMPLES: &str = "\
Examples:
  sluice serve
      Listens on http://127.0.0.1:7860 and prints the token that clients have to send.
  SLUICE_TOKEN=$(cat ~/.sluice-token) sluice serve --model ~/models/z-image --port 8000
      The token is yours, so clients keep it.
  sluice serve --listen 192.168.1.5 --allow-remote
      Other machines may be clients, too. Only in a network that you trust: nothing is encrypted.";

/// The environment variable for the token.
const TOKEN: &str = "SLUICE_TOKEN";
/// Fewer letters can be guessed.
const SHORTEST_TOKEN: usize = 8;

/// Serve other programs: those for A1111's API, for OpenAI's images API, and your own.
///
/// Clients send the token as `Authorization: Bearer TOKEN`, or as the password of basic authentication. Only models in the
/// model folders are used, and no path that a client sends is opened. Nothing is served unless you start this command, and
/// only to this machine unless you say otherwise. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The address to listen on. One that other machines reach also needs --allow-remote.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// The port to listen on; 0 for any free one.
    #[arg(long, value_name = "NUMBER", default_value_t = 7860)]
    port: u16,
    /// Allow clients on other machines. What they send is not encrypted, the token neither.
    #[arg(long)]
    allow_remote: bool,
    /// The token that clients have to send. By default that in SLUICE_TOKEN, which other users of this machine cannot see,
    /// or else a new one, which is printed.
    #[arg(long, value_name = "TEXT")]
    token: Option<String>,
    /// The most bytes of a request, such as 64MB. Images are part of requests.
    #[arg(long, value_name = "SIZE", default_value = "64MB", value_parser = size::megabytes)]
    max_body: u64,
    #[command(flatten)]
    serving: ServingArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if !args.listen.is_loopback() && !args.allow_remote {
        return Err(refuse(
            format!("{} can be reached from other machines", args.listen),
            "Add --allow-remote if you want that, in a network that you trust, or leave out --listen."
                .to_owned(),
        ));
    }
    let given = args.token.clone().or_else(|| env::var(TOKEN).ok());
    if given
        .as_ref()
        .is_some_and(|token| token.len() < SHORTEST_TOKEN || !token.bytes().all(|b| b.is_ascii_graphic()))
    {
        return Err(refuse(
            "the token is too easy to guess, or has characters that clients cannot send".to_owned(),
            format!("Use at least {SHORTEST_TOKEN} letters, digits and signs, or leave it out."),
        ));
    }
    let is_new = given.is_none();
    let token = given.unwrap_or_else(new_token);
    let interrupts = exit::interrupts()?;
    let (stop, stopped) = oneshot::channel();
    thread::Builder::new()
        .name("sluice-interrupt".to_owned())
        .spawn(move || {
            // An error means that nobody can interrupt any more.
            let _ = interrupts.recv();
            let _ = stop.send(());
        })
        .context("a thread cannot be started")?;
    if !args.listen.is_loopback() {
        stderr_line("Other machines can reach this server, and nothing that they send is encrypted.");
    }
    let session = args.serving.session()?;
    let options = ServeOptions {
        address: SocketAddr::new(args.listen, args.port),
        token: token.clone(),
        largest_body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        desk: args.serving.desk(&session)?,
    };
    let ready = |address: SocketAddr| {
        let told = stdout::line(&format!("http://{address}"));
        let told = told.and_then(|()| if is_new { stdout::line(&format!("token {token}")) } else { Ok(()) });
        if let Err(error) = told {
            tracing::warn!(%error, "nobody hears where the server is");
        }
    };
    serve(session, options, ready, async {
        let _ = stopped.await;
    })
    .map_err(|error| refuse(error.to_string(), "Choose another --port or --listen.".to_owned()))?;
    Ok(Outcome::Done)
}

/// A token that nobody can guess: the standard library keys its hash, SipHash, with 128 bits from the system.
fn new_token() -> String {
    let key = RandomState::new();
    format!("{:016x}{:016x}", key.hash_one(1_u8), key.hash_one(2_u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_long() {
        let [one, other] = [new_token(), new_token()];
        assert_ne!(one, other);
        assert_eq!((one.len(), one[..16] == one[16..]), (32, false));
    }
}
