//! Supplier APIs that always return the same response: rates, or fares on the paths of fares. A
//! path `/<n>/…` responds after n milliseconds.

use crate::http_connection::HttpConnection;
use crate::peer::fares::Fares;
use crate::peer::rates;
use anyhow::Result;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

struct Answers {
    rates: Vec<u8>,
    search: Vec<u8>,
    fares: Fares,
}

impl Answers {
    /// Returns the response to a path with its query.
    fn to(&self, path: &str) -> Cow<'_, [u8]> {
        if path.contains("/air/offer_requests") {
            return Cow::Borrowed(&self.search);
        }
        match path.split_once("/air/offers?") {
            Some((_, query)) => Cow::Owned(answer(&self.fares.page(query))),
            None => Cow::Borrowed(&self.rates),
        }
    }
}

pub(super) async fn serve(listener: TcpListener) -> Result<()> {
    let answers = Arc::new(Answers {
        rates: answer(&rates::document()),
        search: answer(&Fares::search()),
        fares: Fares::new(),
    });
    loop {
        let (stream, _) = listener.accept().await?;
        let (mut connection, answers) = (HttpConnection::new(stream)?, Arc::clone(&answers));
        tokio::spawn(async move {
            while let Ok(Some(request)) = connection.receive().await {
                let path = request.first_line.split(' ').nth(1).unwrap_or_default();
                let delay = path.split('/').nth(1).and_then(|text| text.parse().ok());
                let answer = answers.to(path);
                if let Some(delay) = delay.filter(|delay| *delay > 0) {
                    tokio::time::sleep(Duration::from_millis(delay)).await;
                }
                if connection.send(&answer).await.is_err() {
                    return;
                }
            }
        });
    }
}

fn answer(body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
