//! Cutting a data set into tasks: by classes, by domains, or by classes with blurred boundaries.

use rehearsal_data::{Source, Split};

use super::{ClassOrder, Plan, StreamError, StreamKind};
use crate::{
    rng::{Rng, RngStream},
    sample::Class,
};

/// An image of the source and the class it has in the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub index: usize,
    pub label: Class,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub train: Vec<Entry>,
    pub test: Vec<Entry>,
    /// How many classes have appeared once it has begun.
    pub seen: usize,
}

/// The tasks of a source, and its classes in order of appearance.
pub(super) fn cut(source: &dyn Source, plan: &Plan) -> Result<(Vec<Task>, Vec<usize>), StreamError> {
    let available = source.class_names().len();
    let classes = plan.classes.unwrap_or(available);
    if classes == 0 || classes > available {
        return Err(StreamError::Classes { asked: classes, available });
    }
    if plan.kind == StreamKind::DomainIncremental {
        let order = class_order(source, plan, classes);
        return Ok((by_domains(source, plan, &order)?, order));
    }
    let (order, sizes) = match &plan.task_classes {
        Some(listed) => listed_order(source, listed, classes)?,
        None if plan.tasks == 0 || !classes.is_multiple_of(plan.tasks) => {
            return Err(StreamError::Uneven { classes, tasks: plan.tasks });
        }
        None => (class_order(source, plan, classes), vec![classes / plan.tasks; plan.tasks]),
    };
    let mut tasks = by_classes(source, plan, &order, &sizes)?;
    if plan.kind == StreamKind::Blurry {
        blur(&mut tasks, plan)?;
    }
    Ok((tasks, order))
}

/// The first `classes` classes in order of appearance. Of data sets in a chain, the first's come first.
fn class_order(source: &dyn Source, plan: &Plan, classes: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes).collect();
    if plan.class_order == ClassOrder::Natural {
        return order;
    }
    let parts = source.parts();
    let mut start = 0;
    for (part, length) in parts.iter().enumerate() {
        let end = (start + length).min(classes);
        let position = if parts.len() == 1 { vec![] } else { vec![part as u64] };
        Rng::new(plan.seed, RngStream::ClassOrder, &position).shuffle(&mut order[start..end]);
        start = end;
    }
    order
}

/// The order and the tasks' sizes that the user lists by name.
fn listed_order(
    source: &dyn Source,
    listed: &[Vec<String>],
    classes: usize,
) -> Result<(Vec<usize>, Vec<usize>), StreamError> {
    let mut order = Vec::new();
    for name in listed.iter().flatten() {
        let class = source.class_names()[..classes].iter().position(|class| class == name);
        let class = class.ok_or_else(|| StreamError::Unknown { class: name.clone() })?;
        if order.contains(&class) {
            return Err(StreamError::Listed { twice: Some(name.clone()) });
        }
        order.push(class);
    }
    if listed.is_empty() || listed.iter().any(Vec::is_empty) {
        return Err(StreamError::Listed { twice: None });
    }
    Ok((order, listed.iter().map(Vec::len).collect()))
}

/// Tasks of this many classes each.
fn by_classes(source: &dyn Source, plan: &Plan, order: &[usize], sizes: &[usize]) -> Result<Vec<Task>, StreamError> {
    let mut train = per_class(source, Split::Train, order, plan.train_per_class)?.into_iter();
    let mut test = per_class(source, Split::Test, order, plan.test_per_class)?.into_iter();
    let mut seen = 0;
    let task = |&size: &usize| {
        seen += size;
        Task {
            train: train.by_ref().take(size).flatten().collect(),
            test: test.by_ref().take(size).flatten().collect(),
            seen,
        }
    };
    Ok(sizes.iter().map(task).collect())
}

