// Enhancements of pages that work without JavaScript: theme, copy buttons, confirmations,
// keyboard shortcuts, lists that grow while they are open. The script runs in <head> without `defer`, so that a chosen theme applies
// before the first paint.
"use strict";
(() => {
  const THEMES = ["system", "light", "dark"];
  // Rows that a growing list keeps: a page, and as many as come at once after an interruption.
  const STREAM_ROWS_MAX = 1050;
  // Time until the script asks again for a stream that was interrupted.
  const STREAM_RETRY_MS = 3000;
  // Time in which a stream, or the question whether the session has ended, is answered. A proxy may
  // accept a connection and never respond.
  const STREAM_ANSWER_MS = 5000;
  const root = document.documentElement;
  const setting = {
    read(name) {
      try { return localStorage.getItem(`stopover.${name}`); } catch { return null; }
    },
    write(name, value) {
      try { localStorage.setItem(`stopover.${name}`, value); } catch { /* Storage is off: the choice lasts for the page. */ }
    },
  };

  let theme = setting.read("theme");
  if (!THEMES.includes(theme)) theme = "system";
  const applyTheme = () => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };
  applyTheme();
  // Shows the controls that need this script, also in parts of the page that come later.
  root.dataset.script = "";

  let announcer;
  const announce = (text) => {
    announcer.textContent = "";
    setTimeout(() => { announcer.textContent = text; }, 50);
  };

  const showTheme = (button) => {
    button.querySelector("[data-theme-name]").textContent = `Theme: ${theme}`;
  };

  const changeTheme = (button) => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    setting.write("theme", theme);
    applyTheme();
    showTheme(button);
    announce(`Theme: ${theme}`);
  };

  // The Clipboard API exists in secure contexts only. Plain HTTP on another host than loopback
  // is not one, so the text is selected there for the person to copy.
  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    const label = button.querySelector("[data-label]");
    button.dataset.text ??= label.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      label.textContent = "Copied";
      announce("Copied to the clipboard");
      setTimeout(() => { label.textContent = button.dataset.text; }, 2000);
    } catch {
      getSelection().selectAllChildren(source);
      announce("Selected. Press Control and C to copy.");
    }
  };

  // A confirmation is a GET form that leads to a page which asks. Where the page has the dialog
  // of the form, the dialog asks instead.
  const confirmInDialog = (form) => {
    const dialog = document.getElementById(form.dataset.confirm);
    if (!dialog) return false;
    dialog.querySelector("form[method=post]").action = form.dataset.action;
    for (const place of dialog.querySelectorAll("[data-subject]")) place.textContent = form.dataset.subject;
    dialog.showModal();
    return true;
  };

  const rows = () => [...document.querySelectorAll("[data-rows] a[data-row]")];
  const moveRow = (step) => {
    const all = rows();
    const current = document.activeElement?.closest("tr, li");
    const at = all.findIndex((link) => current?.contains(link));
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
    const link = all[next];
    if (!link) return;
    link.focus();
    link.scrollIntoView({ block: "nearest" });
  };

  const shortcuts = {
    j: () => moveRow(1),
    k: () => moveRow(-1),
    "/": () => (document.querySelector("[data-search]") ?? document.querySelector("[data-find]"))?.focus(),
    "?": () => document.getElementById("shortcuts")?.showModal(),
  };

  const onKey = (event) => {
    const isTyping = event.target.closest?.("input, select, textarea, [contenteditable], dialog[open]");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (setting.read("shortcuts") === "off") return;
    const shortcut = Object.hasOwn(shortcuts, event.key) ? shortcuts[event.key] : null;
    if (!shortcut) return;
    event.preventDefault();
    shortcut();
  };

  const onClick = (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    if (button.dataset.copy) copy(button);
    else if ("themeToggle" in button.dataset) changeTheme(button);
    else if (button.dataset.dialog) document.getElementById(button.dataset.dialog)?.showModal();
  };

  const onSubmit = (event) => {
    const form = event.target;
    if (form.dataset.confirm && confirmInDialog(form)) event.preventDefault();
    // A second press would repeat the change before the answer of the first has come.
    else if (form.method === "post") {
      if (form.dataset.isSent) event.preventDefault();
      form.dataset.isSent = "true";
    }
  };

  // Returns whether the session has ended: the page then leads to the sign-in. The header says that
  // no person asked, so that the request does not prolong the session.
  const hasSessionEnded = async () => {
    try {
      const options = { method: "HEAD", redirect: "manual", headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(STREAM_ANSWER_MS) };
      return (await fetch(location.href, options)).type === "opaqueredirect";
    } catch { return false; }
  };

  // The time of a row, which its position begins with.
  const timeOf = (row) => Number.parseInt(row.dataset.streamId, 10);

  // Whether a position is further back in a list than another one.
  const isBefore = (position, other) => {
    const [time, otherTime] = [position, other].map((text) => Number.parseInt(text, 10));
    return time < otherTime || (time === otherTime && position < other);
  };

  // Lets the next page begin after a row, because the rows below it have left this page.
  const moveNextPage = (position) => {
    const pager = document.querySelector(".pager");
    const link = pager.querySelector("[rel=next]");
    const url = new URL(link.href);
    url.searchParams.set("after", position);
    link.href = url;
    link.textContent = "Next page";
    pager.querySelector("[data-searched]")?.remove();
    pager.hidden = false;
  };

  // A list whose new rows come as server-sent events. A row that the list has already is replaced.
  // After a pause or an interruption the script connects again and names the last event.
  const followStream = (controls) => {
    const state = controls.querySelector("[data-stream-state]");
    const button = controls.querySelector("button");
    const list = document.querySelector("[data-stream-rows]");
    let lastId = list.querySelector("[data-stream-id]")?.dataset.streamId ?? "";
    let source = null;
    let isOn = false;
    let retry;
    // Whether rows are missing between those on the page and the next one.
    let hasGap = false;
    // The last row of the page, if others have left it or were left out.
    let end = null;
    const show = (tone, text) => {
      state.className = `state ${tone}`;
      state.textContent = text;
    };
    const close = (text) => {
      isOn = false;
      clearTimeout(retry);
      source.close();
      button.textContent = "Resume";
      show("", text);
    };
    const onRow = (event) => {
      lastId = event.lastEventId;
      const parsed = document.createElement("template");
      parsed.innerHTML = event.data;
      const row = parsed.content.firstElementChild;
      const known = list.querySelector(`[data-stream-id="${CSS.escape(row.dataset.streamId)}"]`);
      if (known) {
        const hasFocus = known.contains(document.activeElement);
        known.replaceWith(row);
        if (hasFocus) row.querySelector("a[data-row]").focus();
        return;
      }
      if (hasGap) {
        list.replaceChildren();
        hasGap = false;
        end = row.dataset.streamId;
        moveNextPage(end);
      } else if (end !== null && isBefore(row.dataset.streamId, end)) {
        // The next page has this row.
        return;
      }
      // The table of an empty list is hidden.
      const table = list.closest("table");
      if (table.hidden) table.parentElement.querySelector(".empty")?.remove();
      table.hidden = false;
      // Rows that another process wrote can come late.
      list.insertBefore(row, [...list.rows].find((other) => timeOf(other) <= timeOf(row)) ?? null);
      if (list.rows.length <= STREAM_ROWS_MAX) return;
      while (list.rows.length > STREAM_ROWS_MAX) list.lastElementChild.remove();
      end = list.lastElementChild.dataset.streamId;
      moveNextPage(end);
    };
    // The browser would try again after a lost connection, but not after a refusal: by a proxy while the
    // gateway restarts, or by the gateway after the end of the session.
    const onInterruption = (ended) => {
      clearTimeout(retry);
      ended.close();
      show("wait", "Reconnecting");
      retry = setTimeout(async () => {
        if (await hasSessionEnded()) location.reload();
        else if (isOn && source === ended) open();
      }, STREAM_RETRY_MS);
    };
    const open = () => {
      const url = new URL(controls.dataset.stream, location.href);
      if (lastId) url.searchParams.set("last_event_id", lastId);
      const opened = new EventSource(url);
      source = opened;
      isOn = true;
      button.textContent = "Pause";
      retry = setTimeout(() => onInterruption(opened), STREAM_ANSWER_MS);
      source.addEventListener("open", () => {
        clearTimeout(retry);
        show("good", "Live");
      });
      // The first event says where the list begins, so that nothing is missed if no row comes before an interruption.
      source.addEventListener("message", (event) => { lastId = event.lastEventId; });
      source.addEventListener("row", onRow);
      source.addEventListener("skipped", (event) => {
        hasGap = true;
        show("wait", event.data);
      });
      // The session or its mode has changed, so the page shows what it must not any more.
      source.addEventListener("end", () => { close("Ended"); location.reload(); });
      source.addEventListener("error", () => onInterruption(opened));
    };
    button.addEventListener("click", () => {
      if (isOn) return close("Paused");
      show("", "Connecting");
      open();
    });
    open();
  };

  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  document.addEventListener("submit", onSubmit);
  // A request of htmx that is led to the sign-in: the session has ended.
  document.addEventListener("htmx:after:request", (event) => {
    if (!event.detail.ctx.response.raw.redirected) return;
    event.preventDefault();
    location.reload();
  });
  // Browsers keep pages for "Back", whatever the server says about storing them. The session may
  // have ended since, so the page is asked for again. To reload the response to a form would send
  // the form again.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    if (root.dataset.page) location.replace(root.dataset.page);
    else location.reload();
  });
  document.addEventListener("DOMContentLoaded", () => {
    announcer = document.createElement("div");
    announcer.className = "hidden-text";
    announcer.setAttribute("role", "status");
    document.body.append(announcer);
    for (const button of document.querySelectorAll("[data-theme-toggle]")) showTheme(button);
    const toggle = document.getElementById("shortcuts-on");
    if (toggle) {
      toggle.checked = setting.read("shortcuts") !== "off";
      toggle.addEventListener("change", () => setting.write("shortcuts", toggle.checked ? "on" : "off"));
    }
    document.querySelector('[role="alert"][tabindex]')?.focus();
    const controls = document.querySelector("[data-stream]");
    if (controls) followStream(controls);
  });
})();
