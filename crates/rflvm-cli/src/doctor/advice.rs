//! The flags with which a table can be fitted.

use crate::shell::quoted;
use rflvm_study::Config;
use rflvm_study::seen::{Kind, Seen};
use rflvm_study::table::{Aside, Holds, Table};
use std::collections::HashSet;

/// Up to this many uninformative columns are excluded by name; more would make the command unreadable.
const NAMED: usize = 20;

/// Longer names are not shown with their flag.
const SHOWN: usize = 24;

/// Settings, with the flags that the columns need.
pub struct Advice {
    pub config: Config,
    /// Whether a flag was added that changes how the table is read.
    pub is_new: bool,
    /// Further notes.
    pub notes: Vec<String>,
}

impl Advice {
    pub fn new(config: Config) -> Self {
        Advice { config, is_new: false, notes: Vec::new() }
    }

    /// A flag for each column that cannot be fitted as it is.
    pub fn set_aside(&mut self, aside: &[Aside]) -> Vec<String> {
        let mut flags = Vec::with_capacity(aside.len());
        for column in aside {
            // A long name would break the layout, and is shown in the command.
            let name = if column.name.chars().count() > SHOWN { String::new() } else { quoted(&column.name) };
            let flag = match column.holds {
                Holds::Names if self.config.id.is_none() => {
                    self.config.id = Some(column.name.clone());
                    format!("--id {name}").trim_end().to_string()
                }
                Holds::Dates if self.config.time.is_none() => {
                    self.config.time = Some(column.name.clone());
                    format!("--time {name}").trim_end().to_string()
                }
                // A single repeated word among numbers means a missing cell.
                Holds::Numbers if column.different == 1 && !column.example.contains([',', '…']) => {
                    let na = &mut self.config.na.get_or_insert_default().0;
                    if !na.contains(&column.example) {
                        na.push(column.example.clone());
                    }
                    format!("--na {}", quoted(&column.example))
                }
                _ => {
                    self.leave_out(&column.name);
                    "--without".to_string()
                }
            };
            self.is_new = true;
            flags.push(flag);
        }
        flags
    }

    /// Excludes numeric columns that cannot be fitted or are uninformative.
    pub fn look_at(&mut self, table: &Table, seen: &[Seen]) {
        let of_categories: HashSet<usize> = table.categories.iter().flat_map(|c| c.columns()).collect();
        let is_number = |j: &usize| !of_categories.contains(j);
        let names = |is: &dyn Fn(&Seen) -> bool| -> Vec<String> {
            (0..seen.len()).filter(is_number).filter(|&j| is(&seen[j])).map(|j| table.columns[j].clone()).collect()
        };
        let mut left_out = names(&|seen| seen.kind == Kind::Nothing);
        let constant = names(&|seen| seen.is_constant);
        // If no column varies, another message applies.
        if constant.len() <= NAMED && constant.len() + left_out.len() < table.columns.len() {
            left_out.extend(constant);
        }
        for name in names(&|seen| seen.is_index) {
            self.is_new = true;
            if self.config.id.is_none() {
                self.config.id = Some(name);
            } else {
                left_out.push(name);
            }
        }
        left_out.iter().for_each(|name| self.leave_out(name));
    }

    /// Excludes a column.
    pub fn leave_out(&mut self, name: &str) {
        self.is_new = true;
        self.config.without.get_or_insert_default().0.push(name.to_string());
    }
}
