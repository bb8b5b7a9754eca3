//! Samples as a curve: resident memory over time, open files and threads below.

use super::sample::{MEASURES, Sample};

const WIDTH: f64 = 720.0;
const PANEL: f64 = 110.0;
const LEFT: f64 = 60.0;

/// One panel for each measure, from zero up.
pub fn svg(samples: &[Sample]) -> String {
    let height = PANEL * MEASURES.len() as f64 + 30.0;
    let minutes = samples.last().map_or(1.0, |last| last.seconds / 60.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (i, (name, of)) in MEASURES.iter().enumerate() {
        text += &panel(samples, name, *of, PANEL * i as f64);
    }
    text += &format!(
        "<text x=\"{LEFT}\" y=\"{0}\">0</text>\n<text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">{minutes:.0} minutes</text>\n</svg>\n",
        height - 12.0,
        WIDTH - 10.0
    );
    text
}

fn panel(samples: &[Sample], name: &str, of: fn(&Sample) -> f64, top: f64) -> String {
    let most = samples.iter().map(of).fold(1.0, f64::max);
    let end = samples.last().map_or(1.0, |last| last.seconds).max(1.0);
    let (floor, room) = (top + PANEL - 8.0, PANEL - 34.0);
    let point = |one: &Sample| {
        let x = LEFT + (WIDTH - LEFT - 10.0) * one.seconds / end;
        format!("{x:.1},{:.1}", floor - room * of(one) / most)
    };
    let points: Vec<String> = samples.iter().map(point).collect();
    format!(
        "<text x=\"{LEFT}\" y=\"{}\">{name}</text>\n<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{most:.0}</text>\n\
         <text x=\"{1}\" y=\"{floor}\" text-anchor=\"end\">0</text>\n\
         <path d=\"M{LEFT} {floor}H{}\" stroke=\"#999\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#1f6fb4\" stroke-width=\"1.5\"/>\n",
        top + 18.0,
        LEFT - 6.0,
        floor - room + 4.0,
        WIDTH - 10.0,
        points.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_a_panel_and_every_sample_a_point() {
        let one = |seconds| Sample { seconds, resident: 100.0, files: 9.0, threads: 2.0 };
        let drawn = svg(&[one(0.0), one(60.0)]);
        assert_eq!(drawn.matches("<polyline").count(), 3);
        assert!(drawn.contains("60.0,26.0 710.0,26.0") && drawn.contains(">1 minutes<"), "{drawn}");
        assert!(svg(&[]).ends_with("</svg>\n"));
    }
}
