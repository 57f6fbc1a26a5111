//! Uses pages as a person does: by the texts of labels and buttons.

use crate::driver::Browser;
use crate::webdriver::{Element, Locator};
use tests::eventually;

/// A button, or a link that looks like one.
const BUTTONS: &str = "//*[self::button or self::a[contains(@class, 'button')]]";

impl Browser {
    /// Opens a path of the dashboard.
    pub(crate) async fn open(&self, path: &str) {
        let url = format!("{}{path}", self.base);
        self.driver.open(&url).await;
    }

    /// Returns path and query of the current page.
    pub(crate) async fn path(&self) -> String {
        let url = self.driver.url().await;
        let path = url.strip_prefix(&self.base);
        path.unwrap_or_else(|| panic!("{url} is not the dashboard"))
            .to_owned()
    }

    /// Enters a text into the field with a label, in place of its value.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let field = self.field(label).await;
        field.clear().await;
        field.type_text(text).await;
    }

    /// Returns the field with a label.
    pub(crate) async fn field(&self, label: &str) -> Element<'_> {
        let path = format!("//label[normalize-space(.)='{label}']");
        let found = self.displayed(&path).await;
        let id = found.attribute("for").await.unwrap();
        self.driver
            .find_all(Locator::Css(&format!("#{id}")))
            .await
            .pop()
            .unwrap()
    }

    /// Presses the button with a text, which leaves the page open. It is the only one of this text.
    pub(crate) async fn press(&self, text: &str) {
        self.press_within("", text).await;
    }

    /// Presses the button with a text and waits until another page replaces this one.
    pub(crate) async fn submit(&self, text: &str) {
        let button = self.button("", text).await;
        button.click().await;
        eventually("the next page", async || {
            (!button.is_displayed().await).then_some(())
        })
        .await;
    }

    /// Presses the button with a text in the row of a table that contains other text.
    pub(crate) async fn press_in_row(&self, row: &str, text: &str) {
        self.press_within(&format!("//tr[contains(., '{row}')]"), text)
            .await;
    }

    async fn press_within(&self, place: &str, text: &str) {
        self.button(place, text).await.click().await;
    }

    async fn button(&self, place: &str, text: &str) -> Element<'_> {
        let path = format!("{place}{BUTTONS}[normalize-space(.)='{text}']");
        self.displayed(&path).await
    }

    /// Returns the text of the page's alert.
    pub(crate) async fn alert(&self) -> String {
        eventually("an alert", async || {
            let alert = self.displayed("//*[@role='alert']").await;
            alert.try_text().await
        })
        .await
    }

    /// Returns the text of the element with a test id.
    pub(crate) async fn test_id(&self, id: &str) -> String {
        let element = self.displayed(&format!("//*[@data-testid='{id}']")).await;
        element.text().await
    }

    /// Waits until the page shows an element.
    pub(crate) async fn wait_to_see(&self, path: &str) {
        self.displayed(path).await;
    }

    /// Returns the shown texts of elements.
    pub(crate) async fn texts(&self, path: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for element in self.all_displayed(path).await {
            texts.push(element.text().await);
        }
        texts
    }

    /// Returns whether the page shows an element.
    pub(crate) async fn shows(&self, path: &str) -> bool {
        !self.all_displayed(path).await.is_empty()
    }

    /// Opens the link with a text.
    pub(crate) async fn follow(&self, text: &str) {
        let path = format!("//a[normalize-space(.)='{text}']");
        self.displayed(&path).await.click().await;
    }

    /// Waits for the only displayed element of an XPath. Dialogs and pages take a moment.
    async fn displayed(&self, path: &str) -> Element<'_> {
        eventually(path, async || {
            let mut found = self.all_displayed(path).await;
            assert!(found.len() < 2, "{path} is ambiguous");
            found.pop()
        })
        .await
    }

    async fn all_displayed(&self, path: &str) -> Vec<Element<'_>> {
        let mut displayed = Vec::new();
        for element in self.driver.find_all(Locator::XPath(path)).await {
            if element.is_displayed().await {
                displayed.push(element);
            }
        }
        displayed
    }

    /// Signs in on the current page.
    pub(crate) async fn sign_in(&self, email: &str, password: &str) {
        self.fill("Email", email).await;
        self.fill("Password", password).await;
        self.submit("Sign in").await;
    }
}
