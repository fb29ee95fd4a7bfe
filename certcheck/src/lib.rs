//! An independent checker of Proofka's certificates. `docs/certificates.md` of Proofka ("the page" in comments) is its
//! only source.
#![forbid(unsafe_code)]

mod archive;
mod batch;
mod check;
mod claims;
mod evidence;
mod faults;
mod memory;
mod part;
mod rejection;
mod sexp;
mod states;
mod steps;
mod terms;

pub use check::{check, Options, Report};
pub use memory::{default_limit, parse_bytes};
pub use rejection::Rejection;
pub use steps::Share;
