//! The button in the taskbar of Windows, through `ITaskbarList3`. It compiles, and was not tried on Windows yet.
//!
//! `winsafe` is safe and kept. `taskbar_interface` stayed at its first version, and the bindings of the crate `windows` are
//! unsafe.

use crossbeam_channel::Receiver;
use winsafe::{
    CoCreateInstance, CoInitializeEx, EnumWindows, GetCurrentProcessId, HWND, HrResult, ITaskbarList3,
    IUnknown, co, prelude::*,
};

/// The progress of a job that is done.
const WHOLE: u64 = 1000;

/// Tells the taskbar what comes.
pub(super) fn tell(progress: &Receiver<Option<f64>>) -> HrResult<()> {
    // Ends after the interface.
    let _com = CoInitializeEx(co::COINIT::APARTMENTTHREADED | co::COINIT::DISABLE_OLE1DDE)?;
    let context = co::CLSCTX::INPROC_SERVER;
    let taskbar = CoCreateInstance::<ITaskbarList3>(&co::CLSID::TaskbarList, None::<&IUnknown>, context)?;
    taskbar.HrInit()?;
    for share in progress {
        let Some(window) = own_window() else { continue };
        match share {
            Some(share) => {
                taskbar.SetProgressValue(&window, (share.clamp(0.0, 1.0) * WHOLE as f64) as u64, WHOLE)?;
            }
            None => taskbar.SetProgressState(&window, co::TBPF::NOPROGRESS)?,
        }
    }
    Ok(())
}

/// The window of this process. winit's handle could only be used with unsafe code.
fn own_window() -> Option<HWND> {
    let (own, mut found) = (GetCurrentProcessId(), None);
    let look = |window: HWND| {
        let (_, process) = window.GetWindowThreadProcessId();
        if process == own && window.IsWindowVisible() {
            found = Some(window);
        }
        true
    };
    if let Err(error) = EnumWindows(look) {
        tracing::debug!(%error, "the windows are not listed");
    }
    found
}
