//! What is made of a report, by readers that are not ours: a validator of JSON Schema, and a parser of XML.

use sanswire_check::{Accepted, Baseline, Format, Report, Verdict};
use serde_json::{Value, json};

use crate::{check, server};

/// Of a correct server, of one that breaks a rule, of the same with a baseline, of one that does not speak, and with checks
/// that were not tried.
fn reports() -> Vec<Report> {
    let only = || vec!["framing-".to_owned()];
    let mut accepted = check("banner", only());
    let known = accepted.baseline();
    let gone = Accepted { check: "gone".into(), revision: None, note: "<b> & \"so\"".into() };
    accepted.accept(&Baseline { accepted: known.accepted.into_iter().chain([gone]).collect() });
    let mut untried = check("none", only());
    untried.results[0].verdict = Verdict::Skipped("there is nothing to try".into());
    let mut plan = sanswire_check::Plan::new(server("dead"));
    plan.start = std::time::Duration::from_secs(20);
    vec![check("none", only()), check("banner", only()), accepted, untried, sanswire_check::run(&plan)]
}

fn parsed(report: &Report, format: Format) -> Value {
    serde_json::from_str(&report.to_format(format, Some("dist/index.js"))).unwrap()
}

/// All values that are this one but for a member more or less, with a pointer to it. Members that may be absent are left.
fn changed(value: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let mut left = vec![String::new()];
    while let Some(at) = left.pop() {
        match value.pointer(&at).unwrap() {
            Value::Object(members) => {
                let mut more = value.clone();
                more.pointer_mut(&at).unwrap().as_object_mut().unwrap().insert("more".into(), json!(1));
                all.push((format!("{at}/more"), more));
                for name in members.keys() {
                    left.push(format!("{at}/{name}"));
                    if !["peer", "source", "left_out", "revision"].contains(&name.as_str()) {
                        let mut less = value.clone();
                        less.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove(name);
                        all.push((format!("{at}/{name}"), less));
                    }
                }
            }
            Value::Array(elements) => left.extend((0..elements.len().min(3)).map(|n| format!("{at}/{n}"))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    all
}

#[test]
fn reports_as_json_are_what_the_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/check-report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut verdicts = std::collections::BTreeSet::new();
    for report in reports() {
        let json = parsed(&report, Format::Json);
        let faults: Vec<_> =
            validator.iter_errors(&json).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:?}: {json}");
        for (at, wrong) in changed(&json) {
            assert!(!validator.is_valid(&wrong), "{at} makes no difference");
        }
        verdicts.extend(json["results"].as_array().unwrap().iter().map(|it| it["verdict"].to_string()));
        assert_eq!(json["status"], report.status());
    }
    assert_eq!(verdicts.len(), 4, "each verdict was there: {verdicts:?}");
}

#[test]
fn reports_as_xml_and_pages_are_well_formed() {
    for report in reports() {
        let junit = report.to_junit();
        let xml = roxmltree::Document::parse(&junit).unwrap();
        let count = |name: &str| xml.descendants().filter(|it| it.has_tag_name(name)).count();
        let said = |suite: &roxmltree::Node<'_, '_>, name: &str| {
            suite.attribute(name).unwrap().parse::<usize>().unwrap()
        };
        let suites: Vec<_> = xml.descendants().filter(|it| it.has_tag_name("testsuite")).collect();
        for (attribute, element) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            let total: usize = suites.iter().map(|suite| said(suite, attribute)).sum();
            assert_eq!(total, count(element), "{attribute}: {junit}");
        }
        assert_eq!(count("failure") + count("error") > 0, report.status() != 0, "{junit}");

        let page = report.to_html();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let page = roxmltree::Document::parse_with_options(&page, options).unwrap();
        let mut ids: Vec<_> = page.descendants().filter_map(|it| it.attribute("id")).collect();
        let targets = page.descendants().filter_map(|it| it.attribute("href")?.strip_prefix('#'));
        assert!(targets.into_iter().all(|target| ids.contains(&target)));
        let len = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), len);
        let levels: Vec<_> = page
            .descendants()
            .filter_map(|it| it.tag_name().name().strip_prefix('h')?.parse::<u8>().ok())
            .collect();
        assert!(levels[0] == 1 && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    }
}
