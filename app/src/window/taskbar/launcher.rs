//! The interface of Unity's launcher, which KDE Plasma and the docks of Ubuntu and elementary OS read, too. See
//! <https://wiki.ubuntu.com/Unity/LauncherAPI>.

use std::collections::HashMap;

use crossbeam_channel::Receiver;
use zbus::{blocking::Connection, zvariant::Value};

/// The name of the desktop file.
const PROGRAM: &str = "application://sluice.desktop";
const PATH: &str = "/com/canonical/unity/launcherentry/1";
const INTERFACE: &str = "com.canonical.Unity.LauncherEntry";

/// Tells the desktop what comes.
pub(super) fn tell(progress: &Receiver<Option<f64>>) -> zbus::Result<()> {
    let connection = Connection::session()?;
    for share in progress {
        let properties = HashMap::from([
            ("progress", Value::from(share.unwrap_or_default())),
            ("progress-visible", Value::from(share.is_some())),
        ]);
        connection.emit_signal(None::<&str>, PATH, INTERFACE, "Update", &(PROGRAM, properties))?;
    }
    Ok(())
}
