//! The icons, as characters of the font [`ICONS`](super::tokens::font::ICONS).

macro_rules! icons {
    ($($name:ident = $code:literal)*) => {
        $(#[doc = concat!("Lucide's ", stringify!($name), ".")] pub const $name: &str = $code;)*
    };
}

icons! {
    LOCK = "\u{e10b}"
    LOCK_OPEN = "\u{e10c}"
    DICES = "\u{e2c5}"
    SETTINGS = "\u{e154}"
    SUN = "\u{e178}"
    MOON = "\u{e11e}"
    SUN_MOON = "\u{e2b2}"
    X = "\u{e1b2}"
    COPY = "\u{e09e}"
    FOLDER_OPEN = "\u{e247}"
    CHEVRON_DOWN = "\u{e06d}"
    CHEVRON_RIGHT = "\u{e06f}"
    TRIANGLE_ALERT = "\u{e193}"
    INFO = "\u{e0f9}"
    SPARKLES = "\u{e412}"
    FOLDER = "\u{e0d7}"
    FILE = "\u{e0c0}"
    ARROW_LEFT_RIGHT = "\u{e24a}"
    CPU = "\u{e0a9}"
    MEMORY = "\u{e445}"
    GPU = "\u{e66a}"
    FILE_UP = "\u{e32a}"
    PACKAGE = "\u{e129}"
    IMAGE = "\u{e0f6}"
    RESTORE = "\u{e2a1}"
    LAYERS = "\u{e529}"
    PLAY = "\u{e13c}"
    PAUSE = "\u{e12e}"
    STEP_BACK = "\u{e3e9}"
    STEP_FORWARD = "\u{e3ea}"
    MOVE_HORIZONTAL = "\u{e1c6}"
    ARROW_RIGHT_FROM_LINE = "\u{e458}"
    ARROW_RIGHT_TO_LINE = "\u{e459}"
    IMAGE_DOWN = "\u{e53c}"
    SCISSORS = "\u{e14e}"
    FILM = "\u{e0d0}"
    COLUMNS = "\u{e098}"
    VOLUME = "\u{e1ab}"
    VOLUME_X = "\u{e1ac}"
    LAYOUT_GRID = "\u{e0ff}"
    SEARCH = "\u{e151}"
    STAR = "\u{e176}"
    TAG = "\u{e17f}"
    TRASH = "\u{e18e}"
    DOWNLOAD = "\u{e0b2}"
    IMAGE_OFF = "\u{e1c0}"
    IMAGE_UPSCALE = "\u{e637}"
    SCAN_SEARCH = "\u{e537}"
    MESSAGE_SQUARE_TEXT = "\u{e575}"
    BETWEEN_VERTICAL_START = "\u{e594}"
    BRUSH = "\u{e1d3}"
    IMAGES = "\u{e5c4}"
    ALBUM = "\u{e03b}"
    EXPAND = "\u{e21a}"
    SHRINK = "\u{e220}"
    STAR_FILLED = "\u{f176}"
}

/// A star, filled where it is set.
pub const fn star(is_set: bool) -> &'static str {
    if is_set { STAR_FILLED } else { STAR }
}
