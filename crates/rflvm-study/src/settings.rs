//! One definition per setting: its name, type, default, range and help.
//!
//! The `settings!` macro below turns a list of definitions into a struct that serde reads and writes, and into a table of
//! [`Setting`]s. The program's flags, the keys of config.toml, the parameters of the Python package and the table in
//! docs/settings.md all follow from that table, so a new setting is defined once and then used where it matters.

mod choice;
mod value;

pub use crate::names::Names;
pub(crate) use choice::choices;
pub(crate) use value::utf8;
pub use value::{Kind, Value};

/// What is known about a setting.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its name in config.toml and as a flag.
    pub name: String,
    /// The type of its value.
    pub kind: Kind,
    /// What it does, in one or a few sentences.
    pub help: String,
    /// The same in a few words, for settings that nearly everyone needs.
    pub short: Option<&'static str>,
    /// The placeholder for its value in help texts.
    pub placeholder: Option<&'static str>,
    /// Its default, as a user would type it.
    pub default: Option<String>,
    /// What happens if it is not given, where there is no constant default.
    pub otherwise: Option<&'static str>,
    /// The smallest and the largest number allowed.
    pub range: Option<(f64, f64)>,
    /// The allowed words, each with its meaning; empty for other types.
    pub choices: &'static [(&'static str, &'static str)],
    /// Whether its value may begin with a hyphen.
    pub hyphens: bool,
    /// Settings that cannot be given with it.
    pub conflicts: &'static [&'static str],
    /// An earlier name, which still works.
    pub alias: Option<&'static str>,
    /// Its name in Python: in the class of its section, or as a parameter of the estimator.
    pub python: Option<&'static str>,
    /// Whether it is a parameter of the estimator itself.
    pub is_parameter: bool,
    /// Earlier names in Python, all of them parameters of the estimator.
    pub earlier: &'static [&'static str],
    /// Type and help in Python, where they differ.
    pub python_help: Option<(&'static str, &'static str)>,
    /// The default in Python, as it is written there, where it differs.
    pub python_default: Option<&'static str>,
    /// The annotation in Python, where it does not follow from the type.
    pub python_type: Option<&'static str>,
}

impl Setting {
    /// A setting of type `T`; `help` is the text of its doc comment.
    pub fn new<T: Value>(field: &str, help: &str) -> Self {
        Setting {
            name: field.replace('_', "-"),
            kind: T::KIND,
            help: with_families(help.trim()),
            short: None,
            placeholder: None,
            default: None,
            otherwise: None,
            range: None,
            choices: T::CHOICES,
            hyphens: false,
            conflicts: &[],
            alias: None,
            python: None,
            is_parameter: false,
            earlier: &[],
            python_help: None,
            python_default: None,
            python_type: None,
        }
    }

    /// Its default, as a user would type it.
    pub fn default(self, text: impl ToString) -> Self {
        Setting { default: Some(text.to_string()), ..self }
    }

    /// What happens if it is not given.
    pub fn otherwise(self, text: &'static str) -> Self {
        Setting { otherwise: Some(text), ..self }
    }

    /// Nearly everyone needs it: it is in short help texts, in these words.
    pub fn short(self, text: &'static str) -> Self {
        Setting { short: Some(text), ..self }
    }

    /// Sets the placeholder for its value in help texts.
    pub fn placeholder(self, text: &'static str) -> Self {
        Setting { placeholder: Some(text), ..self }
    }

    /// The smallest and the largest number allowed.
    pub fn range(self, least: f64, most: f64) -> Self {
        Setting { range: Some((least, most)), ..self }
    }

    /// Allows its value to begin with a hyphen.
    pub fn hyphens(self) -> Self {
        Setting { hyphens: true, ..self }
    }

