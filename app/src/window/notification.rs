//! Words on the desktop.

use notify_rust::Notification;

/// The name of the program for the system: in its bundle on macOS, and where the installer for Windows writes it.
#[cfg(any(target_os = "macos", windows))]
const NAME: &str = "localhost.sluice.sluice";

/// Says something on the desktop. Where there is no service for that, only the window calls for attention.
pub fn notify(words: String) {
    // Asking the service takes as long as it likes.
    let say = move || {
        if let Err(error) = show(&words) {
            tracing::info!(error, "the desktop shows no notification");
        }
    };
    if let Err(error) = std::thread::Builder::new().name("notification".to_owned()).spawn(say) {
        tracing::warn!(%error, "the thread for a notification could not be started");
    }
}

fn show(words: &str) -> Result<(), String> {
    #[cfg(target_os = "macos")]
    name_program()?;
    let mut notification = Notification::new();
    notification.appname("Sluice").summary("Sluice").body(words).icon("sluice");
    #[cfg(windows)]
    notification.app_id(NAME);
    match notification.show() {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Names the program, once: otherwise macOS asks the user which one it is.
#[cfg(target_os = "macos")]
fn name_program() -> Result<(), String> {
    static NAMED: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    let name = || notify_rust::set_application(NAME).map_err(|error| error.to_string());
    NAMED.get_or_init(name).clone()
}
