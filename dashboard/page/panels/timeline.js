// The timeline of workers and GPUs: when which of them had a trial. A trial with several GPUs is in the lane of each.
// Trials without either (on the manager's own machine) are put into as few lanes as they need, so that what overlaps is
// seen apart.
(function () {
  "use strict";
  const { plot, html } = attune;
  const nowhere = 0xffff;
  const mostLanes = 64;
  const kindColors = ["c0", "c2", "c4", "bad", "c7"];
  const kindNames = ["succeeded", "running", "stopped early", "failed", "canceled or waiting"];
  const kindOfStatus = [4, 1, 4, 0, 3, 2, 4];  // by attune.statuses

  // The lanes of a place: "w7" is one, "w7 gpu 0,1" are two.
  function lanesOfPlace(place) {
    const found = /^(.*?) ?\bgpu (\S+)$/.exec(place);
    return found ? found[2].split(",").map((gpu) => (found[1] ? found[1] + " " : "") + "gpu " + gpu) : [place];
  }

  const lanesOf = (experiment) => [...new Set(experiment.workers.flatMap(lanesOfPlace))]
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

  // {lanes: Uint16Array by row: the first lane, more(row): the lanes beside it, place(row): a text, names: [text of each lane], end: newest time}
  function laneLayout(experiment) {
    const { count } = experiment;
    const [started, ended, worker] = ["started", "ended", "worker"].map((name) => experiment.column(name));
    const lanes = new Uint16Array(count);
    const texts = lanesOf(experiment);
    const indices = new Map(texts.map((text, i) => [text, i]));
    const places = experiment.workers.map((place) => lanesOfPlace(place).map((text) => indices.get(text)));
    const names = texts.map((name) => attune.text(name, 60));
    const known = names.length;
    const more = (row) => (worker[row] === nowhere ? [] : places[worker[row]].slice(1));
    const free = [];
    let end = 0;
    for (let trial = 0; trial <= experiment.total + 1; trial++) {
      const row = experiment.rowOf(trial);
      if (row < 0 || row >= count || !(started[row] === started[row])) continue;
      const until = ended[row] === ended[row] ? ended[row] : Infinity;
      end = Math.max(end, started[row], until === Infinity ? 0 : until);
      if (worker[row] !== nowhere) {
        lanes[row] = places[worker[row]][0];
        continue;
      }
      let lane = free.findIndex((time) => time <= started[row] + 0.001);
      if (lane < 0) lane = free.length < mostLanes ? free.push(0) - 1 : free.indexOf(Math.min(...free));
      free[lane] = until;
      lanes[row] = known + lane;
    }
    free.forEach((_, i) => names.push(known ? "no worker " + (i + 1) : "place " + (i + 1)));
    const place = (row) => (worker[row] === nowhere ? names[lanes[row]] : attune.text(experiment.workers[worker[row]], 60));
    return { lanes, place, more: places.some((some) => some.length > 1) ? more : () => [], names, end };
  }

  // Bars as pixels of a coarse image, one row for each lane: at most a few writes for each trial. Returns for each
  // pixel the row + 1 that it shows.
  function spans(experiment, layout, x, box, mask) {
    const { count } = experiment;
    const [started, ended] = ["started", "ended"].map((name) => experiment.column(name));
    const width = Math.ceil((box.right - box.left) * 2);
    const chosen = new Int32Array(width * layout.names.length);
    const others = mask ? new Int32Array(width * layout.names.length) : null;
    for (let i = 0; i < count; i++) {
      const from = started[i];
      if (!(from === from)) continue;
      const until = ended[i] === ended[i] ? ended[i] : x.high;
      let a = Math.round((x.of(from) - box.left) * 2), b = Math.round((x.of(until) - box.left) * 2) - 1;
      if (b < 0 || a >= width) continue;
      a = Math.max(0, Math.min(a, width - 1));
      b = Math.min(b, width - 1);
      const target = mask && !mask[i] ? others : chosen;
      for (const lane of [layout.lanes[i], ...layout.more(i)])
        for (let at = a; at <= Math.max(a, b); at++) target[lane * width + at] = i + 1;
    }
    return { width, chosen, others };
  }

  function paint(experiment, layout, { width, chosen, others }) {
    const image = plot.image(width, layout.names.length, 1);
    const status = experiment.column("status");
    const colors = plot.colors();
    const inks = attune.statuses.map((_, k) => plot.abgr(colors[kindColors[kindOfStatus[k]]]));
    const grey = plot.abgr(colors.line);
    // The first pixel of a wide bar that follows another at once is pale, so that one sees where it begins.
    for (let at = 0; at < chosen.length; at++) {
      const row = chosen[at];
      const follows = at % width && chosen[at - 1] && chosen[at - 1] !== row && chosen[at + 2] === row;
      if (row) image.pixels[at] = (inks[status[row - 1]] & 0xffffff) | ((follows ? 150 : 255) << 24);
      else if (others && others[at]) image.pixels[at] = grey;
    }
    return image.canvas();
  }

  // What was simulated has a virtual time that begins at 0: it is shown as time since the start.
  const origin = (experiment) => (experiment.started > 1e8 ? experiment.started : 0);

  function makeDraw(experiment) {
    const [layouts, spanMemo, images] = [plot.memo(), plot.memo(), plot.memo()];
    return function (pen, width, height) {
      const version = experiment.version.value;
      const mask = experiment.mask.value;
      const { count } = experiment;
      if (!count || !experiment.column("started")) return plot.note(pen, width, height, "No trial has started yet."), { label: "No trial has started yet." };
      const layout = layouts([version], () => laneLayout(experiment));
      if (!layout.names.length) return plot.note(pen, width, height, "No trial has started yet."), { label: "No trial has started yet." };
      const running = experiment.info.peek()?.status === "running";
      const end = running ? Math.max(layout.end, Date.now() / 1000 - experiment.started) : layout.end;
      const x = new plot.Scale("time", 0, end || 1, { base: origin(experiment) });
      const y = new plot.Scale("category", 0, 0, { names: layout.names });
      const status = experiment.column("status");
      const used = new Set();
      for (let i = 0; i < count && used.size < 5; i++) used.add(kindOfStatus[status[i]]);
      const legend = kindNames.map((name, k) => ({ name, color: plot.colors()[kindColors[k]], kind: "box" })).filter((_, k) => used.has(k));
      const box = plot.axes(pen, width, height, x, y, { legend });
      y.range(box.top, box.bottom);  // the first worker on top
      redoNames(pen, box, y);
      const found = spanMemo([layout, mask, x.key, width], () => spans(experiment, layout, x, box, mask));
      const picture = images([found, attune.theme.value], () => paint(experiment, layout, found));
      const lane = (box.bottom - box.top) / layout.names.length;
      pen.imageSmoothingEnabled = false;
      pen.drawImage(picture, box.left, box.top, box.right - box.left, box.bottom - box.top);
      pen.imageSmoothingEnabled = true;
      // Gaps between the lanes.
      pen.fillStyle = plot.colors().bg;
      if (lane >= 5) for (let k = 0; k <= layout.names.length; k++) pen.fillRect(box.left, Math.round(box.top + k * lane) - 1, box.right - box.left, 2);
      const hitOf = (row, at) => {
        const [from, until] = [experiment.column("started")[row], experiment.column("ended")[row]];
        const time = "started " + x.text(from) + (until === until ? ", took " + attune.duration(until - from) : "");
        const middle = box.top + (layout.lanes[row] + 0.5) * lane;
        return { x: at ?? x.of(from), y: middle, row, trial: experiment.column("trial")[row], lines: plot.describe(experiment, row, [layout.place(row), time]) };
      };
      return {
        label: "Timeline of " + layout.names.length + " workers over " + attune.duration(end) + ".",
        pick(mx, my) {
          const at = Math.floor((mx - box.left) * 2), which = Math.floor((my - box.top) / lane);
          if (at < 0 || at >= found.width || which < 0 || which >= layout.names.length) return null;
          for (const shift of [0, 1, -1, 2, -2, 3, -3]) {
            const row = found.chosen[which * found.width + at + shift];
            if (row > 0 && at + shift >= 0 && at + shift < found.width) return hitOf(row - 1, mx);
          }
          return null;
        },
        place(trial) {
          const row = experiment.rowOf(trial);
          return row < 0 || row >= count || !(experiment.column("started")[row] >= 0) ? null : hitOf(row);
        },
        over(over, { row }) {
          const [from, until] = [experiment.column("started")[row], experiment.column("ended")[row]];
          const [a, b] = [x.of(from), x.of(until === until ? until : x.high)];
          over.strokeStyle = plot.colors().fg;
          over.lineWidth = 2;
          for (const which of [layout.lanes[row], ...layout.more(row)])
            over.strokeRect(a - 1, box.top + which * lane, Math.max(3, b - a + 2), Math.max(4, lane));
        },
        brush: { box, x: { scale: x, column: "started" }, y: null },
      };
    };
  }

  // The axis was drawn with the first name at the bottom; its names are written anew from the top.
  function redoNames(pen, box, y) {
    const colors = plot.colors();
    pen.fillStyle = colors.bg;
    pen.fillRect(0, box.top - 6, box.left - 1, box.bottom - box.top + 12);
    pen.fillStyle = colors.muted;
    pen.font = plot.font();
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const { value, text } of y.ticks((box.bottom - box.top) / 13)) pen.fillText(plot.fit(pen, text, box.left - 10), box.left - 6, y.of(value));
  }

  function View({ experiment }) {
    experiment.version.value;
    const draw = attune.useMemo(() => makeDraw(experiment), [experiment]);
    const lanes = Math.max(lanesOf(experiment).length, 6);
    const height = Math.min(420, Math.max(150, 50 + 20 * lanes));
    const csv = () => [["trial", "status", "worker", "started", "ended"], ...plot.rowsOf(experiment, ["trial", "status", "worker", "started", "ended"]).slice(1)
      .map(([trial, status, worker, from, until]) => [trial, status, experiment.workers[worker] ?? "", experiment.started + from, experiment.started + until])];
    return html`<${plot.Figure} name="timeline" experiment=${experiment} height=${height} draw=${draw} csv=${csv} />`;
  }

  attune.panels.timeline = { title: "Workers and GPUs", wide: true, needs: () => true, View };
})();
