//! The server as its clients see it: real sockets, a real model.

mod asking;
mod client;
mod described;
mod guarded;
mod learning;
mod limits;
mod malformed;
mod photos;
mod server;
