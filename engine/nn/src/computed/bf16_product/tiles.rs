//! Products by the tiles of AMX: eight registers of sixteen rows of 64 bytes. The compiler has no stable functions for them,
//! so they are in assembly.

use std::{arch::asm, marker::PhantomData};

use super::{GAP, LANES, STRIP};

/// Bytes of a row of a tile.
const ROW: usize = 64;

/// Whether this processor has tiles, and the operating system lets this program use them. Linux asks for that; how Windows
/// does was not tried, so tiles are not used there.
pub fn are_available() -> bool {
    #[cfg(target_os = "linux")]
    {
        /// `ARCH_REQ_XCOMP_PERM`, and the part of a thread's state that holds tiles.
        const REQUEST: [libc::c_ulong; 2] = [0x1023, 18];
        const TILES: u32 = 1 << 24;
        const OF_BF16: u32 = 1 << 22;
        let leaves = std::arch::x86_64::__cpuid(0).eax;
        let has =
            leaves >= 7 && std::arch::x86_64::__cpuid_count(7, 0).edx & (TILES | OF_BF16) == TILES | OF_BF16;
        // SAFETY: the call takes two numbers, and touches no memory of this program.
        has && unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST[0], REQUEST[1]) } == 0
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// The sizes of the tiles, as the instruction that sets them reads them.
#[repr(C, align(64))]
struct Sizes {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// Tiles of this thread, while it is held. It is not sent to another.
pub struct Config(PhantomData<*const ()>);

impl Config {
    /// Sets all tiles to their full size. Panics where there are none.
    pub fn load() -> Self {
        assert_eq!(super::Instruction::detect(), Some(super::Instruction::Tiles));
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        row_bytes[..8].fill(ROW as u16);
        rows[..8].fill(LANES as u8);
        let sizes = Sizes { palette: 1, start: 0, reserved: [0; 14], row_bytes, rows };
        // SAFETY: the processor has tiles, and reads the 64 bytes of `sizes`.
        unsafe { asm!("ldtilecfg [{sizes}]", sizes = in(reg) &sizes, options(nostack, readonly)) };
        Self(PhantomData)
    }

    /// Adds the products of [`STRIP`] rows of weights and a panel of one or two vectors to sums in rows of `width`.
    pub fn add(&self, weights: &[u32], stride: usize, panel: &[u32], sums: &mut [f32], width: usize) {
        assert!(weights.len() == STRIP * stride && stride > GAP);
        let depth = stride - GAP;
        let across = panel.len() / depth;
        let steps = depth / LANES;
        assert!(steps > 0 && depth.is_multiple_of(LANES) && across.is_multiple_of(LANES));
        assert!(sums.len() >= (STRIP - 1) * width + across && panel.len() == depth * across);
        let (low, high) = (weights.as_ptr(), weights[LANES * stride..].as_ptr());
        let (upper, lower) = sums.split_at_mut(LANES * width);
        let (upper, lower) = (upper.as_mut_ptr(), lower.as_mut_ptr());
        // SAFETY: the tiles have their full size. The weights are `STRIP` rows `stride` apart of which `depth` pairs are read,
        // the panel is `depth` rows of `across` pairs, and the sums are `STRIP` rows `width` apart of which `across` are read
        // and written, as was asserted above.
        unsafe {
            if across == LANES {
                asm!(
                    "tileloadd tmm0, [{upper} + {width}]",
                    "tileloadd tmm2, [{lower} + {width}]",
                    "2:",
                    "tileloadd tmm4, [{low} + {stride}]",
                    "tileloadd tmm6, [{panel} + {across}]",
                    "tileloadd tmm5, [{high} + {stride}]",
                    "tdpbf16ps tmm0, tmm4, tmm6",
                    "tdpbf16ps tmm2, tmm5, tmm6",
                    "add {low}, 64",
                    "add {high}, 64",
                    "add {panel}, 1024",
                    "dec {steps}",
                    "jnz 2b",
                    "tilestored [{upper} + {width}], tmm0",
                    "tilestored [{lower} + {width}], tmm2",
                    upper = in(reg) upper, lower = in(reg) lower, width = in(reg) width * size_of::<f32>(),
                    low = inout(reg) low => _, high = inout(reg) high => _, stride = in(reg) stride * size_of::<u32>(),
                    panel = inout(reg) panel.as_ptr() => _, across = in(reg) across * size_of::<u32>(),
                    steps = inout(reg) steps => _,
                    out("tmm0") _, out("tmm2") _, out("tmm4") _, out("tmm5") _, out("tmm6") _,
                    options(nostack),
                );
            } else {
                assert_eq!(across, 2 * LANES);
                asm!(
                    "tileloadd tmm0, [{upper} + {width}]",
                    "tileloadd tmm1, [{upper} + {width} + 64]",
                    "tileloadd tmm2, [{lower} + {width}]",
                    "tileloadd tmm3, [{lower} + {width} + 64]",
                    "2:",
                    "tileloadd tmm4, [{low} + {stride}]",
                    "tileloadd tmm6, [{panel} + {across}]",
                    "tileloadd tmm5, [{high} + {stride}]",
                    "tileloadd tmm7, [{panel} + {across} + 64]",
                    "tdpbf16ps tmm0, tmm4, tmm6",
                    "tdpbf16ps tmm2, tmm5, tmm6",
                    "tdpbf16ps tmm1, tmm4, tmm7",
                    "tdpbf16ps tmm3, tmm5, tmm7",
                    "add {low}, 64",
                    "add {high}, 64",
                    "add {panel}, 2048",
                    "dec {steps}",
                    "jnz 2b",
                    "tilestored [{upper} + {width}], tmm0",
                    "tilestored [{upper} + {width} + 64], tmm1",
                    "tilestored [{lower} + {width}], tmm2",
                    "tilestored [{lower} + {width} + 64], tmm3",
                    upper = in(reg) upper, lower = in(reg) lower, width = in(reg) width * size_of::<f32>(),
                    low = inout(reg) low => _, high = inout(reg) high => _, stride = in(reg) stride * size_of::<u32>(),
                    panel = inout(reg) panel.as_ptr() => _, across = in(reg) across * size_of::<u32>(),
                    steps = inout(reg) steps => _,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: this thread has set its tiles; without them the operating system need not keep them.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}
