//! The first message of an engine.

use std::io::Read;

use sluice_engine::{
    session::{FromWorker, Hello, LONGEST_HELLO},
    wire::read_record_within,
};

/// Reads what an engine says first.
///
/// # Errors
/// When that is not the greeting of an engine of this version: why, in words.
pub fn greeting(output: &mut impl Read) -> Result<(), String> {
    let own = Hello::own();
    match read_record_within(output, LONGEST_HELLO) {
        Ok(Some(FromWorker::Hello(hello))) if hello == own => Ok(()),
        Ok(Some(FromWorker::Hello(hello))) => Err(format!(
            "the engine is of version {} ({}), and this program of version {} ({})",
            hello.version, hello.source, own.version, own.source
        )),
        Ok(Some(_)) => Err("it does not begin with a greeting".to_owned()),
        Ok(None) => Err("it says nothing".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::wire::write_record;

    use super::*;

    #[test]
    fn only_an_engine_of_this_version_greets() {
        let said = |message: &FromWorker| {
            let mut bytes = Vec::new();
            write_record(&mut bytes, message).unwrap();
            greeting(&mut bytes.as_slice())
        };
        assert_eq!(said(&FromWorker::Hello(Hello::own())), Ok(()));
        let older = Hello { version: "0.0.1".to_owned(), ..Hello::own() };
        let why = said(&FromWorker::Hello(older)).unwrap_err();
        assert!(why.starts_with("the engine is of version 0.0.1 ("), "{why}");
        let other = Hello { source: "another".to_owned(), ..Hello::own() };
        assert!(said(&FromWorker::Hello(other)).unwrap_err().contains("(another)"));
        assert!(said(&FromWorker::Alive).is_err());
        assert_eq!(greeting(&mut [].as_slice()), Err("it says nothing".to_owned()));
        assert!(greeting(&mut "Welcome to this computer".as_bytes()).is_err());
    }
}
