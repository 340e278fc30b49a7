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

function blockBoxes(talk, jump) {
  return talk.blocks
    .filter((block) => block.place === "box")
    .map((block) =>
      el(
        "section",
        { class: "box" },
        el("h3", {}, block.title),
        block.note ? el("p", { class: "note" }, block.note) : "",
        blockContent(block, talk, jump),
      ),
    );
}

function blockPanels(talk, jump, wide) {
  return talk.blocks
    .filter((block) => block.place === "panel")
    .map((block) => panel(block.title, blockContent(block, talk, jump), wide, block.note));
}
