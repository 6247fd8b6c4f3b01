// A form with a field for each parameter of a search space in the format of experiment files.
//   html`<${attune.SpaceForm} space values onChange(values) />`: values is the object of parameters as JSON
//   attune.defaults(space) -> values in the middle of each range
(function () {
  "use strict";
  const { html } = attune;

  const isNested = (spec) => spec._type === "choice" && Array.isArray(spec._value) && spec._value.length > 0 &&
    spec._value.every((one) => one !== null && typeof one === "object" && "_name" in one);
  const inner = ({ _name, ...parameters }) => parameters;
  const isChoice = (spec) => spec._type === "choice" || spec._type === "layer_choice";

  function middle(spec) {
    const [low, high] = spec._value;
    if (isNested(spec)) return { _name: spec._value[0]._name, ...attune.defaults(inner(spec._value[0])) };
    if (isChoice(spec)) return spec._value[0];
    if (spec._type === "input_choice") return [];
    if (spec._type === "randint") return Math.floor((low + high) / 2);
    if (/normal$/.test(spec._type)) return /log/.test(spec._type) ? Math.exp(low) : low;
    const center = /log/.test(spec._type) ? Math.sqrt(low * high) : (low + high) / 2;
    return spec._value.length > 2 ? Math.min(high, Math.max(low, Math.round(center / spec._value[2]) * spec._value[2])) : center;
  }

  attune.defaults = (space) => Object.fromEntries(Object.entries(space).map(([name, spec]) => [name, middle(spec)]));

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  function Choice({ id, spec, value, change }) {
    const nested = isNested(spec);
    const shown = spec._value.map((one) => (nested ? one._name : one));
    const at = shown.findIndex((one) => same(one, nested ? value && value._name : value));
    const choose = (event) => {
      const option = spec._value[Number(event.target.value)];
      change(nested ? { _name: option._name, ...attune.defaults(inner(option)) } : option);
    };
    return html`<select id=${id} value=${at} onChange=${choose}>
      ${at < 0 && html`<option value="-1">${attune.text(value, 60)}</option>`}
      ${shown.slice(0, 2000).map((one, i) => html`<option key=${i} value=${i}>${attune.text(one, 60)}</option>`)}</select>`;
  }

  function Numeric({ id, spec, value, change }) {
    const whole = spec._type === "randint";
    const bounded = /uniform$|^randint$/.test(spec._type);
    const [low, high] = bounded ? spec._value : [undefined, undefined];
    const most = whole ? high - 1 : high;
    const typed = ({ target }) => change(target.value === "" ? "" : Number(target.value));
    return html`<span class="row"><input id=${id} type="number" required step=${whole ? 1 : "any"} min=${low} max=${most} value=${value} onInput=${typed} />
      <span class="quiet">${bounded ? attune.number(low) + " to " + attune.number(most) : spec._type + " " + spec._value.map((one) => attune.number(one)).join(", ")}</span></span>`;
  }

  // A choice of several: each candidate is ticked or not.
  function Several({ id, spec, value, change }) {
    const candidates = spec._value.candidates || [];
    const chosen = Array.isArray(value) ? value : [value];
    const has = (one) => chosen.some((other) => same(other, one));
    const flip = (one) => () => change(has(one) ? chosen.filter((other) => !same(other, one)) : [...chosen, one]);
    return html`<fieldset id=${id} class="row"><legend class="quiet">${attune.text(spec._value.n_chosen ?? "any number")} of</legend>
      ${candidates.map((one, i) => html`<label key=${i}><input type="checkbox" checked=${has(one)} onChange=${flip(one)} /> ${attune.text(one, 60)}</label>`)}
    </fieldset>`;
  }

  function fields(space, values, change, prefix) {
    return Object.entries(space).flatMap(([name, spec]) => {
      const id = prefix + name;
      const value = values[name];
      const set = (next) => change({ ...values, [name]: next });
      const Field = isChoice(spec) ? Choice : spec._type === "input_choice" ? Several : Numeric;
      const own = [html`<label key=${id + "-label"} for=${id}>${attune.text(id.slice(1), 80)}</label>`, html`<${Field} key=${id} id=${id} spec=${spec} value=${value} change=${set} />`];
      if (!isNested(spec)) return own;
      const option = spec._value.find((one) => same(one._name, value && value._name));
      return option ? [...own, ...fields(inner(option), value, set, id + ".")] : own;
    });
  }

  attune.SpaceForm = ({ space, values, onChange }) => html`<div class="fields">${fields(space, values, onChange, "-")}</div>`;
})();
