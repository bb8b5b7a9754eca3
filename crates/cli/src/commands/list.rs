//! `rehearsal list`: what there is, what it costs, and what goes together.

use std::{fmt::Write, process::ExitCode};

use anyhow::Result;
use rehearsal::{
    choice::{About, Choice},
    config::combination,
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
    text += "Combinations: any of a row's policies with any of its retrievals (* unless named)\n";
    for &method in MethodKind::ALL {
        combinations_of(&mut text, method);
    }
    text += "\nmemory-match retrieves pairs: --retrieved must be even. --ratio goes with balanced.\n";
    text
}

/// A heading and a line or two for each value, no wider than 80 columns.
fn section(text: &mut String, heading: &str, values: impl Iterator<Item = (&'static str, About)>) {
    *text += heading;
    *text += "\n";
    for (name, About { does, costs }) in values {
        *text += &format!("  {name:<14}  {does}\n");
        if !costs.is_empty() {
            *text += &format!("  {:<14}  costs: {costs}\n", "");
        }
    }
    *text += "\n";
}

/// The policies and retrievals that run with a method.
fn combinations_of(text: &mut String, method: MethodKind) {
    let marked = |name: &str, usual: bool| if usual { format!("{name}*") } else { name.to_owned() };
    let policies = PolicyKind::ALL.iter().filter(|&&policy| combination(method, Some(policy), None).is_ok());
    let policies: Vec<String> =
        policies.map(|policy| marked(policy.name(), *policy == method.usual_policy())).collect();
    let retrievals = RetrievalKind::ALL.iter().filter(|&&retrieval| combination(method, None, Some(retrieval)).is_ok());
    let retrievals: Vec<String> =
        retrievals.map(|retrieval| marked(retrieval.name(), *retrieval == method.usual_retrieval())).collect();
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
        method["usual_memory_policy"] = json!(kind.replays().then(|| kind.usual_policy()));
        method["usual_retrieval"] = json!(kind.replays().then(|| kind.usual_retrieval()));
        method
    };
    json!({
        "methods": MethodKind::ALL.iter().map(method).collect::<Vec<_>>(),
        "memory_policies": PolicyKind::ALL.iter().map(|k| described(k.name(), k.about())).collect::<Vec<_>>(),
        "retrievals": RetrievalKind::ALL.iter().map(|k| described(k.name(), k.about())).collect::<Vec<_>>(),
        "combinations": every_combination(),
    })
}

/// All that can be named together, and a method alone where it replays nothing.
fn every_combination() -> Vec<Value> {
    let mut all = Vec::new();
    for &method in MethodKind::ALL {
        if !method.replays() {
            all.push(described_combination(method, None, None));
        }
        for &policy in PolicyKind::ALL {
            let retrievals = RetrievalKind::ALL.iter();
            all.extend(retrievals.map(|&retrieval| described_combination(method, Some(policy), Some(retrieval))));
        }
    }
    all
}

fn described_combination(method: MethodKind, policy: Option<PolicyKind>, retrieval: Option<RetrievalKind>) -> Value {
    let refused = combination(method, policy, retrieval).err().map(|refusal| refusal.to_string());
    let runs = refused.is_none();
    json!({ "method": method, "memory_policy": policy, "retrieval": retrieval, "runs": runs, "refused": refused })
}
