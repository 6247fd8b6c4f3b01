// The table of all trials that the filters select. Only the rows in sight are elements, so a million scroll as ten.
// Arrow keys move a cursor, Enter opens its trial.
(function () {
  "use strict";
  const { html, useEffect, useLayoutEffect, useRef, useState, useMemo } = attune;
  const rowHeight = 28;
  const tallest = 8e6;  // pixels; browsers cut taller elements off, so farther rows are reached in proportion

  const narrow = new Set(["trial", "reports", "source", "violation"]);

  function columnsOf(experiment) {
    const limited = experiment.metrics.some((one) => one.limit);
    return ["trial", "status", ...experiment.metrics.map((one) => "m:" + one.metric), ...(limited ? ["violation"] : []),
      "last", "reports", ...experiment.space.map((one) => "p:" + one.name), "started", "ended", "worker", "source"];
  }

  // Sorting a million rows takes a tenth of a second, so live changes of a large experiment are taken up once a second.
  function useSlowVersion(experiment) {
    const [version, setVersion] = useState(experiment.version.peek());
    useEffect(() => {
      let timer = 0;
      const end = attune.effect(() => {
        experiment.version.value;
        if (timer) return;
        timer = setTimeout(() => {
          timer = 0;
          setVersion(experiment.version.peek());
        }, experiment.count > 50000 ? 1000 : 50);
      });
      return () => {
        clearTimeout(timer);
        end();
      };
    }, [experiment]);
    return version;
  }

  // In pieces, so that the page answers meanwhile.
  async function saveCsv(experiment, columns, rows) {
    const pieces = [attune.plot.csv([columns.map(attune.plot.heading)])];
    for (let at = 0; at < rows.length; at += 20000) {
      const cells = columns.map((name) => attune.plot.exactly(experiment, name));  // arrays may have grown
      pieces.push(attune.plot.csv(Array.from(rows.subarray(at, at + 20000), (row) => cells.map((cell) => cell(row)))));
      await new Promise((resolve) => setTimeout(resolve));
    }
    attune.save(experiment.id + "-trials.csv", new Blob(pieces, { type: "text/csv" }), "text/csv");
  }

  function Heading({ columns, sort, flip }) {
    return html`<div role="row" class="head" aria-rowindex="1">${columns.map((name) => {
      const active = sort.name === name;
      return html`<div key=${name} role="columnheader" class=${narrow.has(name) ? "narrow" : ""} aria-sort=${active ? (sort.down ? "descending" : "ascending") : "none"}>
        <button title=${"Sort by " + attune.columnName(name)} onClick=${() => flip(name)}>${attune.columnName(name)}${active ? (sort.down ? " ▼" : " ▲") : ""}</button></div>`;
    })}</div>`;
  }

  attune.TrialTable = function ({ experiment }) {
    const version = useSlowVersion(experiment);
    const mask = experiment.mask.value;
    const columns = useMemo(() => columnsOf(experiment), [experiment, experiment.space, experiment.metrics]);
    const word = attune.route.value.query.get("sort") || "-trial";
    const wanted = { name: word.replace(/^-/, ""), down: word.startsWith("-") };
    const sort = columns.includes(wanted.name) ? wanted : { name: "trial", down: true };
    const all = useMemo(() => {
      const column = experiment.column(sort.name);
      return column ? attune.sortedRows(column, experiment.count, sort.down) : new Uint32Array(0);
    }, [version, sort.name, sort.down]);
    const rows = useMemo(() => attune.selectedRows(all, mask), [all, mask]);

    const box = useRef();
    const [top, setTop] = useState(0);
    const [view, setView] = useState(400);
    const [cursor, setCursor] = useState(-1);  // a place in `rows`
    useLayoutEffect(() => {
      const watch = new ResizeObserver(() => box.current && setView(box.current.clientHeight));
      watch.observe(box.current);
      return () => watch.disconnect();
    }, []);

    const visible = Math.max(1, Math.floor(view / rowHeight) - 1);
    const full = rows.length * rowHeight;
    const height = Math.min(full, tallest);
    const reach = Math.max(1, height + rowHeight - view);  // how far it scrolls
    const exact = full <= tallest;
    const first = Math.max(0, Math.min(rows.length - visible, exact ? Math.floor(top / rowHeight) : Math.round((top / reach) * (rows.length - visible))));
    const shift = exact ? first * rowHeight : Math.min(top, height - (visible + 1) * rowHeight);
    const shown = Array.from(rows.subarray(first, first + visible + 2));

    const flip = (name) => attune.setQuery({ sort: sort.name === name && !sort.down ? "-" + name : name });
    const scrollTo = (place) => {
      if (place >= first && place < first + visible) return;
      const start = place < first ? place : place - visible + 1;
      box.current.scrollTop = exact ? start * rowHeight : (start / Math.max(1, rows.length - visible)) * reach;
    };
    const open = (place) => experiment.openTrial(experiment.column("trial")[rows[place]]);
    const onKey = (event) => {
      if (event.target !== box.current) return;
      const at = cursor < 0 ? first - 1 : cursor;
      const next = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + visible, PageUp: at - visible, Home: 0, End: rows.length - 1 }[event.key];
      if (event.key === "Enter" && cursor >= 0) open(cursor);
      if (next === undefined || !rows.length) return;
      event.preventDefault();
      const place = Math.max(0, Math.min(rows.length - 1, next));
      setCursor(place);
      scrollTo(place);
      experiment.hover.value = experiment.column("trial")[rows[place]];
    };
    const trials = experiment.column("trial");
    const hover = experiment.hover.value;
    return html`<div class="stack">
      <div class="row"><span class="quiet">Sorted by ${attune.columnName(sort.name)}, ${sort.down ? "downwards" : "upwards"}. Enter opens a trial.</span>
        <button onClick=${() => saveCsv(experiment, columns, rows)}>CSV</button></div>
      <div class="grid-table" role="grid" tabindex="0" ref=${box} aria-label="Trials" aria-rowcount=${rows.length + 1} aria-colcount=${columns.length}
        aria-activedescendant=${cursor >= first && cursor < first + shown.length ? "row-" + cursor : undefined}
        onScroll=${(event) => setTop(event.target.scrollTop)} onKeyDown=${onKey} onMouseLeave=${() => (experiment.hover.value = null)}>
        <${Heading} columns=${columns} sort=${sort} flip=${flip} />
        <div class="space" role="presentation" style=${{ height: height + "px", width: columns.length * 8 + "rem" }}>
          <div class="rows" role="presentation" style=${{ transform: "translateY(" + shift + "px)" }}>
            ${shown.map((row, i) => html`<div key=${i} id=${"row-" + (first + i)} role="row" aria-rowindex=${first + i + 2} class=${(trials[row] === hover ? "hover " : "") + (first + i === cursor ? "cursor" : "")}
              onClick=${() => open(first + i)} onMouseEnter=${() => (experiment.hover.value = trials[row])}>
              ${columns.map((name) => html`<div key=${name} role="gridcell" class=${narrow.has(name) ? "narrow" : ""}>${attune.cell(experiment, name, row)}</div>`)}</div>`)}
          </div>
        </div>
      </div>
    </div>`;
  };
})();
