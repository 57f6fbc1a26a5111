//! Charts of the overview as SVG, for `components/chart.html`. They need no script.

use crate::text::{duration_us, number};

/// Size of the drawing, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 140.0;
/// Part of a column's place that is left empty.
const GAP: f64 = 0.22;
/// Minimum height of failed calls, so that a single one can be seen.
const FAILED_HEIGHT_MIN: f64 = 2.0;
/// Steps of an axis, for each power of ten.
const STEPS: [u64; 3] = [1, 2, 5];

/// The calls of a part of the time.
#[derive(Debug, Clone)]
pub(crate) struct ChartColumn {
    /// The time, e.g. `14:05`.
    pub(crate) label: String,
    /// Path of the page that lists the calls.
    pub(crate) path: Option<String>,
    pub(crate) answered: u64,
    pub(crate) failed: u64,
}

/// The durations of a part of the time. `None` without calls.
#[derive(Debug, Clone)]
pub(crate) struct ChartPoint {
    /// The time, e.g. `14:05`.
    pub(crate) label: String,
    /// Path of the list of the calls.
    pub(crate) path: Option<String>,
    pub(crate) p50_us: Option<u64>,
    pub(crate) p99_us: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) title: &'static str,
    /// The chart in words: the values of the whole time and of its most remarkable part.
    pub(crate) summary: String,
    /// The highest value and half of it.
    pub(crate) top: String,
    pub(crate) middle: String,
    /// The first, the middle and the last time.
    pub(crate) ticks: Vec<String>,
    /// Rectangles that stand on the axis.
    pub(crate) bars: Vec<ChartBar>,
    /// Lines through points.
    pub(crate) lines: Vec<ChartLine>,
    /// Parts of the time, each of which tells its values.
    pub(crate) areas: Vec<ChartArea>,
}

#[derive(Debug, Clone)]
pub(crate) struct ChartBar {
    pub(crate) class: &'static str,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) width: String,
    pub(crate) height: String,
}

#[derive(Debug, Clone)]
pub(crate) struct ChartLine {
    pub(crate) class: &'static str,
    /// Commands of a path, with a gap where there are no calls.
    pub(crate) path: String,
}

#[derive(Debug, Clone)]
pub(crate) struct ChartArea {
    pub(crate) x: String,
    pub(crate) width: String,
    /// Time and values in words.
    pub(crate) text: String,
    pub(crate) path: Option<String>,
}

impl Chart {
    /// Draws numbers of calls, failed ones on top.
    pub(crate) fn columns(title: &'static str, columns: Vec<ChartColumn>) -> Self {
        let calls = |column: &ChartColumn| column.answered.saturating_add(column.failed);
        let top = axis_top(columns.iter().map(calls).max().unwrap_or_default());
        let scale = Scale::new(top, columns.len());
        let mut bars = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let answered = scale.height(column.answered);
            let mut failed = scale.height(column.failed);
            if column.failed > 0 {
                failed = failed.max(FAILED_HEIGHT_MIN);
            }
            bars.extend(scale.bar("answered", index, 0.0, answered));
            bars.extend(scale.bar("failed", index, answered, failed));
        }
        let total = |value: fn(&ChartColumn) -> u64| number(columns.iter().map(value).sum());
        let (answered, failed) = (total(|c| c.answered), total(|c| c.failed));
        let mut summary = format!("{answered} answered, {failed} failed.");
        if let Some(most) = columns.iter().max_by_key(|column| calls(column)) {
            summary.push_str(&format!(" Most at {}", column_text(most)));
        }
        let area = |(index, column): (usize, ChartColumn)| {
            scale.area(index, column_text(&column), column.path)
        };
        Self {
            title,
            summary,
            top: number(top),
            middle: number(top / 2),
            ticks: ticks(&columns, |column| &column.label),
            bars,
            lines: Vec::new(),
            areas: columns.into_iter().enumerate().map(area).collect(),
        }
    }

    /// Draws the median and the 99th percentile of durations, after those of the whole time.
    pub(crate) fn lines(
        title: &'static str,
        [p50, p99]: &[String; 2],
        points: Vec<ChartPoint>,
    ) -> Self {
        let highest = points
            .iter()
            .filter_map(|point| point.p99_us.max(point.p50_us));
        let top = axis_top(highest.max().unwrap_or_default());
        let scale = Scale::new(top, points.len());
        let line = |class, value: fn(&ChartPoint) -> Option<u64>| ChartLine {
            class,
            path: scale.path(points.iter().map(value)),
        };
        let lines = vec![
            line("p99", |point| point.p99_us),
            line("p50", |point| point.p50_us),
        ];
        let ticks = ticks(&points, |point| &point.label);
        let mut summary = format!("p50 {p50}, p99 {p99}.");
        let slowest = points.iter().max_by_key(|point| point.p99_us);
        if let Some(slowest) = slowest.filter(|point| point.p99_us.is_some()) {
            summary.push_str(&format!(" Slowest at {}", point_text(slowest)));
        }
        let area =
            |(index, point): (usize, ChartPoint)| scale.area(index, point_text(&point), point.path);
        Self {
            title,
            summary,
            top: duration_us(top),
            middle: duration_us(top / 2),
            ticks,
            bars: Vec::new(),
            lines,
            areas: points.into_iter().enumerate().map(area).collect(),
        }
    }
}

