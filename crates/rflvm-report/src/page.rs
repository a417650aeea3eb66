//! The file: HTML, style, script and data in one.
//!
//! Names of rows and columns come from outside. They appear only inside the JSON, where `<` is escaped, and the script writes them as
//! text. As a second line of defence, a content-security policy allows only the style and the script that carry a nonce, and no request at
//! all.

use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

const FRAME: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");

/// In the order in which they are needed; together they are one script.
const SCRIPT: [&str; 14] = [
    include_str!("../page/dom.js"),
    include_str!("../page/data.js"),
    include_str!("../page/colour.js"),
    include_str!("../page/chart.js"),
    include_str!("../page/view.js"),
    include_str!("../page/plane.js"),
    include_str!("../page/paint.js"),
    include_str!("../page/map.js"),
    include_str!("../page/time.js"),
    include_str!("../page/decode.js"),
    include_str!("../page/kernel.js"),
    include_str!("../page/fit.js"),
    include_str!("../page/trust.js"),
    include_str!("../page/main.js"),
];

/// The page.
pub fn html(title: &str, data: &Value, arrays: &str) -> String {
    let json = data.to_string().replace('<', "\\u003c");
    let nonce = nonce(&json);
    let script = format!("\"use strict\";(() => {{\n{}\n}})();", SCRIPT.join("\n"));
    let parts = [
        ("{title}", escape(title)),
        ("{version}", env!("CARGO_PKG_VERSION").into()),
        ("{style}", STYLE.into()),
        ("{script}", script),
        ("{data}", json),
        ("{arrays}", arrays.into()),
    ];
    // Parts are not searched for the names of others.
    let mut page = String::new();
    let mut rest = FRAME.to_string().replace("{nonce}", &nonce);
    while let Some((place, (name, part))) =
        parts.iter().filter_map(|p| rest.find(p.0).map(|place| (place, p))).min_by_key(|found| found.0)
    {
        page.push_str(&rest[..place]);
        page.push_str(part);
        rest = rest[place + name.len()..].to_string();
    }
    page + &rest
}

/// A word that occurs nowhere in the data, and follows from all of them, so that no name in the table can hold it.
fn nonce(json: &str) -> String {
    let word = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, json).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    };
    (0..).map(word).find(|word| !json.contains(word.as_str())).unwrap_or_default()
}

/// A text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_cannot_leave_the_data() {
        let hostile = "</script><img src=x onerror=alert(1)>{script}{arrays}";
        let page = html(hostile, &json!({ "ids": [hostile] }), "AAAA");
        assert!(!page.contains("<img") && page.matches("</script>").count() == 3, "{page}");
        assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;{script}{arrays}</title>"));
        assert!(page.matches(">AAAA<").count() == 1);
    }

    #[test]
    fn only_what_carries_the_nonce_may_run_and_nothing_is_fetched() {
        let page = html("t", &json!({}), "");
        let nonce = page.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert_eq!(page.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert!(page.contains("default-src 'none'"));
        // The only addresses are names of XML dialects.
        let addresses = page.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
        addresses.for_each(|rest| assert!(rest.starts_with("://www.w3.org/2000/svg"), "{}", &rest[..40]));
        // Text from the data is never parsed as HTML or as a program.
        for parser in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
            assert!(!page.contains(parser), "{parser}");
        }
    }
}
