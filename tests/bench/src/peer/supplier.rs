//! A supplier's API that answers every request with the same rates, `/<n>/…`
//! after n milliseconds.

use crate::peer::rates;
use crate::wire::Wire;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

pub(super) async fn serve(listener: TcpListener) -> Result<()> {
    let body = rates::document();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer: Arc<[u8]> = [head.into_bytes(), body.into_bytes()].concat().into();
    loop {
        let (stream, _) = listener.accept().await?;
        let (mut wire, answer) = (Wire::new(stream)?, Arc::clone(&answer));
        tokio::spawn(async move {
            while let Ok(Some(request)) = wire.receive().await {
                let delay = request
                    .first_line
                    .split('/')
                    .nth(1)
                    .and_then(|text| text.parse().ok());
                if let Some(delay) = delay.filter(|delay| *delay > 0) {
                    tokio::time::sleep(Duration::from_millis(delay)).await;
                }
                if wire.send(&answer).await.is_err() {
                    return;
                }
            }
        });
    }
}
