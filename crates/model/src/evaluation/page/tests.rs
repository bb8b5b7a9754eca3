use image::{ImageFormat, RgbImage};

use super::*;
use crate::{AllUnsure, Picture, Verdict};

/// Twelve photos of two classes: right, wrong, and one whose file is gone.
fn evaluation(folder: &Path, names: [&str; 2]) -> Evaluation {
    let photo = |number: usize, class, predicted, verdict| {
        let path = folder.join(format!("{number}.png"));
        if number > 0 {
            RgbImage::from_pixel(64, 32, image::Rgb([200, 10, 10])).save_with_format(&path, ImageFormat::Png).unwrap();
        }
        let picture = Picture::Thumbnail(vec![7].into());
        Judged { path, class, predicted, probability: 0.9 - number as f32 / 100.0, verdict, picture }
    };
    let mut photos: Vec<Judged> = (1..10).map(|number| photo(number, 0, 0, Verdict::Sure)).collect();
    photos.extend([photo(0, 0, 1, Verdict::Unsure), photo(10, 1, 0, Verdict::Unknown), photo(11, 1, 1, Verdict::Sure)]);
    Evaluation {
        folder: folder.into(),
        classes: names.map(str::to_owned).to_vec(),
        photos,
        threshold: Some(0.8),
        all_unsure: None,
        learned: 0,
    }
}

fn written(evaluation: &Evaluation, place: &Path) -> String {
    fs::read_to_string(write(evaluation, "m, version 1,", place).unwrap()).unwrap()
}

#[test]
fn what_went_wrong_comes_first_as_thumbnails_of_the_photos() {
    let folder = tempfile::tempdir().unwrap();
    let (place, evaluation) = (folder.path().join("eval"), evaluation(folder.path(), ["a", "b"]));
    let page = written(&evaluation, &place);
    assert!(page.find("<figure>").unwrap() < page.find("<table").unwrap(), "photos before tables");
    assert!(page.contains("2 wrong answers: 16.7 %") && page.contains("a → <b>b</b> 90 %, unsure"), "{page}");
    let images: Vec<&str> = page.split("img src=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    assert_eq!(images, ["images/000.jpg", "images/001.jpg"]);
    assert_eq!(fs::read(place.join(images[0])).unwrap(), [7], "the file is gone: what the model saw");
    let original = rehearsal_data::decode::decode(&fs::read(place.join(images[1])).unwrap()).unwrap();
    assert_eq!((original.width, original.height), (64, 32), "the whole photo");
}

#[test]
fn answers_and_classes_have_shares_and_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let mut evaluation = evaluation(folder.path(), ["a", "b"]);
    let page = written(&evaluation, &folder.path().join("eval"));
    let row = |name: &str| page.lines().find(|line| line.contains(&format!(">{name}<td>"))).unwrap().to_owned();
    // Wilson's intervals of 10 of 10 and of 9 of 10.
    assert!(row("sure").ends_with("<td>10<td>83.3 %<td>100.0 %<td>72–100 %"), "{}", row("sure"));
    assert!(row("unsure").ends_with("<td>1<td>8.3 %<td>0.0 %<td>0–79 %"), "{}", row("unsure"));
    assert!(row("a").contains("<td>10<td>90.0 %<td>60–98 %<td>10<td>90.0 %<td>60–98 %<td"), "{}", row("a"));
    assert!(row("b").contains("<td>2<td>50.0 %<td>9–91 %<td>2<td>50.0 %"), "{}", row("b"));
    assert!(page.contains("Sure from 80 % on"));
    (evaluation.threshold, evaluation.all_unsure) = (None, Some(AllUnsure::SmallHoldout));
    assert!(
        written(&evaluation, &folder.path().join("eval")).contains("No answer is sure: the holdout set is too small")
    );
}

#[test]
fn names_are_text_and_nothing_is_loaded_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>"];
    let page = written(&evaluation(folder.path(), names), &folder.path().join("eval"));
    assert!(!page.contains("<script") && !page.contains("<img src=x") && page.contains("&lt;script&gt;"));
    assert!(page.contains("default-src 'none'") && !page.contains("http:") && !page.contains("https:"));
}
