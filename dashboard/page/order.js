// Sorting of rows by a column, fast enough for a million.
//   attune.sortedRows(column, count, descending) -> Uint32Array of all rows
//   attune.selectedRows(rows, mask or null) -> those of them that the mask selects, in the same order
// Rows without a value (NaN) come last in both directions; equal values keep the order of the rows.
(function () {
  "use strict";

  // One step of a radix sort: orders by 16 bits of the keys, and keeps the order of equals.
  const places = new Uint32Array(65537);
  function byDigit(from, to, keys, shift) {
    places.fill(0);
    for (let i = 0; i < from.length; i++) places[((keys[from[i]] >>> shift) & 0xffff) + 1]++;
    if (places[((keys[from[0]] >>> shift) & 0xffff) + 1] === from.length) return from;  // all are equal here
    for (let i = 1; i < 65537; i++) places[i] += places[i - 1];
    for (let i = 0; i < from.length; i++) to[places[(keys[from[i]] >>> shift) & 0xffff]++] = from[i];
    return to;
  }

  // Orders by the upper half of the bits alone, and then repairs the few neighbours that differ in the lower half only;
  // that takes half the time. False if they are not few, such as when all values agree in six digits.
  function repair(rows, low, high) {
    let moves = 4 * rows.length;
    for (let i = 1; i < rows.length; i++) {
      const row = rows[i];
      let at = i;
      while (at > 0 && high[rows[at - 1]] === high[row] && low[rows[at - 1]] > low[row]) {
        rows[at] = rows[at - 1];
        at--;
        if (--moves < 0) return false;
      }
      rows[at] = row;
    }
    return true;
  }

  // low is null where the upper half is all there is.
  function radix(rows, low, high) {
    if (!rows.length) return rows;
    let from = rows.slice();
    let spare = new Uint32Array(rows.length);
    const step = (keys, shift) => {
      const to = byDigit(from, spare, keys, shift);
      if (to === from) return;
      spare = from;
      from = to;
    };
    step(high, 0);
    step(high, 16);
    if (!low || repair(from, low, high)) return from;
    from = rows.slice();
    step(low, 0);
    step(low, 16);
    step(high, 0);
    step(high, 16);
    return from;
  }

  // Trial numbers and times mostly grow from row to row.
  function grows(column, count) {
    for (let i = 1; i < count; i++) if (!(column[i] > column[i - 1])) return false;
    return true;
  }

  attune.sortedRows = function (column, count, descending) {
    if (grows(column, count)) return inOrder(count, descending);
    // Numbers of up to 24 bits are whole in a float, whose 32 bits sort twice as fast as the 64 of a double.
    const wide = column instanceof Float64Array || column instanceof Uint32Array;
    const values = new (wide ? Float64Array : Float32Array)(count);
    values.set(column.subarray(0, count));
    const words = new Uint32Array(values.buffer);
    const low = wide ? new Uint32Array(count) : null;
    const high = new Uint32Array(count);
    const rows = new Uint32Array(count);
    const absent = new Uint32Array(count);
    const flip = descending ? 0xffffffff : 0;
    let known = 0;
    let missing = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i];
      if (value !== value) {
        absent[missing++] = i;
        continue;
      }
      // The bits of positive numbers sort like integers, those of negative ones the other way round. Minus zero is zero.
      const upper = value === 0 ? 0 : words[wide ? 2 * i + 1 : i];
      const negative = upper >>> 31;
      high[i] = (negative ? ~upper : upper | 0x80000000) ^ flip;
      if (wide) low[i] = (negative ? ~words[2 * i] : words[2 * i]) ^ flip;
      rows[known++] = i;
    }
    const sorted = new Uint32Array(count);
    sorted.set(radix(rows.subarray(0, known), low, high));
    sorted.set(absent.subarray(0, missing), known);
    return sorted;
  };

  function inOrder(count, descending) {
    const rows = new Uint32Array(count);
    for (let i = 0; i < count; i++) rows[i] = descending ? count - 1 - i : i;
    return rows;
  }

  attune.selectedRows = function (rows, mask) {
    if (!mask) return rows;
    const selected = new Uint32Array(rows.length);
    let kept = 0;
    for (let i = 0; i < rows.length; i++) {
      selected[kept] = rows[i];
      kept += mask[rows[i]] === 1 ? 1 : 0;
    }
    return selected.subarray(0, kept);
  };
})();
