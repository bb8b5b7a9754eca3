//! The server as its clients see it: real sockets, a real model.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asking;
mod client;
mod described;
mod guarded;
mod label_studio;
mod learning;
mod limits;
mod malformed;
mod photos;
mod server;
mod watching;
