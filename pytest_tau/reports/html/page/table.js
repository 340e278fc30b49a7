// The table: filtered, sorted, and drawn only where it is looked at. One row of it is always the current one.

const TALL = { wide: 38, narrow: 66 };
const NARROW = matchMedia("(max-width: 760px)");
const AHEAD = 8;

const both = (trial, show) => {
  if (!COMPARED) return show(trial.rows[0]);
  const cells = trial.rows.map((row) => (row ? show(row) : "–"));
  const same = wordsOf(cells[0]) === wordsOf(cells[1]);
  return same ? cells[0] : [cells[0], el("span", { class: "to" }, " → "), cells[1]];
};
// What went wrong in a few words, as in the terminal; else the checks that failed.
const briefly = (row, name) => DATA.texts[row.brief] ?? row[name].map((check) => DATA.texts[check]).join(", ");
const kept = (value) =>
  value === null ? "–" : value < 1 ? el("span", { class: "broken" }, "broken") : "kept";
const CHANGE_ORDER = CHANGES.map(([change]) => change);

// How a value is sorted and shown, by the kind of its column; `column.name` is its name in a row.
const KINDS = {
  outcome: () => ({
    sort: (trial) =>
      trial.rows.map((row) => (row ? OUTCOMES.indexOf(row.outcome) : 3)).reduce((sum, each) => sum * 4 + each, 0),
    show: (trial) =>
      COMPARED ? trial.rows.map((row) => outcomeChip(row ? row.outcome : "none")) : outcomeChip(trial.now.outcome),
  }),
  domain: () => ({ sort: (trial) => trial.domain, show: (trial) => trial.domain }),
  task: () => ({ sort: (trial) => trial.name, show: (trial) => trial.name, title: true }),
  trial: () => ({ sort: (trial) => trial.trial, show: (trial) => String(trial.trial), figure: true }),
  ended: ({ name }) => ({
    sort: (trial) => trial.now[name],
    show: (trial) => both(trial, (row) => ending(row[name])),
    title: true,
  }),
  text: ({ name }) => ({
    sort: (trial) => trial.now[name] ?? "",
    show: (trial) => both(trial, (row) => row[name] ?? "–"),
    title: true,
  }),
  checks: ({ name }) => ({
    sort: (trial) => trial.now[name].length,
    show: (trial) => both(trial, (row) => briefly(row, name) || "–"),
    title: true,
  }),
  score: ({ name }) => ({
    sort: (trial) => trial.now[name] ?? -1,
    show: (trial) => both(trial, (row) => (row[name] === null ? "–" : String(+row[name].toFixed(3)))),
    figure: true,
  }),
  kept: ({ name }) => ({
    sort: (trial) => trial.now[name] ?? -1,
    show: (trial) => both(trial, (row) => kept(row[name])),
    needed: (trial) => trial.rows.some((row) => row && row[name] !== null && row[name] < 1),
  }),
  number: ({ name, parts }) => ({
    sort: (trial) => trial.now[name] ?? -1,
    show: (trial) =>
      both(trial, (row) => (row[name] === null ? "–" : figure(row[name]) + (COMPARED ? "" : partsOf(row, parts)))),
    figure: true,
  }),
  money: ({ name }) => ({
    sort: (trial) => trial.now[name] ?? -1,
    show: (trial) => both(trial, (row) => money(row[name])),
    figure: true,
  }),
  seconds: ({ name }) => ({
    sort: (trial) => trial.now[name] ?? -1,
    show: (trial) => both(trial, (row) => seconds(row[name])),
    figure: true,
  }),
};

const CHANGE = {
  name: "change",
  label: "Change",
  sort: (trial) => CHANGE_ORDER.indexOf(trial.change),
  show: (trial) => el("span", { class: `mark ${CHANGES[CHANGE_ORDER.indexOf(trial.change)][2]}` }, trial.change),
};
const PARTS = {
  name: "parts",
  label: "Differ from",
  sort: (trial) => (trial.parts === null ? Infinity : trial.parts),
  show: (trial) => (trial.rows.every(Boolean) && trial.parts !== null ? `message ${trial.parts}` : "–"),
};

