// The results of the run: denominators, rates with their intervals, and plots. `filterBy(group, value)` is the table's.

const OUTCOMES = ["passed", "failed", "error"];
const OUTCOME_WORDS = { passed: "passed", failed: "failed", error: "errors" };

function drawOverview(filterBy, filterOutcome) {
  document.title = LABELS.join(" · ") + " – τ report";
  byId("overview").append(
    headline(),
    decisionList(),
    el(
      "div",
      { class: COMPARED ? "runs two" : "runs" },
      RUNS.map((run, number) => runCard(run, number, filterOutcome)),
    ),
    COMPARED ? changesCard(filterOutcome) : "",
    ...taskCards(),
  );
  byId("charts").append(
    el(
      "div",
      { class: "charts" },
      rateCards(),
      groupCard(filterBy),
      costCard(filterBy),
      lengthCard(),
      endingCard(filterBy),
      checkCard(filterBy),
    ),
  );
}

function headline() {
  if (!COMPARED) {
    const run = RUNS[0];
    return el("div", {}, el("h1", {}, AGENTS[0]), run.agent ? el("p", { class: "note" }, `Run ${run.name}`) : "");
  }
  return el("h1", { class: "versus" }, runTag(0), LABELS[0], el("small", {}, " and "), runTag(1), LABELS[1]);
}

// What gates and the baseline say: each line is met or missed, or, with null, neither.
function decisionList() {
  if (!DATA.decisions.length) return "";
  const line = ([text, met]) => {
    const outcome = met === null ? null : met ? "passed" : "failed";
    return el("li", { class: outcome }, el("span", { "aria-hidden": "true" }, MARKS[outcome]), text);
  };
  return el("ul", { class: "card decisions", "aria-label": "Gates and baseline" }, DATA.decisions.map(line));
}

const runTag = (number) => el("span", { class: `tag run${LETTERS[number]}` }, LETTERS[number]);

function runCard(run, number, filterOutcome) {
  const { counts } = run;
  const facts = el("dl", { class: "denominators" });
  const fact = (name, value, note) =>
    facts.append(
      el(
        "div",
        {},
        el("dt", {}, name),
        el("dd", { class: /^not /.test(value) ? "unknown" : null }, value),
        note ? el("dd", { class: "note" }, note) : "",
      ),
    );
  fact("Planned", counts.planned === null ? "not recorded" : thousands(counts.planned));
  fact("Run", thousands(counts.run), `of ${counted(counts.tasks, "task")}`);
  fact("Passed", thousands(counts.passed));
  fact("Failed", thousands(counts.failed));
  fact("Errors", thousands(counts.error), counts.error ? "not counted in rates" : "");
  if (counts.not_counted) fact("Excluded from rates", thousands(counts.not_counted), "passed or failed");
  const byReason = (name, reasons) => {
    const sum = Object.values(reasons).reduce((total, each) => total + each, 0);
    const why = Object.entries(reasons).map(([reason, many]) => `${thousands(many)} ${reason}`);
    if (sum) fact(name, thousands(sum), why.join(", "));
  };
  byReason("Not run", counts.not_run);
  byReason("Excluded", counts.excluded);
  if (counts.restored) fact("Reused", thousands(counts.restored), "from an earlier run");
  const costs = RAN[number].map((row) => row.cost).filter((cost) => cost !== null);
  const unknown = RAN[number].length - costs.length;
  if (counts.called_models)
    fact(
      "Cost",
      costs.length ? money(costs.reduce((sum, each) => sum + each, 0)) : "unknown",
      costs.length ? (unknown ? `of ${counted(unknown, "trial")} unknown` : "") : "no model call with a price was seen",
    );
  return el(
    "section",
    { class: "card run" },
    COMPARED ? el("h2", {}, runTag(number), LABELS[number]) : "",
    COMPARED && LABELS[number] !== run.name ? el("p", { class: "note" }, `Run ${run.name}`) : "",
    el("div", { class: "rates" }, run.rates.map(rateLine)),
    run.comparisons.map((line) => el("p", { class: "note" }, line)),
    proportions(counts, COMPARED ? null : filterOutcome),
    facts,
    el(
      "p",
      { class: "about" },
      run.about.map(([name, value]) => el("span", {}, el("b", {}, name), " ", value)),
    ),
    run.kept ? "" : el("p", { class: "note" }, "This run has no stored conversations, only their results."),
    problems(run.problems),
  );
}

