//! `rflvm groups`: how sure groups of rows are, and which rows lie between them.

use crate::aligned::{aligned, short};
use crate::answer::{Asked, outputs};
use crate::args::GroupsArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm_study::answers::Values;
use rflvm_study::answers::grouping::Grouping;
use rflvm_study::answers::groups;
use serde_json::json;
use std::path::Path;

/// Runs the command.
pub fn run(args: &GroupsArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let asked = Asked::new(args.out.as_ref(), None, &args.replace, reply);
    let fit = asked.fit(&args.dir)?;
    let grouping = Grouping::named(&fit, &args.groups)?;
    let drawn = asked.drawn(&fit, outputs(&fit).reading([Path::new(&args.groups)]))?;
    let found = groups::groups(&fit, &drawn, grouping, args.neighbors)?;
    for (group, name) in found.groups.names.iter().enumerate() {
        let count = found.groups.rows(group).len();
        if count <= args.neighbors {
            reply.console().say(&format!(
                "the group {name} has {count} rows, so that not all of the {} nearest of a row can belong to it; give --neighbors {} for it",
                args.neighbors,
                count.saturating_sub(1).max(1)
            ));
        }
    }
    let summary = found.summary();
    let cell = |i: usize| {
        summary.columns.iter().map(move |column| match &column.values {
            Values::Numbers(values) => short(values[i]),
            _ => column.text(i),
        })
    };
    let lines: Vec<Vec<String>> =
        std::iter::once(summary.header()).chain((0..summary.lines()).map(|i| cell(i).collect())).collect();
    aligned(&lines).lines().try_for_each(|line| reply.line(line))?;
    let mut told = asked.write(&found.rows(&fit), &format!("groups of {} rows", fit.model.rows()))?;
    told["groups"] = json!(summary.objects());
    reply.object(&told)
}
