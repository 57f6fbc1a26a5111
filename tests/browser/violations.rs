//! Rules that hold for every page of every test: no error of a script, no violation of the content
//! security policy, no request to another host.

use crate::driver::Browser;
use serde_json::Value;

impl Browser {
    /// Returns every event of the network since the browser started.
    pub(crate) async fn network(&self) -> Vec<Value> {
        let log = self.driver.log("performance").await;
        let read = |entry: &Value| -> Value {
            let entry: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            entry["message"].clone()
        };
        let mut network = self.network.borrow_mut();
        network.extend(log.iter().map(read));
        network.clone()
    }

    /// Returns every broken rule since the browser started.
    pub(crate) async fn violations(&self) -> Vec<String> {
        let console = self.driver.log("browser").await;
        // The events of the network say more about failed loads, and information breaks no rule: for
        // example that a field was focused before its page could do so.
        let console = console
            .iter()
            .filter(|entry| entry["source"] != "network" && entry["level"] != "INFO")
            .map(|entry| format!("console: {} {}", entry["level"], entry["message"]));
        let mut violations: Vec<String> = console.collect();
        let network = self.network().await;
        assert!(!network.is_empty(), "the browser reports its requests");
        violations.extend(network.iter().filter_map(|event| self.violation(event)));
        violations
    }

    /// Returns the rule that an event of the network breaks.
    fn violation(&self, event: &Value) -> Option<String> {
        let parameters = &event["params"];
        let is_page = parameters["type"] == "Document";
        match event["method"].as_str()? {
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str()?;
                let is_at = |site: &String| {
                    let rest = url.strip_prefix(site.as_str());
                    rest.is_some_and(|rest| rest.starts_with('/'))
                };
                // A page may lead elsewhere. It may load nothing from there.
                let is_known = is_at(&self.base)
                    || (is_page && self.other_sites.iter().any(is_at))
                    || url.starts_with("data:");
                (!is_known).then(|| format!("request to {url}"))
            }
            // Tests check the status of pages themselves. 502 is the response of a proxy that a test
            // has put before the dashboard.
            "Network.responseReceived" if !is_page => {
                let response = &parameters["response"];
                let status = response["status"].as_i64()?;
                (status >= 400 && status != 502)
                    .then(|| format!("{status} for {}", response["url"]))
            }
            // Requests that a page has begun end with the page, and streams are opened again.
            "Network.loadingFailed" if !is_page && parameters["type"] != "EventSource" => {
                let is_cancelled = parameters["canceled"] == true;
                (!is_cancelled).then(|| format!("failed load: {parameters}"))
            }
            _ => None,
        }
    }
}
