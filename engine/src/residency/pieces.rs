//! Tensors on their way from disk to a GPU, in pieces too small to count towards any budget: while one piece is copied to the
//! GPU, the next one is read.

use std::{io, thread};

use crossbeam_channel::bounded;

use super::{
    RunError,
    buffer::{Buffer, Sizes, TensorPlace},
    device::DeviceMemory,
};
use crate::hardware::unmetered;

/// Values of a piece.
const PIECE: usize = 1 << 20;

/// Two buffers in host memory that pieces pass through.
#[derive(Debug, Default)]
pub struct Pieces {
    buffers: Option<(Sizes, [Buffer; 2])>,
}

impl Pieces {
    /// Brings a tensor to `to`, a buffer of its size. `read` reads the values from an index on into a buffer, as `piece` says
    /// where.
    ///
    /// # Errors
    /// Fails if reading or the device does.
    pub fn bring(
        &mut self,
        memory: &dyn DeviceMemory,
        place: &TensorPlace,
        to: &Buffer,
        read: impl Fn(usize, &TensorPlace, &Buffer) -> Result<(), RunError> + Sync,
    ) -> Result<(), RunError> {
        let place = place.alone();
        let buffers = self.buffers(memory, &place)?.clone();
        let read = &|first: usize, buffer: &Buffer| read(first, &place.piece(first, PIECE).alone(), buffer);
        let copy = |first: usize, buffer: &Buffer| -> Result<(), RunError> {
            let piece = place.piece(first, PIECE);
            memory.upload(buffer, &to.view(&piece)?, &piece.sizes(), &|| true)?;
            Ok(())
        };
        let values = place.values();
        let firsts = move || (0..values).step_by(PIECE);
        let one_by_one = || {
            firsts().try_for_each(|first| {
                read(first, &buffers[0])?;
                copy(first, &buffers[0])
            })
        };
        if firsts().len() < 2 {
            return one_by_one();
        }
        thread::scope(|scope| {
            let (give_back, free) = bounded(buffers.len());
            let (send, ready) = bounded(buffers.len());
            // The channel has room for both.
            let _ = buffers.iter().try_for_each(|buffer| give_back.send(buffer));
            let read_ahead = move || -> Result<(), RunError> {
                for first in firsts() {
                    // The other end is gone if the device failed.
                    let Ok(buffer) = free.recv() else { break };
                    read(first, buffer)?;
                    if send.send((first, buffer)).is_err() {
                        break;
                    }
                }
                Ok(())
            };
            let reader = thread::Builder::new().name("sluice-read-ahead".to_owned());
            let Ok(reader) = reader.spawn_scoped(scope, read_ahead) else { return one_by_one() };
            let copied = ready.iter().try_for_each(|(first, buffer)| {
                copy(first, buffer)?;
                let _ = give_back.send(buffer);
                Ok(())
            });
            drop((ready, give_back));
            let panicked = |_| Err(RunError::Thread(io::Error::other("the one that reads panicked")));
            let was_read = reader.join().unwrap_or_else(panicked);
            was_read.and(copied)
        })
    }

    /// Buffers for pieces of this tensor: those of the last one, if they have its size.
    fn buffers(&mut self, memory: &dyn DeviceMemory, place: &TensorPlace) -> Result<&[Buffer; 2], RunError> {
        let sizes = place.piece(0, PIECE).sizes();
        let held = self.buffers.take().filter(|(held, _)| *held == sizes);
        let held = held.map_or_else(
            || {
                let allocate = || unmetered(|| memory.allocate_host(&sizes));
                Ok::<_, RunError>((sizes, [allocate()?, allocate()?]))
            },
            Ok,
        )?;
        Ok(&self.buffers.insert(held).1)
    }
}
