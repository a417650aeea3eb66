//! Commands as they can be pasted into a shell.

/// A word that the shell hands over as it is.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_the_shell_would_take_them_apart() {
        assert_eq!(quoted("data/a-1.csv"), "data/a-1.csv");
        assert_eq!(quoted("größe"), "größe");
        for word in ["", "two words", ";", "it's", "$HOME", "a\\b", "a;b&c|d", "*?[x]", "\"q\"", "~", "#", "!x", "(a)"]
        {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
