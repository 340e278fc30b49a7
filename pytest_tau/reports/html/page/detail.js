// One trial on a page of its own: its conversation, or those of both runs side by side.

let shownId = null;

async function drawDetail(id, leave, open) {
  const trial = TRIALS[id];
  const page = byId("detail");
  shownId = id;
  page.replaceChildren(el("p", { class: "note" }, "Unpacking …"));
  let talks;
  try {
    talks = await Promise.all(trial.rows.map((row) => (row ? conversationOf(row) : null)));
  } catch (error) {
    page.replaceChildren(navigation(id, leave, open), el("p", { class: "box error" }, String(error.message || error)));
    return;
  }
  if (shownId !== id) return;
  const body = COMPARED ? comparedBody(trial, talks) : singleBody(talks[0], "A");
  page.replaceChildren(
    navigation(id, leave, open),
    heading(trial),
    ...trial.rows.map((row, run) => verdictLine(row, talks[run], run)),
    taskBoxes(trial),
    ...body,
  );
  page.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function navigation(id, leave, open) {
  const place = view.shown.findIndex((trial) => trial.id === id);
  const step = (by, label, key) => {
    const other = place < 0 ? undefined : view.shown[place + by];
    return button(label, () => other && open(other.id), {
      disabled: !other,
      class: "quiet",
      title: key,
      "aria-label": key,
      id: by < 0 ? "previous" : "next",
    });
  };
  return el(
    "nav",
    { class: "trail", "aria-label": "Simulations" },
    button(["← All", word(" simulations")], leave, { class: "quiet", title: "All simulations (Escape)" }),
    el("span", { class: "count" }, place < 0 ? "" : `${thousands(place + 1)} of ${thousands(view.shown.length)}`),
    step(-1, ["‹", word(" Previous")], "Previous ([)"),
    step(1, [word("Next "), "›"], "Next (])"),
  );
}

const word = (text) => el("span", { class: "word" }, text);

function heading(trial) {
  const groups = Object.entries(trial.groups).map(([name, value]) =>
    name === "actions" ? counted(Number(value), "reference action") : `${name}: ${value}`,
  );
  return el(
    "div",
    { class: "heading" },
    el("p", { class: "note" }, [trial.domain, `trial ${trial.trial}`, ...groups].filter(Boolean).join(" · ")),
    el("h1", {}, /^\d+$/.test(trial.name) ? `Task ${trial.name}` : trial.name),
  );
}

const AMOUNTS = {
  number: (value, { unit, label }) => (unit ? counted(value, unit) : `${label.toLowerCase()} ${value < 1 ? figure(value) : thousands(value)}`),
  money,
  seconds: (value) => (value ? seconds(value) : ""),
};

const amountOf = (row, column) =>
  row[column.name] === null ? "" : AMOUNTS[column.kind](row[column.name], column) + partsOf(row, column.parts);

function verdictLine(row, talk, run) {
  const tag = COMPARED ? runTag(run) : "";
  if (!row) return el("p", { class: "verdict" }, tag, el("span", { class: "note" }, "not in this run"));
  const breakdown = talk && talk.verdict ? talk.verdict.breakdown : [];
  const factors = breakdown.map(([name, value], place) => [
    place ? " × " : " = ",
    el("span", { class: value < 1 ? "factor failed" : "factor" }, `${name} ${+value.toFixed(3)}`),
  ]);
  const facts = [
    ending(row.ended),
    ...DATA.columns.filter(({ kind }) => AMOUNTS[kind]).map((column) => amountOf(row, column)),
  ];
  return el(
    "p",
    { class: "verdict" },
    tag,
    outcomeChip(row.outcome),
    el("span", { class: "reward" }, `reward ${+row.reward.toFixed(3)}`, factors),
    el("span", { class: "note" }, facts.filter(Boolean).join(" · ")),
  );
}

const NO_TALK = "This run has no stored conversation of it.";

function singleBody(talk, jump) {
  if (!talk) return [el("p", { class: "note" }, NO_TALK)];
  const wide = !matchMedia("(max-width: 1100px)").matches;
  return [
    el("div", { class: "boxes" }, unmetBox(talk, jump), blameBox(talk, jump), blockBoxes(talk, jump), errorBox(talk)),
    notes(talk),
    el(
      "div",
      { class: "reading" },
      el(
        "section",
        { "aria-label": "Conversation" },
        talk.messages.length ? chat(talk, jump) : el("p", { class: "note" }, "No message was sent."),
      ),
      el("aside", { "aria-label": "Checks and reference actions" }, panels(talk, jump, wide)),
    ),
  ];
}

function comparedBody(trial, talks) {
  if (talks.filter(Boolean).length < 2) {
    const run = talks[0] ? 0 : 1;
    const why = trial.rows.every(Boolean)
      ? "The other run has no stored conversation of it."
      : "It is only in one of the runs.";
    return [el("p", { class: "note" }, why), ...singleBody(talks[run], LETTERS[run])];
  }
  const columns = (make) =>
    el(
      "div",
      { class: "pair" },
      talks.map((talk, run) => el("div", { class: `column run${LETTERS[run]}` }, make(talk, run))),
    );
  const parts = trial.parts;
  const boxes = columns((talk, run) => [
    unmetBox(talk, LETTERS[run]),
    blameBox(talk, LETTERS[run]),
    blockBoxes(talk, LETTERS[run]),
    errorBox(talk),
    notes(talk),
  ]);
  const aside = columns((talk, run) => [
    el("h2", { class: "columnhead" }, runTag(run), LABELS[run]),
    panels(talk, LETTERS[run], false),
  ]);
  if (parts === null) {
    return [
      el("p", { class: "parting none" }, "Both conversations are the same from beginning to end."),
      boxes,
      aside,
      chat(merged(talks), "AB"),
    ];
  }
  const start = Math.max(
    0,
    ...talks.map((talk) =>
      Math.max(-1, ...talk.messages.map((message) => message.message_idx).filter((number) => number <= parts)),
    ),
  );
  const same = start
    ? el(
        "details",
        { class: "same" },
        el("summary", {}, `${counted(start, "message")} before the first difference, the same in both`),
        chat(merged(talks), "AB", 0, start),
      )
    : "";
  return [
    boxes,
    aside,
    same,
    el("p", { class: "parting", id: "parting", tabindex: -1 }, `They differ from message ${start} on`),
    columns((talk, run) => [
      el("h2", { class: "columnhead" }, runTag(run), LABELS[run]),
      chat(talk, LETTERS[run], start),
      ended(talk, start),
    ]),
  ];
}

function ended(talk, start) {
  return talk.messages.some((message) => message.message_idx >= start)
    ? ""
    : el("p", { class: "note" }, "It had already ended.");
}

// What both have in common, with the checks of both; one that only one run has is marked with its letter.
function merged([first, second]) {
  const key = (check) => JSON.stringify([check.kind, check.text, check.met, check.message_idx]);
  const there = new Set(second.checks.map(key));
  const here = new Set(first.checks.map(key));
  const marked = (checks, others, letter) =>
    checks.map((check) => (others.has(key(check)) ? check : { ...check, text: `${check.text} (${letter})` }));
  return {
    ...first,
    turning_point: null,
    checks: [
      ...marked(first.checks, there, "A"),
      ...marked(
        second.checks.filter((check) => !here.has(key(check))),
        here,
        "B",
      ),
    ],
  };
}

// j and k from message to message, wherever one is in the page.
function stepMessage(by) {
  const messages = [...byId("detail").querySelectorAll(".message")].filter((message) => message.offsetParent !== null);
  if (!messages.length) return;
  const at = messages.indexOf(document.activeElement);
  const visible = messages.findIndex((message) => message.getBoundingClientRect().bottom > innerHeight / 3);
  const next = at < 0 ? visible : at + by;
  const message = messages[Math.min(Math.max(next, 0), messages.length - 1)];
  message.focus({ preventScroll: true });
  message.scrollIntoView({ block: "center" });
}
