//! `sluice mcp`: tools for programs that act for a person.

use std::env;

use super::{
    exit::{Outcome, refuse},
    serving_args::ServingArgs,
};
use crate::serve::{DeskOptions, serve_mcp};

const EXAMPLES: &str = "\
Examples:
  sluice mcp --model ~/models/z-image
      What a client of MCP is told to start.";

/// Serve a client of the Model Context Protocol over the standard input and output.
///
/// It offers the tools generate_image, forecast, list_models, upscale, map and describe. There is no port: a program starts this
/// command and talks to it through pipes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    serving: ServingArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let session = args.serving.session()?;
    // The client runs on this machine for the same person, so it may name pictures by their paths.
    let options = DeskOptions { pictures: env::current_dir().ok(), ..args.serving.desk(&session)? };
    serve_mcp(session, options).map_err(|error| {
        refuse(error.to_string(), "This command is started by a client of MCP, not by hand.".to_owned())
    })?;
    Ok(Outcome::Done)
}
