//! `rflvm differences`: which columns differ between groups of rows.

use crate::answer::{check_csv, drawn, outputs};
use crate::args::DifferencesArgs;
use crate::failure::Failure;
use crate::reply::{self, Reply};
use rflvm_study::answers::differences::{self, Asked, Compared, LEVEL};
use rflvm_study::answers::grouping::Grouping;
use rflvm_study::{Fit, write};
use serde_json::{Value, json};
use std::path::Path;

/// Columns named for a comparison.
const NAMED: usize = 8;

/// Runs the command.
pub fn run(args: &DifferencesArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    check_csv(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    outputs(&fit).reading([Path::new(&args.groups)]).overwrite(args.replace.overwrite).named(&args.out)?;
    let groups = Grouping::named(&fit, &args.groups)?;
    let between = args.between.as_deref().map(|text| groups.pair(text)).transpose()?;
    let drawn = drawn(&fit, reply.console())?;
    let asked = Asked { groups, between, size: args.size, level: args.fdr };
    let found = differences::differences(&fit, &drawn, &asked)?;
    write::text(&args.out, &differences::columns(&fit, &found).csv())?;
    let level = args.fdr.unwrap_or(LEVEL);
    for compared in &found {
        let names = names(&fit, compared, level);
        let count = compared.listed(level);
        let some = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if count > NAMED { ", …" } else { "" };
        let listed = if count == 0 { String::new() } else { format!(": {some}{more}") };
        reply.line(&format!(
            "{} against {}: {count} of {} columns differ by more than {} at an expected false discovery rate of {level}{listed}",
            compared.group,
            compared.against,
            fit.table.columns.len(),
            args.size
        ))?;
    }
    reply.line(&format!("differences of {}: {}", found.len(), args.out.display()))?;
    let object = |compared: &Compared| -> Value {
        json!({ "group": compared.group, "against": compared.against, "columns": names(&fit, compared, level) })
    };
    let lists: Vec<Value> = found.iter().map(object).collect();
    reply.object(&json!({ "files": reply::names(&[&args.out]), "fdr": level, "size": args.size, "lists": lists }))
}

/// The columns of the list at a level.
fn names(fit: &Fit, compared: &Compared, level: f64) -> Vec<String> {
    compared.columns.iter().take(compared.listed(level)).map(|(column, _)| fit.table.columns[*column].clone()).collect()
}
