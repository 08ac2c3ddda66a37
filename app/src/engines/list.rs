//! The engines that a window uses, as they are kept with its settings. No password and no key is among them.

use serde::{Deserialize, Serialize};

use super::{Place, command};

/// The engines that are known, and which of them are used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineList {
    /// Whether this computer's engine is used. It is in any case if no other one is.
    pub here: bool,
    /// Cards of this computer that have engines of their own.
    pub cards: Vec<OwnCard>,
    /// Engines behind commands.
    pub others: Vec<OtherEngine>,
}

impl Default for EngineList {
    fn default() -> Self {
        Self { here: true, cards: Vec::new(), others: Vec::new() }
    }
}

/// A card of this computer with an engine of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnCard {
    /// What the driver calls it.
    pub uuid: String,
    /// Its name.
    pub name: String,
}

/// An engine behind a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherEngine {
    /// What the user calls it; the command if empty.
    pub name: String,
    /// The command, as for a shell.
    pub command: String,
    /// Whether it is used.
    pub is_on: bool,
}

impl OtherEngine {
    /// Its name, or else its command.
    pub fn title(&self) -> &str {
        let name = self.name.trim();
        if name.is_empty() { self.command.trim() } else { name }
    }

    /// Whether it can be used as it is written.
    pub fn is_valid(&self) -> bool {
        command(&self.command).is_ok()
    }
}

/// An engine that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedEngine {
    /// Where it is.
    pub place: Place,
    /// Its name; empty for that of this computer, whose name is in the window's language.
    pub name: String,
}

impl EngineList {
    /// With only an engine behind a command, or this computer's if the command is empty: what earlier versions had.
    pub fn of_command(line: &str) -> Self {
        if line.trim().is_empty() {
            return Self::default();
        }
        let other = OtherEngine { name: String::new(), command: line.trim().to_owned(), is_on: true };
        Self { here: false, cards: Vec::new(), others: vec![other] }
    }

    /// The engines that are used, in the order in which they get jobs.
    pub fn used(&self) -> Vec<UsedEngine> {
        let cards = self.cards.iter().map(|OwnCard { uuid, name }| UsedEngine {
            place: Place::Card(uuid.clone()),
            name: name.clone(),
        });
        let others = self.others.iter().filter(|other| other.is_on).filter_map(|other| {
            let place = Place::Elsewhere(command(&other.command).ok()?);
            Some(UsedEngine { place, name: other.title().to_owned() })
        });
        let mut used: Vec<UsedEngine> = cards.chain(others).collect();
        if self.here || used.is_empty() {
            used.insert(0, UsedEngine { place: Place::Here, name: String::new() });
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(name: &str, command: &str, is_on: bool) -> OtherEngine {
        OtherEngine { name: name.to_owned(), command: command.to_owned(), is_on }
    }

    #[test]
    fn this_computer_is_used_unless_another_engine_takes_its_place() {
        assert_eq!(EngineList::default().used().len(), 1);
        let broken =
            EngineList { here: false, others: vec![other("", "ssh 'x", true)], ..EngineList::default() };
        assert_eq!(broken.used()[0].place, Place::Here, "nothing else can be used");
        let alone = EngineList::of_command(" ssh -T host sluice worker ");
        assert!(matches!(alone.used()[0].place, Place::Elsewhere(_)), "{alone:?}");
        assert_eq!(alone.used()[0].name, "ssh -T host sluice worker");
        assert_eq!(EngineList::of_command(" "), EngineList::default());
        let list = EngineList {
            here: true,
            cards: vec![OwnCard { uuid: "GPU-2".to_owned(), name: "RTX 3060".to_owned() }],
            others: vec![other("attic", "ssh -T attic sluice worker", true), other("off", "x", false)],
        };
        let names: Vec<String> = list.used().into_iter().map(|used| used.name).collect();
        assert_eq!(names, ["", "RTX 3060", "attic"]);
    }

    #[test]
    fn what_is_kept_comes_back() {
        let list = EngineList {
            here: false,
            cards: vec![OwnCard { uuid: "GPU-2".to_owned(), name: "RTX".to_owned() }],
            others: vec![other("a", "ssh -T 'b c' sluice worker", true)],
        };
        assert_eq!(toml::from_str::<EngineList>(&toml::to_string(&list).unwrap()).unwrap(), list);
        assert_eq!(toml::from_str::<EngineList>("").unwrap(), EngineList::default());
    }
}
