//! The command line. Exit status: 0 accepted, 1 refused, 2 not a certificate or a wrong command.
#![forbid(unsafe_code)]

use certcheck::{check, default_limit, parse_bytes, Options, Report, Share};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str =
    "usage: certcheck FILE [--system FILE | --systems FOLDER] [--memory SIZE] [--threads N] [--share I/N]

Checks a certificate of Proofka (docs/certificates.md, format version 4).

  --system FILE     the only system must be this file, byte for byte
  --systems FOLDER  each system must be the file of its name in the folder, byte for byte
  --memory SIZE     the most memory to use, like 4GiB or 512MiB (default: 80 % of the free memory)
  --threads N       the number of threads (default: one for each core)
  --share I/N       do one part, from 1 to N, of the work of N processes; the file is accepted if all of them accept
  --version         print the version
  --help            print this text

exit status: 0 accepted, 1 refused (a rule is broken), 2 not a certificate (or a wrong command)";

/// A share, as in 2/8.
fn share(text: &str) -> Option<Share> {
    let (number, of) = text.split_once('/')?;
    let (number, of): (usize, usize) = (number.parse().ok()?, of.parse().ok()?);
    (1 <= number && number <= of && of <= 1_000_000).then_some(Share { index: number - 1, of })
}

/// The file, the texts of the systems, and the other options of a command.
fn arguments(mut words: impl Iterator<Item = String>) -> Result<(PathBuf, Option<PathBuf>, Options<'static>), String> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut options = Options { systems: None, memory: default_limit(), threads, share: None };
    let (mut file, mut systems) = (None, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--system" | "--systems" => systems = Some(value()?.into()),
            "--memory" => options.memory = parse_bytes(&value()?).ok_or("--memory needs a size like 4GiB")?,
            "--threads" => {
                let threads = value()?.parse().ok().filter(|n| (1..=1024).contains(n));
                options.threads = threads.ok_or("--threads needs a number from 1 to 1024")?;
            }
            "--share" => options.share = Some(share(&value()?).ok_or("--share needs two numbers like 1/8")?),
            _ if word.starts_with("--") || file.is_some() => return Err(format!("no such argument: {word}")),
            _ => file = Some(word.into()),
        }
    }
    Ok((file.ok_or("no file was given")?, systems, options))
}

fn print(report: &Report, seconds: f64, options: &Options) {
    report.lines.iter().for_each(|line| println!("{line}"));
    for claim in &report.claims {
        println!("{}: {claim}", if options.share.is_some() { "no objection" } else { "proved" });
    }
    let all = options.share.map_or("accepted".into(), |share| format!("share {} of {}", share.index + 1, share.of));
    let (states, steps, threads) = (report.states, report.steps, options.threads);
    let memory = report.peak_memory.div_ceil(1 << 20);
    println!("{all}: {states} states, {steps} steps in {seconds:.1} s, {threads} threads, at most {memory} MiB");
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if words.iter().any(|word| word == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if words.iter().any(|word| word == "--version") {
        println!("certcheck {} (certificates of version 4)", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let (file, systems, options) = match arguments(words.into_iter()) {
        Ok(arguments) => arguments,
        Err(reason) => {
            eprintln!("{reason}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let (start, options) = (Instant::now(), Options { systems: systems.as_deref(), ..options });
    match check(&file, &options) {
        Ok(report) => {
            print(&report, start.elapsed().as_secs_f64(), &options);
            ExitCode::SUCCESS
        }
        Err(rejection) => {
            println!("{}", rejection.to_string().chars().take(1000).collect::<String>());
            ExitCode::from(if rejection.rule == "format" { 2 } else { 1 })
        }
    }
}
