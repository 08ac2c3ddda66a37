//! Which part of a batch this process does.

use std::str::FromStr;

/// One of several parts, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

/// Why a text or an environment names no part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// Not two numbers.
    #[error("expected two numbers such as 0/4, the first one from 0 to 3")]
    Text,
    /// A Slurm array with gaps.
    #[error(
        "task {task} of the Slurm array is not one of {count} in a row; give --shard, or use an array such as 0-{last}"
    )]
    Slurm {
        /// SLURM_ARRAY_TASK_ID.
        task: usize,
        /// SLURM_ARRAY_TASK_COUNT.
        count: usize,
        /// One less.
        last: usize,
    },
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// The part that a task of a Slurm array does. `variable` reads the environment.
    ///
    /// # Errors
    /// When the numbers of its tasks have gaps.
    pub fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, ShardError> {
        let number = |name: &str| variable(&format!("SLURM_ARRAY_TASK_{name}"))?.trim().parse::<usize>().ok();
        let (Some(task), Some(count)) = (number("ID"), number("COUNT")) else { return Ok(None) };
        let (first, step) = (number("MIN").unwrap_or(0), number("STEP").unwrap_or(1).max(1));
        let wrong = || ShardError::Slurm { task, count, last: count.saturating_sub(1) };
        let past = task.checked_sub(first).filter(|past| past.is_multiple_of(step)).ok_or_else(wrong)?;
        let index = past / step;
        if index < count { Ok(Some(Self { index, count })) } else { Err(wrong()) }
    }

    /// Whether it does the job at this place.
    pub fn has(self, place: usize) -> bool {
        place % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, count) = text.split_once('/').ok_or(ShardError::Text)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| ShardError::Text);
        let shard = Self { index: number(index)?, count: number(count)? };
        if shard.index < shard.count { Ok(shard) } else { Err(ShardError::Text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_in_one_part() {
        let shards = [0, 1, 2].map(|index| Shard { index, count: 3 });
        for place in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.has(place)).count(), 1);
        }
        assert!((0..20).all(|place| Shard::WHOLE.has(place)));
        assert_eq!("2/3".parse(), Ok(shards[2]));
        for wrong in ["3/3", "0/0", "1", "a/b", "-1/2", ""] {
            assert_eq!(wrong.parse::<Shard>(), Err(ShardError::Text), "{wrong}");
        }
    }

    #[test]
    fn tasks_of_slurm_arrays_are_parts() {
        let shard = |id: &str, count: &str, min: &str, step: &str| {
            let all = [("ID", id), ("COUNT", count), ("MIN", min), ("STEP", step)];
            Shard::of_slurm(|name| {
                let value = all.iter().find(|(end, _)| name.ends_with(end)).map(|(_, value)| *value);
                value.filter(|value| !value.is_empty()).map(str::to_owned)
            })
        };
        let part = |index, count| Ok(Some(Shard { index, count }));
        assert_eq!(shard("", "", "", ""), Ok(None));
        assert_eq!(shard("0", "4", "0", "1"), part(0, 4));
        assert_eq!(shard("4", "4", "1", "1"), part(3, 4));
        assert_eq!(shard("10", "3", "0", "5"), part(2, 3));
        // `--array=1,5,9-10` has no even step.
        assert!(shard("9", "4", "1", "1").is_err());
    }
}
