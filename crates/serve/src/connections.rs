//! Connections: at most so many, each with limits of time, and all of them finished before the server ends.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    time::{sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;

use crate::Limits;

/// The most headers of a request, and the most bytes of them.
const HEADERS: usize = 64;
const HEADER_BYTES: usize = 64 << 10;
/// Before another connection is accepted if none could be: there are no more open files, say.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers connections until it is told to stop, and then those that are open.
pub(crate) async fn answer(listener: TcpListener, router: Router, limits: Limits, mut stop: watch::Receiver<bool>) {
    let (graceful, places) = (GracefulShutdown::new(), Arc::new(Semaphore::new(limits.connections)));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_headers(HEADERS).max_buf_size(HEADER_BYTES);
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, place))
        };
        let (stream, place) = tokio::select! {
            accepted = accepted => {
                let Ok(accepted) = accepted else {
                    sleep(PAUSE).await;
                    continue;
                };
                accepted
            }
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits.write_time));
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            // A client that goes away is no error of ours.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = timeout(limits.stop_time, graceful.shutdown()).await;
}
