// Records what is drawn through the methods of a 2-D canvas context as SVG, so that one drawing function serves both.
//   const pen = new attune.plot.SvgPen(width, height, background); draw(pen); pen.text() -> the document
// It knows the methods that the kit uses: paths, rectangles, circles (arc from 0 to 2 pi), text, dashes, alpha, one
// clip rectangle, turned text, images of canvases. Coordinates are rounded to 1/100 pixel.
(function () {
  "use strict";
  const measure = document.createElement("canvas").getContext("2d");
  // XML 1.0 has no place for most control characters, not even escaped; neither for halves of surrogate pairs.
  const escape = (text) => String(text).toWellFormed?.() ?? String(text);
  const forXml = (text) => escape(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const round = (number) => Math.round(number * 100) / 100;

  class SvgPen {
    constructor(width, height, background) {
      Object.assign(this, { width, height, svg: true, parts: [], path: [], states: [], clips: 0 });
      Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif",
        textAlign: "left", textBaseline: "alphabetic", lineJoin: "miter", dash: [], move: "", clipped: "" });
      if (background) this.parts.push(`<rect width="${width}" height="${height}" fill="${forXml(background)}"/>`);
    }

    save() {
      const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineJoin, dash, move, clipped } = this;
      this.states.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineJoin, dash, move, clipped });
    }
    restore() { Object.assign(this, this.states.pop()); }
    setLineDash(dash) { this.dash = dash; }
    translate(x, y) { this.move += `translate(${round(x)} ${round(y)})`; }
    rotate(angle) { this.move += `rotate(${round((angle * 180) / Math.PI)})`; }
    clearRect() {}

    beginPath() { this.path = []; }
    moveTo(x, y) { this.path.push("M" + round(x) + " " + round(y)); }
    lineTo(x, y) { this.path.push((this.path.length ? "L" : "M") + round(x) + " " + round(y)); }
    closePath() { this.path.push("Z"); }
    rect(x, y, width, height) { this.path.push(`M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`); }
    arc(x, y, radius) {
      const r = round(radius);
      this.path.push(`M${round(x - radius)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`);
    }
    clip() {
      const id = "clip" + ++this.clips;
      this.parts.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath>`);
      this.clipped = id;
    }

    put(element) {
      let more = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : "";
      if (this.move) more += ` transform="${this.move}"`;
      const whole = element.replace("%", more);
      this.parts.push(this.clipped ? `<g clip-path="url(#${this.clipped})">${whole}</g>` : whole);
    }
    fill() { this.put(`<path d="${this.path.join("")}" fill="${forXml(this.fillStyle)}"%/>`); }
    stroke() {
      const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
      this.put(`<path d="${this.path.join("")}" fill="none" stroke="${forXml(this.strokeStyle)}" stroke-width="${round(this.lineWidth)}"${dash} stroke-linejoin="${this.lineJoin}"%/>`);
    }
    box(x, y, width, height, paint) {
      this.put(`<rect x="${round(Math.min(x, x + width))}" y="${round(Math.min(y, y + height))}" width="${round(Math.abs(width))}" height="${round(Math.abs(height))}" ${paint}%/>`);
    }
    fillRect(x, y, width, height) { this.box(x, y, width, height, `fill="${forXml(this.fillStyle)}"`); }
    strokeRect(x, y, width, height) { this.box(x, y, width, height, `fill="none" stroke="${forXml(this.strokeStyle)}" stroke-width="${round(this.lineWidth)}"`); }

    measureText(text) {
      measure.font = this.font;
      return measure.measureText(text);
    }
    fillText(text, x, y) {
      const [, weight = "", size, family] = /^(?:(\S+) )?([\d.]+)px (.*)$/.exec(this.font) || [null, "", "12", "sans-serif"];
      const anchor = { center: "middle", right: "end", end: "end" }[this.textAlign] || "start";
      const shift = { middle: 0.35, top: 0.8, hanging: 0.8, bottom: -0.2 }[this.textBaseline] || 0;
      const bold = weight ? ` font-weight="${forXml(weight)}"` : "";
      // The text is put in last: it may hold the sign that put() looks for.
      const element = `<text x="${round(x)}" y="${round(y + shift * Number(size))}" font-size="${size}" font-family="${forXml(family)}"${bold} text-anchor="${anchor}" fill="${forXml(this.fillStyle)}"%>`;
      this.put(element + forXml(text) + "</text>");
    }
    drawImage(canvas, x, y, width, height) {
      const sharp = this.imageSmoothingEnabled === false ? ' style="image-rendering:pixelated"' : "";
      this.put(`<image x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" preserveAspectRatio="none"${sharp} href="${canvas.toDataURL()}"%/>`);
    }

    text() {
      const { width, height } = this;
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${this.parts.join("\n")}\n</svg>\n`;
    }
  }

  attune.plot.SvgPen = SvgPen;
})();