const wordsOf = (shown) => [shown].flat().map((part) => part.textContent ?? String(part)).join(" ");
// A column that says the same of every trial says nothing, unless it is bad; of a single one, a column without a value.
const differs = (column) => {
  if (["outcome", "task"].includes(column.kind)) return true;
  if (column.needed && TRIALS.some(column.needed)) return true;
  if (column.kind === "checks") return TRIALS.some((trial) => wordsOf(column.show(trial)) !== "–");
  const first = wordsOf(column.show(TRIALS[0]));
  return TRIALS.length < 2 ? first !== "–" : TRIALS.some((trial) => wordsOf(column.show(trial)) !== first);
};

const COLUMNS = DATA.columns.map((column) => ({ ...column, ...KINDS[column.kind](column) }));
if (COMPARED) {
  COLUMNS.unshift(CHANGE);
  COLUMNS.splice(COLUMNS.findIndex((column) => column.kind === "checks") + 1, 0, PARTS);
}
if (TRIALS.length) COLUMNS.splice(0, COLUMNS.length, ...COLUMNS.filter(differs));
const LONGEST = TRIALS.reduce((most, trial) => Math.max(most, trial.name.length), 0);

// What one looks for comes first: of one run the failures, of two what got worse, then what failed.
const URGENT = ["failed", "error", "passed"];
const urgency = (trial) => URGENT.indexOf(trial.now.outcome);
const FIRST = { sort: (trial) => (COMPARED ? CHANGE_ORDER.indexOf(trial.change) * 3 : 0) + urgency(trial) };

const view = { text: "", outcome: "", group: "", value: "", column: null, down: false, shown: [], current: 0 };
const controls = {};

function drawTable(open) {
  controls.text = el("input", {
    type: "search",
    placeholder: "Filter: task, check, intent …",
    "aria-label": "Filter by text",
    oninput: () => change({ text: controls.text.value }),
  });
  const outcomes = COMPARED ? CHANGES.map(([name, text]) => [name, text]) : [];
  controls.outcome = choice(
    "Outcome",
    [["", "every outcome"], ...outcomes, ...OUTCOMES.map((name) => [name, COMPARED ? `${name} in A or B` : name])],
    (outcome) => change({ outcome }),
  );
  const groups = Object.keys(GROUPS).filter((group) => group !== "task" && countValues(group).size > 1);
  controls.group = choice(
    "Group",
    [["", "every group"], ...groups.map((group) => [group, GROUP_LABELS[group] || group]), ["task", "task"]],
    (group) => change({ group, value: "" }),
  );
  controls.value = choice("Value", [["", "any"]], (value) => change({ value }));
  controls.sort = choice(
    "Sort by",
    [
      ["", COMPARED ? "losses first" : "failures first"],
      ["-", "order of the run"],
      ...COLUMNS.flatMap((column) => [
        [column.name, column.label.toLowerCase()],
        [`-${column.name}`, `${column.label.toLowerCase()}, descending`],
      ]),
    ],
    (sort) => change({ column: sort.replace("-", "") || null, down: sort.startsWith("-") }),
  );
  controls.sort.classList.add("narrow-only");
  controls.clear = button("Clear", () => change({ text: "", outcome: "", group: "", value: "" }), {
    class: "quiet",
    hidden: true,
  });
  controls.count = el("p", { class: "count", role: "status" });
  controls.head = el("div", { class: "row head", role: "row", "aria-rowindex": 1 }, COLUMNS.map(headCell));
  controls.body = el("div", { class: "rows", role: "rowgroup" });
  controls.grid = el(
    "div",
    {
      class: `grid${COMPARED ? " compared" : ""}`,
      role: "grid",
      tabindex: 0,
      id: "grid",
      "aria-label": "Simulations",
      onkeydown: (event) => onGridKey(event, open),
      onscroll: () => requestAnimationFrame(drawRows),
    },
    el("div", { role: "rowgroup", class: "heads" }, controls.head),
    controls.body,
  );
  const width = (column) => `var(--w-${column.name}, ${column.kind === "text" ? "minmax(110px, 1fr)" : "84px"})`;
  controls.grid.style.setProperty("--columns", COLUMNS.map(width).join(" "));
  // Where there is room, as wide as the longest name; not in `ch`, which differs between head and rows.
  // Without another column that takes the room that is left, it does.
  const grows = COLUMNS.some((column) => ["checks", "ended", "text"].includes(column.kind));
  controls.grid.style.setProperty(
    "--w-task",
    `minmax(150px, ${grows ? `${Math.min(LONGEST, 60) * 9 + 20}px` : "1fr"})`,
  );
  controls.body.addEventListener("click", (event) => {
    const row = event.target.closest("[data-id]");
    if (row) open(Number(row.dataset.id));
  });
  // What failed is what one reads: it has room before the names of tasks have all of theirs.
  const failed = COLUMNS.find((column) => column.kind === "checks");
  if (failed && !COMPARED) {
    const longest = TRIALS.reduce((most, trial) => Math.max(most, wordsOf(failed.show(trial)).length), 0);
    controls.grid.style.setProperty(`--w-${failed.name}`, `minmax(${Math.min(longest * 7 + 10, 230)}px, 1.8fr)`);
  }
  byId("simulations").append(
    el("div", { class: "bar" }, el("h2", {}, "Simulations"), controls.count),
    el(
      "div",
      { class: "tools" },
      controls.text,
      controls.outcome,
      controls.group,
      controls.value,
      controls.sort,
      controls.clear,
    ),
    controls.grid,
  );
  NARROW.addEventListener("change", drawRows);
  new ResizeObserver(drawRows).observe(controls.grid);
  change({});
}

