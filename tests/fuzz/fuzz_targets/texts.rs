//! What other programs write into images: inputs are texts separated by zeros, which become texts of a PNG with valid
//! checksums. The first byte of each chooses its keyword.
#![no_main]

/// Keywords of texts that are read.
const KEYWORDS: [&str; 13] = [
    "Sluice",
    "parameters",
    "prompt",
    "workflow",
    "Comment",
    "Description",
    "Source",
    "Software",
    "invokeai_metadata",
    "sd-metadata",
    "Dream",
    "XML:com.adobe.xmp",
    "fooocus_scheme",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for text in bytes.split(|byte| *byte == 0) {
        let Some((&keyword, text)) = text.split_first() else { continue };
        let keyword = KEYWORDS[usize::from(keyword) % KEYWORDS.len()];
        // Neither compressed nor in a language.
        let text = [keyword.as_bytes(), &[0; 5], String::from_utf8_lossy(text).as_bytes()].concat();
        chunk(&mut png, b"iTXt", &text);
    }
    chunk(&mut png, b"IEND", &[]);
    sluice_fuzz::restore(&sluice_fuzz::with_file("given.png", &png));
});

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let named = [kind, data].concat();
    png.extend((data.len() as u32).to_be_bytes());
    png.extend(&named);
    png.extend(crc32fast::hash(&named).to_be_bytes());
}