function rateLine(rates) {
  const first = rates.points[0];
  const name =
    DOMAINS.size > 1 || rates.domain ? el("span", { class: "domain" }, rates.domain || "domain not known") : "";
  if (!first) return el("p", { class: "rate" }, name, el("span", { class: "note" }, "no trial counts in rates"));
  const interval = first.low === null ? "" : `95 %: ${rate(first.low)} to ${rate(first.high)}`;
  const other = rates.strictly !== first.value ? `${rate(rates.strictly)} with errors as failures` : "";
  return el(
    "p",
    { class: "rate" },
    name,
    el("span", { class: "figure" }, el("span", { class: "what" }, "pass^1"), " ", rate(first.value)),
    el("span", { class: "note" }, [interval, other].filter(Boolean).join(" · ")),
  );
}

function proportions(counts, filterOutcome) {
  const whole = counts.passed + counts.failed + counts.error;
  const strip = el("div", { class: "strip" });
  for (const outcome of OUTCOMES) {
    if (!counts[outcome]) continue;
    const text = `${thousands(counts[outcome])} ${OUTCOME_WORDS[outcome]}`;
    const piece = filterOutcome
      ? button("", () => filterOutcome(outcome), {
          class: `piece ${outcome}`,
          title: text,
          "aria-label": `Show ${text}`,
        })
      : el("span", { class: `piece ${outcome}`, title: text });
    piece.style.width = `${(100 * counts[outcome]) / whole}%`;
    strip.append(piece);
  }
  return strip;
}

function problems(found) {
  if (!found.length) return "";
  const lines = found.slice(0, 50).map((line) => el("li", {}, line));
  const more = found.length > 50 ? el("li", {}, `and ${found.length - 50} more`) : "";
  return el(
    "details",
    { class: "problems" },
    el("summary", {}, `${counted(found.length, "entry", "entries")} of the file could not be read`),
    el("ul", {}, lines, more),
  );
}

const CHANGES = [
  ["worse", "got worse", "failed"],
  ["better", "got better", "passed"],
  ["same", "came out the same", "none"],
  ["error in one", "ended in an error in one", "error"],
  ["only in A", "only in A", "none"],
  ["only in B", "only in B", "none"],
];

function changesCard(filterOutcome) {
  const counts = CHANGES.map(([change]) => TRIALS.filter((trial) => trial.change === change).length);
  return el(
    "p",
    { class: "changes" },
    CHANGES.map(([change, text, kind], place) =>
      counts[place]
        ? button([el("b", {}, thousands(counts[place])), ` ${text}`], () => filterOutcome(change), {
            class: `change ${kind}`,
          })
        : "",
    ),
  );
}

const RUN_CLASSES = COMPARED ? ["runA", "runB"] : ["runA"];

function rateCards() {
  const names = [...new Set(RUNS.flatMap((run) => run.rates.map((rates) => rates.domain)))];
  return names.map((name) => {
    const series = RUNS.map((run, number) => {
      const found = run.rates.find((rates) => rates.domain === name);
      return { points: found ? found.points : [], class: RUN_CLASSES[number], name: COMPARED ? LETTERS[number] : "" };
    }).filter((one) => one.points.length);
    // A single point is the rate above, and no curve.
    if (series.every((one) => one.points.length < 2)) return "";
    const title = names.length > 1 ? `pass^k, ${name || "domain not known"}` : "pass^k";
    const note = "The probability that all of k trials of a task pass, with 95 % intervals over tasks.";
    const fewer = series.some((one) => new Set(one.points.map((point) => point.tasks)).size > 1);
    return card(
      title,
      note + (fewer ? " Of tasks with fewer trials, a failure counts as 0; else it is open, and pass^k a range." : ""),
      curveChart(series, `${title}: ${series[0].points.map(rateOf).join(", ")}`),
      el("div", { class: "scroll" }, rateTable(series)),
    );
  });
}

