//! Calls beneath a request with their times, for `components/waterfall.html`.

use crate::text::duration_us;

/// Width of the drawing, in its own units.
const WIDTH: f64 = 1000.0;
/// Minimum width of a bar, so that a call of microseconds can be seen.
const BAR_WIDTH_MIN: f64 = 2.0;
/// Parts of the scale.
const TICKS: u8 = 4;

/// A call as the service returns it, in words.
#[derive(Debug, Clone)]
pub(crate) struct WaterfallSpan {
    /// E.g. the supplier and the operation.
    pub(crate) name: String,
    /// Empty for none.
    pub(crate) detail: String,
    /// `good`, `wait`, `bad`, or empty for a neutral outcome.
    pub(crate) tone: &'static str,
    /// The outcome in words, empty if there is nothing to say about it.
    pub(crate) outcome: String,
    /// The call is part of the one before that is not.
    pub(crate) is_nested: bool,
    /// Time from the begin of the request.
    pub(crate) offset_us: u64,
    pub(crate) duration_us: u64,
    pub(crate) path: Option<String>,
}

/// The drawing and its scale.
#[derive(Debug, Clone)]
pub(crate) struct Waterfall {
    /// Times at equal distances, from the left end to the right.
    pub(crate) ticks: Vec<String>,
    pub(crate) bars: Vec<WaterfallBar>,
}

/// A call as the page shows it.
#[derive(Debug, Clone)]
pub(crate) struct WaterfallBar {
    pub(crate) name: String,
    pub(crate) detail: String,
    pub(crate) tone: &'static str,
    pub(crate) outcome: String,
    pub(crate) is_nested: bool,
    pub(crate) x: String,
    pub(crate) width: String,
    pub(crate) start: String,
    pub(crate) duration: String,
    pub(crate) path: Option<String>,
}

impl Waterfall {
    /// Draws calls beneath a request of this duration. The scale is longer than the request if a
    /// call ended after it.
    pub(crate) fn new(request_us: u64, spans: Vec<WaterfallSpan>) -> Self {
        let ends = spans
            .iter()
            .map(|span| span.offset_us.saturating_add(span.duration_us));
        let whole_us = ends.fold(request_us, u64::max).max(1);
        Self {
            ticks: (0..=TICKS)
                .map(|tick| duration_us(whole_us / u64::from(TICKS) * u64::from(tick)))
                .collect(),
            bars: spans
                .into_iter()
                .map(|span| WaterfallBar::new(span, whole_us))
                .collect(),
        }
    }
}

impl WaterfallBar {
    fn new(span: WaterfallSpan, whole_us: u64) -> Self {
        let width = scaled(span.duration_us, whole_us).max(BAR_WIDTH_MIN);
        let x = scaled(span.offset_us, whole_us).min(WIDTH - width);
        Self {
            name: span.name,
            detail: span.detail,
            tone: span.tone,
            outcome: span.outcome,
            is_nested: span.is_nested,
            x: format!("{x:.1}"),
            width: format!("{width:.1}"),
            start: duration_us(span.offset_us),
            duration: duration_us(span.duration_us),
            path: span.path,
        }
    }
}

fn scaled(us: u64, whole_us: u64) -> f64 {
    us as f64 / whole_us as f64 * WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_is_visible_and_within_the_drawing() {
        let span = |offset_us, duration_us| WaterfallSpan {
            name: String::new(),
            detail: String::new(),
            tone: "",
            outcome: String::new(),
            is_nested: false,
            offset_us,
            duration_us,
            path: None,
        };
        let spans = vec![span(0, 250_000), span(500_000, 1), span(999_999, 1_001)];
        let waterfall = Waterfall::new(800_000, spans);
        let bars: Vec<_> = waterfall
            .bars
            .iter()
            .map(|bar| (bar.x.as_str(), bar.width.as_str()))
            .collect();
        assert_eq!(bars, [("0.0", "249.8"), ("499.5", "2.0"), ("998.0", "2.0")]);
        let ticks = ["0 ms", "250 ms", "501 ms", "751 ms", "1.0 s"];
        assert_eq!(waterfall.ticks, ticks);
    }
}
