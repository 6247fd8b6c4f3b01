// The frame around every page: the session, the heading with the path, the theme, shortcuts, messages. Loaded last;
// it draws the page into #attune.
(function () {
  "use strict";
  const { html, h, render, signal, computed, useEffect, useRef, useState, net } = attune;

  // attune.say(text, bad): a short message in the corner, also read aloud.
  const message = signal(null);
  attune.say = function (text, bad = false) {
    message.value = { text, bad };
    const shown = message.value;
    setTimeout(() => message.peek() === shown && (message.value = null), bad ? 12000 : 5000);
  };

  // The path without the query: pages are not drawn anew when a filter changes the query.
  const path = computed(() => JSON.stringify(attune.route.value.path));

  function Login() {
    const [token, setToken] = useState("");
    const [problem, setProblem] = useState("");
    useEffect(attune.closeExperiment, []);
    const submit = (event) => {
      event.preventDefault();
      const found = /token=([^&\s]+)/.exec(token);  // the whole link will do
      net.login(found ? decodeURIComponent(found[1]) : token.trim()).catch((error) => setProblem(error.message));
    };
    return html`<section class="stack">
      <h1 tabindex="-1">Open the link that attune dashboard prints</h1>
      <p>Only who has its token may see the experiments. Paste the link or the token here:</p>
      <form class="row" onSubmit=${submit}>
        <label>Token <input type="password" autocomplete="off" value=${token} onInput=${(event) => setToken(event.target.value)} /></label>
        <button class="main">Open</button>
      </form>
      <p class="bad" role="alert">${problem}</p>
    </section>`;
  }

  const shortcuts = [
    ["?", "this list"], ["e", "all experiments"], ["u", "one level up"], ["/", "the search field or the filters"],
    ["b", "the best trial"], ["x", "remove all filters"], ["t", "light or dark"],
    ["Tab, Enter", "reach and press everything"], ["Esc", "close a dialog, leave a large panel"],
  ];

  function Help() {
    return html`<${attune.Dialog} title="Shortcuts" onClose=${() => (helpOpen.value = false)}>
      <table><tbody>${shortcuts.map(([key, text]) => html`<tr key=${key}><th scope="row"><kbd>${key}</kbd></th><td>${text}</td></tr>`)}</tbody></table>
    <//>`;
  }
  const helpOpen = signal(false);

  // The open experiment registers what it can do, so that shortcuts reach it: {best(), clear()}.
  attune.shortcuts = {};
  function up() {
    const parts = attune.route.peek().path;
    location.hash = parts[2] === "t" ? attune.experimentAddress(parts[1]) : "#/";
  }
  const flipTheme = () => attune.setTheme(attune.theme.peek() === "dark" ? "light" : "dark");
  addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, select, textarea, dialog");
    if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "?": () => (helpOpen.value = true),
      e: () => (location.hash = "#/"),
      u: up,
      t: flipTheme,
      b: () => attune.shortcuts.best && attune.shortcuts.best(),
      x: () => attune.shortcuts.clear && attune.shortcuts.clear(),
      "/": () => {
        const field = document.querySelector("[data-search]");
        if (field) field.focus();
      },
      Escape: () => attune.setQuery({ panel: null }),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  function Top() {
    const parts = JSON.parse(path.value);
    const steps = [];
    if (parts[0] === "e") steps.push([attune.titleOf(parts[1]), attune.experimentAddress(parts[1])]);
    if (parts[2] === "t") steps.push(["trial " + parts[3], null]);
    if (parts[0] === "compare") steps.push(["compare", null]);
    const session = net.session.value;
    const step = ([text, to], last) => (last ? html`<span aria-current="page">${attune.text(text, 60)}</span>`
      : html`<a href=${to}>${attune.text(text, 60)}</a>`);
    return html`<header class="top">
      <a class="brand" href="#/">attune</a>
      <nav aria-label="Path"><ol>
        ${steps.map((one, i) => html`<li key=${i}>${step(one, i + 1 === steps.length)}</li>`)}
      </ol></nav>
      ${session.readOnly && session.state === "in" && html`<span class="badge quiet">${net.isReport ? "report" : "read only"}</span>`}
      <button onClick=${flipTheme} aria-label="Light or dark theme">${attune.theme.value === "dark" ? "☀" : "☾"}</button>
      <button onClick=${() => (helpOpen.value = true)} aria-label="Shortcuts">?</button>
      ${!net.isReport && session.state === "in" && html`<button onClick=${() => net.logout().catch((error) => attune.say(error.message, true))}>Log out</button>`}
    </header>`;
  }

  function page(parts) {
    if (parts[0] === "e" && parts[1]) {
      if (parts[2] === "t") return h(attune.pages.Trial, { key: parts.join("/"), id: parts[1], number: Number(parts[3]) });
      return h(attune.pages.Experiment, { key: parts[1], id: parts[1] });
    }
    attune.closeExperiment();
    if (parts[0] === "compare") return h(attune.pages.Compare, {});
    return h(attune.pages.List, {});
  }

  function Page() {
    const parts = path.value;
    const main = useRef();
    const first = useRef(true);
    // A reader of the screen hears where it came to; at the very start the browser tells that itself.
    useEffect(() => {
      if (!first.current && main.current) main.current.focus();
      first.current = false;
      scrollTo(0, 0);
    }, [parts]);
    const state = net.session.value.state;
    return html`<main id="main" ref=${main} tabindex="-1">
      ${state === "out" ? h(Login) : state === "in" ? h(attune.Guard, { key: parts }, page(JSON.parse(parts))) : html`<p class="quiet">Connecting…</p>`}
    </main>`;
  }

  function App() {
    return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>To the content</a>
      <${Top} /><${Page} />
      ${helpOpen.value && h(Help)}
      <div class="toast" role="status" aria-live="polite">${message.value && html`<p class=${message.value.bad ? "notice bad" : "notice done"}>${message.value.text}</p>`}</div>`;
  }

  render(h(App), document.getElementById("attune"));
  net.start().catch((error) => error.status !== 401 && attune.say(error.message, true));
})();
