// Blocks of capabilities: as data, or drawn by a function that the capability's script adds under its name.

const BLOCKS = {};

function blockContent(block, talk, jump) {
  if (block.data !== null && BLOCKS[block.name]) return BLOCKS[block.name](block.data, talk, jump, block.media);
  return [
    block.text ? el("p", {}, block.text) : "",
    block.rows.length ? factList(block.rows) : "",
    block.items.length ? el("ul", { class: "checks" }, block.items.map((item) => blockItem(item, jump))) : "",
  ];
}

function blockItem(item, jump) {
  const [kind, sign] = item.met === null ? ["", "·"] : item.met ? ["passed", "✓"] : ["failed", "✕"];
  return el(
    "li",
    { class: kind },
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    el(
      "div",
      {},
      item.head ? el("b", {}, item.head) : "",
      item.text ? el("p", {}, item.text) : "",
      item.note ? el("p", { class: "note" }, item.note) : "",
      item.message_idx === null ? "" : messageLink(item.message_idx, jump),
    ),
  );
}

const blockBox = (block, talk, jump, ...more) =>
  el(
    "section",
    { class: "box" },
    el("h3", {}, block.title),
    block.note ? el("p", { class: "note" }, block.note) : "",
    blockContent(block, talk, jump),
    ...more,
  );

const blockBoxes = (talk, jump) =>
  talk.blocks.filter((block) => block.place === "box").map((block) => blockBox(block, talk, jump));

// Blocks about tasks: each is shown with every trial of the task, and is a line of the overview.

const taskOf = ({ simulations: [first] }) => (first ? rowOf(...first).task : null);

function taskBoxes(trial) {
  const blocks = DATA.taskBlocks.filter((block) => trial.rows.some((row) => row && row.task === taskOf(block)));
  const box = (block) => blockBox(block, null, "A", el("p", { class: "note" }, "Such as ", simulationLinks(block)));
  return blocks.length ? el("div", { class: "boxes" }, blocks.map(box)) : "";
}

function simulationLinks({ simulations }) {
  return simulations.map(([run, place], number) => {
    const { id, trial } = TRIALS.find(({ rows }) => rows[run] && rows[run].place === place);
    const link = el("a", { href: `#/${id}` }, `trial ${trial}${COMPARED ? ` of ${LETTERS[run]}` : ""}`);
    return [number ? ", " : "", link];
  });
}

function taskCards() {
  const titles = [...new Set(DATA.taskBlocks.map((block) => block.title))];
  return titles.map((title) => {
    const blocks = DATA.taskBlocks.filter((block) => block.title === title);
    return el(
      "section",
      { class: "card tasks" },
      el("h2", {}, title),
      el("ul", {}, blocks.map(taskLine)),
    );
  });
}

function taskLine(block) {
  if (!block.simulations.length) return el("li", {}, block.text);
  const [domain, name] = DATA.tasks[taskOf(block)];
  const shown = DOMAINS.size > 1 ? `${domain} ${name}` : name;
  return el("li", {}, el("b", {}, shown), `: ${block.note}, such as `, simulationLinks(block));
}

function blockPanels(talk, jump, wide) {
  return talk.blocks
    .filter((block) => block.place === "panel")
    .map((block) => panel(block.title, blockContent(block, talk, jump), wide, block.note));
}
