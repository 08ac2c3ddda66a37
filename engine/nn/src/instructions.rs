//! Which vector instructions the functions of this crate use.

use std::{env, sync::OnceLock};

use pulp::Arch;

/// The variable that limits them: `avx2`, or `none` for what every processor of its kind has. Tests and measurements set it
/// to do what other processors do.
const VARIABLE: &str = "SLUICE_VECTORS";

/// The widest vectors of this processor, or those that `SLUICE_VECTORS` limits it to.
pub fn arch() -> Arch {
    static ARCH: OnceLock<Arch> = OnceLock::new();
    *ARCH.get_or_init(|| {
        let Some(wanted) = env::var_os(VARIABLE) else { return Arch::new() };
        wanted.to_str().and_then(limited).unwrap_or_else(|| {
            tracing::warn!(?wanted, "{VARIABLE} is neither `avx2` nor `none`, or this processor has no AVX2");
            Arch::new()
        })
    })
}

/// The family of this processor, if AMD made it.
#[cfg(target_arch = "x86_64")]
pub fn amd_family() -> Option<u32> {
    use std::arch::x86_64::__cpuid;

    let maker = __cpuid(0);
    let is_amd = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD";
    let signature = __cpuid(1).eax;
    is_amd.then_some((signature >> 8 & 0xf) + (signature >> 20 & 0xff))
}

fn limited(wanted: &str) -> Option<Arch> {
    match wanted {
        "none" => Some(Arch::Scalar),
        #[cfg(target_arch = "x86_64")]
        "avx2" => pulp::x86::V3::try_new().map(Arch::V3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_limit_the_vectors() {
        assert!(matches!(limited("none"), Some(Arch::Scalar)));
        assert!(limited("avx3").is_none());
        #[cfg(target_arch = "x86_64")]
        assert!(match limited("avx2") {
            Some(arch) => matches!(arch, Arch::V3(_)),
            None => !is_x86_feature_detected!("avx2"),
        });
    }
}
