//! Why a file is not accepted.

/// A file that breaks a rule of "The file" of the page, or a file that breaks a rule of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// `format`: the file is not a certificate, for this reason.
    NotACertificate(String),
    /// The certificate breaks the rule with this code, in this way.
    Refused(&'static str, String),
}

pub type Result<T> = std::result::Result<T, Rejection>;

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rejection::NotACertificate(reason) => write!(f, "not a certificate: {reason}"),
            Rejection::Refused(rule, reason) => write!(f, "refused: {rule}: {reason}"),
        }
    }
}

/// Says that the file is not a certificate.
pub fn malformed<T>(reason: impl Into<String>) -> Result<T> {
    Err(Rejection::NotACertificate(reason.into()))
}

/// `need!(condition, reason...)`: the file is not a certificate unless the condition holds.
/// `need!(let PATTERN = value, reason...)`: nor unless the value has this form; the pattern's names are then bound.
macro_rules! need {
    (let $pattern:pat = $value:expr, $($reason:tt)+) => {
        let $pattern = $value else { return Err($crate::rejection::Rejection::NotACertificate(format!($($reason)+))) };
    };
    ($condition:expr, $($reason:tt)+) => {
        if !$condition { return Err($crate::rejection::Rejection::NotACertificate(format!($($reason)+))) }
    };
}

/// `rule!(code, condition, reason...)`: the certificate breaks the rule with this code unless the condition holds.
macro_rules! rule {
    ($rule:expr, $condition:expr, $($reason:tt)+) => {
        if !$condition { return Err($crate::rejection::Rejection::Refused($rule, format!($($reason)+))) }
    };
}

pub(crate) use {need, rule};
