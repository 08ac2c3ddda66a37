//! Notices that leave by themselves.

use std::time::Duration;

use egui::{Id, Rect, Ui};

/// How long a notice stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stays {
    /// It only confirms what was done.
    Shortly,
    /// There is something to read or to press.
    Long,
}

impl Stays {
    fn seconds(self) -> f64 {
        match self {
            Self::Shortly => 12.0,
            Self::Long => 30.0,
        }
    }
}

/// Which notice it is: where it is drawn, and its number there.
pub type Stamp = (&'static str, u64);

/// Which notice is seen, since when, and in which frame it was drawn last.
#[derive(Debug, Clone, Default)]
struct Seen {
    stamp: Stamp,
    since: f64,
    frame: u64,
}

/// Whether the notice that was drawn in this place was in sight for long enough. Its time begins when it is said, and again while
/// the pointer is over it.
pub fn is_over(ui: &Ui, stays: Stays, stamp: Stamp, place: Rect) -> bool {
    let (now, frame) = (ui.input(|input| input.time), ui.ctx().cumulative_frame_nr());
    let is_held = ui.rect_contains_pointer(place);
    let since = ui.ctx().data_mut(|data| {
        let seen: &mut Seen = data.get_temp_mut_or_default(Id::unique("sluice notice"));
        let goes_on = seen.stamp == stamp && frame <= seen.frame + 1;
        if is_held || !goes_on {
            *seen = Seen { stamp, since: now, frame };
        }
        seen.frame = frame;
        seen.since
    });
    let left = since + stays.seconds() - now;
    if left > 0.0 && !is_held {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(left));
    }
    left <= 0.0
}