function choice(label, options, onchoose) {
  const select = el("select", { "aria-label": label, onchange: () => onchoose(select.value) });
  fill(select, options);
  return select;
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
}

const cellClass = (column) => `cell c-${column.name} k-${column.kind || column.name}${column.figure ? " figure" : ""}`;

function headCell(column) {
  const sort = () => {
    const again = view.column === column.name;
    if (again && view.down) change({ column: null, down: false });
    else change({ column: column.name, down: again });
  };
  const cell = el("div", {
    role: "columnheader",
    class: cellClass(column),
    "aria-sort": "none",
  });
  cell.append(button([column.label, el("span", { class: "arrow", "aria-hidden": "true" })], sort, { tabindex: -1 }));
  column.head = cell;
  return cell;
}

// Any change of what is shown: filters, order.
function change(changes) {
  const current = view.shown[view.current];
  const regrouped = "group" in changes && changes.group !== view.group;
  Object.assign(view, changes);
  if (regrouped) {
    const values = view.group ? valuesOf(view.group) : [];
    fill(controls.value, [
      ["", view.group ? "any" : "any value"],
      ...values.map(([value, many]) => [value, `${clip(value, 60)} (${thousands(many)})`]),
    ]);
  }
  for (const name of ["text", "outcome", "group", "value"])
    if (controls[name].value !== view[name]) controls[name].value = view[name];
  controls.value.disabled = !view.group;
  controls.sort.value = (view.down ? "-" : "") + (view.column || "");
  controls.clear.hidden = !(view.text || view.outcome || view.group);
  view.shown = sorted(TRIALS.filter(wanted(view)));
  const kept = view.shown.indexOf(current);
  view.current = kept < 0 ? 0 : kept;
  for (const column of COLUMNS)
    column.head.setAttribute(
      "aria-sort",
      column.name === view.column ? (view.down ? "descending" : "ascending") : "none",
    );
  const filtered = view.shown.length !== TRIALS.length;
  controls.count.textContent =
    (filtered ? `${thousands(view.shown.length)} of ` : "") + counted(TRIALS.length, COMPARED ? "trial" : "simulation");
  controls.grid.setAttribute("aria-rowcount", view.shown.length + 1);
  if (kept < 0) controls.grid.scrollTop = 0;
  drawRows(null, true);
}

