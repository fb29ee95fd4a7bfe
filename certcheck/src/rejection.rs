//! Why a file is not accepted.

/// The broken rule of the page, and the reason. The rule `format` is the section "The file" of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    pub rule: &'static str,
    pub reason: String,
}

pub type Result<T> = std::result::Result<T, Rejection>;

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.rule {
            "format" => write!(f, "not a certificate: {}", self.reason),
            rule => write!(f, "refused: {rule}: {}", self.reason),
        }
    }
}

/// `rule!(code, condition, reason...)`: the file breaks the rule with this code unless the condition holds.
macro_rules! rule {
    ($rule:expr, $condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err($crate::rejection::Rejection { rule: $rule, reason: format!($($reason)+) });
        }
    };
}

/// `need!(condition, reason...)`: the file is no certificate unless the condition holds.
/// `need!(let PATTERN = value, reason...)`: nor unless the value has this form; the pattern's names are then bound.
macro_rules! need {
    (let $pattern:pat = $value:expr, $($reason:tt)+) => {
        let $pattern = $value else {
            return Err($crate::rejection::Rejection { rule: "format", reason: format!($($reason)+) });
        };
    };
    ($condition:expr, $($reason:tt)+) => { $crate::rejection::rule!("format", $condition, $($reason)+) };
}

pub(crate) use {need, rule};
