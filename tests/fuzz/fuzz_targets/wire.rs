//! Messages from and to a worker: half of the inputs get a valid length and checksum, so that the code after them is
//! reached.
#![no_main]

use sluice_engine::{
    session::{FromWorker, ToWorker},
    wire::read_record,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let framed = match bytes.split_first() {
        Some((0..128, payload)) => {
            let length = (payload.len() as u64).to_le_bytes();
            [&length, &crc32fast::hash(payload).to_le_bytes()[..], payload].concat()
        }
        Some((_, rest)) => rest.to_vec(),
        None => return,
    };
    let mut bytes = framed.as_slice();
    while let Ok(Some(message)) = read_record::<FromWorker>(&mut bytes) {
        drop(message);
    }
    let mut bytes = framed.as_slice();
    while let Ok(Some(message)) = read_record::<ToWorker>(&mut bytes) {
        drop(message);
    }
});
