//! The columns of a table grouped by what they hold, readable for five columns and for twenty thousand.

use rflvm_study::seen::{Kind, Seen};
use rflvm_study::table::{Aside, Holds, Source, Table};
use serde_json::{Value, json};

/// Names shown per group.
const SHOWN: usize = 4;
/// Characters shown of a name.
const LETTERS: usize = 24;
const SAME: &str = "the same in every row";

/// What one column holds, and what suits it.
struct Entry {
    name: String,
    /// How many levels a category has.
    levels: Option<usize>,
    holds: String,
    suits: String,
}

impl Entry {
    /// Its name, shortened, with its number of levels.
    fn short(&self) -> String {
        let mut name: String = self.name.chars().take(LETTERS).collect();
        if self.name.chars().count() > LETTERS {
            name.push('…');
        }
        self.levels.map_or(name.clone(), |levels| format!("{name} ({levels} levels)"))
    }
}

/// All columns.
#[derive(Default)]
pub struct Chart {
    entries: Vec<Entry>,
}

impl Chart {
    /// Columns that can be fitted, by their families.
    pub fn fitted(&mut self, table: &Table, seen: &[Seen], families: &[&'static str]) {
        for source in table.sources() {
            let name = source.name(table).to_string();
            let (levels, (holds, suits)) = match source {
                Source::Number(j) => (None, of_numbers(&seen[j], families[j])),
                Source::Category(category) => {
                    (Some(category.levels.len()), ("categories".into(), "multinomial, one column per level".into()))
                }
            };
            self.entries.push(Entry { name, levels, holds, suits });
        }
    }

    /// A column that cannot be fitted as it is, and the flag that suits it.
    pub fn aside(&mut self, aside: &Aside, flag: &str) {
        let Aside { name, holds, place, example, different } = aside;
        let holds = match holds {
            Holds::Truth | Holds::Category => "text".to_string(),
            Holds::Names => "different texts".to_string(),
            Holds::Constant => format!("one text, {SAME}"),
            Holds::Numbers if *different == 1 => format!("numbers, and `{example}`"),
            Holds::Numbers => format!("numbers, but {place} is `{example}`"),
            Holds::Thousands => format!("numbers with thousands separators, such as `{example}`"),
            Holds::Dates => "dates".to_string(),
            Holds::Other(kind) => (*kind).to_string(),
        };
        self.entries.push(Entry { name: name.clone(), levels: None, holds, suits: flag.to_string() });
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// One line per kind of column, with the first few names.
    pub fn lines(&self) -> Vec<String> {
        let mut groups: Vec<(&Entry, Vec<&Entry>)> = Vec::new();
        for entry in &self.entries {
            match groups.iter_mut().find(|(first, _)| (&first.holds, &first.suits) == (&entry.holds, &entry.suits)) {
                Some((_, alike)) => alike.push(entry),
                None => groups.push((entry, vec![entry])),
            }
        }
        let width = |text: fn(&Entry) -> &str, head: &str| {
            let widths = groups.iter().map(|(entry, _)| text(entry).chars().count());
            widths.chain([head.len()]).max().unwrap_or(0)
        };
        let (holds, suits) = (width(|e| &e.holds, "hold"), width(|e| &e.suits, "suits"));
        let line = |count: &str, hold: &str, suit: &str, names: &str| {
            format!("{count:>7}  {hold:<holds$}  {suit:<suits$}  {names}")
        };
        let mut lines = vec![line("columns", "hold", "suits", "which")];
        for (entry, alike) in &groups {
            let mut shown: Vec<String> = alike.iter().take(SHOWN).map(|entry| entry.short()).collect();
            if alike.len() > SHOWN {
                shown.push("…".into());
            }
            lines.push(line(&alike.len().to_string(), &entry.holds, &entry.suits, &shown.join(", ")));
        }
        lines
    }

    /// Names of the uninformative columns.
    pub fn constant(&self) -> Vec<&str> {
        self.entries.iter().filter(|e| e.holds.ends_with(SAME)).map(|e| e.name.as_str()).collect()
    }

    /// Every column, as JSON.
    pub fn as_json(&self) -> Value {
        let entry = |e: &Entry| json!({ "name": e.name, "holds": e.holds, "levels": e.levels, "suits": e.suits });
        self.entries.iter().map(entry).collect()
    }
}

fn of_numbers(seen: &Seen, family: &str) -> (String, String) {
    let holds = match seen.kind {
        Kind::Nothing => return ("nothing".into(), "--without".into()),
        _ if seen.is_index => return ("row numbers".into(), "--id, or --time if they are times".into()),
        _ if seen.is_constant => return (format!("one number, {SAME}"), "--without".into()),
        // A category has a separate line.
        Kind::Level => Kind::Real.words(),
        kind => kind.words(),
    };
    (holds.into(), family.into())
}
