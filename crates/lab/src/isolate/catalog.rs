//! The names of all probes and classes: those of programs, which the corpus has, and those of a service.

use veriplay_corpus::probes::{CLASSES, Probe, ProbeClass, ProbeLanguage};

use super::service;
use super::service::probe::ServiceProbe;

/// What selections, lists and reports need to know of a probe.
pub trait NamedProbe {
    /// The class of attacks that it belongs to.
    fn class(&self) -> &'static str;
    /// Its name within the class.
    fn name(&self) -> &str;
    /// What it tries, in one line.
    fn title(&self) -> &str;

    /// Class and name.
    fn id(&self) -> String {
        format!("{}/{}", self.class(), self.name())
    }

    /// Whether `CLASS/NAME` on the command line names it.
    fn is_called(&self, id: &str) -> bool {
        self.id() == id
    }
}

impl NamedProbe for Probe {
    fn class(&self) -> &'static str {
        self.class
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn title(&self) -> &str {
        &self.title
    }
}

impl NamedProbe for ServiceProbe {
    fn class(&self) -> &'static str {
        self.class
    }

    fn name(&self) -> &str {
        &self.text.name
    }

    fn title(&self) -> &str {
        &self.text.title
    }
}

impl<P: NamedProbe> NamedProbe for &P {
    fn class(&self) -> &'static str {
        (**self).class()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    fn title(&self) -> &str {
        (**self).title()
    }

    fn is_called(&self, id: &str) -> bool {
        (**self).is_called(id)
    }
}

/// All classes, in the order of reports.
pub fn classes() -> impl Iterator<Item = &'static ProbeClass> {
    CLASSES.iter().chain(service::probe::CLASSES)
}

/// A class by its name; the verifier's forgeries are of none.
pub fn find_class(name: &str) -> Option<&'static ProbeClass> {
    classes().find(|class| class.name == name)
}

pub(crate) fn is_of_service(class: &str) -> bool {
    service::probe::CLASSES.iter().any(|one| one.name == class)
}

/// The ids of all probes, of every image.
pub fn probe_ids() -> Vec<String> {
    let programs = ProbeLanguage::ALL.map(ProbeLanguage::probes).concat();
    programs.iter().map(NamedProbe::id).chain(service::probes().iter().map(NamedProbe::id)).collect()
}
