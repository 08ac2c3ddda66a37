//! The other computer: short scripts for its `sh`, which ssh runs.

use std::{
    io::{self, Read, Write},
    iter,
    process::{Child, Command, Output, Stdio},
};

/// Prints a line for each file: its hash, with whatever program the computer has, or `-` if there is no such file.
const SHA256: &str = "for file do if ! test -f \"$file\"; then echo -; \
     elif command -v sha256sum >/dev/null; then sha256sum <\"$file\"; \
     else shasum -a 256 <\"$file\"; fi || exit; done";
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
        let (said, end) = words.rsplit_once('\n').unwrap_or(("", &words));
        let said = said.trim();
        Ok(match (end, said.is_empty()) {
            ("ended with 0", _) => Ok(()),
            (_, false) => Err(said.replace('\n', " ")),
            (_, true) => Err(end.to_owned()),
        })
    }

    /// Writes a file. `told` hears of each number of bytes that was sent.
    pub fn write(
        &self,
        path: &str,
        from: &mut impl Read,
        told: &mut impl FnMut(usize),
    ) -> Result<(), RemoteError> {
        let step = "writing the file";
        let mut child = self.start("cat >\"$1\"", &[path], Stdio::piped())?;
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
