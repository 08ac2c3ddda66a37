//! The other computer: short scripts for its `sh`, which ssh runs.

use std::{
    io::{self, Read, Write},
    iter,
    process::{Child, Command, Output, Stdio},
};

use crate::engines::greeting;

/// Prints a line for each file: its hash, with whatever program the computer has, or `-` if there is no such file.
const SHA256: &str = "for file do if ! test -f \"$file\"; then echo -; \
     elif command -v sha256sum >/dev/null; then sha256sum <\"$file\"; \
     else shasum -a 256 <\"$file\"; fi || exit; done";
/// Writes what comes into one file, and cuts that into files with names and sizes: `head` may read more of a pipe than it writes.
/// Of an interrupted connection, those that have arrived whole are kept.
const APART: &str = "all=$1; shift; trap 'rm -f \"$all\"' EXIT; cat >\"$all\" || exit; from=1; \
     while test $# -gt 0; do : >\"$1\" || exit; \
     test \"$2\" -eq 0 || tail -c +\"$from\" \"$all\" | head -c \"$2\" >\"$1\" || exit; \
     from=$((from + $2)); shift 2; done";
/// Bytes that are sent at once.
const CHUNK: usize = 256 << 10;

/// Why a step on the other computer fails.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// ssh is not there.
    #[error("{program} cannot be started: {cause}")]
    NotStarted { program: String, cause: io::Error },
    /// It could not be reached, or a script failed.
    #[error("{step} on {host} failed: {words}")]
    Failed { step: &'static str, host: String, words: String },
    /// The connection broke.
    #[error("the connection to {host} broke: {cause}")]
    Broken { host: String, cause: io::Error },
}

impl RemoteError {
    /// What to do.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "Install OpenSSH, or name another program with --ssh.",
            Self::Failed { .. } => {
                "Try to log in with ssh yourself. The folder of --to has to be one that you may write to there."
            }
            Self::Broken { .. } => "Try again. What was copied is not used until it is whole.",
        }
    }
}

/// A computer that ssh reaches.
pub struct Remote {
    /// The program and its options.
    pub ssh: Vec<String>,
    /// The computer.
    pub host: String,
}

impl Remote {
    /// The system and the processor, as `uname -sm` says.
    pub fn kind(&self) -> Result<String, RemoteError> {
        self.ask("looking what it is", "uname -sm", &[])
    }

    /// The whole path of a folder, which is made if it is missing.
    pub fn folder(&self, path: &str) -> Result<String, RemoteError> {
        let path = path.strip_prefix("~/").unwrap_or(path);
        self.ask("making the folder", "cd && mkdir -p -- \"$1\" && cd -- \"$1\" && pwd", &[path])
    }

    /// The path of a folder without links, as a program in it sees it.
    pub fn without_links(&self, folder: &str) -> Result<String, RemoteError> {
        self.ask("finding the folder", "cd -- \"$1\" && pwd -P", &[folder])
    }

    /// Makes folders that are missing.
    pub fn make_folders(&self, paths: &[&str]) -> Result<(), RemoteError> {
        self.ask("making the folders", "mkdir -p -- \"$@\"", paths).map(drop)
    }

    /// The hashes of files that are there.
    pub fn sha256(&self, paths: &[&str]) -> Result<Vec<Option<String>>, RemoteError> {
        let words = self.ask("reading the files", SHA256, paths)?;
        let hash = |line: &str| {
            let word = line.split_whitespace().next()?;
            (word != "-").then(|| word.to_owned())
        };
        Ok(words.lines().map(hash).chain(iter::repeat(None)).take(paths.len()).collect())
    }

    /// Makes a file that may be run the one with this name.
    pub fn put_in_place(&self, part: &str, path: &str) -> Result<(), RemoteError> {
        let script = "chmod 755 \"$1\" && mv -f \"$1\" \"$2\"";
        self.ask("putting the file in its place", script, &[part, path]).map(drop)
    }