function rateTable(series) {
  const rows = series.flatMap((one) =>
    one.points.map((point) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, one.name ? `${one.name} ` : "", `pass^${point.k}`),
        el("td", {}, rateOf(point)),
        el("td", {}, point.value === null || point.low === null ? "no interval" : reachOf(point)),
        el("td", {}, counted(point.tasks, "task")),
      ),
    ),
  );
  return el("table", { class: "figures" }, el("tbody", {}, rows));
}

const runLegend = () =>
  COMPARED ? legend(RUNS.map((_, number) => [`${LETTERS[number]} ${LABELS[number]}`, RUN_CLASSES[number]])) : "";
const outcomeLegend = () =>
  legend(OUTCOMES.filter((name) => RUNS[0].counts[name]).map((name) => [OUTCOME_WORDS[name], name]));

// A line of bars for each value: the outcomes of one run stacked, or the value of a figure in each of two.
function groupBars(group, filterBy, orderByCount) {
  const found = new Map();
  for (const trial of TRIALS)
    for (const value of GROUPS[group](trial)) {
      if (!found.has(value)) found.set(value, []);
      found.get(value).push(trial);
    }
  const entries = [...found];
  if (orderByCount) entries.sort((one, other) => other[1].length - one[1].length);
  else entries.sort((one, other) => collate(one[0], other[0]));
  return entries;
}

const mean = (values) => (values.length ? values.reduce((sum, each) => sum + each, 0) / values.length : null);

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const above = Math.floor(sorted.length / 2);
  return mean(sorted.slice(sorted.length % 2 ? above : above - 1, above + 1));
}

function groupCard(filterBy) {
  const usable = ["variant", "intent", "persona", "actions", "tags", "domain", "task"].filter((group) => {
    const values = countValues(group);
    return values.size > 1 && (group !== "task" || values.size < TRIALS.length || values.size <= 30);
  });
  if (!usable.length) return "";
  const holder = el("div");
  const draw = (group) => {
    const bars = groupBars(group, filterBy).map(([label, trials]) => {
      const tracks = RUNS.map((_, run) => {
        const rewards = judged(trials.map((trial) => trial.rows[run])).map((row) => row.reward);
        return { value: mean(rewards), of: rewards.length };
      });
      const shown = tracks.map((one) => (one.value === null ? "–" : one.value.toFixed(2))).join(" → ");
      return {
        label,
        tracks: tracks.map((one, run) => [{ value: one.value || 0, class: RUN_CLASSES[run] }]),
        value: [shown, el("small", {}, ` of ${tracks[tracks.length - 1].of}`)],
        title: `${label}: mean reward ${shown}; shows these trials`,
        pick: () => filterBy(group, label),
      };
    });
    holder.replaceChildren(barList(bars, 1));
  };
  const choice = el(
    "select",
    { "aria-label": "Group by", onchange: () => draw(choice.value) },
    usable.map((group) => el("option", { value: group }, GROUP_LABELS[group] || group)),
  );
  draw(usable[0]);
  const note = "Mean reward of the trials that ended without an error.";
  return card(["Reward by ", choice], note, runLegend(), holder);
}

