//! `rflvm differences`: which columns differ between groups of rows.

use crate::answer::{self, outputs};
use crate::args::DifferencesArgs;
use crate::failure::Failure;
use crate::reply::Reply;
use rflvm_study::Fit;
use rflvm_study::answers::differences::{self, Asked, Compared, LEVEL};
use rflvm_study::answers::grouping::Grouping;
use serde_json::{Value, json};
use std::path::Path;

/// Columns named for a comparison.
const NAMED: usize = 8;

/// Runs the command.
pub fn run(args: &DifferencesArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let asking = answer::Asked::new(args.out.as_ref(), None, &args.replace, reply);
    let fit = asking.fit(&args.dir)?;
    let groups = Grouping::named(&fit, &args.groups)?;
    let between = args.between.as_deref().map(|text| groups.pair(text)).transpose()?;
    let drawn = asking.drawn(&fit, outputs(&fit).reading([Path::new(&args.groups)]))?;
    let asked = Asked { groups, between, size: args.size, level: args.fdr };
    let found = differences::differences(&fit, &drawn, &asked)?;
    let level = args.fdr.unwrap_or(LEVEL);
    for compared in &found {
        let names = names(&fit, compared, level);
        let count = names.len();
        let some = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if count > NAMED { ", …" } else { "" };
        let listed = if count == 0 { String::new() } else { format!(": {some}{more}") };
        reply.line(&format!(
            "{} against {}: {count} of {} columns differ by more than {} at a false discovery rate of {level}{listed}",
            compared.group,
            compared.against,
            fit.table.columns.len(),
            args.size
        ))?;
    }
    let mut told =
        asking.write(&differences::columns(&fit, &found), &format!("differences of {}", counted(found.len())))?;
    let object = |compared: &Compared| -> Value {
        json!({ "group": compared.group, "against": compared.against, "columns": names(&fit, compared, level) })
    };
    let lists: Vec<Value> = found.iter().map(object).collect();
    (told["fdr"], told["size"], told["lists"]) = (json!(level), json!(args.size), json!(lists));
    reply.object(&told)
}

fn counted(comparisons: usize) -> String {
    format!("{comparisons} comparison{}", if comparisons == 1 { "" } else { "s" })
}

/// The columns of the list at a level.
fn names(fit: &Fit, compared: &Compared, level: f64) -> Vec<String> {
    compared.listed(level).map(|column| fit.table.columns[column].clone()).collect()
}
