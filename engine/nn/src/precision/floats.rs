//! Conversion of narrow floats to f32, without branches so that loops are auto-vectorized.

/// Converts the bits of any f16.
#[inline(always)]
pub fn f16(bits: u16) -> f32 {
    let bits = u32::from(bits);
    small((bits & 0x7fff) << 13, (bits & 0x8000) << 16, 0x0f80_0000, 112)
}

/// Converts a bf16.
#[inline(always)]
pub fn bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Converts an 8-bit float with 5 exponent bits, which is the upper half of an f16.
#[inline(always)]
pub fn e5m2(bits: u8) -> f32 {
    f16(u16::from(bits) << 8)
}

/// Converts an 8-bit float with 4 exponent bits, whose only special value is NaN.
#[inline(always)]
pub fn e4m3(bits: u8) -> f32 {
    let bits = u32::from(bits);
    let (magnitude, sign) = (bits & 0x7f, (bits & 0x80) << 24);
    let wide = small(magnitude << 20, sign, u32::MAX, 120);
    if magnitude == 0x7f { f32::from_bits(sign | 0x7fc0_0000) } else { wide }
}

/// Corrects the exponent of a magnitude whose exponent and mantissa are in the bit positions of an f32.
/// `special` is the exponent of infinity and NaN, `shift` the difference of the exponent biases.
#[inline(always)]
fn small(magnitude: u32, sign: u32, special: u32, shift: u32) -> f32 {
    let normal = magnitude + (shift << 23);
    // Removes the implicit leading one, which a number with a zero exponent lacks.
    let one = (shift + 1) << 23;
    let subnormal = (f32::from_bits(magnitude + one) - f32::from_bits(one)).to_bits();
    let infinite = normal + (shift << 23);
    let wide = if magnitude < 1 << 23 { subnormal } else { normal };
    f32::from_bits(sign | if magnitude >= special { infinite } else { wide })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_is_widened_exactly() {
        for bits in 0..=u16::MAX {
            let (want, got) = (half::f16::from_bits(bits).to_f32(), f16(bits));
            assert!(want.to_bits() == got.to_bits() || (want.is_nan() && got.is_nan()), "{bits:04x}: {got}");
        }
    }

    #[test]
    fn every_e4m3_is_widened_exactly() {
        for bits in 0..=u8::MAX {
            let (exponent, mantissa) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
            let sign = if bits > 127 { -1.0 } else { 1.0 };
            let want = sign
                * match exponent {
                    0 => mantissa / 8.0 * 2f64.powi(-6),
                    _ => (1.0 + mantissa / 8.0) * 2f64.powi(exponent - 7),
                };
            let got = e4m3(bits);
            if bits & 0x7f == 0x7f {
                assert!(got.is_nan());
            } else {
                assert_eq!(f64::from(got), want, "{bits:02x}");
                assert_eq!(got.is_sign_negative(), bits > 127);
            }
        }
    }
}