    /// Gives files that are named like these, but end in `.part`, their own names.
    pub fn end_parts(&self, paths: &[&str]) -> Result<(), RemoteError> {
        let script = "for file do mv -f \"$file.part\" \"$file\" || exit; done";
        self.ask("putting the files in their places", script, paths).map(drop)
    }

    /// Removes files.
    pub fn remove(&self, paths: &[&str]) -> Result<(), RemoteError> {
        self.ask("removing the files", "rm -f \"$@\"", paths).map(drop)
    }

    /// Whether the program runs with these arguments and nothing to read; if not, what it says.
    pub fn runs(&self, path: &str, arguments: &[&str]) -> Result<Result<(), String>, RemoteError> {
        let script = "\"$@\" </dev/null 2>&1 >/dev/null; echo \"ended with $?\"";
        let words = self.ask("starting the program", script, &[&[path], arguments].concat())?;
        Ok(fine(&words))
    }

    /// Whether the engine that this path leads to greets as one of this version; if not, why.
    pub fn greets(&self, path: &str) -> Result<Result<(), String>, RemoteError> {
        let script = "\"$1\" worker </dev/null; echo \"ended with $?\" >&2";
        let child = self.start(script, &[path], Stdio::null())?;
        let output = self.end(child)?;
        let (said, words) = (output.stdout.clone(), String::from_utf8_lossy(&output.stderr).into_owned());
        self.checked("starting the engine", output)?;
        Ok(fine(words.trim_end()).and_then(|()| greeting(&mut said.as_slice())))
    }

    /// Writes a file. `told` hears of each number of bytes that was sent.
    pub fn write(
        &self,
        path: &str,
        from: &mut impl Read,
        told: &mut impl FnMut(usize),
    ) -> Result<(), RemoteError> {
        self.feed("writing the file", "cat >\"$1\"", &[path], from, told)
    }

    /// Writes files with these names and sizes, whose bytes follow on each other. `all` is a file for the time of that.
    pub fn write_apart(
        &self,
        all: &str,
        files: &[(String, u64)],
        from: &mut impl Read,
        told: &mut impl FnMut(usize),
    ) -> Result<(), RemoteError> {
        let sizes: Vec<String> = files.iter().map(|(_, bytes)| bytes.to_string()).collect();
        let pairs = files.iter().zip(&sizes).flat_map(|((name, _), size)| [name.as_str(), size.as_str()]);
        let arguments: Vec<&str> = iter::once(all).chain(pairs).collect();
        self.feed("writing the files", APART, &arguments, from, told)
    }

    /// Runs a script that reads what is sent.
    fn feed(
        &self,
        step: &'static str,
        script: &str,
        arguments: &[&str],
        from: &mut impl Read,
        told: &mut impl FnMut(usize),
    ) -> Result<(), RemoteError> {
        let mut child = self.start(script, arguments, Stdio::piped())?;
        let sent = child.stdin.take().map_or(Ok(()), |pipe| send(from, pipe, told));
        let output = self.end(child)?;
        // The words of the other computer explain a broken pipe.
        self.checked(step, output)?;
        sent.map_err(|cause| RemoteError::Broken { host: self.host.clone(), cause })
    }

    /// The command of an engine there.
    pub fn engine(&self, path: &str) -> String {
        let quoted = quote(path);
        let words = self.ssh.iter().map(String::as_str).chain(["-T", &self.host, &quoted, "worker"]);
        words.map(quote).collect::<Vec<_>>().join(" ")
    }

    fn ask(&self, step: &'static str, script: &str, arguments: &[&str]) -> Result<String, RemoteError> {
        let child = self.start(script, arguments, Stdio::null())?;
        let output = self.end(child)?;
        Ok(self.checked(step, output)?.trim_end().to_owned())
    }

