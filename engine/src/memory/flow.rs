//! Disk, link and device at work on one use of a block after the other.

use super::{
    candidate::MOST_SLOTS,
    part::{Use, Way},
};

/// Uses one after the other. Those whose weights are there are only time before the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    moving: Vec<Use>,
    /// Seconds of the uses after the last of them.
    rest: f64,
    /// What they take: the link, the disk, slots and staging buffers.
    link: bool,
    disk: bool,
    slots: bool,
    staging: bool,
}

impl Queue {
    pub fn clear(&mut self) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        *self = Self { moving, ..Self::default() };
    }

    /// Whether link or disk have anything to do.
    pub fn move_bytes(&self) -> bool {
        self.link || self.disk
    }

    pub fn push(&mut self, block_use: &Use) {
        if block_use.way == Way::There {
            self.rest += block_use.compute;
        } else {
            self.link |= block_use.link > 0.0;
            self.disk |= block_use.disk > 0.0;
            self.slots |= block_use.way != Way::Loaded && block_use.way != Way::Leaves;
            self.staging |= block_use.way == Way::Staged;
            self.moving.push(Use { before: self.rest, ..*block_use });
            self.rest = 0.0;
        }
    }
}

/// When everything is free again, in seconds since the beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    pub compute_free: f64,
    link_free: f64,
    disk_free: f64,
    /// When each slot's last block was done with it.
    slots: Ring,
    /// When each staging buffer was copied.
    staging: Ring,
}

impl Flow {
    /// Back to the beginning, with so many slots and as many staging buffers.
    pub fn reset(&mut self, slots: u32) {
        (self.compute_free, self.link_free, self.disk_free) = (0.0, 0.0, 0.0);
        self.slots.reset(slots);
        self.staging.reset(slots);
    }

    /// All of these uses.
    pub fn pass_all(&mut self, queue: &Queue) {
        for block_use in &queue.moving {
            self.pass(block_use);
        }
        self.compute_free += queue.rest;
    }

    /// One use. Returns when its weights were there.
    #[inline]
    pub fn pass(&mut self, block_use: &Use) -> f64 {
        let &Use { way, before, compute, disk, link } = block_use;
        self.compute_free += before;
        let ready = match way {
            Way::There => 0.0,
            Way::Loaded => {
                let read = self.read(disk, 0.0);
                self.copy(link, read)
            }
            Way::Leaves => {
                let read = self.read(disk, self.compute_free);
                self.copy(link, read)
            }
            Way::Copied => {
                let read = self.read(disk, 0.0);
                self.copy(link, read.max(self.slots.oldest()))
            }
            Way::Staged => {
                let read = self.read(disk, self.staging.oldest());
                let copied = self.copy(link, read.max(self.slots.oldest()));
                self.staging.replace(copied);
                copied
            }
            Way::Read => self.read(disk, self.slots.oldest()),
        };
        self.compute_free = self.compute_free.max(ready) + compute;
        if matches!(way, Way::Copied | Way::Staged | Way::Read) {
            self.slots.replace(self.compute_free);
        }
        ready
    }

    fn read(&mut self, seconds: f64, after: f64) -> f64 {
        if seconds <= 0.0 {
            return after;
        }
        self.disk_free = self.disk_free.max(after) + seconds;
        self.disk_free
    }

    fn copy(&mut self, seconds: f64, after: f64) -> f64 {
        if seconds <= 0.0 {
            return after;
        }
        self.link_free = self.link_free.max(after) + seconds;
        self.link_free
    }

    /// Adds everything that the times of these uses depend on, seen from the end of the last pass.
    pub fn add_state(&self, queue: &Queue, state: &mut Vec<f64>) {
        let from = state.len();
        if queue.slots {
            state.extend(self.slots.in_order());
        }
        if queue.link {
            state.push(self.link_free);
        }
        if queue.disk {
            state.push(self.disk_free);
        }
        if queue.disk && queue.staging {
            state.extend(self.staging.in_order());
        }
        state[from..].iter_mut().for_each(|time| *time -= self.compute_free);
    }
}

/// Times of things that are used in turn, at most [`MOST_SLOTS`].
#[derive(Debug, Clone, Default)]
struct Ring {
    times: [f64; MOST_SLOTS],
    count: usize,
    next: usize,
}

impl Ring {
    fn reset(&mut self, count: u32) {
        *self = Self { count: (count as usize).clamp(1, MOST_SLOTS), ..Self::default() };
    }

    fn oldest(&self) -> f64 {
        self.times[self.next % MOST_SLOTS]
    }

    fn replace(&mut self, time: f64) {
        self.times[self.next % MOST_SLOTS] = time;
        self.next = if self.next + 1 == self.count { 0 } else { self.next + 1 };
    }

    fn in_order(&self) -> impl Iterator<Item = f64> {
        let times = &self.times[..self.count];
        times[self.next..].iter().chain(&times[..self.next]).copied()
    }
}
