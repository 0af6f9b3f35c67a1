//! The files of the suite.

use veriplay_corpus::probes::CLASSES;

use super::probes;

#[test]
fn there_are_enough_probes_and_every_class_has_several() {
    assert!(probes().len() >= 120, "{} probes", probes().len());
    for class in CLASSES {
        let count = probes().iter().filter(|probe| probe.class == class.name).count();
        assert!(count >= 5, "class `{}` has {count}", class.name);
    }
}
