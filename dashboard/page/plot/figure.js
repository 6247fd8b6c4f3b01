// A figure: a canvas that draws itself when it is visible and something it shows has changed, with a layer for the
// pointer, a tooltip, brushing, the keyboard, and exports.
//   html`<${attune.plot.Figure} name height draw csv tools experiment />`
//     name      of exported files        height   CSS pixels, or (width) => pixels
//     minWidth  the figure scrolls sideways below it
//     draw(pen, width, height) -> picture. It reads what it shows from signals; when one of them changes, it runs
//               again. The same function draws the SVG, with pen.svg true.
//     csv()     -> rows for plot.csv       tools    further controls
//     experiment  for the hover shared with other panels, filters and opening of trials; may be absent
//   picture, all optional:
//     label            a sentence for those who do not see it
//     waits            true: the server has not yet answered what is to be shown
//     pick(x, y)    -> {x, y, lines: [text], trial?} under the pointer, or null
//     place(trial)  -> {x, y, lines} or null: where a trial is that another panel points at
//     brush            {box, x: {scale, column} or null, y: {scale, column} or null}: dragging selects ranges
//     clear()          removes what was selected here; without it, the filters of brush
//     handler          {down(x, y) -> bool, move(x, y, from), up(), click(x, y) -> bool}: takes over a drag, e.g. of a parallel axis
//     under(pen)       draws upon the layer of the pointer at all times, e.g. what is selected
//     over(pen, hit)   draws upon the layer of the pointer, hit as of pick or place
// attune.plot.cost: {name: milliseconds of its newest drawing}
(function () {
  "use strict";
  const { plot, html, useRef, useEffect, useLayoutEffect, effect, batch } = attune;
  plot.cost = {};

  // Several figures that are to be drawn share frames: the one under the pointer comes first, and after 12 ms the
  // rest waits for the next frame, so that a drag stays smooth.
  const dirty = new Set();
  let frame = 0;
  let active = null;
  function drawDirty() {
    frame = 0;
    const begun = performance.now();
    const order = [...dirty].sort((a, b) => (b === active) - (a === active));
    for (const figure of order) {
      if (performance.now() - begun > 12) break;
      dirty.delete(figure);
      figure.redraw();
    }
    if (dirty.size) schedule();
  }
  function schedule(figure) {
    if (figure) dirty.add(figure);
    if (!frame) frame = requestAnimationFrame(drawDirty);
  }

  class FigureState {
    constructor() {
      Object.assign(this, { width: 0, height: 0, visible: false, picture: {}, hit: null, keyboard: false, drag: null });
      this.invalidate = this.invalidate.bind(this);
    }

    attach(base, over, tip) {
      Object.assign(this, { base, over, tip });
      this.resize = new ResizeObserver(() => this.measure());
      this.resize.observe(base.parentElement);
      this.sight = new IntersectionObserver((entries) => {
        this.visible = entries[entries.length - 1].isIntersecting;
        if (this.visible && this.stale) this.invalidate();
      }, { rootMargin: "100px" });
      this.sight.observe(base.parentElement);
    }

    detach() {
      this.resize.disconnect();
      this.sight.disconnect();
      this.stop?.();
      clearTimeout(this.timer);
      dirty.delete(this);
      if (active === this) active = null;
    }

    measure() {
      const { minWidth = 0, height } = this.props;
      const width = Math.max(Math.floor(this.base.parentElement.parentElement.clientWidth), minWidth, 120);
      const tall = typeof height === "function" ? height(width) : height;
      const ratio = Math.min(3, window.devicePixelRatio || 1);
      if (width === this.width && tall === this.height && ratio === this.ratio) return;
      Object.assign(this, { width, height: tall, ratio });
      this.base.parentElement.style.width = width + "px";
      // A finger must be able to scroll what is wider than the screen; elsewhere a sideways drag selects.
      this.base.parentElement.style.touchAction = width > this.base.parentElement.parentElement.clientWidth ? "pan-x pan-y" : "";
      for (const canvas of [this.base, this.over]) {
        canvas.width = width * ratio;
        canvas.height = tall * ratio;
        canvas.style.width = width + "px";
        canvas.style.height = tall + "px";
      }
      this.overBlank = true;
      this.base.parentElement.style.height = tall + "px";
      this.invalidate();
    }

    invalidate() {
      this.stale = true;
      if (!this.visible || !this.width || this.timer) return;
      const wait = this.patience();
      if (wait <= 0) return schedule(this);
      this.timer = setTimeout(() => {
        this.timer = 0;
        if (this.visible) schedule(this);
      }, wait);
    }

    // New results may come several times a second. A figure that is slow to draw follows them more rarely, so that it
    // takes an eighth of the time at most; what the user does is shown at once.
    patience() {
      const { experiment, name } = this.props;
      if (!experiment || experiment.version.peek() === this.version || experiment.filters.peek() !== this.filters) return 0;
      return this.drawn + 8 * plot.cost[name] - performance.now();
    }

    pen(canvas) {
      const pen = canvas.getContext("2d");
      pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      pen.clearRect(0, 0, this.width, this.height);
      pen.ratio = this.ratio;
      return pen;
    }

    // The drawing runs inside an effect, which then knows what it has read: the next change of any of it comes back
    // here as a call that only schedules.
    redraw() {
      this.measure();
      this.stop?.();
      let first = true;
      this.stop = effect(() => {
        if (!first) {
          attune.theme.value;
          return attune.untracked(this.invalidate);
        }
        first = false;
        attune.theme.value;
        const begun = performance.now();
        this.picture = this.props.draw(this.pen(this.base), this.width, this.height) || {};
        this.drawn = performance.now();
        plot.cost[this.props.name] = this.drawn - begun;
        this.version = this.props.experiment?.version.peek();
        this.filters = this.props.experiment?.filters.peek();
      });
      this.stale = false;
      this.base.setAttribute("aria-label", this.picture.label || this.props.name);
      this.base.setAttribute("aria-busy", Boolean(this.picture.waits));
      this.redrawOver();
    }

    shownHit() {
      if (this.hit) return this.hit;
      const trial = this.props.experiment?.hover.peek();
      return trial === null || trial === undefined ? null : this.picture.place?.(trial) || null;
    }

    redrawOver() {
      const hit = this.shownHit();
      const { experiment } = this.props;
      // To clear a clear canvas costs a copy of it, and each move of the pointer comes here for every figure.
      const blank = !hit && !experiment?.filters.peek().length;
      this.showTip(this.hit);
      if (blank && this.overBlank) return;
      this.overBlank = blank;
      const pen = this.pen(this.over);
      this.drawBrush(pen);
      this.picture.under?.(pen);
      if (hit && this.picture.over) this.picture.over(pen, hit);
      else if (hit) plot.ring(pen, hit.x, hit.y);
    }

    showTip(hit) {
      this.tip.hidden = !hit || !hit.lines;
      if (this.tip.hidden) return;
      this.tip.replaceChildren(...hit.lines.map((line) => {
        const row = document.createElement("div");
        row.textContent = line;
        return row;
      }));
      const { offsetWidth, offsetHeight } = this.tip;
      const { scrollLeft, clientWidth } = this.base.parentElement.parentElement;
      const at = hit.x - scrollLeft;
      const x = at + 14 + offsetWidth > clientWidth ? at - 14 - offsetWidth : at + 14;
      this.tip.style.left = Math.max(0, x) + "px";
      this.tip.style.top = Math.max(0, Math.min(hit.y - offsetHeight / 2, this.height - offsetHeight)) + "px";
    }

    setHit(hit) {
      const { experiment } = this.props;
      this.hit = hit;
      if (experiment) experiment.hover.value = hit?.trial ?? null;
      this.redrawOver();
    }

    drawBrush(pen) {
      const { brush } = this.picture;
      const { experiment } = this.props;
      if (!brush || !experiment) return;
      const filters = experiment.filters.peek();
      const find = (axis) => axis && filters.find((one) => one.column === axis.column && one.low !== undefined);
      const [fx, fy] = [find(brush.x), find(brush.y)];
      if (!fx && !fy) return;
      const span = (filter, axis, a, b) => {
        if (!filter) return [a, b];
        const [p, q] = [axis.scale.of(filter.low), axis.scale.of(filter.high)].sort((m, n) => m - n);
        return [Math.max(a, Number.isNaN(p) ? a : p), Math.min(b, q)];
      };
      const [left, right] = span(fx, brush.x, brush.box.left, brush.box.right);
      const [top, bottom] = span(fy, brush.y, brush.box.top, brush.box.bottom);
      pen.globalAlpha = 0.12;
      pen.fillStyle = plot.colors().accent;
      pen.fillRect(left, top, right - left, bottom - top);
      pen.globalAlpha = 1;
      pen.strokeStyle = plot.colors().accent;
      pen.lineWidth = 1;
      pen.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
    }

    clearBrush() {
      const { brush, clear } = this.picture;
      const { experiment } = this.props;
      if (clear) return clear();
      if (!brush || !experiment) return;
      batch(() => {
        for (const axis of [brush.x, brush.y]) if (axis) experiment.setFilter(axis.column, null);
      });
    }

    exportSvg() {
      const pen = new plot.SvgPen(this.width, this.height, plot.colors().bg);
      this.props.draw(pen, this.width, this.height);
      attune.save(this.props.name + ".svg", pen.text(), "image/svg+xml");
    }
  }

  plot.setActive = (figure) => (active = figure);

  plot.Figure = function (props) {
    const base = useRef();
    const over = useRef();
    const tip = useRef();
    const state = useRef(null);
    if (!state.current) state.current = new FigureState();
    const figure = state.current;
    figure.props = props;
    useLayoutEffect(() => {
      figure.attach(base.current, over.current, tip.current);
      const unlisten = plot.listen(figure);
      const unhover = effect(() => {
        if (!props.experiment) return;
        props.experiment.hover.value;
        props.experiment.filters.value;
        if (!figure.hit && figure.width) attune.untracked(() => figure.redrawOver());
      });
      return () => {
        unlisten();
        unhover();
        figure.detach();
      };
    }, []);
    useEffect(() => {
      figure.measure();
      figure.invalidate();
    }, [props.draw, props.height, props.minWidth]);
    const save = () => attune.save(props.name + ".csv", plot.csv(props.csv()), "text/csv");
    return html`<div class="figure">
      <div class="row tools">${props.tools}<span class="space"></span>
        <button type="button" onClick=${() => figure.exportSvg()} aria-label="Save this figure as SVG">SVG</button>
        ${props.csv && html`<button type="button" onClick=${save} aria-label="Save these values as CSV">CSV</button>`}
      </div>
      <div class="holder">
        <div class="scroll"><div class="plot">
          <canvas ref=${base} role="img" tabindex="0" aria-label=${props.name}></canvas>
          <canvas ref=${over} class="over" aria-hidden="true"></canvas>
        </div></div>
        <div ref=${tip} class="tip" aria-live="polite" hidden></div>
      </div>
    </div>`;
  };
})();
