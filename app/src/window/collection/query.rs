//! What is searched for: words, filters and the order.

use crate::language::tr;
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use sluice_engine::output::Date;

use super::{
    item::Item,
    marks::{Mark, Marks},
};

/// Images, clips, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Both.
    #[default]
    All,
    /// Images only.
    Images,
    /// Clips only.
    Clips,
}

/// When it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// At any time.
    #[default]
    Always,
    /// Since midnight.
    Today,
    /// In the last seven days.
    Week,
    /// In the last thirty days.
    Month,
    /// In the last 365 days.
    Year,
}

impl When {
    /// All of them, the usual one first.
    pub const ALL: [Self; 5] = [Self::Always, Self::Today, Self::Week, Self::Month, Self::Year];

    /// Its name in the list.
    pub fn title(self) -> String {
        match self {
            Self::Always => tr!("gallery-when-always"),
            Self::Today => tr!("gallery-when-today"),
            Self::Week => tr!("gallery-when-week"),
            Self::Month => tr!("gallery-when-month"),
            Self::Year => tr!("gallery-when-year"),
        }
    }

    /// The first day of it.
    fn since(self) -> Option<Date> {
        let days = match self {
            Self::Always => return None,
            Self::Today => 0,
            Self::Week => 6,
            Self::Month => 29,
            Self::Year => 364,
        };
        Some(Date::of(SystemTime::now() - Duration::from_hours(24 * days)))
    }
}

/// The order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// The last one first.
    #[default]
    Newest,
    /// The first one first.
    Oldest,
    /// By the name of the file.
    Name,
    /// By model, and the last one of each first.
    Model,
    /// The largest file first.
    Size,
}

impl Sort {
    /// All of them, the usual one first.
    pub const ALL: [Self; 5] = [Self::Newest, Self::Oldest, Self::Name, Self::Model, Self::Size];

    /// Its name in the list.
    pub fn title(self) -> String {
        match self {
            Self::Newest => tr!("gallery-sort-newest"),
            Self::Oldest => tr!("gallery-sort-oldest"),
            Self::Name => tr!("gallery-sort-name"),
            Self::Model => tr!("gallery-sort-model"),
            Self::Size => tr!("gallery-sort-size"),
        }
    }
}

/// The collection that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Within {
    /// Everything, whether it is in one or not.
    #[default]
    All,
    /// What is in none.
    None,
    /// One of them.
    Collection(String),
}

/// What is shown, and in which order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The words that are searched for; see [`Words`].
    pub text: String,
    /// Images, clips, or both.
    pub kind: Kind,
    /// Only with a star.
    pub starred: bool,
    /// Only of this model.
    pub model: Option<String>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Only of this collection.
    pub within: Within,
    /// When it was made.
    pub when: When,
    /// The order.
    pub sort: Sort,
}

impl Query {
    /// Whether it leaves something out.
    pub fn is_narrow(&self) -> bool {
        *self != Self { sort: self.sort, ..Self::default() }
    }
}

/// An item, prepared for searching.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The item.
    pub item: Arc<Item>,
    /// The day it was made.
    pub day: Date,
    /// Everything that words are searched in, in small letters.
    text: String,
}

impl Entry {
    /// Prepares an item.
    pub fn new(item: Arc<Item>) -> Self {
        let mut text = item.name().to_lowercase();
        if let Some(facts) = &item.facts {
            let seed = facts.seed.to_string();
            let parts = [&facts.prompt, &facts.negative, &facts.model, &seed];
            for part in parts.into_iter().chain(&facts.loras) {
                text.push('\n');
                text.push_str(&part.to_lowercase());
            }
        }
        Self { day: Date::of(item.stamp.time()), item, text }
    }
}

/// A place to search in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Anywhere,
    Name,
    Prompt,
    Negative,
    Model,
    Lora,
    Seed,
    Tag,
    Collection,
    Date,
    From,
    To,
}

impl Field {
    const NAMED: [(&str, Self); 11] = [
        ("name", Self::Name),
        ("prompt", Self::Prompt),
        ("negative", Self::Negative),
        ("model", Self::Model),
        ("lora", Self::Lora),
        ("seed", Self::Seed),
        ("tag", Self::Tag),
        ("collection", Self::Collection),
        ("date", Self::Date),
        ("from", Self::From),
        ("to", Self::To),
    ];
}

