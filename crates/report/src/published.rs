//! Published numbers of the online setting of the field, with their sources.

use crate::{arm::Arm, paper::Published};

const CIFAR100: &str = include_str!("../data/online/cifar100.csv");

/// A published number and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quoted {
    /// The number, in percent.
    pub number: Published,
    /// Where it stands.
    pub source: &'static str,
}

/// The number that was published for an arm and a size of the memory, if there is one.
pub fn quoted(arm: &Arm, memory: f64) -> Option<Quoted> {
    CIFAR100.lines().skip(1).find_map(|line| {
        let [method, retrieval, views, reduction, of_memory, mean, half, source] =
            line.splitn(8, ',').collect::<Vec<_>>().try_into().ok()?;
        let options = [("method", method), ("retrieval", retrieval), ("views", views), ("reduction", reduction)];
        let is_arm = options.iter().all(|(name, value)| value.is_empty() || arm.settings.has(name, value));
        let number = Published { mean: mean.parse().ok()?, half_interval: half.parse().ok() };
        (is_arm && of_memory.parse() == Ok(memory)).then_some(Quoted { number, source })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(settings: &str) -> Arm {
        Arm::from_settings(&serde_json::from_str(settings).unwrap())
    }

    #[test]
    fn a_number_is_quoted_for_its_arm_and_memory_only() {
        let pcr = arm(r#"{"method": "pcr", "retrieval": "random", "views": "both", "reduction": "mean"}"#);
        let quoted_number = quoted(&pcr, 5000.0).unwrap();
        assert_eq!(quoted_number.number, Published::from(30.1));
        assert!(quoted_number.source.contains("2304.04408"));
        assert_eq!(quoted(&pcr, 4000.0), None);
        let balanced = r#"{"method": "pcr", "retrieval": "balanced", "views": "both", "reduction": "mean"}"#;
        assert_eq!(quoted(&arm(balanced), 5000.0), None);
        let raw = r#"{"method": "pcr", "retrieval": "random", "views": "raw", "reduction": "mean"}"#;
        assert_eq!(quoted(&arm(raw), 5000.0), None, "another variant than the published code's");
    }

    #[test]
    fn a_number_has_the_interval_that_is_known_for_it() {
        let er = arm(r#"{"method": "er", "retrieval": "random", "views": "raw", "reduction": "sum-of-means"}"#);
        let quoted_number = quoted(&er, 5000.0).unwrap().number;
        assert_eq!(quoted_number, Published { mean: 21.0, half_interval: Some(0.9) });
        let joint = arm(r#"{"method": "er", "retrieval": "random", "views": "raw", "reduction": "mean"}"#);
        assert_eq!(quoted(&joint, 5000.0), None, "another variant than the published code's");
    }

    #[test]
    fn every_line_has_all_its_columns_and_a_source() {
        for line in CIFAR100.lines().skip(1) {
            let fields: Vec<&str> = line.splitn(8, ',').collect();
            assert!(fields.len() == 8 && !fields[7].is_empty(), "{line}");
            assert!(fields[4].parse::<f64>().is_ok() && fields[5].parse::<f64>().is_ok(), "{line}");
        }
    }
}
