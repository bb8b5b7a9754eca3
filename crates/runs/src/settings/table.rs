//! The table of settings. All lists of settings are made from it: see [`settings_table!`].

/// Calls a macro of the caller with one row per setting:
///
/// ```text
/// name: Type = default, Role, place, "help";
/// ```
///
/// - **name**: as a Rust field. Files and flags write `-` for `_`.
/// - **Type**: of its value. The types need to be in scope only if the caller uses this column: crates without Burn
///   use the others.
/// - **default**: `is(value)`; `by("words")` if it depends on other settings or on the data (the caller of the macro
///   computes it); `none()`.
/// - **Role**: a variant of [`Role`](crate::Role).
/// - **place**: `flag("heading", "VALUE")`, `switch("heading")` for a flag without a value,
///   `file("whose")` for a setting that only experiment files have, `run()` for a setting that only
///   runs write.
/// - **help**: one sentence, in one or more strings, without a full stop. The default is added to
///   it. Other settings are quoted as a file writes them: `` `stream = "blurry"` ``.
///
/// The order is that of the help. A new setting is a row here, and its use.
#[macro_export]
macro_rules! settings_table {
    ($callback:ident) => {
        $callback! {
            dataset: Chain = is(Chain::from(Dataset::Embedded)), Data, flag("Data", "NAME"),
                "embedded, cifar10, cifar100, core50, fashion-mnist, food100, mini-imagenet, "
                "places100, tiny-imagenet, folder, or several joined by +";
            data: PathBuf = by("$REHEARSAL_DATA, or the platform's data directory"), Neutral,
                flag("Data", "DIR"), "Where the data set's files are";
            size: usize = by("the data set's own; folder: 84"), Data, flag("Data", "N"),
                "Height and width of the images";
            skip_bad: bool = is(false), Data, switch("Data"),
                "Leave out files that are no images, instead of refusing the data set";
            stream: StreamKind = is(StreamKind::ClassIncremental), Data, flag("Data", "KIND"),
                "How tasks differ: class-incremental, domain-incremental or blurry";
            blur: f64 = by("0.1"), Data, flag("Data", "SHARE"),
                "With `stream = \"blurry\"`: the share of each task's images that comes from other tasks";
            task_classes: Vec<Vec<String>> = none(), Data, file(""),
                "Tasks of any size, by the names of their classes: [[\"cat\", \"dog\"], [\"car\"]]";
            tasks: usize = by("5, 10 or 20, by the data set"), Data, flag("Data", "N"),
                "Into how many tasks the classes are cut";
            classes: usize = by("all"), Data, flag("Data", "N"), "Use the data set's first N classes";
            class_order: ClassOrder = is(ClassOrder::Seeded), Data, flag("Data", "ORDER"),
                "natural or seeded";
            train_per_class: usize = by("all"), Data, flag("Data", "N"),
                "Use at most N training images per class";
            test_per_class: usize = by("all"), Data, flag("Data", "N"),
                "Use at most N test images per class";

            method: MethodKind = is(MethodKind::Pcr), Arm, flag("Learning", "NAME"),
                "pcr, cls-er, er-ace, aser, der-pp, a-gem, er, joint, fine-tune, or without gradients gaussian, ncm or ridge";
            retrieval: RetrievalKind = by("balanced; aser: aser"), Arm, flag("Learning", "NAME"),
                "Who is replayed: balanced, mir, imir, aser, memory-match or random";
            memory_policy: PolicyKind = by("reservoir; aser: aser"), Arm, flag("Learning", "NAME"),
                "Who stays in memory: reservoir, class-balanced, gss or aser";
            ratio: Ratio = by("5:5"), Arm, flag("Learning", "HIGH:LOW"),
                "With `retrieval = \"balanced\"`: conflicting to aligned samples";
            epochs: usize = is(1), Protocol, flag("Learning", "N"), "Epochs per task";
            memory: usize = is(500), Protocol, flag("Learning", "N"),
                "How many images the memory holds";
            batch: usize = is(10), Protocol, flag("Learning", "N"), "New images per step";
            retrieved: usize = is(10), Protocol, flag("Learning", "N"), "Replayed images per step";
            candidates: usize = is(50), Arm, flag("Learning", "N"),
                "Images that each draw of a scoring retrieval (balanced, mir, imir) looks at";
            lr: f64 = is(0.1), Protocol, flag("Learning", "RATE"), "Learning rate";
            momentum: f64 = is(0.0), Protocol, flag("Learning", "SHARE"),
                "How much of the last step's velocity stays";
            weight_decay: f64 = is(0.0), Protocol, flag("Learning", "WEIGHT"),
                "How strongly weights are drawn to zero";
            schedule: Schedule = is(Schedule::Constant), Protocol, flag("Learning", "NAME"),
                "How the learning rate changes in a task: constant, cosine, or step, which divides it by ten "
                "after half of the task and after three quarters";
            width: usize = is(20), Protocol, flag("Learning", "N"),
                "Channels after the first convolution; 64 is ResNet-18, 20 its reduced form; of random-fourier the "
                "number of features";
            backbone: BackboneKind = is(BackboneKind::ResNet18), Protocol, flag("Learning", "NAME"),
                "What turns images into features. Trained from scratch: resnet18, tiny or pixels, which is none; "
                "random-fourier, random and never trained; pre-trained and frozen, its features computed once: "
                "efficientnet-lite0, dinov2-small or resnet18-imagenet";
            hidden: usize = is(0), Protocol, flag("Learning", "N"),
                "Units of a hidden layer behind a pre-trained backbone; 0 for none";
            recalibrate: Recalibrate = is(Recalibrate::Off), Protocol, flag("Learning", "KIND"),
                "Re-estimate the norm's statistics from the memory before each test: "
                "off, memory or both, which tests with either";
            seed: u64 = is(0), Seed, flag("Learning", "N"), "Seeds every random draw";

            diagnostics: bool = is(false), Output, switch("Output"),
                "Look into the steps and write diagnostics.jsonl: proxy drift, distances and "
                "classes of the retrieved, loss changes, gradients";
            test_every: usize = none(), Output, flag("Output", "N"),
                "Test after every N-th step, too: average anytime and worst-case accuracy";
            tensorboard: bool = is(false), Neutral, switch("Output"),
                "Write event files for TensorBoard into the run's directory";

            threads: usize = by("one per core"), Neutral, flag("Machine", "N"),
                "Threads; results do not depend on it";
            device: DeviceName = is(DeviceName::CPU), Protocol, flag("Machine", "NAME"),
                "What computes";

            kernels: Kernels = is(Kernels::Winograd), Protocol, file(""),
                "What computes convolutions on the processor: winograd, direct or composed";
            views: Views = by("both for pcr, else augmented"), Arm, file(""),
                "What is trained on: raw, augmented or both";
            score_norm: ScoreNorm = is(ScoreNorm::Batch), Arm, file(""),
                "What normalises scored samples: batch (their own statistics) or eval (the running ones)";
            offer: Insertion = is(Insertion::EveryEpoch), Protocol, file(""),
                "When samples may enter the memory: every-epoch or first-epoch";
            checkpoint_minutes: f64 = is(10.0), Neutral, file(""),
                "Minutes between checkpoints inside a task";
            temperature: f64 = is(0.09), Arm, file("PCR"), "Temperature of the softmax";
            denominator: Denominator = is(Denominator::Multiset), Arm, file("PCR"),
                "Over which proxies it runs: multiset or set";
            reduction: Reduction = is(Reduction::Mean), Arm, file("PCR, ER, ASER"),
                "How the losses of new and replayed samples are joined: mean or sum-of-means";
            ridge: f64 = by("0.01"), Arm, file("Ridge"), "The penalty, relative to the features' mean square";
            der_alpha: f64 = is(0.5), Arm, file("DER++"), "Weight of the distance to stored logits";
            der_beta: f64 = is(0.5), Arm, file("DER++"), "Weight of the replayed samples' cross-entropy";
            task_free: bool = is(false), Arm, file("ER-ACE"),
                "Mask and replay from the first step, not only from the second task on";
            head: AceHead = is(AceHead::Linear), Arm, file("ER-ACE"),
                "From features to logits: linear or cosine";
            consistency: f64 = is(0.1), Arm, file("CLS-ER"), "Weight of the distance to the teachers' logits";
            stable_frequency: f64 = is(0.7), Arm, file("CLS-ER"),
                "The probability with which the stable network moves after a step";
            stable_alpha: f64 = is(0.999), Arm, file("CLS-ER"),
                "The share of itself that the stable network keeps when it moves";
            plastic_frequency: f64 = is(0.9), Arm, file("CLS-ER"),
                "The probability with which the plastic network moves after a step";
            plastic_alpha: f64 = is(0.999), Arm, file("CLS-ER"),
                "The share of itself that the plastic network keeps when it moves";
            gss_groups: usize = is(10), Arm, file("GSS"), "How many groups of stored samples at most";
            gss_group_size: usize = is(10), Arm, file("GSS"), "How many samples each group has";
            shapley_score: ShapleyScore = is(ShapleyScore::Asvm), Arm, file("ASER"),
                "How a candidate is scored: asvm, asv or neg-sv";
            shapley_neighbours: usize = is(3), Arm, file("ASER"), "How many nearest neighbours vote";

            custom_method: String = none(), Arm, run(), "The name of a custom method";
            custom_retrieval: String = none(), Arm, run(), "The name of a custom retrieval";
            custom_memory_policy: String = none(), Arm, run(), "The name of a custom memory policy";
            custom_backbone: String = none(), Arm, run(), "The name of a custom backbone";
            version: String = none(), Neutral, run(), "The version that made the run";
            data_sha256: String = none(), Neutral, run(),
                "The data of the run: other data is refused";
            incomplete_data: Vec<String> = none(), Neutral, run(),
                "What the data lacks, compared with the published data set";
        }
    };
}
