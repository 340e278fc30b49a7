// The data of the page: trials of one run, or pairs of trials of two; and conversations, unpacked when asked for.

const DATA = JSON.parse(byId("data").textContent);
const RUNS = DATA.runs;
const COMPARED = RUNS.length > 1;
const LETTERS = ["A", "B"];
const DOMAINS = new Set(DATA.tasks.map((task) => task[0]));

// A simulation; its values stay in the data's array, and each has the name of its field.
class Row {
  constructor(run, place) {
    this.run = run;
    this.place = place;
    this.values = RUNS[run].rows[place];
  }
}
DATA.fields.forEach((name, column) =>
  Object.defineProperty(Row.prototype, name, {
    get() {
      return this.values[column];
    },
  }),
);

const rowOf = (run, place) => (place === null ? null : new Row(run, place));

// One line of the table: a trial, with both runs' rows where there are two; `now` is what filters and charts look at.
const TRIALS = (DATA.pairs || RUNS[0].rows.map((_, place) => [place, null, null])).map(([first, second, parts], id) => {
  const rows = COMPARED ? [rowOf(0, first), rowOf(1, second)] : [rowOf(0, first)];
  const now = rows[1] || rows[0];
  const [domain, name, groups] = DATA.tasks[now.task];
  return { id, rows, now, parts, domain, name, groups, trial: now.trial, change: COMPARED ? changeOf(rows) : null };
});

const judged = (rows) => rows.filter((row) => row && row.outcome !== "error");
const failedChecks = (rows) => rows.flatMap((row) => row.failed.map((check) => DATA.texts[check]));

// What a trial is found by, made when one searches for the first time.
const searched = new Map();

function searchText(trial) {
  if (!searched.has(trial)) {
    const endings = trial.rows.map((row) => (row ? row.ended : ""));
    const failed = failedChecks(trial.rows.filter(Boolean));
    const briefs = trial.rows.filter(Boolean).map((row) => DATA.texts[row.brief] ?? "");
    const texts = [trial.name, trial.domain, ...Object.values(trial.groups), ...failed, ...briefs, ...endings];
    searched.set(trial, texts.join(" ").toLowerCase());
  }
  return searched.get(trial);
}

// What a value consists of, in brackets, such as the calls that failed.
function partsOf(row, parts) {
  const found = parts.filter(([name]) => row[name]).map(([name, unit]) => `${row[name]} ${unit}`);
  return found.length ? ` (${found.join(", ")})` : "";
}

function changeOf([before, after]) {
  if (!before || !after) return before ? "only in A" : "only in B";
  if (before.outcome === after.outcome) return "same";
  if (before.outcome === "error" || after.outcome === "error") return "error in one";
  return after.outcome === "passed" ? "better" : "worse";
}

// What a run is called: its agent; of two runs of one agent, the name of the run.
const AGENTS = RUNS.map((run) => run.agent || run.name);
const LABELS = new Set(AGENTS).size === RUNS.length ? AGENTS : RUNS.map((run) => run.name);

// What trials can be filtered and grouped by; each gives the values of a trial.
const GROUPS = {
  domain: (trial) => (trial.domain ? [trial.domain] : []),
  variant: (trial) => present(trial.groups.variant),
  intent: (trial) => present(trial.groups.intent),
  persona: (trial) => present(trial.groups.persona),
  actions: (trial) => (trial.groups.actions === undefined ? [] : [counted(Number(trial.groups.actions), "action")]),
  tags: (trial) => (trial.groups.tags ? trial.groups.tags.split(", ") : []),
  ended: (trial) => [...new Set(trial.rows.filter(Boolean).map((row) => ending(row.ended)))],
  "failed check": (trial) => [...new Set(failedChecks(judged(trial.rows)))],
  blame: (trial) => [...new Set(trial.rows.filter(Boolean).flatMap((row) => present(row.blame)))],
  task: (trial) => [trial.name],
};
const GROUP_LABELS = { actions: "reference actions", blame: "whose fault it looks like", ended: "how it ended" };

function present(value) {
  return value === undefined || value === null || value === "" ? [] : [value];
}

// How many trials have each value of a group.
function countValues(group) {
  const found = new Map();
  for (const trial of TRIALS) for (const value of GROUPS[group](trial)) found.set(value, (found.get(value) || 0) + 1);
  return found;
}

const valuesOf = (group) => [...countValues(group)].sort((one, other) => collate(one[0], other[0]));

const RAN = RUNS.map((_, run) => TRIALS.map((trial) => trial.rows[run]).filter(Boolean));

// Conversations

const unpacked = new Map();
const KEPT_BLOCKS = 6;

function whole() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
}

async function conversationOf(row) {
  const run = RUNS[row.run];
  if (!run.kept) return null;
  const id = `c${row.run}-${Math.floor(row.place / DATA.block)}`;
  if (!byId(id)) await whole();
  if (!unpacked.has(id)) {
    if (unpacked.size >= KEPT_BLOCKS) unpacked.delete(unpacked.keys().next().value);
    unpacked.set(id, unpack(byId(id).textContent));
  }
  return (await unpacked.get(id))[row.place % DATA.block];
}

async function unpack(text) {
  if (typeof DecompressionStream === "undefined")
    throw new Error(
      "This browser cannot unpack conversations; it needs DecompressionStream, as browsers have had since 2023.",
    );
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