fn column_text(column: &ChartColumn) -> String {
    let (answered, failed) = (number(column.answered), number(column.failed));
    format!("{}: {answered} answered, {failed} failed", column.label)
}

fn point_text(point: &ChartPoint) -> String {
    match (point.p50_us, point.p99_us) {
        (Some(p50), Some(p99)) => {
            let (p50, p99) = (duration_us(p50), duration_us(p99));
            format!("{}: p50 {p50}, p99 {p99}", point.label)
        }
        _ => format!("{}: no calls", point.label),
    }
}

/// Returns the lowest round number that is at least `highest`: 1, 2 or 5 times a power of ten.
fn axis_top(highest: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for step in STEPS {
            let top = power.saturating_mul(step);
            // An axis from 0 to 1 has no round middle.
            if top >= highest.max(2) || top == u64::MAX {
                return top;
            }
        }
        power = power.saturating_mul(10);
    }
}

fn ticks<T>(values: &[T], label: fn(&T) -> &String) -> Vec<String> {
    let middle = values.len() / 2;
    let shown = [values.first(), values.get(middle), values.last()];
    shown.into_iter().flatten().map(label).cloned().collect()
}

/// Converts values and positions to the units of the drawing.
struct Scale {
    top: u64,
    /// Width of the place of a value.
    step: f64,
}

impl Scale {
    fn new(top: u64, count: usize) -> Self {
        let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        Self {
            top,
            step: WIDTH / f64::from(count),
        }
    }

    fn height(&self, value: u64) -> f64 {
        value as f64 / self.top as f64 * HEIGHT
    }

    fn x(&self, index: usize) -> f64 {
        index as f64 * self.step
    }

    fn bar(&self, class: &'static str, index: usize, base: f64, height: f64) -> Option<ChartBar> {
        let top = (base + height).min(HEIGHT);
        (height > 0.0).then(|| ChartBar {
            class,
            x: format!("{:.1}", self.x(index) + self.step * GAP / 2.0),
            y: format!("{:.1}", HEIGHT - top),
            width: format!("{:.1}", self.step * (1.0 - GAP)),
            height: format!("{height:.1}"),
        })
    }

    fn path(&self, values: impl Iterator<Item = Option<u64>>) -> String {
        let mut path = String::new();
        let mut is_drawing = false;
        for (index, value) in values.enumerate() {
            let Some(value) = value else {
                is_drawing = false;
                continue;
            };
            let x = self.x(index) + self.step / 2.0;
            let y = HEIGHT - self.height(value);
            path.push_str(&if is_drawing {
                format!("L{x:.1} {y:.1}")
            } else {
                // A line of length 0 shows a value between two gaps as a dot.
                format!("M{x:.1} {y:.1}h0")
            });
            is_drawing = true;
        }
        path
    }

    fn area(&self, index: usize, text: String, path: Option<String>) -> ChartArea {
        ChartArea {
            x: format!("{:.1}", self.x(index)),
            width: format!("{:.1}", self.step),
            text,
            path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(label: &str, answered: u64, failed: u64) -> ChartColumn {
        ChartColumn {
            label: label.to_owned(),
            path: None,
            answered,
            failed,
        }
    }

    #[test]
    fn axis_ends_at_a_round_number() {
        for (highest, top) in [(0, 2), (2, 2), (3, 5), (6, 10), (101, 200), (5001, 10_000)] {
            assert_eq!(axis_top(highest), top);
        }
        assert_eq!(axis_top(u64::MAX), u64::MAX);
    }

    #[test]
    fn failed_calls_stand_on_the_answered_ones_and_can_be_seen() {
        let columns = vec![column("a", 500, 1), column("b", 0, 0), column("c", 0, 999)];
        let chart = Chart::columns("", columns);
        let bars: Vec<_> = chart
            .bars
            .iter()
            .map(|bar| (bar.class, bar.y.as_str(), bar.height.as_str()))
            .collect();
        let expected = [
            ("answered", "70.0", "70.0"),
            ("failed", "68.0", "2.0"),
            ("failed", "0.1", "139.9"),
        ];
        assert_eq!(bars, expected);
        assert_eq!(chart.areas[0].text, "a: 500 answered, 1 failed");
        let summary = "500 answered, 1,000 failed. Most at c: 0 answered, 999 failed";
        assert_eq!(chart.summary, summary);
        assert_eq!(
            (chart.top.as_str(), chart.middle.as_str()),
            ("1,000", "500")
        );
        assert_eq!(chart.ticks, ["a", "b", "c"]);
    }

    #[test]
    fn line_has_a_gap_where_there_are_no_calls() {
        let point = |p50_us| ChartPoint {
            label: String::new(),
            path: None,
            p50_us,
            p99_us: None,
        };
        let points = vec![
            point(Some(1000)),
            point(Some(0)),
            point(None),
            point(Some(500)),
        ];
        let whole = ["1 ms", "2 ms"].map(str::to_owned);
        let chart = Chart::lines("", &whole, points);
        assert_eq!(chart.summary, "p50 1 ms, p99 2 ms.");
        let path = "M120.0 0.0h0L360.0 140.0M840.0 70.0h0";
        assert_eq!(chart.lines[1].path, path);
        assert_eq!(chart.areas[2].text, ": no calls");
    }
}
