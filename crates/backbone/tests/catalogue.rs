//! Backbones by name: what is known, what is missing, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use rehearsal_backbone::{BackboneError, BackboneName, Fetch, open};
use rehearsal_data::{choice::Choice, fetch::Timeouts};
use rehearsal_kernels::Machine;

#[test]
fn names_are_read_and_an_unknown_one_lists_them() {
    for &name in BackboneName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
        assert_eq!(name.card().name, name);
        assert!(name.card().inside || name.card().file.url.ends_with(name.card().file.name));
    }
    let error = "resnet-18".parse::<BackboneName>().unwrap_err().to_string();
    assert!(error.contains("did you mean `resnet18`") && error.contains("efficientnet-lite0, dinov2-small"), "{error}");
}

#[test]
fn the_default_backbone_needs_no_file() {
    let home = tempfile::tempdir().unwrap();
    let name = BackboneName::EfficientNetLite0;
    assert!(name.is_here(home.path()) && name.path(home.path()).is_none());
    let backbone = open(name, home.path(), Machine::new(1)).unwrap();
    let card = name.card();
    assert_eq!((backbone.name(), backbone.dimensions()), (card.name.name(), card.features));
    assert_eq!(backbone.preprocessing().shape.height, card.size);
    assert!(matches!(name.remove(home.path()), Err(BackboneError::Inside(_))));
    assert!(matches!(fetch(home.path(), None).backbone(name), Err(BackboneError::Inside(_))));
}

fn fetch<'a>(home: &'a std::path::Path, from: Option<&'a std::path::Path>) -> Fetch<'a> {
    Fetch { home, from, mirror: None, timeouts: Timeouts::default(), progress: &() }
}

#[test]
fn weights_that_are_missing_or_others_are_refused_and_nothing_changes() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let open = |name| open(name, &home, Machine::new(1)).map(drop).unwrap_err();
    for name in [BackboneName::ResNet18, BackboneName::DinoV2Small] {
        let path = name.path(&home).unwrap();
        assert!(!name.is_here(&home));
        assert!(matches!(open(name), BackboneError::Absent { path: missing, .. } if missing == path));
        assert!(!name.remove(&home).unwrap());
        // A file of another size, then one of the right size and another content.
        let from = place.path().join("from.pth");
        let file = fs::File::create(&from).unwrap();
        for bytes in [10, name.card().file.bytes] {
            file.set_len(bytes).unwrap();
            let error = fetch(&home, Some(&from)).backbone(name).unwrap_err();
            assert!(matches!(error, BackboneError::Wrong { .. }) && error.is_user_error(), "{error}");
            assert!(!path.exists());
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&from, &path).unwrap();
        assert!(name.is_here(&home));
        assert!(matches!(open(name), BackboneError::Wrong { .. }));
        fs::write(&path, "short").unwrap();
        assert!(matches!(open(name), BackboneError::Wrong { .. }));
        assert!(name.remove(&home).unwrap() && !path.exists());
        fs::create_dir(&path).unwrap();
        assert!(matches!(open(name), BackboneError::File { .. }), "a directory");
    }
}
