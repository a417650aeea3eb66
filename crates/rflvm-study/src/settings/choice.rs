//! Settings that are one of a few words.

/// Defines an enum of words, each with its meaning, as the type of a setting.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident { $($(#[doc = $help:literal])+ $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(
                $(#[doc = $help])+
                #[serde(rename = $word)]
                $variant,
            )*
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($name::$variant => $word),* })
            }
        }

        impl $crate::settings::Value for $name {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Choice;
            const CHOICES: &'static [(&'static str, &'static str)] = &[$(($word, concat!($($help),+))),*];

            fn parse(text: &std::ffi::OsStr) -> Result<Self, String> {
                match text.to_str().unwrap_or_default() {
                    $($word => Ok($name::$variant),)*
                    _ => Err(format!("choose one of {}", [$($word),*].join(", "))),
                }
            }
        }
    };
}
pub(crate) use choices;
