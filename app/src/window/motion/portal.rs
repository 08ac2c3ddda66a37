//! The settings of Linux desktops, through their portal. See
//! <https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Settings.html>.

use zbus::{
    blocking::{Connection, Proxy},
    zvariant::{OwnedValue, Value},
};

use super::Said;

const SERVICE: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const INTERFACE: &str = "org.freedesktop.portal.Settings";

/// Where desktops say it, the first one that is there counts: any desktop with a recent portal, GNOME and those after it, and
/// KDE Plasma.
const KEYS: [(&str, &str); 3] = [
    ("org.freedesktop.appearance", "reduced-motion"),
    ("org.gnome.desktop.interface", "enable-animations"),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"),
];

pub(super) fn tell(said: &Said) -> zbus::Result<()> {
    tell_of(&Connection::session()?, said)
}

/// The same on a connection.
fn tell_of(connection: &Connection, said: &Said) -> zbus::Result<()> {
    let portal = Proxy::new(connection, SERVICE, PATH, INTERFACE)?;
    // Before it is read, so that no change is missed.
    let changes = portal.receive_signal("SettingChanged")?;
    let mut last = read(&portal);
    if last.is_some_and(|reduced| !said.say(reduced)) {
        return Ok(());
    }
    for change in changes {
        let (space, key, _): (String, String, OwnedValue) = change.body().deserialize()?;
        if !KEYS.contains(&(space.as_str(), key.as_str())) {
            continue;
        }
        let now = read(&portal);
        if now != last && now.is_some_and(|reduced| !said.say(reduced)) {
            return Ok(());
        }
        last = now.or(last);
    }
    Ok(())
}

fn read(portal: &Proxy<'_>) -> Option<bool> {
    KEYS.iter().find_map(|key| {
        let value: OwnedValue = match portal.call("ReadOne", key) {
            Ok(value) => value,
            // Portals before version 2.
            Err(_) => portal.call("Read", key).ok()?,
        };
        is_reduced(&value)
    })
}

/// What the value of one of the keys says; `None` if it says nothing.
fn is_reduced(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Value(inner) => is_reduced(inner),
        Value::U32(preference) => Some(*preference == 1),
        Value::Bool(is_animated) => Some(!is_animated),
        Value::Str(factor) => factor.parse::<f64>().ok().map(|factor| factor == 0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, os::unix::net::UnixStream, sync::Arc, time::Duration};

    use crossbeam_channel::bounded;
    use zbus::{blocking::connection::Builder, fdo, interface, object_server::SignalEmitter};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A portal of a desktop with some settings.
    struct Portal(HashMap<(String, String), OwnedValue>);

    #[interface(name = "org.freedesktop.portal.Settings")]
    impl Portal {
        fn read_one(&self, space: String, key: String) -> fdo::Result<OwnedValue> {
            self.0.get(&(space, key)).cloned().ok_or_else(|| fdo::Error::Failed("not found".to_owned()))
        }

        #[zbus(signal)]
        async fn setting_changed(
            emitter: &SignalEmitter<'_>,
            space: &str,
            key: &str,
            value: Value<'_>,
        ) -> zbus::Result<()>;
    }

    fn setting(key: (&str, &str), value: Value<'_>) -> ((String, String), OwnedValue) {
        ((key.0.to_owned(), key.1.to_owned()), value.try_into().unwrap())
    }

    #[test]
    fn what_the_desktop_says_is_followed() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let guid = zbus::Guid::generate();
        let portal = Portal([setting(KEYS[1], Value::Bool(true))].into());
        let serve = std::thread::spawn(move || {
            let server = Builder::async_io_unix_stream(theirs).server(guid).unwrap().p2p();
            server.serve_at(PATH, portal).unwrap().build().unwrap()
        });
        let client = Builder::async_io_unix_stream(ours).p2p().build().unwrap();
        let server = serve.join().unwrap();
        let (sender, said) = bounded(4);
        let teller = Said { sender, wake: Arc::new(|| ()) };
        std::thread::spawn(move || tell_of(&client, &teller));
        assert_eq!(said.recv_timeout(PATIENCE), Ok(false), "GNOME says that it animates");

        let portal = server.object_server().interface::<_, Portal>(PATH).unwrap();
        let change = |(space, key): (&str, &str), value: Value<'static>| {
            let (name, owned) = setting((space, key), value.try_clone().unwrap());
            portal.get_mut().0.insert(name, owned);
            let changed = Portal::setting_changed(portal.signal_emitter(), space, key, value);
            zbus::block_on(changed).unwrap();
        };
        change(KEYS[1], Value::Bool(false));
        assert_eq!(said.recv_timeout(PATIENCE), Ok(true));
        // What all desktops say comes first.
        change(KEYS[0], Value::U32(0));
        assert_eq!(said.recv_timeout(PATIENCE), Ok(false));
        change(("org.gnome.desktop.interface", "font-name"), Value::Str("Inter".into()));
        change(KEYS[0], Value::U32(1));
        assert_eq!(said.recv_timeout(PATIENCE), Ok(true), "and nothing in between");
    }

    #[test]
    fn values_of_older_portals_and_of_plasma_are_read() {
        let nested = Value::Value(Box::new(Value::Bool(false)));
        assert_eq!(is_reduced(&nested), Some(true));
        assert_eq!(is_reduced(&Value::Str("0".into())), Some(true));
        assert_eq!(is_reduced(&Value::Str("0.5".into())), Some(false));
        assert_eq!(is_reduced(&Value::F64(1.0)), None);
    }
}
