//! `rehearsal list`: methods, memory policies and retrievals, their costs and valid combinations.

use std::{fmt::Write, process::ExitCode};

use anyhow::Result;
use rehearsal::{
    config::Combination,
    datasets::choice::{About, Choice},
    memory::PolicyKind,
    methods::MethodKind,
    retrieval::RetrievalKind,
};
use serde_json::{Value, json};

use crate::{args::List, printer::print};

/// Prints the lists.
pub fn list(args: &List) -> Result<ExitCode> {
    let text = if args.json { serde_json::to_string_pretty(&as_json())? + "\n" } else { as_text() };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn as_text() -> String {
    let mut text = String::new();
    section(&mut text, "Methods (--method)", MethodKind::ALL.iter().map(|kind| (kind.name(), kind.about())));
    section(&mut text, "Memory policies (--memory-policy)", PolicyKind::ALL.iter().map(|k| (k.name(), k.about())));
    section(&mut text, "Retrievals (--retrieval)", RetrievalKind::ALL.iter().map(|kind| (kind.name(), kind.about())));
    text += "Combinations: any policy of a row with any of its retrievals (* the default)\n";
    for &method in MethodKind::ALL {
        combinations_of(&mut text, method);
    }
    text += "\nmemory-match wants an even --retrieved; --ratio goes with balanced.\n";
    text
}

/// A heading and a line or two for each value, narrow enough for 80 columns.
fn section(text: &mut String, heading: &str, values: impl Iterator<Item = (&'static str, About)>) {
    *text += heading;
    *text += "\n";
    for (name, About { does, costs }) in values {
        let line = |words: &str, name: &str| format!("  {name:<14}  {words}\n");
        text.push_str(&line(does, name));
        if !costs.is_empty() {
            text.push_str(&line(&format!("costs: {costs}"), ""));
        }
    }
    *text += "\n";
}

/// The policies and retrievals that run with a method.
fn combinations_of(text: &mut String, method: MethodKind) {
    let marked = |name: &str, default: bool| if default { format!("{name}*") } else { name.to_owned() };
    let runs = |policy, retrieval| Combination { method, policy, retrieval }.check().is_ok();
    let policies = PolicyKind::ALL.iter().filter(|&&policy| runs(Some(policy), None));
    let policies: Vec<String> =
        policies.map(|policy| marked(policy.name(), *policy == method.default_policy())).collect();
    let retrievals = RetrievalKind::ALL.iter().filter(|&&retrieval| runs(None, Some(retrieval)));
    let retrievals: Vec<String> =
        retrievals.map(|retrieval| marked(retrieval.name(), *retrieval == method.default_retrieval())).collect();
    let name = method.name();
    let _ = if policies.is_empty() {
        writeln!(text, "  {name:<14}  alone: it replays nothing")
    } else {
        writeln!(text, "  {name:<14}  {}\n  {:<14}  {}", policies.join(", "), "", retrievals.join(", "))
    };
}

fn as_json() -> Value {
    let described = |name: &str, About { does, costs }: About| json!({ "name": name, "does": does, "costs": costs });
    let method = |&kind: &MethodKind| {
        let mut method = described(kind.name(), kind.about());
        method["replays"] = json!(kind.replays());
        method["default_memory_policy"] = json!(kind.replays().then(|| kind.default_policy()));
        method["default_retrieval"] = json!(kind.replays().then(|| kind.default_retrieval()));
        method
    };
    json!({
        "methods": MethodKind::ALL.iter().map(method).collect::<Vec<_>>(),
        "memory_policies": PolicyKind::ALL.iter().map(|k| described(k.name(), k.about())).collect::<Vec<_>>(),
        "retrievals": RetrievalKind::ALL.iter().map(|k| described(k.name(), k.about())).collect::<Vec<_>>(),
        "combinations": Combination::all().into_iter().map(described_combination).collect::<Vec<_>>(),
    })
}

fn described_combination(combination: Combination) -> Value {
    let Combination { method, policy, retrieval } = combination;
    let refused = combination.check().err().map(|error| error.to_string());
    let runs = refused.is_none();
    json!({ "method": method, "memory_policy": policy, "retrieval": retrieval, "runs": runs, "refused": refused })
}
