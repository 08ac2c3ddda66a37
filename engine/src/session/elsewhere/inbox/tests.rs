//! What a caller may send, and what not.

use super::*;
use crate::{
    output::Output,
    request::{AdapterUse, SourceImage},
    session::command::JobId,
};

const VISIT: &str = "0123456789abcdef0123456789abcdef";

fn sent(bytes: &[u8], label: &str) -> (String, String) {
    let mut hash = Sha256::new();
    hash.update(bytes);
    let hash = digits(hash);
    (format!("{hash}-{label}"), hash)
}

/// Sends a file in two chunks.
fn put(inbox: &mut Inbox, bytes: &[u8], label: &str) -> String {
    let (name, hash) = sent(bytes, label);
    assert_eq!(inbox.begin(name.clone(), bytes.len() as u64, hash).unwrap(), None);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for chunk in [first, second].into_iter().filter(|chunk| !chunk.is_empty()) {
        assert_eq!(inbox.receive(chunk).unwrap(), None);
    }
    name
}

fn job(request: Request) -> Command {
    Command::Generate(Box::new(Job::new(JobId(1), request)))
}

fn with_source(path: impl Into<PathBuf>) -> Request {
    Request {
        source: Some(SourceImage { path: path.into(), ..SourceImage::default() }),
        ..Request::default()
    }
}

fn refusal(inbox: &Inbox, command: Command) -> String {
    match *inbox.inward(command).unwrap_err() {
        Event::Failed { failure, .. } | Event::NotPlanned { failure, .. } => failure.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_that_were_sent_have_a_path_and_go_with_the_visit() {
    let data = tempfile::tempdir().unwrap();
    let mut inbox = Inbox::open(Some(data.path()), VISIT).unwrap();
    let name = put(&mut inbox, b"a fox", "fox.png");
    put(&mut inbox, b"", "empty");
    let Ok(Command::Generate(job)) = inbox.inward(job(with_source(marked(&name)))) else { panic!() };
    let path = job.request.source.as_ref().unwrap().path.clone();
    assert_eq!(fs::read(&path).unwrap(), b"a fox");

    let mut event = Event::Replanned { job: JobId(1), reason: format!("{} is large", path.display()) };
    inbox.names().outward(&mut event);
    assert_eq!(event, Event::Replanned { job: JobId(1), reason: format!("{MARK}{name} is large") });

    drop(inbox);
    let mut inbox = Inbox::open(Some(data.path()), VISIT).unwrap();
    assert_eq!(inbox.files().len(), 2, "the next worker has them");
    inbox.drop_file(&name);
    assert!(!path.exists());
    inbox.remove();
    assert_eq!(fs::read_dir(data.path().join(VISITS)).unwrap().count(), 0);
}

#[test]
fn paths_of_this_computer_are_not_for_callers() {
    let data = tempfile::tempdir().unwrap();
    let inbox = Inbox::open(Some(data.path()), VISIT).unwrap();
    for path in ["/etc/passwd", "sluice-sent:../../x", "sluice-sent:/etc/passwd", "sluice-sent:", ""] {
        let message = refusal(&inbox, job(with_source(path)));
        assert!(message.contains("not sent"), "{path}: {message}");
    }
    let mut written = Job::new(JobId(1), Request::default());
    written.dump = Some("/tmp/dump".into());
    assert!(refusal(&inbox, Command::Generate(Box::new(written))).contains("cannot be written"));
    let adapters = vec![AdapterUse { path: marked("x"), weight: 1.0 }];
    let message = refusal(&inbox, job(Request { adapters, ..Request::default() }));
    assert!(message.contains("does not have"), "{message}");

    let output = Some(Output::File("/tmp/x.png".into()));
    let journal = Some("../../x.journal".into());
    let unusual = Job { output, journal, ..Job::new(JobId(1), Request::default()) };
    let Ok(Command::Generate(taken)) = inbox.inward(Command::Generate(Box::new(unusual))) else { panic!() };
    assert_eq!((taken.output, taken.journal), (None, None));
    let named = Job { journal: Some("1-2-3.journal".into()), ..Job::new(JobId(1), Request::default()) };
    let Ok(Command::Generate(taken)) = inbox.inward(Command::Generate(Box::new(named))) else { panic!() };
    assert!(taken.journal.unwrap().starts_with(data.path()));
}

#[test]
fn files_that_are_not_as_announced_are_not_kept() {
    let data = tempfile::tempdir().unwrap();
    let mut inbox = Inbox::open(Some(data.path()), VISIT).unwrap();
    let (name, hash) = sent(b"a fox", "fox.png");
    assert_eq!(inbox.begin(name.clone(), 5, hash.clone()).unwrap(), None);
    assert_eq!(inbox.receive(b"a fux").unwrap(), Some(name.clone()));
    let message = refusal(&inbox, job(with_source(marked(&name))));
    assert!(message.contains("changed on the way"), "{message}");

    assert_eq!(inbox.begin(name.clone(), u64::MAX, hash.clone()).unwrap(), None);
    assert_eq!(inbox.receive(b"a fox").unwrap(), None);
    inbox.abandon();
    assert!(matches!(inbox.receive(b"more"), Err(ServeError::File)), "nothing is announced");
    assert_eq!(inbox.begin(name.clone(), 3, hash.clone()).unwrap(), None);
    assert!(matches!(inbox.begin(name.clone(), 3, hash.clone()), Err(ServeError::File)));
    assert!(matches!(inbox.receive(b"a fox"), Err(ServeError::File)), "more than announced");
    inbox.abandon();
    for wrong in ["fox.png", "../fox.png", ""] {
        assert!(matches!(inbox.begin(wrong.to_owned(), 3, hash.clone()), Err(ServeError::File)));
    }
    assert!(matches!(inbox.begin(name, 3, "0".to_owned()), Err(ServeError::File)));
    assert!(inbox.files().is_empty());
}

#[test]
fn visits_have_plain_names_and_old_ones_go() {
    let data = tempfile::tempdir().unwrap();
    for wrong in ["", "..", "../0123456789abcdef0123456789abc", &VISIT.to_uppercase()] {
        assert!(matches!(Inbox::open(Some(data.path()), wrong), Err(ServeError::NoVisit)), "{wrong}");
    }
    let old = data.path().join(VISITS).join("f".repeat(32));
    fs::create_dir_all(&old).unwrap();
    let lock = File::create(old.join(LOCK)).unwrap();
    lock.set_modified(SystemTime::now() - 2 * OLD).unwrap();
    lock.lock().unwrap();
    drop(Inbox::open(Some(data.path()), VISIT).unwrap());
    assert!(old.exists(), "another worker uses it");
    drop(lock);
    drop(Inbox::open(Some(data.path()), VISIT).unwrap());
    assert!(!old.exists());
    assert!(data.path().join(VISITS).join(VISIT).exists());
}
