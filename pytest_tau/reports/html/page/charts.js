// Charts: bars are elements, so that they can be pressed; curves, dots and columns are SVG, drawn at the card's width.

const CHART_HEIGHT = 190;
const MARGIN = { top: 12, right: 14, bottom: 34, left: 42 };

function card(title, note, ...content) {
  return el("section", { class: "card chart" }, el("h3", {}, title), note && el("p", { class: "note" }, note), content);
}

// Draws anew when the card gets another width. `draw(width)` gives the SVG.
function resized(draw) {
  const holder = el("div", { class: "plot" });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(holder.clientWidth);
    if (width > 60 && width !== drawn) holder.replaceChildren(draw((drawn = width)));
  }).observe(holder);
  return holder;
}

function frame(width, label, x, y) {
  const inner = {
    left: MARGIN.left,
    right: width - MARGIN.right,
    top: MARGIN.top,
    bottom: CHART_HEIGHT - MARGIN.bottom,
  };
  const chart = svg("svg", { width, height: CHART_HEIGHT, role: "img", "aria-label": label });
  const placeY = (value) => inner.bottom - ((value - y.from) / (y.to - y.from || 1)) * (inner.bottom - inner.top);
  const placeX = (value) => inner.left + ((value - x.from) / (x.to - x.from || 1)) * (inner.right - inner.left);
  for (const tick of y.ticks) {
    const at = placeY(tick);
    chart.append(svg("line", { class: "grid", x1: inner.left, x2: inner.right, y1: at, y2: at }));
    chart.append(svg("text", { class: "tick", x: inner.left - 8, y: at + 4, "text-anchor": "end" }, y.format(tick)));
  }
  for (const tick of x.ticks) {
    const at = placeX(tick);
    const anchor = at + 20 > width ? "end" : "middle";
    const left = anchor === "end" ? width - 2 : at;
    chart.append(svg("text", { class: "tick", x: left, y: inner.bottom + 16, "text-anchor": anchor }, x.format(tick)));
  }
  chart.append(
    svg(
      "text",
      { class: "axis", x: (inner.left + inner.right) / 2, y: CHART_HEIGHT - 3, "text-anchor": "middle" },
      x.name,
    ),
  );
  return { chart, placeX, placeY, inner };
}

// About so many round figures from 0 to a maximum.
function roundTicks(most, many) {
  if (!(most > 0)) return [0, 1];
  const rough = most / many;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, place) => place * step);
}

const SHARE = { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], format: (value) => String(value) };

// series: [{ points: [{k, value, low, high}], class, name }]; without a value, low and high are the range that is left.
const reachOf = (point) => `${rate(point.low)} to ${rate(point.high)}`;
const rateOf = (point) => (point.value === null ? reachOf(point) : rate(point.value));

function curveChart(series, label) {
  const ks = [...new Set(series.flatMap((one) => one.points.map((point) => point.k)))].sort((a, b) => a - b);
  const last = Math.max(...ks);
  return resized((width) => {
    const x = { from: 1 - 0.25, to: Math.max(last, 1) + 0.25, ticks: ks, format: String, name: "k" };
    const { chart, placeX, placeY } = frame(width, label, x, SHARE);
    series.forEach((one, number) => {
      const aside = series.length > 1 ? (number - 0.5) * 5 : 0;
      const at = (point, value) => `${placeX(point.k) + aside},${placeY(value)}`;
      const certain = one.points.filter((point) => point.value !== null);
      const known = certain.filter((point) => point.low !== null);
      if (known.length > 1) {
        const up = known.map((point) => at(point, point.high));
        const down = known.map((point) => at(point, point.low)).reverse();
        chart.append(svg("polygon", { class: `band ${one.class}`, points: [...up, ...down].join(" ") }));
      }
      chart.append(
        svg("polyline", { class: `curve ${one.class}`, points: certain.map((p) => at(p, p.value)).join(" ") }),
      );
      for (const point of one.points) {
        const left = placeX(point.k) + aside;
        const interval = point.value === null || point.low === null ? "" : `, 95 % interval ${reachOf(point)}`;
        const title = `${one.name ? one.name + ": " : ""}pass^${point.k} ${rateOf(point)}${interval}`;
        if (point.low !== null)
          chart.append(
            svg("line", {
              class: `whisker ${one.class}`,
              x1: left,
              x2: left,
              y1: placeY(point.low),
              y2: placeY(point.high),
            }, svg("title", {}, title)),
          );
        if (point.value === null) continue;
        chart.append(
          svg("circle", { class: `dot ${one.class}`, cx: left, cy: placeY(point.value), r: 4 }, svg("title", {}, title)),
        );
      }
    });
    return chart;
  });
}

