//! Lists of values: `1, 2, 5`, and A1111's ranges `1-5`, `1-10 (+2)` and `1-10 [5]`.

use super::GridError;

/// Far more values than a grid has cells.
const MOST: usize = 100_000;

/// The values between commas, without the spaces around them. A value in quotes may contain commas.
pub(super) fn listed(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let (mut value, mut is_quoted) = (String::new(), false);
    let mut letters = text.chars().peekable();
    let mut end = |value: &mut String| {
        let trimmed = value.trim().to_owned();
        value.clear();
        if !trimmed.is_empty() {
            values.push(trimmed);
        }
    };
    while let Some(letter) = letters.next() {
        match letter {
            // As in CSV, a doubled quote is a quote.
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                value.push('"');
            }
            '"' if is_quoted || value.trim().is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => end(&mut value),
            letter => value.push(letter),
        }
    }
    end(&mut value);
    values
}

/// Numbers, with ranges spelled out; rounded down to whole ones if they have to be.
pub(super) fn numbers(setting: &'static str, text: &str, is_whole: bool) -> Result<Vec<f64>, GridError> {
    let mut all = Vec::new();
    for value in listed(text) {
        let numbers = range(&value, is_whole).filter(|numbers| !numbers.is_empty() && numbers.len() < MOST);
        let wanted = || "use a number, or a range such as 1-5, 1-10 (+2) or 1-10 [5]".to_owned();
        all.extend(numbers.ok_or_else(|| GridError::Value { setting, value, wanted: wanted() })?);
    }
    Ok(all)
}

fn range(text: &str, is_whole: bool) -> Option<Vec<f64>> {
    if let Some(number) = number(text) {
        return (!is_whole || number.fract() == 0.0).then(|| vec![number]);
    }
    let (ends, rule) = match text.find(['(', '[']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    // The dash between the numbers, and not the sign of the first.
    let (dash, _) = ends.match_indices('-').find(|(at, _)| number(&ends[..*at]).is_some())?;
    let (start, end) = (number(&ends[..dash])?, number(&ends[dash + 1..])?);
    let rule = rule.trim();
    if let Some(count) = rule.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let count = count.trim().parse::<usize>().ok().filter(|count| (1..MOST).contains(count))?;
        let along = |place: usize| match count {
            1 => start,
            _ => start + (end - start) * place as f64 / (count - 1) as f64,
        };
        let numbers = (0..count).map(along);
        return Some(match is_whole {
            true => numbers.map(f64::trunc).collect(),
            false => numbers.map(tidy).collect(),
        });
    }
    let step = match rule.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(step) => number(step)?,
        None if rule.is_empty() => {
            if end < start {
                -1.0
            } else {
                1.0
            }
        }
        None => return None,
    };
    let steps = (end - start) / step;
    if !steps.is_finite() || steps < 0.0 || steps > MOST as f64 || (is_whole && (start + step).fract() != 0.0)
    {
        return None;
    }
    // The end belongs to the range, also where the sum of steps misses it by a rounding.
    let count = (steps + 1e-9).floor() as usize + 1;
    Some((0..count).map(|place| tidy(start + step * place as f64)).collect())
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.chars().all(|letter| letter.is_ascii_digit() || "+-. ".contains(letter));
    is_plain.then(|| text.replace(' ', "").parse().ok()).flatten()
}

/// Without the noise of sums: 0.1 + 0.2 is 0.3.
fn tidy(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}