function costCard(filterBy) {
  const points = [];
  let most = 0;
  let unknown = 0;
  RAN.forEach((rows, run) => {
    const tasks = new Map();
    for (const row of judged(rows)) {
      if (row.cost === null) unknown += 1;
      else if (tasks.has(row.task)) tasks.get(row.task).push(row);
      else tasks.set(row.task, [row]);
    }
    for (const [task, found] of tasks) {
      const cost = mean(found.map((row) => row.cost));
      const reward = mean(found.map((row) => row.reward));
      most = Math.max(most, cost);
      const name = DATA.tasks[task][1];
      const title = `${COMPARED ? LETTERS[run] + ": " : ""}${name}: reward ${reward.toFixed(2)}, ${money(cost)} per trial`;
      points.push({ x: cost, y: reward, class: RUN_CLASSES[run], title, name });
    }
  });
  if (!points.length || most === 0) return "";
  const note = `A dot for each task: its mean cost per trial and its mean reward. ${unknown ? counted(unknown, "trial") + " with unknown cost not shown." : ""}`;
  const medians = RAN.flatMap((rows, run) =>
    ["passed", "failed"].map((outcome) => {
      const costs = rows.filter((row) => row.outcome === outcome && row.cost !== null).map((row) => row.cost);
      if (!costs.length) return "";
      return el("span", {}, `${COMPARED ? LETTERS[run] + " " : ""}${outcome}: median ${money(median(costs))}`);
    }),
  );
  const label =
    "Cost against reward: " +
    medians
      .map((one) => one.textContent || "")
      .filter(Boolean)
      .join(", ");
  const chart = dotChart(points, most, label, "mean cost of a trial", (point) => filterBy("task", point.name));
  return card("Cost against reward", note, runLegend(), chart, el("p", { class: "legend" }, medians));
}

function lengthCard() {
  const series = COMPARED
    ? RAN.map((rows, run) => ({ values: rows.map((row) => row.messages), class: RUN_CLASSES[run], name: LETTERS[run] }))
    : OUTCOMES.map((outcome) => ({
        values: RAN[0].filter((row) => row.outcome === outcome).map((row) => row.messages),
        class: outcome,
        name: OUTCOME_WORDS[outcome],
      }));
  const lengths = series.flatMap((one) => one.values).sort((a, b) => a - b);
  if (!lengths.length) return "";
  const middle = lengths[Math.floor(lengths.length / 2)];
  const note = `Median ${counted(middle, "message")}, including tool results; the longest has ${thousands(lengths[lengths.length - 1])}.`;
  const chart = columnChart(series, `Length of conversations. ${note}`, "messages", !COMPARED);
  return card("Length of conversations", note, COMPARED ? runLegend() : outcomeLegend(), chart);
}

function endingCard(filterBy) {
  const entries = groupBars("ended", filterBy, true);
  const bars = entries.map(([label, trials]) =>
    countBar(
      label,
      trials,
      (row) => ending(row.ended) === label,
      () => filterBy("ended", label),
    ),
  );
  return card("How conversations ended", null, COMPARED ? runLegend() : outcomeLegend(), barList(bars, highest(bars)));
}

function checkCard(filterBy) {
  const entries = groupBars("failed check", filterBy, true);
  if (!entries.length) return "";
  const bars = entries.map(([label, trials]) =>
    countBar(
      label,
      trials,
      (row) => failedChecks(judged([row])).includes(label),
      () => filterBy("failed check", label),
    ),
  );
  return card(
    "Checks that failed most",
    "Checks that the reward depends on, by number of trials that ended without an error.",
    runLegend(),
    barList(bars, highest(bars)),
  );
}

function countBar(label, trials, belongs, pick) {
  const counts = RUNS.map((_, run) => trials.map((trial) => trial.rows[run]).filter((row) => row && belongs(row)));
  const tracks = COMPARED
    ? counts.map((rows, run) => [{ value: rows.length, class: RUN_CLASSES[run] }])
    : [
        OUTCOMES.map((outcome) => ({
          value: counts[0].filter((row) => row.outcome === outcome).length,
          class: outcome,
        })),
      ];
  const shown = counts.map((rows) => thousands(rows.length)).join(" → ");
  return {
    label,
    tracks,
    value: shown,
    title: `${label}: ${shown}; shows these trials`,
    pick,
    most: Math.max(...counts.map((rows) => rows.length)),
  };
}

const highest = (bars) => Math.max(1, ...bars.map((bar) => bar.most));
