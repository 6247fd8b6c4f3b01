// What changes an experiment: add a trial, kill, stop, resume, limits, the search space. Each asks first in a dialog,
// and says there what the server refused. Absent when the dashboard only reads, and in a report.
(function () {
  "use strict";
  const { html, net, useEffect, useState } = attune;

  // A dialog with a form. act() -> Promise of the text that tells what was done; the dialog stays open if it fails.
  function Ask({ title, verb, danger, act, close, children }) {
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState("");
    const submit = async (event) => {
      event.preventDefault();
      setBusy(true);
      setProblem("");
      try {
        attune.say(await act());
        close();
      } catch (error) {
        setProblem(error.shown ? "" : error.message);
        setBusy(false);
      }
    };
    return html`<${attune.Dialog} title=${title} onClose=${close}>
      <form onSubmit=${submit}>${children}
        <p class="bad" role="alert">${problem}</p>
        <div class="buttons"><button type="button" onClick=${close}>Cancel</button><button class=${danger ? "danger" : "main"} disabled=${busy}>${verb}</button></div>
      </form>
    <//>`;
  }

  // An error of the text that its field shows already, while it is being typed.
  function mistake(message) {
    return Object.assign(new Error(message), { shown: true });
  }

  // A JSON object from text, or an Error that says where it is wrong.
  function parsed(text) {
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      const found = /position (\d+)/.exec(error.message);
      const before = found ? text.slice(0, Number(found[1])).split("\n") : null;
      throw mistake("This is not JSON" + (before ? " in line " + before.length + ", column " + (before.at(-1).length + 1) : "") + ": " + error.message);
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw mistake("A JSON object is needed: { … }.");
    return value;
  }

  function JsonField({ label, text, setText }) {
    let problem = "";
    try {
      parsed(text);
    } catch (error) {
      problem = error.message;
    }
    return html`<label>${label}<textarea spellcheck="false" value=${text} aria-invalid=${problem !== ""} onInput=${(event) => setText(event.target.value)}></textarea></label>
      <p class="warn" role="status">${problem}</p>`;
  }

  const spaceOf = (experiment) => {
    const file = experiment.info.peek().file;
    const space = file && (file.searchSpace || file.search_space);
    return space && typeof space === "object" ? space : null;
  };

  // Without what a tuner has added, which is no parameter of the space.
  function ownParameters(space, { TRIAL_BUDGET, ...parameters }) {
    return TRIAL_BUDGET !== undefined && space && Object.hasOwn(space, "TRIAL_BUDGET") ? { ...parameters, TRIAL_BUDGET } : parameters;
  }

  // from: the trial whose parameters fill the form, else the best.
  function Add({ experiment, from, close }) {
    const space = spaceOf(experiment);
    const best = experiment.info.peek().best;
    const start = ownParameters(space, (from || best || {}).parameters || {});
    const [values, setValues] = useState(() => ({ ...(space ? attune.defaults(space) : {}), ...start }));
    const [text, setText] = useState(null);  // the same as JSON, while the user edits that
    const [source, setSource] = useState(from ? from.sequence : best ? attune.trialNumber(best.trial_job_id) : "");
    const fill = () => net.get(experiment.path + "/trials/" + source).then((trial) => {
      const parameters = ownParameters(space, trial.parameters || {});
      setValues(parameters);
      if (text !== null) setText(JSON.stringify(parameters, null, 2));
    }, (error) => attune.say(error.message, true));
    const asText = text !== null || !space;
    const content = text ?? JSON.stringify(values, null, 2);
    const flip = () => {
      try {
        if (text !== null) setValues(parsed(text));
        setText(text === null ? content : null);
      } catch (error) {
        attune.say(error.message, true);
      }
    };
    const act = async () => {
      const answer = await net.post(experiment.path + "/trials", { trials: [asText ? parsed(content) : values] });
      return "Added " + attune.text((answer.trials || []).join(", ") || "the trial", 100) + ".";
    };
    return html`<${Ask} title="Add a trial" verb="Add" act=${act} close=${close}>
      <div class="row"><label>As in trial <input type="number" min="0" value=${source} onInput=${(event) => setSource(event.target.value)} /></label>
        <button type="button" disabled=${source === ""} onClick=${fill}>Fill in</button>
        ${space && html`<button type="button" aria-pressed=${asText} onClick=${flip}>As JSON</button>`}</div>
      ${asText ? html`<${JsonField} label="Parameters" text=${content} setText=${setText} />` : html`<${attune.SpaceForm} space=${space} values=${values} onChange=${setValues} />`}
    <//>`;
  }

  function Stop({ experiment, close }) {
    const [kill, setKill] = useState(false);
    const act = async () => {
      const answer = await net.post(experiment.path + "/stop", { kill });
      return "The experiment stops" + (answer.running ? "; " + attune.count(answer.running) + " trials end first." : ".");
    };
    return html`<${Ask} title="Stop the experiment" verb="Stop" danger=${true} act=${act} close=${close}>
      <p>${attune.count(experiment.info.peek().trials.running)} trials run. The experiment can be resumed later; trials that have a checkpoint go on from it.</p>
      <label><input type="checkbox" checked=${kill} onChange=${(event) => setKill(event.target.checked)} /> Kill the trials at once, without time to save</label>
    <//>`;
  }

  function Resume({ experiment, close }) {
    const act = async () => {
      await net.post(experiment.path + "/resume", {});
      return "A manager starts and goes on with the experiment.";
    };
    return html`<${Ask} title="Resume the experiment" verb="Resume" act=${act} close=${close}>
      <p>A new manager starts on the machine of the dashboard, in the folder of the experiment.</p>
    <//>`;
  }

  function Limits({ experiment, close }) {
    const info = experiment.info.peek();
    const names = [["concurrency", "Trials at once", 1], ["max_trials", "Trials in all", 1], ["max_seconds", "Seconds in all", 1]];
    const [values, setValues] = useState({ concurrency: info.concurrency ?? "", max_trials: info.max_trials ?? "", max_seconds: info.max_seconds ?? "" });
    const act = async () => {
      const changes = {};
      for (const [key] of names) if (values[key] !== "" && Number(values[key]) !== info[key]) changes[key] = Number(values[key]);
      if (!Object.keys(changes).length) return "Nothing was changed.";
      await net.post(experiment.path, changes, "PATCH");
      return "The limits are changed.";
    };
    return html`<${Ask} title="Concurrency and limits" verb="Change" act=${act} close=${close}>
      <div class="fields">${names.map(([key, label, least]) => html`<label key=${key + "-label"} for=${"limit-" + key}>${label}</label>
        <input key=${key} id=${"limit-" + key} type="number" min=${least} step=${key === "max_seconds" ? "any" : 1} placeholder="no limit"
          value=${values[key]} onInput=${(event) => setValues({ ...values, [key]: event.target.value })} />`)}</div>
      <p class="quiet">Fewer trials at once: those that run go on to their end. An empty field stays as it is.</p>
    <//>`;
  }

  function Space({ experiment, close }) {
    const [text, setText] = useState(() => JSON.stringify(spaceOf(experiment) || {}, null, 2));
    const act = async () => {
      await net.post(experiment.path, { search_space: parsed(text) }, "PATCH");
      experiment.refresh().catch(() => {});  // the next one that works will do
      return "The search space is changed.";
    };
    return html`<${Ask} title="Change the search space" verb="Change" act=${act} close=${close}>
      <p>New trials are drawn from the new search space. Results of the old one are kept as far as they fit.</p>
      <${JsonField} label="Search space" text=${text} setText=${setText} />
    <//>`;
  }

  function Kill({ experiment, trial, close }) {
    const act = async () => {
      await net.post(experiment.path + "/trials/" + trial.sequence + "/kill", {});
      return "Trial " + trial.sequence + " is stopped.";
    };
    return html`<${Ask} title=${"Stop trial " + trial.sequence} verb="Stop the trial" danger=${true} act=${act} close=${close}>
      <p>The trial ends as canceled and is not tried again. The experiment goes on.</p>
    <//>`;
  }

  function Buttons({ buttons, ...props }) {
    const [open, setOpen] = useState(null);
    return html`<div class="row" role="group" aria-label="Actions">
      ${buttons.map(([title, Dialog, danger]) => html`<button key=${title} class=${danger ? "danger" : ""} onClick=${() => setOpen(() => Dialog)}>${title}…</button>`)}
      ${open && attune.h(open, { ...props, close: () => setOpen(null) })}
    </div>`;
  }

  attune.Actions = function ({ experiment }) {
    const running = attune.useComputed(() => experiment.info.value.status === "running").value;
    const buttons = running ? [["Add a trial", Add], ["Limits", Limits], ["Search space", Space], ["Stop", Stop, true]] : [["Resume", Resume]];
    return html`<${Buttons} experiment=${experiment} buttons=${buttons} />`;
  };

  attune.TrialActions = function ({ experiment, trial }) {
    if (experiment.info.value.status !== "running") return null;
    const unfinished = ["pending", "running", "paused"].includes(trial.status);
    const buttons = [["Add one like this", Add], ...(unfinished ? [["Stop this trial", Kill, true]] : [])];
    return html`<${Buttons} experiment=${experiment} from=${trial} trial=${trial} buttons=${buttons} />`;
  };
})();