/// Words that all must be found: `boat -night "calm sea" model:flux seed:42 from:2026-11-01`. A minus leaves out what
/// has the word, quotes keep words together, and a name before a colon says where to search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words(Vec<Word>);

#[derive(Debug, Clone, PartialEq)]
struct Word {
    field: Field,
    text: String,
    is_negated: bool,
}

impl Words {
    /// Reads what was typed.
    pub fn parse(typed: &str) -> Self {
        let mut words = Vec::new();
        let mut letters = typed.chars().peekable();
        while letters.peek().is_some() {
            let mut text = String::new();
            let mut field = Field::Anywhere;
            let mut is_quoted = false;
            let is_negated = letters.next_if(|letter| *letter == '-').is_some();
            for letter in letters.by_ref() {
                match letter {
                    '"' => is_quoted = !is_quoted,
                    ':' if !is_quoted && field == Field::Anywhere => {
                        let named = Field::NAMED.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
                        match named {
                            Some((_, named)) => {
                                field = *named;
                                text.clear();
                            }
                            None => text.push(letter),
                        }
                    }
                    letter if letter.is_whitespace() && !is_quoted => break,
                    letter => text.extend(letter.to_lowercase()),
                }
            }
            if !text.is_empty() {
                words.push(Word { field, text, is_negated });
            }
        }
        Self(words)
    }

    fn find_in(&self, entry: &Entry, mark: Option<&Mark>) -> bool {
        self.0.iter().all(|word| word.is_in(entry, mark) != word.is_negated)
    }
}

impl Word {
    fn is_in(&self, entry: &Entry, mark: Option<&Mark>) -> bool {
        let wanted = self.text.as_str();
        let has = |text: &str| text.to_lowercase().contains(wanted);
        let is_tagged = || mark.is_some_and(|mark| mark.tags.iter().any(|tag| has(tag)));
        let is_collected = || mark.is_some_and(|mark| mark.collections.iter().any(|name| has(name)));
        let facts = entry.item.facts.as_ref();
        match self.field {
            Field::Anywhere => entry.text.contains(wanted) || is_tagged() || is_collected(),
            Field::Name => has(&entry.item.name()),
            Field::Prompt => facts.is_some_and(|facts| has(&facts.prompt)),
            Field::Negative => facts.is_some_and(|facts| has(&facts.negative)),
            Field::Model => facts.is_some_and(|facts| has(&facts.model)),
            Field::Lora => facts.is_some_and(|facts| facts.loras.iter().any(|lora| has(lora))),
            Field::Seed => facts.is_some_and(|facts| facts.seed.to_string() == wanted),
            Field::Tag => is_tagged(),
            Field::Collection => is_collected(),
            Field::Date => entry.day.to_string().starts_with(wanted),
            // A month or a year is its first or last day.
            Field::From => entry.day.to_string().as_str() >= wanted,
            Field::To => {
                let day = entry.day.to_string();
                day.as_str() <= wanted || day.starts_with(wanted)
            }
        }
    }
}

/// The places of the entries that are shown, in their order.
pub fn found(entries: &[Entry], marks: &Marks, query: &Query) -> Vec<usize> {
    let words = Words::parse(&query.text);
    let since = query.when.since();
    let has_marks = !marks.is_empty();
    let is_found = |entry: &Entry| {
        let item = &entry.item;
        let mark = if has_marks { marks.of(&item.path) } else { None };
        let kind = match query.kind {
            Kind::All => true,
            Kind::Images => item.clip.is_none(),
            Kind::Clips => item.clip.is_some(),
        };
        let collections = mark.map_or(&[][..], |mark| &mark.collections);
        let is_within = match &query.within {
            Within::All => true,
            Within::None => collections.is_empty(),
            Within::Collection(name) => collections.contains(name),
        };
        let model = query.model.as_ref();
        kind && is_within
            && (!query.starred || mark.is_some_and(|mark| mark.starred))
            && model.is_none_or(|model| item.facts.as_ref().is_some_and(|facts| facts.model == *model))
            && query.tag.as_ref().is_none_or(|tag| mark.is_some_and(|mark| mark.tags.contains(tag)))
            && since.is_none_or(|since| entry.day >= since)
            && words.find_in(entry, mark)
    };
    let mut places: Vec<usize> = (0..entries.len()).filter(|&place| is_found(&entries[place])).collect();
    let item = |place: usize| &entries[place].item;
    let age = |place: usize| std::cmp::Reverse(item(place).stamp.modified);
    let path = |place: usize| item(place).path.as_path();
    match query.sort {
        Sort::Newest => places.sort_by(|&a, &b| (age(a), path(b)).cmp(&(age(b), path(a)))),
        Sort::Oldest => places.sort_by(|&a, &b| (age(b), path(a)).cmp(&(age(a), path(b)))),
        Sort::Name => places.sort_by_cached_key(|&place| (item(place).name().to_lowercase(), age(place))),
        Sort::Model => {
            let model = |place: usize| item(place).facts.as_ref().map(|facts| facts.model.to_lowercase());
            // Without a model last.
            places.sort_by_cached_key(|&place| (model(place).is_none(), model(place), age(place)));
        }
        Sort::Size => places.sort_by_key(|&place| std::cmp::Reverse(item(place).stamp.bytes)),
    }
    places
}

