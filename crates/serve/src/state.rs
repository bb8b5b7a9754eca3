//! What all requests share.

use std::{sync::Arc, time::Duration};

use rehearsal_data::photos::Photo;
use rehearsal_model::{Model, ModelError};
use tokio::{
    sync::{Mutex, watch},
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    ApiError, Options,
    current::{Current, Versions},
    error::Answer,
    guard::Gate,
    jobs::Jobs,
    predictor::{Answered, Predictor, failed},
};

/// So long a change waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What all requests share.
pub(crate) type App = Arc<Shared>;

pub(crate) struct Shared {
    pub options: Options,
    pub versions: Arc<Versions>,
    pub predictor: Predictor,
    pub jobs: Jobs,
    /// Held while this process changes the model.
    pub changing: Arc<Mutex<()>>,
    /// What is let in.
    pub gate: Arc<Gate>,
    /// Becomes true when the server is to stop.
    pub stopping: watch::Receiver<bool>,
}

impl Shared {
    /// The version that answers, or another one that is kept.
    pub async fn version(self: &Arc<Self>, number: Option<u32>) -> Answer<Arc<Current>> {
        let app = Arc::clone(self);
        match number {
            None => self.versions.current().ok_or_else(ApiError::no_version),
            Some(_) => app.blocking(move |app| app.versions.version(number)).await?.ok_or_else(ApiError::no_version),
        }
    }

    /// What a version says of photos.
    pub async fn predict(&self, current: Arc<Current>, photos: Vec<Photo>, explain: bool) -> Answer<Vec<Answered>> {
        let answered = self.predictor.predict(current, photos, explain).await?;
        answered.iter().for_each(|answered| self.gate.metrics.answer(answered.verdict));
        Ok(answered)
    }

    /// Refuses to change a model that is only to be read.
    pub fn check_writable(&self) -> Answer<()> {
        if self.options.read_only {
            let status = axum::http::StatusCode::FORBIDDEN;
            return Err(ApiError::new(status, "read_only", "this server does not change the model"));
        }
        Ok(())
    }

    /// Changes the model, as the only one.
    pub async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Model) -> Result<T, ModelError> + Send + 'static,
    ) -> Answer<T> {
        self.check_writable()?;
        let alone = timeout(PATIENCE, Arc::clone(&self.changing).lock_owned()).await;
        let alone = alone.map_err(|_| ApiError {
            retry_after: Some(5),
            ..ApiError::conflict("busy", "a session is learning: wait until it is done")
        })?;
        self.blocking(move |app| {
            let _alone = alone;
            let done = Model::open_to_change(&app.options.model).and_then(|mut model| change(&mut model));
            app.versions.refresh()?;
            done
        })
        .await
    }

    /// Does what takes long, beside the threads that answer.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ModelError> + Send + 'static,
    ) -> Answer<T> {
        let app = Arc::clone(self);
        let done = spawn_blocking(move || work(&app)).await.map_err(|_| ApiError::internal())?;
        done.map_err(|error| failed(&error, &self.options.log))
    }
}
