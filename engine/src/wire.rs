//! Records in pipes and files: a length, a checksum, then the record in MessagePack.
//!
//! Truncated and corrupted records are detected.

use std::io::{self, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

/// The longest record that is read. The largest ones contain the images of a batch.
pub const LONGEST: u64 = 8 << 30;
/// Bytes before a record.
const PREFIX: usize = 12;

/// Why a record cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The other end closed in the middle of a record, or the file ends there.
    #[error("the connection ended in the middle of a message")]
    Truncated,
    /// Not a record, or bytes are missing.
    #[error("a message claims to have {0} bytes, more than any message has")]
    TooLong(u64),
    /// The checksum does not match.
    #[error("a message was damaged in transit")]
    Damaged,
    /// The record is intact, but of another type.
    #[error("a message cannot be parsed: {0}")]
    NotUnderstood(String),
    /// The pipe or the file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes one record and flushes it. Returns the number of bytes.
pub fn write_record(out: &mut impl Write, record: &impl Serialize) -> Result<u64, WireError> {
    let payload =
        rmp_serde::to_vec_named(record).map_err(|error| WireError::NotUnderstood(error.to_string()))?;
    let mut prefix = [0; PREFIX];
    prefix[..8].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    prefix[8..].copy_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    out.write_all(&prefix)?;
    out.write_all(&payload)?;
    out.flush()?;
    Ok((PREFIX + payload.len()) as u64)
}

/// Reads one record; `None` at the end. Never allocates more memory than bytes arrive, whatever length is
/// announced.
pub fn read_record<T: DeserializeOwned>(input: &mut impl Read) -> Result<Option<T>, WireError> {
    read_record_within(input, LONGEST)
}

/// The same for a record of at most so many bytes: what is no record at all is noticed sooner.
pub fn read_record_within<T: DeserializeOwned>(
    input: &mut impl Read,
    longest: u64,
) -> Result<Option<T>, WireError> {
    let mut prefix = Vec::with_capacity(PREFIX);
    input.by_ref().take(PREFIX as u64).read_to_end(&mut prefix)?;
    if prefix.is_empty() {
        return Ok(None);
    }
    let Ok(prefix) = <[u8; PREFIX]>::try_from(prefix) else { return Err(WireError::Truncated) };
    let [l0, l1, l2, l3, l4, l5, l6, l7, c0, c1, c2, c3] = prefix;
    let length = u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
    if length > longest {
        return Err(WireError::TooLong(length));
    }
    let mut payload = Vec::new();
    input.by_ref().take(length).read_to_end(&mut payload)?;
    if payload.len() as u64 != length {
        return Err(WireError::Truncated);
    }
    if crc32fast::hash(&payload) != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Err(WireError::Damaged);
    }
    rmp_serde::from_slice(&payload).map(Some).map_err(|error| WireError::NotUnderstood(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(records: &[(u64, String)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for record in records {
            write_record(&mut bytes, record).unwrap();
        }
        bytes
    }

    fn read(mut bytes: &[u8]) -> (Vec<(u64, String)>, Result<(), WireError>) {
        let mut records = Vec::new();
        loop {
            match read_record(&mut bytes) {
                Ok(Some(record)) => records.push(record),
                Ok(None) => return (records, Ok(())),
                Err(error) => return (records, Err(error)),
            }
        }
    }

    #[test]
    fn records_come_back() {
        let records = [(1, "one".to_owned()), (u64::MAX, String::new()), (3, "x".repeat(100_000))];
        let (found, end) = read(&written(&records));
        assert_eq!(found, records);
        end.unwrap();
    }

    #[test]
    fn a_record_that_was_cut_off_is_noticed_anywhere() {
        let records = [(1, "one".to_owned()), (2, "two".to_owned())];
        let whole = written(&records);
        let first = written(&records[..1]).len();
        for end in 1..whole.len() {
            let (found, result) = read(&whole[..end]);
            assert_eq!(found.len(), usize::from(end >= first), "{end}");
            assert_eq!(result.is_ok(), end == first, "{end}");
        }
    }

    #[test]
    fn an_announced_length_costs_nothing() {
        let mut bytes = (LONGEST - 1).to_le_bytes().to_vec();
        bytes.extend([0; 40]);
        assert!(matches!(read(&bytes).1, Err(WireError::Truncated)));
        bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(read(&bytes).1, Err(WireError::TooLong(u64::MAX))));
    }

    #[test]
    fn a_limit_is_kept() {
        let bytes = written(&[(7, "x".repeat(100))]);
        let read = |longest| read_record_within::<(u64, String)>(&mut bytes.as_slice(), longest);
        assert!(matches!(read(100), Err(WireError::TooLong(_))));
        assert!(read(200).unwrap().is_some());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_error_or_records(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_changed_byte_is_noticed(place in 0_usize..60, change in 1_u8..) {
            let mut bytes = written(&[(7, "a record of forty bytes and a few more…".to_owned())]);
            let place = place % bytes.len();
            bytes[place] ^= change;
            prop_assert!(read(&bytes).1.is_err());
        }
    }
}
