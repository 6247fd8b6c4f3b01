// What the pointer and the keyboard do to a figure (see figure.js):
//   move: shows what is under it; click: opens the trial; drag: selects a range; double click: removes the selection
//   arrows: the next trial before or after; Enter: opens it; Escape: lets go, and removes the selection
(function () {
  "use strict";
  const { plot, batch } = attune;

  // A drag selects a rectangle; one that is nearly a line along an axis selects on that axis alone.
  function select(figure, from, to) {
    const { brush } = figure.picture;
    const { experiment } = figure.props;
    const flat = (a, b) => Math.abs(a - b) < 5;
    batch(() => {
      for (const [axis, a, b, other] of [[brush.x, from.x, to.x, flat(from.y, to.y)], [brush.y, from.y, to.y, flat(from.x, to.x)]]) {
        if (!axis) continue;
        const values = [axis.scale.at(a), axis.scale.at(b)].sort((m, n) => m - n);
        const alone = flat(a, b) && !other;
        experiment.setFilter(axis.column, alone || flat(a, b) ? null : { low: values[0], high: values[1] });
      }
    });
  }

  // The trial `step` after (or before) the present one that this figure shows.
  function neighbour(figure, step) {
    const { experiment } = figure.props;
    const { place } = figure.picture;
    if (!experiment || !place) return null;
    const mask = experiment.mask.peek();
    let trial = experiment.hover.peek() ?? (step > 0 ? -1 : experiment.total);
    for (let tries = 0; tries < 10000; tries++) {
      trial += step;
      if (trial < 0 || trial > experiment.total) return null;
      const row = experiment.rowOf(trial);
      if (row < 0 || (mask && !mask[row])) continue;
      const found = place(trial);
      if (found) return { ...found, trial };
    }
    return null;
  }

  plot.listen = function (figure) {
    const { base } = figure;
    const place = (event) => {
      const { left, top } = base.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    let waiting = 0;
    let latest = null;

    // Pointers report up to a thousand times a second; one frame shows one position.
    function later() {
      waiting = 0;
      const { drag, picture } = figure;
      if (!latest) return;
      if (!drag) return figure.setHit(picture.pick?.(latest.x, latest.y) || null);
      if (!drag.moved && Math.hypot(latest.x - drag.x, latest.y - drag.y) < 4) return;
      drag.moved = true;
      if (drag.handler) drag.handler.move(latest.x, latest.y, drag);
      else if (picture.brush && figure.props.experiment) select(figure, drag, latest);
    }

    const handlers = {
      pointerdown(event) {
        if (event.button !== 0) return;
        const at = place(event);
        const { handler } = figure.picture;
        figure.drag = { ...at, moved: false, handler: handler?.down(at.x, at.y) ? handler : null };
        base.setPointerCapture(event.pointerId);
        if (figure.hit) figure.setHit(null);
      },
      pointermove(event) {
        plot.setActive(figure);
        latest = place(event);
        if (!waiting) waiting = requestAnimationFrame(later);
      },
      pointerup(event) {
        const { drag } = figure;
        if (waiting) {
          cancelAnimationFrame(waiting);
          later();
        }
        figure.drag = null;
        if (!drag || drag.moved) return drag?.handler?.up?.();
        if (drag.handler?.click?.(drag.x, drag.y)) return;
        const at = place(event);
        const hit = figure.picture.pick?.(at.x, at.y);
        if (hit?.open) hit.open();
        else if (hit?.trial !== undefined && figure.props.experiment) figure.props.experiment.openTrial(hit.trial);
        else figure.clearBrush();
      },
      pointercancel() {
        figure.drag = null;
      },
      pointerleave() {
        latest = null;
        if (figure.hit) figure.setHit(null);
      },
      keydown(event) {
        const { experiment } = figure.props;
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) {
          const found = neighbour(figure, step);
          if (!found) return;
          figure.setHit(found);
        } else if (event.key === "Enter" && figure.hit?.trial !== undefined && experiment) {
          experiment.openTrial(figure.hit.trial);
        } else if (event.key === "Escape") {
          if (figure.hit) figure.setHit(null);
          else figure.clearBrush();
        } else return;
        event.preventDefault();
        event.stopPropagation();  // Escape means something to the page, too
      },
      blur() {
        if (figure.hit) figure.setHit(null);
      },
    };
    for (const [name, handler] of Object.entries(handlers)) base.addEventListener(name, handler);
    return () => {
      for (const [name, handler] of Object.entries(handlers)) base.removeEventListener(name, handler);
      cancelAnimationFrame(waiting);
    };
  };
})();
