//! Forecasts: the next few times of each sequence, if rows have times.

use crate::number::{number, numbers};
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::forecast::NewTime;
use rflvm_study::answers::stream;
use serde_json::{Value, json};

/// Sequences and columns that are forecast at most.
const SEQUENCES: usize = 8;
const COLUMNS: usize = 24;
/// Rows of the longest table that is forecast here: a path of many rows takes long to extend.
const ROWS: usize = 200_000;

/// For each of some sequences and columns the rows so far, and mean and 5% and 95% quantiles of what comes next.
pub fn section(subject: &Subject<'_>) -> Result<Value, RunError> {
    let Some(timeline) = subject.rows.timeline else { return Ok(Value::Null) };
    let new: Vec<NewTime> = subject.ahead.iter().filter(|time| time.sequence < SEQUENCES).cloned().collect();
    let y = subject.fitted.model.y();
    if new.is_empty() || y.rows() > ROWS {
        return Ok(Value::Null);
    }
    let predicted = subject.asked(stream::TIMES).forecast(&new, DRAWS)?;
    let columns = subject.columns.len().min(COLUMNS);
    let sequence = |(s, rows): (usize, &Vec<usize>)| {
        let ahead: Vec<usize> = (0..new.len()).filter(|&i| new[i].sequence == s).collect();
        let column = |place: &usize| {
            let of = |part: &dyn Fn(usize) -> f64| ahead.iter().map(|&i| number(part(i))).collect::<Value>();
            json!({
                "seen": rows.iter().map(|&n| number(y[(n, *place)])).collect::<Value>(),
                "mean": of(&|i| predicted[i][*place].centre()), "low": of(&|i| predicted[i][*place].quantiles[0]),
                "high": of(&|i| predicted[i][*place].quantiles[2]),
            })
        };
        json!({
            "name": timeline.names.get(s), "past": numbers(&rows.iter().map(|&n| timeline.times.at[n]).collect::<Vec<_>>()),
            "future": numbers(&ahead.iter().map(|&i| new[i].time).collect::<Vec<_>>()),
            "columns": subject.places.iter().take(columns).map(column).collect::<Value>(),
        })
    };
    Ok(timeline.sequences().iter().take(SEQUENCES).enumerate().map(sequence).collect())
}