// points: [{x, y, class, title, count}], already merged if they have the same place.
function dotChart(points, most, label, axis, pick) {
  return resized((width) => {
    const ticks = roundTicks(most, Math.max(3, Math.floor(width / 90)));
    const x = { from: 0, to: ticks[ticks.length - 1], ticks, format: roundMoney, name: axis };
    const { chart, placeX, placeY } = frame(width, label, x, SHARE);
    const places = new Map();
    for (const point of points) {
      // Those at the same place are one dot, so that a run of any size draws quickly.
      const key = `${point.class} ${Math.round(placeX(point.x) / 4)} ${Math.round(placeY(point.y) / 4)}`;
      const found = places.get(key);
      if (found) found.more.push(point);
      else places.set(key, { point, more: [] });
    }
    for (const { point, more } of places.values()) {
      const radius = Math.min(3.5 + Math.sqrt(more.length) * 0.7, 9);
      const title = point.title + (more.length ? ` and ${more.length} more` : "");
      const dot = svg("circle", { class: `point ${point.class}`, cx: placeX(point.x), cy: placeY(point.y), r: radius });
      dot.append(svg("title", {}, title));
      if (pick) dot.addEventListener("click", () => pick(point));
      chart.append(dot);
    }
    return chart;
  });
}

// series: [{ values, class, name }]; stacked, or side by side.
function columnChart(series, label, axis, stacked) {
  const everything = series.flatMap((one) => one.values);
  const most = Math.max(1, ...everything);
  const bins = Math.min(most + 1, 20);
  const size = Math.ceil((most + 1) / bins);
  const columns = Math.ceil((most + 1) / size);
  const heights = series.map((one) => {
    const found = new Array(columns).fill(0);
    for (const value of one.values) found[Math.floor(value / size)] += 1;
    return found;
  });
  const tops = Array.from({ length: columns }, (_, column) => {
    const here = heights.map((found) => found[column]);
    return stacked ? here.reduce((sum, each) => sum + each, 0) : Math.max(...here);
  });
  return resized((width) => {
    const ticks = roundTicks(Math.max(...tops), 3).filter((tick) => Number.isInteger(tick));
    const y = { from: 0, to: ticks[ticks.length - 1], ticks, format: thousands };
    const labelled = roundTicks(most, Math.max(3, Math.floor(width / 80))).filter((tick) => tick <= columns * size);
    const x = { from: 0, to: columns * size, ticks: labelled.filter(Number.isInteger), format: thousands, name: axis };
    const { chart, placeX, placeY, inner } = frame(width, label, x, y);
    const wide = placeX(size) - placeX(0);
    for (let column = 0; column < columns; column += 1) {
      let below = 0;
      series.forEach((one, number) => {
        const count = heights[number][column];
        if (!count) return;
        const top = placeY(below + count);
        const bottom = stacked ? placeY(below) : inner.bottom;
        const part = stacked ? wide : wide / series.length;
        const left = placeX(column * size) + (stacked ? 0 : number * part);
        const from = column * size;
        const range = size === 1 ? from : `${from} to ${from + size - 1}`;
        const bar = svg("rect", {
          class: `bar ${one.class}`,
          x: left + 1,
          y: top,
          width: Math.max(1, part - 2),
          height: bottom - top,
        });
        bar.append(svg("title", {}, `${range} ${axis}, ${one.name}: ${thousands(count)}`));
        chart.append(bar);
        if (stacked) below += count;
      });
    }
    return chart;
  });
}

// bars: [{ label, parts: [{value, class, title}], title, value, pick }]; the first ones, the others on request.
const SHOWN_BARS = 8;

function barList(bars, most) {
  const list = el("ul", { class: "bars" });
  const long = bars.some((bar) => bar.label.length > 22);
  const show = (shown) => {
    list.replaceChildren(...bars.slice(0, shown).map((bar) => el("li", {}, barLine(bar, most, long))));
    const left = bars.length - shown;
    if (left > 0)
      list.append(
        el(
          "li",
          {},
          button(`${counted(left, "more", "more")}`, () => show(bars.length), { class: "link" }),
        ),
      );
  };
  show(SHOWN_BARS);
  return list;
}

function barLine(bar, most, long) {
  const props = { class: `barline${long ? " long" : ""}`, title: bar.title };
  const tracks = (bar.tracks || [bar.parts]).map((parts) =>
    el(
      "span",
      { class: "track" },
      parts.map((part) => {
        const piece = el("span", { class: `piece ${part.class}` });
        piece.style.width = `${(100 * part.value) / (most || 1)}%`;
        return piece;
      }),
    ),
  );
  const content = [
    el("span", { class: "label", title: bar.label }, bar.label),
    el("span", { class: "tracks", "aria-hidden": "true" }, tracks),
    el("span", { class: "value" }, bar.value),
  ];
  return bar.pick ? button(content, bar.pick, props) : el("div", props, content);
}

function legend(entries) {
  return el(
    "p",
    { class: "legend" },
    entries.map(([name, kind]) => el("span", {}, el("i", { class: `swatch ${kind}`, "aria-hidden": "true" }), name)),
  );
}
