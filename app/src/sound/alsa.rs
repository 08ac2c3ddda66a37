//! Linux's sound, by the library that every desktop has. It is loaded when a clip is first heard, so that Sluice starts
//! without it.

use std::{
    ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void},
    ptr,
    sync::OnceLock,
};

use libloading::Library;

use super::{Output, SoundError};

/// `SND_PCM_STREAM_PLAYBACK`, `SND_PCM_FORMAT_FLOAT` and `SND_PCM_ACCESS_RW_INTERLEAVED` of `alsa/pcm.h`.
const PLAYBACK: c_int = 0;
const FLOAT: c_int = if cfg!(target_endian = "little") { 14 } else { 15 };
const INTERLEAVED: c_int = 3;
/// How much sound waits in the device, in microseconds.
const LATENCY: c_uint = 60_000;

type Pcm = *mut c_void;

/// The functions of `libasound` that are needed.
struct Alsa {
    open: unsafe extern "C" fn(*mut Pcm, *const c_char, c_int, c_int) -> c_int,
    set_params: unsafe extern "C" fn(Pcm, c_int, c_int, c_uint, c_uint, c_int, c_uint) -> c_int,
    write: unsafe extern "C" fn(Pcm, *const c_void, c_ulong) -> c_long,
    recover: unsafe extern "C" fn(Pcm, c_int, c_int) -> c_int,
    stop: unsafe extern "C" fn(Pcm) -> c_int,
    close: unsafe extern "C" fn(Pcm) -> c_int,
    in_words: unsafe extern "C" fn(c_int) -> *const c_char,
    /// Keeps the functions in memory.
    _library: Library,
}

impl Alsa {
    fn load() -> Result<Self, libloading::Error> {
        // SAFETY: loading libasound runs no code but its own initialisation, and the types are those that `alsa/pcm.h`
        // declares for these names.
        unsafe {
            let library = Library::new("libasound.so.2")?;
            Ok(Self {
                open: *library.get(b"snd_pcm_open\0")?,
                set_params: *library.get(b"snd_pcm_set_params\0")?,
                write: *library.get(b"snd_pcm_writei\0")?,
                recover: *library.get(b"snd_pcm_recover\0")?,
                stop: *library.get(b"snd_pcm_drop\0")?,
                close: *library.get(b"snd_pcm_close\0")?,
                in_words: *library.get(b"snd_strerror\0")?,
                _library: library,
            })
        }
    }

    fn loaded() -> Result<&'static Self, SoundError> {
        static ALSA: OnceLock<Result<Alsa, String>> = OnceLock::new();
        let alsa = ALSA.get_or_init(|| Self::load().map_err(|error| error.to_string()));
        alsa.as_ref().map_err(|error| SoundError::Device(error.clone()))
    }

    /// Negative results are errors.
    fn check(&self, result: c_int) -> Result<(), SoundError> {
        if result >= 0 {
            return Ok(());
        }
        // SAFETY: snd_strerror returns a text that is never freed, for every number.
        let words = unsafe { CStr::from_ptr((self.in_words)(result)) };
        Err(SoundError::Device(words.to_string_lossy().into_owned()))
    }
}

struct Device {
    alsa: &'static Alsa,
    pcm: Pcm,
    channels: usize,
}

/// Opens the default device. ALSA converts rate, channels and format to those of the device.
pub(super) fn open(channels: u16, rate: u32) -> Result<Box<dyn Output>, SoundError> {
    let alsa = Alsa::loaded()?;
    let mut pcm = ptr::null_mut();
    // SAFETY: the name ends with a zero byte, and `pcm` is written before it is used.
    alsa.check(unsafe { (alsa.open)(&raw mut pcm, c"default".as_ptr(), PLAYBACK, 0) })?;
    let device = Device { alsa, pcm, channels: channels.into() };
    let resample = 1;
    // SAFETY: the device was opened.
    alsa.check(unsafe {
        (alsa.set_params)(pcm, FLOAT, INTERLEAVED, channels.into(), rate, resample, LATENCY)
    })?;
    Ok(Box::new(device))
}

impl Output for Device {
    fn write(&mut self, samples: &[f32]) -> Result<(), SoundError> {
        let mut rest = samples;
        while rest.len() >= self.channels {
            let frames = (rest.len() / self.channels) as c_ulong;
            // SAFETY: the device is open, and `rest` has this many frames of samples.
            let written = unsafe { (self.alsa.write)(self.pcm, rest.as_ptr().cast(), frames) };
            match usize::try_from(written) {
                Ok(written) => rest = rest.get(written * self.channels..).unwrap_or_default(),
                // After an underrun the device only has to be prepared again.
                // SAFETY: the device is open.
                Err(_) => self.alsa.check(unsafe { (self.alsa.recover)(self.pcm, written as c_int, 1) })?,
            }
        }
        Ok(())
    }

    fn stop(&mut self) {
        // SAFETY: the device is open.
        if let Err(error) = self.alsa.check(unsafe { (self.alsa.stop)(self.pcm) }) {
            tracing::debug!(%error, "the sound does not stop at once");
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: the device is open, and not used after this.
        if let Err(error) = self.alsa.check(unsafe { (self.alsa.close)(self.pcm) }) {
            tracing::debug!(%error, "the device for sound does not close");
        }
    }
}
