//! Contrast of the colours in `assets/dashboard.css`, by the formula of WCAG 2.2.

use std::collections::HashMap;

const STYLE_SHEET: &str = include_str!("../../assets/dashboard.css");

/// Minimum contrast of text to its background.
const TEXT_MIN: f64 = 4.5;
/// Minimum contrast of the border of a field to its surroundings.
const BORDER_MIN: f64 = 3.0;

const SURFACES: [&str; 3] = ["canvas", "surface", "hover"];
const TEXTS: [&str; 7] = ["text", "muted", "accent", "good", "wait", "bad", "live"];
/// Colours with a soft form as background, on which the colour itself and plain text stand.
const TONES: [&str; 5] = ["accent", "good", "wait", "bad", "live"];
/// Backgrounds of `on-fill`.
const FILLS: [&str; 3] = ["accent", "accent-hover", "bad"];

/// A colour in the light and in the dark scheme.
type Token = [[u8; 3]; 2];

/// Returns the tokens of the form `--name: light-dark(#rrggbb, #rrggbb);`.
fn tokens() -> HashMap<&'static str, Token> {
    let lines = STYLE_SHEET.lines().filter_map(|line| {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(": ")?;
        let colours = value.strip_prefix("light-dark(")?.strip_suffix(");")?;
        let (light, dark) = colours.split_once(", ")?;
        Some((name, [colour(light), colour(dark)]))
    });
    lines.collect()
}

fn colour(text: &str) -> [u8; 3] {
    let digits = text.strip_prefix('#').unwrap();
    let bytes = hex::decode(digits).unwrap();
    bytes.try_into().unwrap()
}

fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|byte| {
        let value = f64::from(byte) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn colour_pairs_have_the_contrast_of_their_use() {
    let tokens = tokens();
    let mut pairs: Vec<(String, String, f64)> = Vec::new();
    let mut add = |front: &str, back: &str, min| pairs.push((front.into(), back.into(), min));
    for back in SURFACES {
        for front in TEXTS {
            add(front, back, TEXT_MIN);
        }
        add("field-line", back, BORDER_MIN);
    }
    for tone in TONES {
        let soft = format!("{tone}-soft");
        for front in ["text", "muted", tone] {
            add(front, &soft, TEXT_MIN);
        }
    }
    for fill in FILLS {
        add("on-fill", fill, TEXT_MIN);
    }
    for (front, back, min) in &pairs {
        let (fronts, backs) = (tokens[front.as_str()], tokens[back.as_str()]);
        for (scheme, front_colour, back_colour) in [
            ("light", fronts[0], backs[0]),
            ("dark", fronts[1], backs[1]),
        ] {
            let found = contrast(front_colour, back_colour);
            assert!(found >= *min, "{front} on {back}, {scheme}: {found:.2}");
        }
    }
    // A new colour must be added to a list above, or be one of the decorative lines.
    for name in tokens.keys() {
        let is_paired = pairs
            .iter()
            .any(|(front, back, _)| front == name || back == name);
        let is_decoration = ["line", "line-strong"].contains(name);
        assert!(is_paired || is_decoration, "--{name} is in no pair");
    }
}

#[test]
fn contrast_of_black_and_white_is_21() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
}
