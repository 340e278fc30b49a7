// A conversation in ticks: two lanes in rows of as many seconds as fit; an utterance or a call leads to its message.

const TALK = { second: 13, label: 42, lane: 26, gap: 4, axis: 16, below: 16, mark: 10 };
const talkTime = (seconds) =>
  `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

BLOCKS.voice = (data, talk, jump, sound) => {
  const total = data.ticks * data.tick;
  const open = total <= 300;
  // The line that moves with the sound; the chart that is drawn gives it its place.
  const head = svg("line", { class: "playhead", stroke: "var(--failed)", "stroke-width": 2, visibility: "hidden" });
  let move = () => {};
  const player = sound && talkPlayer(sound, (seconds) => move(seconds));
  return [
    player || "",
    el(
      "details",
      { open },
      el("summary", {}, "What was said when"),
      resized((width) => {
        const { chart, locate } = talkRows(data, jump, width);
        move = (seconds) => movePlayhead(head, locate(seconds), seconds < total);
        if (player) {
          chart.append(head);
          if (player.currentTime) move(player.currentTime);
        }
        return chart;
      }),
      el("p", { class: "note" }, talkLegend(data)),
    ),
    data.faults.length
      ? el(
          "ul",
          { class: "checks" },
          data.faults.map((fault) => talkFault(data, fault, jump)),
        )
      : "",
  ];
};

function talkPlayer(src, move) {
  const player = el("audio", { controls: true, preload: "metadata", src, "aria-label": "The conversation, the user on the left" });
  for (const kind of ["timeupdate", "seeked"]) player.addEventListener(kind, () => move(player.currentTime));
  return player;
}

function movePlayhead(head, { x, y1, y2 }, shown) {
  for (const [name, value] of Object.entries({ x1: x, x2: x, y1, y2, visibility: shown ? "visible" : "hidden" }))
    head.setAttribute(name, value);
}

function talkLegend(data) {
  const lost = data.drops.length ? "; ! where words were lost on the line" : "";
  const sounds = data.sounds.length ? "; below, what was not said to the agent" : "";
  return `Both speak where the background is red; ▲ marks a fault of the agent, a bar below its lane a call${sounds}${lost}.`;
}

function talkFault(data, fault, jump) {
  const tick = Math.round(fault.at / data.tick);
  const near = data.utterances
    .filter((each) => each.message !== null)
    .reduce((best, each) => (best && distance(best, tick) <= distance(each, tick) ? best : each), null);
  const text = el("div", {}, el("p", {}, fault.text), near ? messageLink(near.message, jump) : "");
  return el("li", { class: "failed" }, el("span", { class: "sign", "aria-hidden": "true" }, "✕"), text);
}

const distance = (each, tick) => (each.start > tick ? each.start - tick : tick >= each.end ? tick - each.end + 1 : 0);

function talkRows(data, jump, width) {
  const inside = width - TALK.label - 2;
  const perRow = Math.max(20, Math.floor(inside / TALK.second / 5) * 5);
  const height = TALK.mark + 2 * TALK.lane + TALK.gap + TALK.below + TALK.axis;
  const rows = Math.ceil((data.ticks * data.tick) / perRow);
  const chart = svg("svg", { width, height: rows * height, role: "group", "aria-label": "Timeline of the conversation" });
  for (let row = 0; row < rows; row += 1) {
    const from = row * perRow;
    const place = (tick) => TALK.label + ((tick * data.tick - from) / perRow) * inside;
    chart.append(talkRow(data, jump, { from, to: from + perRow, top: row * height, place, right: TALK.label + inside }));
  }
  const locate = (seconds) => {
    const row = Math.min(rows - 1, Math.floor(seconds / perRow));
    const x = TALK.label + ((seconds - row * perRow) / perRow) * inside;
    return { x, y1: row * height + TALK.mark, y2: row * height + TALK.mark + 2 * TALK.lane + TALK.gap };
  };
  return { chart, locate };
}

function talkRow(data, jump, row) {
  const within = (each) => each.start * data.tick < row.to && each.end * data.tick > row.from;
  const box = (each) => {
    const left = Math.max(TALK.label, row.place(each.start));
    return { x: left, width: Math.max(2, Math.min(row.right, row.place(each.end)) - left) };
  };
  const agentY = row.top + TALK.mark;
  const userY = agentY + TALK.lane + TALK.gap;
  const group = svg("g", {});
  for (const [name, y] of [["agent", agentY], ["user", userY]]) {
    group.append(svg("text", { class: "tick", x: 0, y: y + TALK.lane / 2 + 4 }, name));
    group.append(svg("line", { class: "grid", x1: TALK.label, x2: row.right, y1: y + TALK.lane, y2: y + TALK.lane }));
  }
  for (let at = row.from; at < row.to; at += 5) {
    const x = row.place(at / data.tick);
    group.append(svg("text", { class: "tick", x, y: userY + TALK.lane + TALK.below + 11 }, at % 10 ? "" : talkTime(at)));
  }
  for (const each of talkOverlaps(data).filter(within)) {
    const place = { ...box(each), y: agentY, height: 2 * TALK.lane + TALK.gap };
    group.append(svg("rect", { ...place, fill: "var(--failed-soft)" }));
  }
  for (const each of data.utterances.filter(within)) {
    const y = each.side === "agent" ? agentY : userY;
    group.append(talkPart(each, { ...box(each), y: y + 2, height: TALK.lane - 6 }, utteranceTitle(each, data), jump));
  }
  for (const each of data.calls.filter(within)) {
    const place = { ...box(each), y: agentY + TALK.lane - 3, height: 6 };
    const title = `${talkTime(each.start * data.tick)} ${each.name}${each.error ? " (error)" : ""}`;
    group.append(talkPart({ ...each, call: true }, place, title, jump));
  }
  talkMarks(data, row, group, { agentY, userY, within });
  return group;
}

function talkMarks(data, row, group, { agentY, userY, within }) {
  let free = 0;
  for (const each of data.sounds.filter(within)) {
    const x = row.place(each.start);
    const mark = { class: "tick", x, y: userY + TALK.lane + 12, "font-style": "italic" };
    const words = each.text.replace(/^\.|\]$/g, "").replace(/\]?\[/g, " ").trim();
    const shown = x < free ? "·" : clip(words, 18);
    if (x >= free) free = x + 6.5 * shown.length + 4;
    group.append(svg("text", mark, svg("title", {}, `not said to the agent: ${words}`), shown));
  }
  const inside = (tick) => tick * data.tick >= row.from && tick * data.tick < row.to;
  for (const tick of data.drops.filter(inside)) {
    const mark = { x: row.place(tick), y: userY - 1, fill: "var(--error)", "font-size": 11, "font-weight": 700 };
    group.append(svg("text", mark, svg("title", {}, "words were lost here"), "!"));
  }
  for (const fault of data.faults.filter((each) => inside(each.at / data.tick))) {
    const mark = { x: row.place(fault.at / data.tick), y: agentY - 1, fill: "var(--failed)", "font-size": 11 };
    group.append(svg("text", mark, svg("title", {}, fault.text), "▲"));
  }
}

function utteranceTitle(each, data) {
  const cut = each.rest ? `\ncut off before: ${each.rest}` : "";
  const heard = each.heard ? `\nheard as: ${each.heard}` : "";
  return `${talkTime(each.start * data.tick)} ${each.side}: ${each.text}${cut}${heard}`;
}

function talkPart(each, place, title, jump) {
  const fill = each.call ? (each.error ? "--failed" : "--quiet") : `--${each.side}`;
  const stroke = each.listens || each.rest ? "var(--error)" : each.call ? "none" : "var(--quiet)";
  const parts = [
    svg("title", {}, title),
    svg("rect", { ...place, rx: 3, fill: `var(${fill})`, stroke, "stroke-dasharray": each.listens ? "3 2" : null }),
  ];
  const letters = Math.floor((place.width - 8) / 7.2);
  if (!each.call && letters > 2) {
    const text = { x: place.x + 4, y: place.y + place.height - 6, "font-size": 12, fill: "var(--ink)" };
    parts.push(svg("text", text, clip(each.text.replace(/\s+/g, " "), letters)));
  }
  if (each.message === null) return svg("g", {}, parts);
  const go = () => goToMessage(each.message, jump);
  const onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    go();
  };
  const link = { role: "link", tabindex: 0, "aria-label": title, cursor: "pointer", onclick: go, onkeydown };
  return svg("g", link, parts);
}

// The stretches in which both speak.
function talkOverlaps(data) {
  const found = [];
  for (const one of data.utterances.filter((each) => each.side === "agent"))
    for (const other of data.utterances.filter((each) => each.side === "user")) {
      const start = Math.max(one.start, other.start);
      const end = Math.min(one.end, other.end);
      if (start < end) found.push({ start, end });
    }
  return found;
}
