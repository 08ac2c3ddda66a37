//! Animation effects of Windows, from the settings for accessibility. It was not tried on Windows yet.

use winsafe::{SysResult, SystemParametersInfo, co};

use super::Said;

/// `SPI_GETCLIENTAREAANIMATION`.
const CLIENT_AREA_ANIMATION: u32 = 0x1042;

pub(super) fn tell(said: &Said) -> SysResult<()> {
    let mut is_animated = 1_i32;
    // SAFETY: this parameter is a BOOL of 32 bits.
    unsafe {
        let parameter = co::SPI::from_raw(CLIENT_AREA_ANIMATION);
        SystemParametersInfo(parameter, 0, &mut is_animated, co::SPIF::NoValue)?;
    }
    said.say(is_animated == 0);
    Ok(())
}