function wanted({ text, outcome, group, value }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (trial) => {
    if (outcome && trial.change !== outcome && !trial.rows.some((row) => row && row.outcome === outcome)) return false;
    if (group && value && !GROUPS[group](trial).includes(value)) return false;
    return words.every((word) => searchText(trial).includes(word));
  };
}

function sorted(trials) {
  const column = COLUMNS.find((one) => one.name === view.column) || (view.down ? null : FIRST);
  if (!column) return trials;
  const sign = view.down ? -1 : 1;
  return trials
    .map((trial) => [column.sort(trial), trial])
    .sort(([one, a], [other, b]) => {
      const order =
        typeof one === "string"
          ? collate(one, other)
          : one === other
            ? 0
            : one < other
              ? -1
              : 1;
      return order * sign || a.id - b.id;
    })
    .map(([, trial]) => trial);
}

let drawn = null;

function drawRows(_, anew) {
  const tall = NARROW.matches ? TALL.narrow : TALL.wide;
  const { grid, body } = controls;
  if (!grid.clientHeight && grid.offsetParent === null) return;
  const first = Math.max(0, Math.floor(grid.scrollTop / tall) - AHEAD);
  const last = Math.min(view.shown.length, Math.ceil((grid.scrollTop + grid.clientHeight) / tall) + AHEAD);
  const state = `${first} ${last} ${tall} ${view.current}`;
  if (!anew && state === drawn) return;
  drawn = state;
  body.style.height = `${Math.max(view.shown.length, 1) * tall}px`;
  const rows = view.shown.slice(first, last).map((trial, offset) => row(trial, first + offset, tall));
  body.replaceChildren(...rows);
  if (!view.shown.length)
    body.append(el("p", { class: "nothing" }, "No simulation matches. Clear the filter to show all."));
  if (view.shown.length) grid.setAttribute("aria-activedescendant", `row-${view.shown[view.current].id}`);
  else grid.removeAttribute("aria-activedescendant");
}

function row(trial, place, tall) {
  const current = place === view.current;
  const line = el("div", {
    class: `row${current ? " current" : ""}`,
    role: "row",
    id: `row-${trial.id}`,
    "data-id": trial.id,
    "aria-rowindex": place + 2,
    "aria-selected": current ? "true" : "false",
  });
  line.style.transform = `translateY(${place * tall}px)`;
  line.style.height = `${tall}px`;
  for (const column of COLUMNS) {
    const cell = el(
      "div",
      { role: "gridcell", class: cellClass(column), "data-label": column.label },
      column.show(trial),
    );
    if (column.title) cell.title = cell.textContent;
    if (cell.textContent === "–") cell.dataset.none = "";
    line.append(cell);
  }
  return line;
}

function moveTo(place) {
  if (!view.shown.length) return;
  view.current = Math.min(Math.max(place, 0), view.shown.length - 1);
  const tall = NARROW.matches ? TALL.narrow : TALL.wide;
  const { grid } = controls;
  const head = NARROW.matches ? 0 : controls.head.offsetHeight;
  const top = view.current * tall;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + tall > grid.scrollTop + grid.clientHeight - head)
    grid.scrollTop = top + tall - grid.clientHeight + head;
  drawRows();
}

function onGridKey(event, open) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(controls.grid.clientHeight / TALL.wide) - 2);
  const to = {
    ArrowDown: view.current + 1,
    j: view.current + 1,
    ArrowUp: view.current - 1,
    k: view.current - 1,
    PageDown: view.current + page,
    PageUp: view.current - page,
    Home: 0,
    End: view.shown.length - 1,
  }[event.key];
  if (to !== undefined) moveTo(to);
  else if (event.key === "Enter" && view.shown.length && !event.target.closest("a, button, summary"))
    open(view.shown[view.current].id);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
