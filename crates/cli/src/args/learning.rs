//! How `rehearsal learn` trains.

use std::path::PathBuf;

use rehearsal::{config::PartialConfig, learner::Defaults};
use rehearsal_runs::{Place, Setting};

use super::{Settings, Verb};

/// How to train, if not by the defaults.
#[derive(clap::Args)]
#[command(next_help_heading = "Training")]
pub struct How {
    /// An experiment file (TOML) with any settings of a learner; flags override it
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Predict with the BatchNorm running statistics of training; do not recalibrate them from the memory
    #[arg(long)]
    pub no_recalibration: bool,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, hide = true)]
    pub checkpoint_every: f64,
    #[command(flatten)]
    pub flags: Settings<LearnVerb>,
}

/// `rehearsal learn`, which has flags for the settings of a learner.
pub enum LearnVerb {}

impl Verb for LearnVerb {
    fn heading(setting: &Setting) -> Option<&'static str> {
        match (setting.name, setting.place) {
            // The model has its own flags for these.
            ("memory" | "recalibrate" | "backbone", _) => None,
            ("epochs" | "lr" | "schedule" | "threads", _) => Some("Training"),
            ("size", _) | (_, Place::Flag { heading: "Learning" | "Machine", .. }) => {
                Some("Training, fixed when the model is made")
            }
            _ => None,
        }
    }

    /// A session is one task, and joint training needs all tasks at once. What needs no gradients needs a pre-trained
    /// backbone, which has its own head.
    fn help(setting: &Setting) -> String {
        let methods = "er, joint, fine-tune, or without gradients gaussian, ncm or ridge";
        setting.help.replace("task", "session").replace(methods, "er or fine-tune")
    }

    fn default_text(name: &str) -> Option<String> {
        match name {
            "epochs" => Some(format!("by the number of photos, at most {}", Defaults::epochs(1))),
            "size" => Some(format!("by the photos, at most {}", Defaults::size(usize::MAX))),
            _ => {
                let defaults = rehearsal_runs::Settings::new(&Defaults::settings()).ok()?;
                let own = defaults.get(name).filter(|value| !value.is_null()).and_then(|_| defaults.text(name));
                own.or_else(|| PartialConfig::default_text(name))
            }
        }
    }
}
