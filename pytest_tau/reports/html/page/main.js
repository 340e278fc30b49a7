// What is shown follows the address: #/7 is the trial of that place in the report, anything else the list.

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const toggle = byId("theme");
  toggle.textContent = dark ? "Light" : "Dark";
  toggle.setAttribute("aria-label", `Show the page in ${dark ? "light" : "dark"} colours`);
  toggle.onclick = () => {
    const other = dark ? "light" : "dark";
    try {
      localStorage.setItem("tau-theme", other);
    } catch {
      // Pages from a disk may have no storage; the choice then lasts until the page is closed.
    }
    applyTheme(other);
  };
}

function storedTheme() {
  try {
    const theme = localStorage.getItem("tau-theme");
    return theme === "dark" || theme === "light" ? theme : null;
  } catch {
    return null;
  }
}

const LIST_KEYS = [
  ["↑ ↓ or j k", "move"],
  ["Enter", "open"],
  ["/", "filter"],
];
const DETAIL_KEYS = [
  ["j k", "messages"],
  ["[ ]", "other simulations"],
  ["Esc", "back"],
];

function tellKeys(keys) {
  byId("keys").replaceChildren(...keys.map(([key, text]) => el("span", {}, el("kbd", {}, key), ` ${text}`)));
}

const open = (id) => (location.hash = `#/${id}`);
const leave = () => (location.hash = "");
let listScroll = 0;

function route() {
  const found = /^#\/(\d+)$/.exec(location.hash);
  const id = found && Number(found[1]) < TRIALS.length ? Number(found[1]) : null;
  const list = byId("list");
  const detail = byId("detail");
  if (id === null) {
    const back = list.hidden;
    detail.hidden = true;
    list.hidden = false;
    tellKeys(LIST_KEYS);
    detail.replaceChildren();
    shownId = null;
    if (back) {
      drawRows(null, true);
      moveTo(view.current);
      controls.grid.focus({ preventScroll: true });
      scrollTo(0, listScroll);
    }
    return;
  }
  if (!list.hidden) listScroll = scrollY;
  const place = view.shown.findIndex((trial) => trial.id === id);
  if (place >= 0) view.current = place;
  list.hidden = true;
  detail.hidden = false;
  tellKeys(DETAIL_KEYS);
  drawDetail(id, leave, open);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.closest && event.target.closest("input, select, textarea");
  if (byId("list").hidden) {
    if (writing) return;
    if (event.key === "Escape") leave();
    else if (event.key === "j") stepMessage(1);
    else if (event.key === "k") stepMessage(-1);
    else if (event.key === "[") byId("previous").click();
    else if (event.key === "]") byId("next").click();
    else return;
  } else if (event.key === "Escape" && writing === controls.text) {
    controls.grid.focus();
  } else if (event.key === "Enter" && writing === controls.text) {
    controls.grid.focus();
  } else if (!writing && event.key === "/") {
    controls.text.focus();
    controls.text.select();
  } else if (!writing && ["j", "k", "ArrowDown", "ArrowUp", "Enter"].includes(event.key)) {
    // They need no focus on the table, but Enter is that of a focused button or link.
    if (event.key !== "Enter") controls.grid.focus();
    onGridKey(event, open);
    return;
  } else return;
  event.preventDefault();
}

const toTable = () => byId("simulations").scrollIntoView({ block: "start" });
const filterBy = (group, value) => {
  change({ group, value, outcome: "", text: "" });
  toTable();
};
const filterOutcome = (outcome) => {
  change({ outcome, group: "", value: "", text: "" });
  toTable();
};

applyTheme(storedTheme());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => applyTheme(storedTheme()));
drawOverview(filterBy, filterOutcome);
drawTable(open);
document.addEventListener("keydown", onKey);
addEventListener("hashchange", route);
route();
