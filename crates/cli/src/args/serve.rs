//! `rehearsal serve`.

use std::{net::IpAddr, path::PathBuf};

const EXAMPLES: &str = "\
Examples:
  rehearsal serve shop.model                     the page and the API on http://127.0.0.1:7860
  rehearsal serve shop.model --port 0            on any port that is free
  rehearsal serve shop.model --read-only         predictions only
  rehearsal serve shop.model --label-studio http://localhost:8080
  rehearsal serve shop.model --host 0.0.0.0 --token-file token.txt --name shop.example

Predictions go on while a session learns. Every change is one of the model's own: its versions, its lock.
If there is no model yet, the first session makes it. Ctrl-C or SIGTERM answers what was begun, ends the
running sessions and exits with 0. Another address than this machine's own needs a token, which clients send as
`Authorization: Bearer TOKEN`; the environment may have it as REHEARSAL_TOKEN.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// The model: a directory, made by the first session if there is none
    pub model: PathBuf,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port to listen on; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 7860)]
    pub port: u16,
    /// File whose first line is the token that clients must send; without it `$REHEARSAL_TOKEN` is the token, if set
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Token that clients must send; others on this machine can see it: prefer --token-file
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    pub token: Option<String>,
    /// Name by which clients call the server, beside its addresses and localhost; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Fetch the images of tasks from the Label Studio at this address; `$LABEL_STUDIO_API_KEY` is a token of a user of it
    #[arg(long, value_name = "URL")]
    pub label_studio: Option<String>,
    /// Refuse whatever would change the model
    #[arg(long)]
    pub read_only: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}
