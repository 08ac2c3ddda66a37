//! Files as other programs read them.

use std::{os::unix::ffi::OsStrExt, path::PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What is written as `%20` in the path of a URI.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A list of URIs, as RFC 2483 says it.
pub(super) fn uri_list(files: &[PathBuf]) -> Vec<u8> {
    let uri = |file: &PathBuf| format!("file://{}\r\n", percent_encode(file.as_os_str().as_bytes(), ENCODED));
    files.iter().map(uri).collect::<String>().into_bytes()
}

/// The paths, one a line.
pub(super) fn text(files: &[PathBuf]) -> Vec<u8> {
    files.iter().map(|file| file.as_os_str().as_bytes()).collect::<Vec<_>>().join(&b'\n')
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use percent_encoding::percent_decode_str;

    use super::*;

    fn uri(path: &str) -> String {
        String::from_utf8(uri_list(&[path.into()])).unwrap()
    }

    #[test]
    fn a_path_becomes_a_uri() {
        for (path, expected) in [
            ("/images/a-b_c.~1.png", "file:///images/a-b_c.~1.png\r\n"),
            ("/a boat/100%.png", "file:///a%20boat/100%25.png\r\n"),
            ("/ü/海.png", "file:///%C3%BC/%E6%B5%B7.png\r\n"),
            ("/a#b?c&d\n.png", "file:///a%23b%3Fc%26d%0A.png\r\n"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (1..=255).collect();
        let path = PathBuf::from(OsStr::from_bytes(&bytes));
        let list = String::from_utf8(uri_list(&[path])).unwrap();
        let encoded = list.strip_prefix("file://").unwrap().strip_suffix("\r\n").unwrap();
        assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic()));
        assert_eq!(percent_decode_str(encoded).collect::<Vec<u8>>(), bytes);
    }

    #[test]
    fn several_files_are_lines() {
        let files = [PathBuf::from("/a b"), PathBuf::from("/c")];
        assert_eq!(uri_list(&files), b"file:///a%20b\r\nfile:///c\r\n");
        assert_eq!(text(&files), b"/a b\n/c");
    }
}
