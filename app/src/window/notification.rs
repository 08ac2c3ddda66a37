//! Words on the desktop.

/// Says something on the desktop. Where there is no service for that, only the window calls for attention.
#[cfg(target_os = "linux")]
pub fn notify(words: String) {
    // Asking the service takes as long as it likes.
    let say = move || {
        let mut notification = notify_rust::Notification::new();
        notification.appname("Sluice").summary("Sluice").body(&words).icon("sluice");
        if let Err(error) = notification.show() {
            tracing::info!(%error, "the desktop shows no notification");
        }
    };
    if let Err(error) = std::thread::Builder::new().name("notification".to_owned()).spawn(say) {
        tracing::warn!(%error, "the thread for a notification could not be started");
    }
}

/// Windows and macOS point to the window by themselves when it calls for attention.
#[cfg(not(target_os = "linux"))]
pub fn notify(_: String) {}