    /// Settings that cannot be given with it.
    pub fn conflicts(self, names: &'static [&'static str]) -> Self {
        Setting { conflicts: names, ..self }
    }

    /// An earlier name, which still works.
    pub fn alias(self, name: &'static str) -> Self {
        Setting { alias: Some(name), ..self }
    }

    /// Its name in the class of its section in Python.
    pub fn python(self, name: &'static str) -> Self {
        Setting { python: Some(name), ..self }
    }

    /// Its name in Python, where it is a parameter of the estimator itself.
    pub fn parameter(self, name: &'static str) -> Self {
        Setting { python: Some(name), is_parameter: true, ..self }
    }

    /// Earlier names in Python.
    pub fn earlier(self, names: &'static [&'static str]) -> Self {
        Setting { earlier: names, ..self }
    }

    /// Type and help in Python, where they differ.
    pub fn python_help(self, kind: &'static str, help: &'static str) -> Self {
        Setting { python_help: Some((kind, help)), ..self }
    }

    /// The default in Python, where it differs.
    pub fn python_default(self, text: &'static str) -> Self {
        Setting { python_default: Some(text), ..self }
    }

    /// The annotation in Python, where it does not follow from the type.
    pub fn python_type(self, annotation: &'static str) -> Self {
        Setting { python_type: Some(annotation), ..self }
    }

    /// Help with the default at its end.
    pub fn help_and_default(&self) -> String {
        self.with_default(&self.help)
    }

    /// The short help with the default at its end.
    pub fn short_and_default(&self) -> Option<String> {
        self.short.map(|text| self.with_default(text))
    }

    /// The default in words.
    pub fn shown_default(&self) -> Option<&str> {
        self.otherwise.or(self.default.as_deref())
    }

    fn with_default(&self, text: &str) -> String {
        let text = text.trim_end_matches('.');
        self.shown_default().map_or_else(|| text.to_string(), |default| format!("{text} [default: {default}]"))
    }
}

/// A text with the names of all families in the place of `{families}`.
pub fn with_families(text: &str) -> String {
    text.replace("{families}", &rflvm::internal::spec::FAMILIES.join(", "))
}

/// Settings that belong together.
pub trait Group: Sized + Default {
    /// All of them.
    fn describe() -> Vec<Setting>;

    /// Sets one setting by its name, from what a user typed. `None` if it is not in this group.
    fn set(&mut self, name: &str, text: &std::ffi::OsStr) -> Option<Result<(), String>>;

    /// These settings, completed by those of `other`.
    fn or(self, other: Self) -> Self;

    /// Reads the value of the setting of this name, if it is in this group.
    fn read<'de, A: serde::de::MapAccess<'de>>(&mut self, name: &str, mode: &mut A) -> Result<bool, A::Error>;

    /// The constant defaults.
    fn defaults() -> Self {
        let mut group = Self::default();
        for setting in Self::describe() {
            if let Some(text) = &setting.default {
                // A test catches defaults that are not valid for their type.
                let _ = group.set(&setting.name, text.as_ref());
            }
        }
        group
    }
}

/// Defines a group of settings: `name: type => .default(…).python(…);`, each under its help. Attributes for serde go in brackets
/// before the name. `and { … }` adds fields that are not settings.
macro_rules! settings {
    (
        $(#[$about:meta])*
        $group:ident {
            $(
                $(#[doc = $help:literal])+
                $([$attribute:meta])?
                $field:ident: $type:ty => $(.$method:ident($($argument:expr),*))*;
            )*
        }
        $(and { $($extra:tt)* })?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $group {
            $(
                $(#[doc = $help])+
                $(#[$attribute])?
                pub $field: Option<$type>,
            )*
            $($($extra)*)?
        }

        impl $crate::settings::Group for $group {
            fn describe() -> Vec<$crate::settings::Setting> {
                vec![$($crate::settings::Setting::new::<$type>(stringify!($field), concat!($($help),+))$(.$method($($argument),*))*),*]
            }

            fn set(&mut self, name: &str, text: &std::ffi::OsStr) -> Option<Result<(), String>> {
                $(
                    if name == stringify!($field).replace('_', "-") {
                        return Some(<$type as $crate::settings::Value>::parse(text).map(|value| self.$field = Some(value)));
                    }
                )*
                None
            }

            fn read<'de, A: serde::de::MapAccess<'de>>(&mut self, name: &str, mode: &mut A) -> Result<bool, A::Error> {
                $(
                    if name == stringify!($field).replace('_', "-") {
                        self.$field = mode.next_value()?;
                        return Ok(true);
                    }
                )*
                Ok(false)
            }

            fn or(self, other: Self) -> Self {
                #[allow(clippy::needless_update)]
                $group { $($field: self.$field.or(other.$field),)* ..self }
            }
        }
    };
}
pub(crate) use settings;