/// The models of all entries, with how many each made.
pub fn models(entries: &[Entry]) -> BTreeMap<String, usize> {
    let mut models = BTreeMap::new();
    for entry in entries {
        if let Some(facts) = entry.item.facts.as_ref().filter(|facts| !facts.model.is_empty()) {
            *models.entry(facts.model.clone()).or_default() += 1;
        }
    }
    models
}

/// The tags of all entries, with how often each is used.
pub fn tags(entries: &[Entry], marks: &Marks) -> BTreeMap<String, usize> {
    let mut tags = BTreeMap::new();
    let paths: std::collections::HashSet<&PathBuf> = entries.iter().map(|entry| &entry.item.path).collect();
    for (path, mark) in marks.iter() {
        if paths.contains(path) {
            for tag in &mark.tags {
                *tags.entry(tag.clone()).or_default() += 1;
            }
        }
    }
    tags
}

/// How many of the entries are in each collection, and how many are in none.
pub fn collections(entries: &[Entry], marks: &Marks) -> (Vec<(String, usize)>, usize) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut loose = entries.len();
    if !marks.collections().is_empty() {
        for mark in entries.iter().filter_map(|entry| marks.of(&entry.item.path)) {
            loose -= usize::from(!mark.collections.is_empty());
            for name in &mark.collections {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    let count = |name: &String| (name.clone(), counts.get(name.as_str()).copied().unwrap_or_default());
    (marks.collections().iter().map(count).collect(), loose)
}

#[cfg(test)]
mod tests {
    use super::{
        super::item::{Facts, Stamp},
        *,
    };

    fn entry(name: &str, day: u64, facts: Facts) -> Entry {
        Entry::new(Arc::new(Item {
            path: name.into(),
            // At noon, so that no time zone changes the day.
            stamp: Stamp { modified: (day * 24 + 12) * 3_600_000, bytes: 10 * day },
            size: [8, 8],
            clip: name.ends_with(".mp4").then_some((9, 8.0)),
            facts: Some(facts),
            broken: None,
        }))
    }

    fn some() -> Vec<Entry> {
        let facts = |prompt: &str, model: &str, seed| Facts {
            prompt: prompt.to_owned(),
            model: model.to_owned(),
            seed,
            ..Facts::default()
        };
        let with_lora = Facts {
            negative: "Fog".to_owned(),
            loras: vec!["Ink Wash".to_owned()],
            ..facts("A red BOAT", "flux1-dev", 42)
        };
        vec![
            entry("a.png", 20_700, with_lora),
            entry("b.mp4", 20_701, facts("a boat at night", "wan2.1", 7)),
            entry("c.png", 20_702, facts("a calm sea", "flux1-dev", 420)),
        ]
    }

    fn names(query: &Query) -> Vec<String> {
        let mut marks = Marks::default();
        let mark = Mark { starred: true, tags: vec!["Harbour".to_owned()], ..Mark::default() };
        let mark = Mark { collections: vec!["Best of".to_owned()], ..mark };
        marks.insert("c.png".into(), mark);
        let entries = some();
        found(&entries, &marks, query).into_iter().map(|place| entries[place].item.name()).collect()
    }

    fn search(text: &str) -> Vec<String> {
        names(&Query { text: text.to_owned(), ..Query::default() })
    }

    #[test]
    fn words_are_found_where_they_are_looked_for() {
        for (text, expected) in [
            ("", &["c.png", "b.mp4", "a.png"][..]),
            ("boat", &["b.mp4", "a.png"]),
            ("boat -night", &["a.png"]),
            ("\"calm sea\"", &["c.png"]),
            ("sea calm", &["c.png"]),
            ("fog", &["a.png"]),
            ("prompt:fog", &[]),
            ("negative:fog", &["a.png"]),
            ("lora:\"ink wash\"", &["a.png"]),
            ("model:flux", &["c.png", "a.png"]),
            ("seed:42", &["a.png"]),
            ("42", &["c.png", "a.png"]),
            ("tag:harb", &["c.png"]),
            ("harbour", &["c.png"]),
            ("collection:best", &["c.png"]),
            ("-collection:best", &["b.mp4", "a.png"]),
            ("name:.mp4", &["b.mp4"]),
            ("date:2026-09-04", &["a.png"]),
            ("from:2026-09-05", &["c.png", "b.mp4"]),
            ("to:2026-09-05", &["b.mp4", "a.png"]),
            ("from:2026-10", &[]),
            ("to:2026-09", &["c.png", "b.mp4", "a.png"]),
            ("1:1", &[]),
        ] {
            assert_eq!(search(text), expected, "{text}");
        }
    }

    #[test]
    fn filters_and_orders() {
        let plain = Query::default;
        for (query, expected) in [
            (Query { kind: Kind::Clips, ..plain() }, &["b.mp4"][..]),
            (Query { kind: Kind::Images, sort: Sort::Oldest, ..plain() }, &["a.png", "c.png"]),
            (Query { starred: true, ..plain() }, &["c.png"]),
            (Query { tag: Some("Harbour".to_owned()), ..plain() }, &["c.png"]),
            (Query { within: Within::None, ..plain() }, &["b.mp4", "a.png"]),
            (Query { within: Within::Collection("Best of".to_owned()), ..plain() }, &["c.png"]),
            (Query { within: Within::Collection("Best".to_owned()), ..plain() }, &[]),
            (Query { model: Some("wan2.1".to_owned()), ..plain() }, &["b.mp4"]),
            (Query { sort: Sort::Model, ..plain() }, &["c.png", "a.png", "b.mp4"]),
            (Query { sort: Sort::Name, ..plain() }, &["a.png", "b.mp4", "c.png"]),
            (Query { sort: Sort::Size, ..plain() }, &["c.png", "b.mp4", "a.png"]),
        ] {
            assert_eq!(names(&query), expected, "{query:?}");
        }
        assert!(!Query { sort: Sort::Name, ..plain() }.is_narrow());
        assert!(Query { starred: true, ..plain() }.is_narrow());
    }

    #[test]
    fn collections_are_counted() {
        let entries = some();
        let mut marks = Marks::default();
        assert_eq!(collections(&entries, &marks), (Vec::new(), 3));
        let stamp = Stamp { modified: 0, bytes: 0 };
        for (file, name) in [("a.png", "sea"), ("a.png", "boats"), ("c.png", "sea"), ("elsewhere.png", "old")]
        {
            marks.change(file.as_ref(), stamp, &super::super::marks::Change::Collect(name.to_owned()));
        }
        let expected = [("boats", 1), ("old", 0), ("sea", 2)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(collections(&entries, &marks), (expected.to_vec(), 1));
    }

    #[test]
    fn a_time_is_counted_back_from_today() {
        let today = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
        let at = |days: u64| {
            let item = Item {
                path: format!("{days}").into(),
                stamp: Stamp { modified: today - days * 86_400_000, bytes: 0 },
                size: [1, 1],
                clip: None,
                facts: None,
                broken: None,
            };
            Entry::new(Arc::new(item))
        };
        let entries = [0, 3, 20, 200, 900].map(at);
        let count = |when| found(&entries, &Marks::default(), &Query { when, ..Query::default() }).len();
        assert_eq!(When::ALL.map(count), [5, 1, 2, 3, 4]);
    }
}
