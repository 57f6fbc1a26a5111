//! A small line of values, for `components/sparkline.html`.

use std::fmt::Write as _;

/// Size of the drawing, in its own units.
const WIDTH: f64 = 200.0;
const HEIGHT: f64 = 36.0;
/// Space above the highest and below the lowest value, for the width of the line.
const PADDING: f64 = 2.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sparkline {
    /// Points of the line.
    pub(crate) line: String,
    /// Points of the area under the line.
    pub(crate) area: String,
    /// The values in words.
    pub(crate) summary: String,
}

impl Sparkline {
    /// Draws values from the oldest to the newest, or nothing if there are none. A single value and
    /// equal values are a line in the middle.
    pub(crate) fn new(values: &[f64], summary: String) -> Option<Self> {
        let values = match values {
            [only] => &[*only, *only],
            several => several,
        };
        let step = WIDTH / f64::from(u32::try_from(values.len()).ok()?.checked_sub(1)?);
        let (min, max) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(min, max), value| {
                (min.min(*value), max.max(*value))
            });
        let range = max - min;
        let mut line = String::new();
        let mut x = 0.0;
        for value in values {
            let share = if range > 0.0 {
                (value - min) / range
            } else {
                0.5
            };
            let y = PADDING + (1.0 - share) * (HEIGHT - 2.0 * PADDING);
            // Writing to a text cannot fail.
            let _written = write!(line, "{x:.1},{y:.1} ");
            x += step;
        }
        Some(Self {
            area: format!("0,{HEIGHT} {line}{WIDTH},{HEIGHT}"),
            line: line.trim_end().to_owned(),
            summary,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_goes_from_side_to_side_and_uses_the_height() {
        let line = |values: &[f64]| {
            let sparkline = Sparkline::new(values, String::new());
            sparkline.map(|sparkline| sparkline.line)
        };
        for (values, expected) in [
            (&[][..], None),
            (&[7.0], Some("0.0,18.0 200.0,18.0")),
            (&[7.0, 7.0], Some("0.0,18.0 200.0,18.0")),
            (&[1.0, 3.0, 2.0], Some("0.0,34.0 100.0,2.0 200.0,18.0")),
        ] {
            assert_eq!(line(values).as_deref(), expected, "{values:?}");
        }
    }
}
