//! One worker predicts: requests that arrive together pass the backbone together, and wait in a bounded queue.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use rehearsal_data::{DataError, photos::Photo};
use rehearsal_model::{Input, ModelError, Prediction, Similar, Verdict};
use tokio::sync::{mpsc, oneshot};

use crate::{ApiError, current::Current, error::Answer, options::Log};

/// Photos that pass the backbone together.
const TOGETHER: usize = 32;
/// Remembered photos that explain an answer.
const SIMILAR: usize = 3;

/// A photo and what the model says of it.
pub(crate) struct Answered {
    pub name: String,
    pub prediction: Prediction,
    pub verdict: Verdict,
    /// Empty unless it was asked for.
    pub similar: Vec<Similar>,
}

struct Request {
    photos: Vec<Photo>,
    current: Arc<Current>,
    explain: bool,
    reply: Option<oneshot::Sender<Answer<Vec<Answered>>>>,
}

impl Request {
    /// Answers it, if its client still waits.
    fn answer(&mut self, answer: Answer<Vec<Answered>>) {
        if let Some(reply) = self.reply.take() {
            let _ = reply.send(answer);
        }
    }
}

/// Where requests wait.
pub(crate) struct Predictor {
    queue: mpsc::Sender<Request>,
}

impl Predictor {
    /// Starts the worker, for which at most `queue` requests wait. It ends with the last copy of this.
    pub fn start(queue: usize, log: Log) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(queue);
        thread::Builder::new().name("predict".into()).spawn(move || work(receiver, &log))?;
        Ok(Self { queue: sender })
    }

    /// What a version says of photos.
    pub async fn predict(&self, current: Arc<Current>, photos: Vec<Photo>, explain: bool) -> Answer<Vec<Answered>> {
        let (reply, answer) = oneshot::channel();
        let request = Request { photos, current, explain, reply: Some(reply) };
        self.queue.try_send(request).map_err(|_| ApiError::busy("too many requests wait for a prediction"))?;
        answer.await.map_err(|_| ApiError::internal())?
    }

    /// Whether another request can wait.
    pub fn has_room(&self) -> bool {
        self.queue.capacity() > 0
    }
}

fn work(mut queue: mpsc::Receiver<Request>, log: &Log) {
    while let Some(first) = queue.blocking_recv() {
        let mut together = vec![first];
        while together.iter().map(|request| request.photos.len()).sum::<usize>() < TOGETHER {
            let Ok(next) = queue.try_recv() else { break };
            together.push(next);
        }
        // The client of a request may be gone.
        together.retain(|request| request.reply.as_ref().is_some_and(|reply| !reply.is_closed()));
        for group in together.chunk_by_mut(|a, b| Arc::ptr_eq(&a.current, &b.current)) {
            let answered = catch_unwind(AssertUnwindSafe(|| answer(group, log)));
            if answered.is_err() {
                log("error: a prediction failed: please report this as a bug");
            }
        }
    }
}

/// Answers requests to the same version.
fn answer(group: &mut [Request], log: &Log) {
    let Some(current) = group.first().map(|request| Arc::clone(&request.current)) else { return };
    let photos: Vec<Photo> = group.iter_mut().flat_map(|request| request.photos.iter().cloned()).collect();
    let mut read = match current.reader.read(&photos, &()) {
        Ok(read) => read.into_iter(),
        Err(error) => return refuse(group, &error.into(), log),
    };
    for request in group {
        // All of them, also behind one that cannot be read.
        let seen: Vec<_> = read.by_ref().take(request.photos.len()).collect();
        let inputs: Result<Vec<Input>, DataError> = seen.into_iter().map(|seen| seen.map(|seen| seen.input)).collect();
        let inputs = inputs.map_err(|error| unreadable(&error));
        let answer = inputs.and_then(|inputs| predictions(&current, request, &inputs, log));
        request.answer(answer);
    }
}

fn predictions(current: &Current, request: &Request, inputs: &[Input], log: &Log) -> Answer<Vec<Answered>> {
    let predictions = current.version.predict(inputs).map_err(|error| failed(&error, log))?;
    let answered = |((photo, input), prediction): ((&Photo, &Input), Prediction)| Answered {
        name: photo.path.display().to_string(),
        verdict: current.version.verdict(&prediction, None),
        similar: if request.explain { current.version.similar(input, SIMILAR) } else { Vec::new() },
        prediction,
    };
    Ok(request.photos.iter().zip(inputs).zip(predictions).map(answered).collect())
}

fn refuse(group: &mut [Request], error: &ModelError, log: &Log) {
    let answer = failed(error, log);
    group.iter_mut().for_each(|request| request.answer(Err(answer.clone())));
}

fn unreadable(error: &DataError) -> ApiError {
    match error {
        DataError::Image { path, why } => ApiError::unreadable(format!("{}: {why}", path.display())),
        error => ApiError::unreadable(error.to_string()),
    }
}

/// What a client is told of an error, which the log has whole.
pub(crate) fn failed(error: &ModelError, log: &Log) -> ApiError {
    let told = ApiError::from(error);
    if told.status.is_server_error() {
        log(&format!("error: {error}"));
    }
    told
}
