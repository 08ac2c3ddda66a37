//! Damaged files: no reader panics, trusts a number that exceeds the file, or takes more memory than the file
//! has bytes.

use std::{fs, path::Path, sync::Arc};

use candle_core::{Device, Tensor};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use sluice_engine::{
    checkpoint::{CheckpointError, read_header},
    hardware::{MemoryAccount, metered},
    precision::{Encoding, Format},
};
use sluice_tests::{
    checkpoint::fixtures,
    original_names::Tensors,
    packed::{ScaleNames, package, write_safetensors},
};

/// Number of files for each reader.
const CASES: u32 = 3000;
/// Memory that reading a header may take regardless of its size: a window of a file, a piece of a tensor.
const CONSTANT: u64 = 256 << 10;

/// One kind of damage.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    Number(prop::sample::Index, u64),
    Repeat(prop::sample::Index, prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let numbers = prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(u64::MAX / 2),
        Just(1 << 32),
        Just(1 << 40),
        any::<u64>(),
        0..100_000_u64,
    ];
    prop_oneof![
        1 => any::<prop::sample::Index>().prop_map(Damage::Cut),
        4 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        4 => (any::<prop::sample::Index>(), numbers).prop_map(|(at, number)| Damage::Number(at, number)),
        1 => (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(from, to)| Damage::Repeat(from, to)),
    ]
}

/// Damages mostly the header, where it matters.
fn apply(damage: &Damage, bytes: &mut Vec<u8>, header: usize) {
    if bytes.is_empty() {
        return;
    }
    let header = header.min(bytes.len());
    match damage {
        Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Damage::Byte(at, byte) => bytes[at.index(header)] ^= byte,
        Damage::Number(at, number) => {
            for (place, byte) in bytes[at.index(header)..].iter_mut().zip(number.to_le_bytes()) {
                *place = byte;
            }
        }
        Damage::Repeat(from, to) => {
            let (from, to) = (from.index(header), to.index(header));
            let part = bytes[from.min(to)..from.max(to)].to_vec();
            bytes.splice(to..to, part);
        }
    }
}

/// Reads a file and everything readable in it, and checks the memory it took.
fn read_all(path: &Path, account: &Arc<MemoryAccount>) {
    let length = fs::metadata(path).unwrap().len();
    account.take_peaks();
    let before = account.holdings().activations;
    let table = read_header(path);
    let header = account.take_peaks().activations.saturating_sub(before);
    assert!(header <= 8 * length + CONSTANT, "{header} bytes for the header of {length} bytes");
    match table {
        Err(error) => {
            assert!(!error.advice().is_empty() && !error.to_string().is_empty());
            assert!(!matches!(error, CheckpointError::Io { .. }), "{error}");
        }
        Ok(table) => {
            for tensor in table.values() {
                let values = tensor.load(&Device::Cpu).map_or(0, |tensor| tensor.elem_count() as u64);
                // At most 16 values per byte, in any format.
                assert!(values <= 16 * length, "{values} values from {length} bytes");
                let _ = tensor.row(0).and_then(|row| row.load(&Device::Cpu));
                let _ = tensor.parts(1..2, 3).load(&Device::Cpu);
            }
        }
    }
}

fn survives(original: &[u8], header: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged");
    let account = MemoryAccount::new();
    metered(&account, || {
        fs::write(&path, original).unwrap();
        read_all(&path, &account);
        let damages = prop::collection::vec(damage(), 1..4);
        let mut runner =
            TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&damages, |damages| {
            let mut bytes = original.to_vec();
            damages.iter().for_each(|damage| apply(damage, &mut bytes, header));
            fs::write(&path, &bytes).unwrap();
            read_all(&path, &account);
            Ok(())
        });
        outcome.unwrap();
    });
}

#[test]
fn a_damaged_gguf_file_is_no_danger() {
    let original = fs::read(fixtures().join("gguf/types.gguf")).unwrap();
    survives(&original, 2048);
}

#[test]
fn a_damaged_safetensors_file_is_no_danger() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.safetensors");
    let tensors = ["a", "b", "c", "d", "e"]
        .map(|name| (format!("{name}.weight"), Tensor::rand(-1.0_f32, 1.0, (4, 64), &Device::Cpu).unwrap()));
    let packaged = package(&Tensors::from(tensors), |name, _| match &name[..1] {
        "a" => Encoding::scaled(Format::F8E4m3, 256),
        "b" => Encoding::scaled(Format::I8, 256),
        "c" => Encoding::scaled(Format::Nf4, 64),
        "d" => Format::Bf16.into(),
        _ => Format::F32.into(),
    });
    write_safetensors(&path, &packaged.unwrap(), ScaleNames::ScaleWeight).unwrap();
    let original = fs::read(&path).unwrap();
    let header = u64::from_le_bytes(original[..8].try_into().unwrap()) as usize + 8;
    survives(&original, header);
}

/// Each excessive claim has its own message and costs no memory.
#[test]
fn gguf_files_that_boast_are_refused_in_words() {
    let original = fs::read(fixtures().join("gguf/types.gguf")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let refused = |bytes: &[u8], words: &str| {
        fs::write(&path, bytes).unwrap();
        let account = MemoryAccount::new();
        let error = metered(&account, || read_header(&path).map(|table| table.len()).unwrap_err());
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("model.gguf"), "{error}");
        assert!(account.take_peaks().activations < 1 << 20);
    };
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = original.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    refused(&[], "empty");
    refused(b"GGUF", "is damaged or incomplete: its header");
    refused(&with(4, &9u32.to_le_bytes()), "version 9");
    refused(&with(8, &u64::MAX.to_le_bytes()), "header");
    refused(&with(16, &u64::MAX.to_le_bytes()), "header");
    refused(&with(24, &u64::MAX.to_le_bytes()), "a name is 18446744073709551615 bytes long");
    refused(&original[..original.len() - 4096], "incomplete");
    refused(&original[..100], "is damaged or incomplete: its header");
    fs::write(&path, [0x80, 2, b'}', b'q', 0, b'.', 0, 0, 0, 0]).unwrap();
    assert!(matches!(read_header(&path), Err(CheckpointError::Pickle { .. })));
    fs::write(&path, b"PK\x03\x04 archive of pickles").unwrap();
    assert!(matches!(read_header(&path), Err(CheckpointError::Pickle { .. })));
}
