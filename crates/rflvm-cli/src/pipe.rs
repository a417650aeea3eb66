//! `--out -`: the file that a command is asked for goes to standard output, and nothing else does. The command writes it into a temporary
//! folder; files that it would write next to it are not kept.

use crate::args::{Command, ReplyArgs};
use crate::failure::Failure;
use rflvm::internal::atomic::{plain_reason, remedy};
use rflvm::internal::error::SpecError;
use rflvm_study::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What a command would write to.
enum Out<'a> {
    /// One file, with an extension that the command accepts.
    File(&'a mut PathBuf, &'static str, &'a mut ReplyArgs),
    /// A file with a default.
    Default(&'a mut Option<PathBuf>, &'static str, &'a mut ReplyArgs),
    /// Several files, and why.
    Several(&'a Path, &'static str),
    /// Nothing, or standard output anyway.
    Nothing,
}

/// A file on its way to standard output.
pub struct Pipe {
    dir: PathBuf,
    file: PathBuf,
}

impl Pipe {
    /// Redirects a command that was asked for standard output.
    pub fn lay(command: &mut Command) -> Result<Option<Pipe>, Failure> {
        let (file, extension, reply) = match of(command) {
            Out::File(file, extension, reply) if is_stdout(file) => (file, extension, reply),
            Out::Default(Some(file), extension, reply) if is_stdout(file) => (file, extension, reply),
            Out::Several(file, why) if is_stdout(file) => return Err(refused(why).into()),
            _ => return Ok(None),
        };
        if reply.json {
            return Err(refused("--json prints to standard output too; omit one of the two").into());
        }
        reply.is_piped = true;
        let name = format!("rflvm-{}-{:x}", std::process::id(), rflvm_study::config::fresh_seed());
        let dir = std::env::temp_dir().join(name);
        fs::create_dir_all(&dir).map_err(|error| failed(&dir, &error))?;
        let pipe = Pipe { file: dir.join(format!("out.{extension}")), dir };
        file.clone_from(&pipe.file);
        Ok(Some(pipe))
    }

    /// Prints the file.
    pub fn print(self) -> Result<(), Failure> {
        let mut file = File::open(&self.file).map_err(|error| failed(&self.file, &error))?;
        io::copy(&mut file, &mut io::stdout().lock()).map(|_| ()).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::PipeClosed,
            _ => Failure::Output { reason: plain_reason(&error), remedy: remedy(&error) },
        })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // What is left in a folder for temporary files is removed with it.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn refused(rule: &str) -> SpecError {
    SpecError::Setting { setting: "out", value: "-, standard output".into(), rule: rule.into() }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::unwritten(path, error)
}

const FOLDER: &str = "the results are several files; name a folder";
const DRAWN: &str = "--draws writes several files; name the first part of their names, such as drawn.csv";

fn of(command: &mut Command) -> Out<'_> {
    match command {
        Command::Demo(args) => Out::Several(&args.out, FOLDER),
        Command::Fit(args) | Command::Map(args) => Out::Several(&args.out, FOLDER),
        Command::Compare(args) => Out::Several(&args.out, FOLDER),
        Command::Simulate(args) => Out::Several(&args.out, FOLDER),
        Command::Impute(args) => drawn(args.draws, &mut args.out, &mut args.reply),
        Command::Forecast(args) => drawn(args.draws, &mut args.out, &mut args.reply),
        Command::Predict(args) => drawn(args.draws, &mut args.out, &mut args.reply),
        Command::Transform(args) => match (args.draws, &args.draws_out, &mut args.out) {
            (Some(_), None, Some(out)) => Out::Several(out, "--draws writes a second file; name it with --draws-out"),
            (_, _, out) => Out::Default(out, "csv", &mut args.reply),
        },
        Command::Check(args) => Out::Default(&mut args.out, "csv", &mut args.reply),
        Command::Distances(args) => Out::Default(&mut args.out, "csv", &mut args.reply),
        Command::Neighbors(args) => Out::Default(&mut args.out, "csv", &mut args.reply),
        Command::Effects(args) => Out::Default(&mut args.out, "csv", &mut args.reply),
        Command::Differences(args) => Out::Default(&mut args.out, "csv", &mut args.reply),
        Command::Groups(args) => Out::Default(&mut args.out, "csv", &mut args.reply),
        Command::Kernel(args) => Out::File(&mut args.out, "csv", &mut args.reply),
        Command::Plot(args) => Out::File(&mut args.out, "svg", &mut args.reply),
        Command::Report(args) => Out::Default(&mut args.out, "html", &mut args.reply),
        Command::Export(args) => Out::File(&mut args.out, "csv", &mut args.reply),
        Command::Doctor(_) | Command::Resume(_) | Command::Summary(_) | Command::Completions { .. } | Command::Man => {
            Out::Nothing
        }
    }
}

/// A command that writes one file, or several tables if draws are requested.
fn drawn<'a>(draws: Option<usize>, out: &'a mut Option<PathBuf>, reply: &'a mut ReplyArgs) -> Out<'a> {
    match (draws, out) {
        (Some(_), Some(out)) => Out::Several(out, DRAWN),
        (_, out) => Out::Default(out, "csv", reply),
    }
}