/// Tasks of this many domains each, with all classes in every task. Test images of the same domain
/// belong to the task; if a task's domain has none (CORe50 tests on sessions of its own), all
/// test images are dealt out, class by class, one to each task in turn.
fn by_domains(source: &dyn Source, plan: &Plan, order: &[usize]) -> Result<Vec<Task>, StreamError> {
    let of = |split| source.domains(split);
    let mut domains = of(Split::Train).to_vec();
    domains.sort_unstable();
    domains.dedup();
    if domains.is_empty() {
        return Err(StreamError::NoDomains);
    }
    if plan.tasks == 0 || !domains.len().is_multiple_of(plan.tasks) {
        return Err(StreamError::Domains { domains: domains.len(), tasks: plan.tasks });
    }
    if plan.class_order == ClassOrder::Seeded {
        Rng::new(plan.seed, RngStream::DomainOrder, &[]).shuffle(&mut domains);
    }
    let dealt = domains.iter().any(|domain| !of(Split::Test).contains(domain));
    let (train, test) = (per_class(source, Split::Train, order, None)?, per_class(source, Split::Test, order, None)?);
    let groups = domains.chunks(domains.len() / plan.tasks).enumerate();
    let task = |(number, group): (usize, &[u16])| {
        let taken = |images: &Vec<Entry>, split: Split, cap: Option<usize>| -> Vec<Entry> {
            let ours = |(place, entry): &(usize, &Entry)| match split {
                Split::Test if dealt => place % plan.tasks == number,
                split => group.contains(&of(split)[entry.index]),
            };
            let ours = images.iter().enumerate().filter(ours).map(|(_, &entry)| entry);
            ours.take(cap.unwrap_or(usize::MAX)).collect()
        };
        Task {
            train: train.iter().flat_map(|images| taken(images, Split::Train, plan.train_per_class)).collect(),
            test: test.iter().flat_map(|images| taken(images, Split::Test, plan.test_per_class)).collect(),
            seen: order.len(),
        }
    };
    Ok(groups.map(task).collect())
}

/// Each task gives a share of its training samples away, drawn at random, to the other tasks in
/// turn: where tasks are of equal size, each gets as many as it gives. A class has appeared when
/// the first of its samples has.
fn blur(tasks: &mut [Task], plan: &Plan) -> Result<(), StreamError> {
    let count = tasks.len();
    if count < 2 {
        return Err(StreamError::Alone);
    }
    let mut given: Vec<(usize, Entry)> = Vec::new();
    for (number, task) in tasks.iter_mut().enumerate() {
        let share = (plan.blur * task.train.len() as f64).round() as usize;
        let mut rng = Rng::new(plan.seed, RngStream::Blur, &[number as u64]);
        let drawn = rng.distinct(task.train.len(), share);
        for (turn, &place) in drawn.iter().enumerate() {
            given.push(((number + 1 + turn % (count - 1)) % count, task.train[place]));
        }
        let mut kept = vec![true; task.train.len()];
        for &place in &drawn {
            kept[place] = false;
        }
        let mut kept = kept.into_iter();
        task.train.retain(|_| kept.next().unwrap_or(true));
    }
    for (number, entry) in given {
        tasks[number].train.push(entry);
    }
    let mut seen = 0;
    for task in tasks {
        let highest = task.train.iter().map(|entry| entry.label.index() + 1).max().unwrap_or(0);
        seen = highest.max(task.seen).max(seen);
        task.seen = seen;
    }
    Ok(())
}

/// The images of each class of `order`, renumbered by their place in it.
fn per_class(
    source: &dyn Source,
    split: Split,
    order: &[usize],
    cap: Option<usize>,
) -> Result<Vec<Vec<Entry>>, StreamError> {
    let mut place = vec![None; source.class_names().len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = Some(new);
    }
    let mut entries = vec![Vec::new(); order.len()];
    for (index, &old) in source.labels(split).iter().enumerate() {
        if let Some(new) = place[usize::from(old)]
            && entries[new].len() < cap.unwrap_or(usize::MAX)
        {
            entries[new].push(Entry { index, label: Class(new as u16) });
        }
    }
    match entries.iter().position(Vec::is_empty) {
        None => Ok(entries),
        Some(new) => {
            let class = source.class_names()[order[new]].clone();
            Err(StreamError::Empty { class, split: if split == Split::Train { "training" } else { "test" } })
        }
    }
}
