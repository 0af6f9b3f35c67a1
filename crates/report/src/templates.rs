//! The templates of the pages. A value in a template whose name ends in `.html` is text, whatever is in it: that is what keeps a program
//! that contains `<script>` from being one. Styles and scripts have no values.

use minijinja::{Environment, Value};

use veriplay_console::exit::{ExitCode, Failure, ResultExt};

pub(crate) const STYLE: &str = include_str!("style.css");

pub(crate) const CHARTS_SCRIPT: &str = include_str!("charts.js");

/// What pages of other modules import and include.
const SHARED: [(&str, &str); 5] = [
    ("parts.html", include_str!("parts.html")),
    ("page.html", include_str!("page.html")),
    ("page.js", include_str!("page.js")),
    ("charts.js", CHARTS_SCRIPT),
    ("style.css", STYLE),
];

/// Renders the template `name`, one of the shared ones or of `own`.
pub(crate) fn render_template(
    own: &[(&'static str, &'static str)],
    name: &str,
    values: Value,
) -> Result<String, Failure> {
    let mut environment = Environment::new();
    for (name, source) in SHARED.iter().chain(own) {
        environment.add_template(name, source).or_fail(ExitCode::Bug)?;
    }
    environment.get_template(name).and_then(|template| template.render(values)).or_fail(ExitCode::Bug)
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::render_template;

    #[test]
    fn values_are_text_in_macros_and_in_templates_that_extend_others() {
        let own = [
            ("base.html", "<p>{% block body %}{% endblock %}</p>"),
            (
                "own.html",
                "{% extends 'base.html' %}{% from 'parts.html' import turns %}{% block body %}{{ x }}{{ turns([{'text': x}]) }}{% endblock %}",
            ),
        ];
        let page = render_template(&own, "own.html", context!(x => "<script>")).expect("it renders");
        assert!(!page.contains("<script>") && page.matches("&lt;script&gt;").count() == 2, "{page}");
    }
}