    /// Runs a script with `sh`, whatever shell the user has there.
    fn start(&self, script: &str, arguments: &[&str], input: Stdio) -> Result<Child, RemoteError> {
        let words = ["sh", "-c", script, "sluice"].into_iter().chain(arguments.iter().copied());
        let line = words.map(quote).collect::<Vec<_>>().join(" ");
        let (program, options) =
            self.ssh.split_first().map_or(("ssh", &[][..]), |(first, rest)| (first, rest));
        let mut ssh = Command::new(program);
        ssh.args(options).args(["-T", &self.host]).arg(line);
        let child = ssh.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        child.map_err(|cause| RemoteError::NotStarted { program: program.to_owned(), cause })
    }

    fn end(&self, child: Child) -> Result<Output, RemoteError> {
        child.wait_with_output().map_err(|cause| RemoteError::Broken { host: self.host.clone(), cause })
    }

    fn checked(&self, step: &'static str, output: Output) -> Result<String, RemoteError> {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        let words = String::from_utf8_lossy(&output.stderr).trim().replace(['\r', '\n'], " ");
        let words = if words.is_empty() { output.status.to_string() } else { words };
        Err(RemoteError::Failed { step, host: self.host.clone(), words })
    }
}

/// What a program has said, and in the last line how it ended.
fn fine(words: &str) -> Result<(), String> {
    let (said, end) = words.rsplit_once('\n').unwrap_or(("", words));
    let said = said.trim();
    match (end, said.is_empty()) {
        ("ended with 0", _) => Ok(()),
        (_, false) => Err(said.replace('\n', " ")),
        (_, true) => Err(end.to_owned()),
    }
}

/// Sends the bytes, and says how many.
fn send(from: &mut impl Read, mut pipe: impl Write, told: &mut impl FnMut(usize)) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return pipe.flush();
        }
        pipe.write_all(&buffer[..count])?;
        told(count);
    }
}

/// In single quotes where that is needed, which every shell understands.
fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+=,".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A computer without a connection: a script in the place of ssh runs what it is given.
    #[cfg(unix)]
    fn here() -> Remote {
        let words = ["sh", "-c", "shift 2; exec sh -c \"$*\"", "ssh"].map(str::to_owned);
        Remote { ssh: words.into(), host: "here".to_owned() }
    }

    #[cfg(unix)]
    #[test]
    fn files_that_are_sent_together_come_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (all, long) = (path("all"), vec![7_u8; 300_000]);
        let contents: [(String, &[u8]); 4] = [
            (path("it's one"), b"one\nof\0lines".as_slice()),
            (path("empty"), b"".as_slice()),
            (path("long"), long.as_slice()),
            (path("last"), b"\n".as_slice()),
        ];
        let files: Vec<(String, u64)> =
            contents.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64)).collect();
        let bytes = contents.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>().concat();
        let mut told = 0;
        here().write_apart(&all, &files, &mut bytes.as_slice(), &mut |count: usize| told += count).unwrap();
        assert_eq!(told, bytes.len());
        for (name, bytes) in contents {
            assert!(std::fs::read(&name).unwrap() == bytes, "{name}");
        }
        assert!(!std::path::Path::new(&all).exists());
    }

    #[test]
    fn an_engine_s_command_comes_apart_as_it_was_made() {
        let words = ["ssh", "-i", "my key"].map(str::to_owned);
        let remote = Remote { ssh: words.into(), host: "me@attic".to_owned() };
        let command = remote.engine("/home/it's me/sluice");
        let split = shlex::split(&command).unwrap();
        assert_eq!(split[..5], ["ssh", "-i", "my key", "-T", "me@attic"]);
        // The shell there splits the rest once more.
        assert_eq!(shlex::split(&split[5..].join(" ")).unwrap(), ["/home/it's me/sluice", "worker"]);
        let plain = Remote { ssh: vec!["ssh".to_owned()], host: "attic".to_owned() };
        assert_eq!(
            plain.engine("/home/me/.local/bin/sluice"),
            "ssh -T attic /home/me/.local/bin/sluice worker"
        );
    }
}
