//! QR codes as drawings.

use qrcode::{Color, QrCode};
use std::fmt::Write;

/// Width of the light border that scanners need, in modules.
const BORDER: usize = 4;

/// The drawing of a QR code, for `components/qr_code.html`. Its unit is a module.
pub(crate) struct QrCodeDrawing {
    /// Width and height with the border.
    pub(crate) size: usize,
    /// The dark modules as an SVG path.
    pub(crate) path: String,
}

impl QrCodeDrawing {
    /// Returns `None` if the text is too long for a QR code.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let code = QrCode::new(text).ok()?;
        let width = code.width();
        let mut path = String::new();
        let modules = code.to_colors();
        for (row, line) in modules.chunks(width).enumerate() {
            for (column, color) in line.iter().enumerate() {
                if *color == Color::Dark {
                    let (x, y) = (column + BORDER, row + BORDER);
                    // Writing to a text cannot fail.
                    let _ = write!(path, "M{x} {y}h1v1h-1z");
                }
            }
        }
        Some(Self {
            size: width + 2 * BORDER,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawing_has_finder_patterns_and_a_border() {
        let drawing = QrCodeDrawing::new("otpauth://totp/a?secret=b").unwrap();
        // Version 2 has 25 modules a side.
        assert_eq!(drawing.size, 25 + 8);
        assert!(drawing.path.starts_with("M4 4h1v1h-1zM5 4h1v1h-1z"));
        assert!(drawing.path.contains("M28 4h1v1h-1z"));
        assert!(QrCodeDrawing::new(&"a".repeat(5000)).is_none());
    }
}
