// Small parts that several pages use: dialogs, badges, facts, tables of few rows, panels.
(function () {
  "use strict";
  const { html, h, Fragment, useEffect, useLayoutEffect, useRef, useState } = attune;
  attune.pages = {};

  // Shows its children in a modal <dialog>; the browser keeps the focus inside and gives it back. onClose() is called
  // once it was closed, by Esc too.
  attune.Dialog = function ({ title, onClose, children }) {
    const dialog = useRef();
    useEffect(() => {
      const { current } = dialog;
      current.showModal();
      return () => current.close();  // it gives the focus back, whoever takes the dialog away
    }, []);
    return html`<dialog ref=${dialog} onClose=${onClose} aria-label=${title}>
      <div class="row spread"><h2>${title}</h2><button type="button" aria-label="Close" onClick=${() => dialog.current.close()}>✕</button></div>
      ${children}
    </dialog>`;
  };

  const colours = { running: "good", completed: "quiet", interrupted: "warn", failed: "bad", killed: "bad" };
  attune.State = ({ experiment }) =>
    html`<span class=${"badge " + experiment.status + " " + (colours[experiment.status] || "quiet")} title=${attune.text(experiment.reason || "")}>${experiment.status}</span>`;

  const trialColours = { running: "good", succeeded: "", failed: "bad", user_canceled: "warn" };
  attune.TrialState = ({ status }) =>
    html`<span class=${"badge " + (trialColours[status] ?? "quiet")}>${attune.statusNames[attune.statuses.indexOf(status)] || attune.text(status)}</span>`;

  // Facts: list of [name, value]; those whose value is null are left out.
  attune.Facts = ({ facts }) => html`<dl class="facts">
    ${facts.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;

  // A table of few rows: columns is a list of headings, those of numbers with a "#" in front; rows, a list of lists of
  // cells.
  attune.Table = function ({ caption, columns, rows }) {
    const numeric = columns.map((name) => (name[0] === "#" ? "number" : ""));
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table>
      <caption class="hidden-text">${caption}</caption>
      <thead><tr>${columns.map((name, i) => html`<th key=${i} scope="col" class=${numeric[i]}>${name.replace("#", "")}</th>`)}</tr></thead>
      <tbody>${rows.map((row, i) => html`<tr key=${i}>${row.map((cell, j) => html`<td key=${j} class=${numeric[j]}>${cell}</td>`)}</tr>`)}</tbody>
    </table></div>`;
  };

  // True once the element has come near the part of the page that is seen, and while it is there. What is not seen
  // does no work.
  attune.useSeen = function (element) {
    const [seen, setSeen] = useState(false);
    useEffect(() => {
      const watch = new IntersectionObserver((entries) => setSeen(entries[entries.length - 1].isIntersecting), { rootMargin: "200px" });
      watch.observe(element.current);
      return () => watch.disconnect();
    }, []);
    return seen;
  };

  // What failed to draw says so in its own place; the rest of the page stays.
  attune.Guard = class extends preact.Component {
    constructor() {
      super();
      this.state = { error: null };
    }
    static getDerivedStateFromError(error) {
      return { error };
    }
    componentDidCatch(error) {
      console.error(error);
    }
    render({ children }, { error }) {
      return error ? html`<p class="notice bad">This part failed: ${attune.text(error.message)}</p>` : children;
    }
  };

  async function copyLink(name) {
    const query = new URLSearchParams(attune.route.peek().query);
    query.set("panel", name);
    const link = location.href.split("#")[0] + attune.address(attune.route.peek().path, query);
    try {
      await navigator.clipboard.writeText(link);
      attune.say("The link is in the clipboard.");
    } catch (error) {
      attune.say(link);  // some browsers give the clipboard to https alone
    }
  }

  // A framed part of the page with a heading. wide: over all columns of the grid. name: its word in the address, under
  // which it can be shown alone; absent: it cannot. Its body is built when it first comes in sight. With resting it is taken down again
  // when it is out of sight, and keeps its height; figures need that not, as they know themselves when to rest.
  attune.Panel = function ({ name, title, wide, resting, children }) {
    const frame = useRef();
    const body = useRef();
    const seen = attune.useSeen(frame);
    const built = useRef(false);
    const height = useRef(0);
    if (seen) built.current = true;
    const shown = resting ? seen : built.current;
    if (!shown && body.current && body.current.firstChild) height.current = body.current.offsetHeight;
    useLayoutEffect(() => {
      body.current.style.minHeight = shown || !height.current ? "" : height.current + "px";
    }, [shown]);
    const alone = name && attune.route.value.query.get("panel") === name;
    return html`<section ref=${frame} class=${"panel" + (wide || alone ? " wide" : "") + (resting ? " resting" : "")} aria-label=${title}>
      <header><h2>${title}</h2>
        ${name && html`<div class="tools">${!attune.net.isReport && html`<button title="Copy a link to this panel, with the filters" onClick=${() => copyLink(name)}>Link</button>`}
          <button aria-pressed=${alone} title=${alone ? "Show all panels" : "Show this panel alone"}
            onClick=${() => attune.setQuery({ panel: alone ? null : name })}>${alone ? "All panels" : "Alone"}</button></div>`}
      </header>
      <div class="body" ref=${body}>${shown ? h(attune.Guard, null, children()) : null}</div>
    </section>`;
  };

  // Calls run at once and then each `seconds` while the page is seen, until the component ends.
  attune.useTimer = function (run, seconds, inputs) {
    useEffect(() => {
      run();
      const timer = setInterval(() => document.hidden || run(), seconds * 1000);
      return () => clearInterval(timer);
    }, inputs);
  };

  // Trials per hour, null before the first has ended.
  attune.rate = function (experiment, now = Date.now() / 1000) {
    const ended = attune.ended(experiment.trials);
    const seconds = experiment.seconds ?? (experiment.ended || now) - experiment.started;
    return ended && seconds > 0 ? (3600 * ended) / seconds : null;
  };
  attune.ended = (trials) => trials.succeeded + trials.failed + trials.early_stopped + trials.user_canceled;

  // Seconds until an experiment with limits ends, as far as the mean rate tells; null: unknown.
  attune.remaining = function (experiment) {
    if (experiment.status !== "running") return null;
    const rate = attune.rate(experiment);
    const guesses = [];
    if (experiment.max_trials && rate) guesses.push((Math.max(0, experiment.max_trials - attune.ended(experiment.trials)) / rate) * 3600);
    if (experiment.max_seconds) {
      const spent = experiment.seconds ?? Date.now() / 1000 - experiment.started;
      guesses.push(Math.max(0, experiment.max_seconds - spent));
    }
    return guesses.length ? Math.min(...guesses) : null;
  };
})();
