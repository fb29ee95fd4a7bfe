//! The command: what is printed, and the exit statuses.

mod toy;

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_certcheck")).args(arguments).output().unwrap()
}

fn written(name: &str, bytes: &[u8]) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn accepted_refused_and_no_certificate() {
    let mut toy = toy::Toy::new();
    let accepted = written("accepted.cert", &toy.file());
    let folder =
        |name: &str| std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_string();
    let (same, other) = (folder("same"), folder("other"));
    [&same, &other].into_iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let system = written("same/system.smt2", toy.system.as_bytes());
    written("other/system.smt2", toy.system.replace('3', "4").as_bytes());
    toy.claims = toy.claims.replace("(witness 3)", "(witness 3 2)");
    let refused = written("refused.cert", &toy.file());

    let output = run(&[&accepted, "--systems", &same, "--threads", "2", "--memory", "64MiB"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().filter(|line| line.starts_with("proved: ")).count(), 3);
    assert!(lines.lines().last().unwrap().starts_with("accepted: "), "{lines}");

    let output = run(&[&refused]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("refused: witness: "), "{}", text(&output.stdout));
    assert!(!text(&output.stdout).contains("proved"));

    let output = run(&[&accepted, "--systems", &other]);
    assert_eq!((output.status.code(), text(&output.stdout).starts_with("refused: system: ")), (Some(1), true));
    assert_eq!(run(&[&accepted, "--system", &system]).status.code(), Some(0));
    let other = format!("{other}/system.smt2");
    for wrong in [other.as_str(), &accepted, "gone"] {
        let output = run(&[&accepted, "--system", wrong]);
        assert_eq!(
            (output.status.code(), text(&output.stdout).starts_with("refused: system: ")),
            (Some(1), true),
            "{wrong}"
        );
    }
    let output = run(&[&accepted, "--systems", "gone"]);
    assert_eq!((output.status.code(), text(&output.stdout).starts_with("refused: system: ")), (Some(1), true));
    let output = run(&[&accepted, "--memory", "1MiB"]);
    assert_eq!((output.status.code(), text(&output.stdout).starts_with("refused: memory: ")), (Some(1), true));
    let output = run(&[&system]);
    assert_eq!((output.status.code(), text(&output.stdout).starts_with("not a certificate: ")), (Some(2), true));
    for nothing in ["no such file", "/dev/zero", env!("CARGO_TARGET_TMPDIR")] {
        let output = run(&[nothing]);
        assert_eq!(
            (output.status.code(), text(&output.stdout).starts_with("not a certificate: ")),
            (Some(2), true),
            "{nothing}"
        );
    }
}

#[test]
fn wrong_commands_end_with_status_2_and_help() {
    for arguments in [
        &[][..],
        &["--nothing"],
        &["a", "b"],
        &["a", "--memory"],
        &["a", "--memory", "much"],
        &["a", "--threads", "0"],
        &["a", "--systems"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("usage: certcheck"), "{arguments:?}");
    }
    assert!(text(&run(&["--help"]).stdout).contains("exit status"));
    assert!(text(&run(&["--version"]).stdout).starts_with("certcheck 3."));
}
