//! Messages that name settings and actions, in the terms of each front end.
//!
//! The engine does not know what its user types. Where a message needs a setting, it writes ⟨time⟩ for what the user would
//! type, ⟨latent-dim=3⟩ with a value, and ⟪time⟫ for the setting as a noun. ⟨priors=noise⟩ is a prior. Actions are written the same way: ⟨resume=DIR⟩. The
//! program turns these into flags and commands, and Python into parameters and methods.

/// How a front end names settings and actions.
pub trait Naming {
    /// What a user types for a setting or an action, with an optional value.
    fn typed(&self, name: &str, value: Option<&str>) -> String;
    /// A setting as a noun.
    fn noun(&self, name: &str) -> String;
}

/// Names of settings as in config.toml.
pub struct Plain;

impl Naming for Plain {
    fn typed(&self, name: &str, value: Option<&str>) -> String {
        match (name, value) {
            ("priors", Some(prior)) => format!("`[priors] {prior}`"),
            (name, Some(value)) => format!("`{name} = {value}`"),
            (name, None) => format!("`{name}`"),
        }
    }

    fn noun(&self, name: &str) -> String {
        format!("`{name}`")
    }
}

/// A setting with a value, as marked in the engine's messages. Brackets in the value would end the mark early.
pub fn with_value(name: &str, value: &str) -> String {
    format!("⟨{name}={}⟩", value.replace(['⟨', '⟩', '⟪', '⟫'], "?"))
}

/// A word, quoted so that a shell passes it on unchanged.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A name as it is typed in a list, whose commas separate names.
pub fn listed(name: &str) -> String {
    match name.contains(',') || name.trim_start().starts_with('"') {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    }
}

/// A message of the engine in the terms of a front end.
pub fn render(sentence: &str, naming: &dyn Naming) -> String {
    let mut rendered = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(start) = rest.find(['⟨', '⟪']) {
        let is_noun = rest[start..].starts_with('⟪');
        let (open, close) = if is_noun { ('⟪', '⟫') } else { ('⟨', '⟩') };
        let inside = &rest[start + open.len_utf8()..];
        // A bracket that is never closed comes from the user.
        let Some(end) = inside.find(close) else { break };
        rendered.push_str(&rest[..start]);
        let (name, value) = match inside[..end].split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (&inside[..end], None),
        };
        rendered.push_str(&if is_noun { naming.noun(name) } else { naming.typed(name, value) });
        rest = &inside[end + close.len_utf8()..];
    }
    rendered.push_str(rest);
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_what_the_user_types() {
        let sentence =
            format!("⟪time⟫ is equal everywhere; leave ⟨time⟩ out, or give {}", with_value("without", "a⟩b"));
        assert_eq!(render(&sentence, &Plain), "`time` is equal everywhere; leave `time` out, or give `without = a?b`");
        for own in ["a ⟨ b", "⟪", "⟩ x ⟫", ""] {
            assert_eq!(render(own, &Plain), own);
        }
    }
}
