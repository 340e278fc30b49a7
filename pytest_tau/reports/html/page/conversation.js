// A conversation as one reads a chat, with its checks. `talk` is a conversation as it was unpacked.

const LONGEST_INLINE = 90;

// Bubbles, calls and results from one message to another; `jump` prefixes the ids of messages, as two may be on the page.
function chat(talk, jump, from = 0, to = Infinity) {
  const marks = marksByMessage(talk);
  const list = el("ol", { class: "chat" });
  for (const message of talk.messages) {
    if (message.message_idx < from || message.message_idx >= to) continue;
    list.append(messageItem(message, talk, jump, marks.get(message.message_idx) || []));
  }
  return list;
}

const SPEAKERS = { assistant: "agent", user: "user", system: "system", tool: "result" };

function messageItem(message, talk, jump, marks) {
  const who = SPEAKERS[message.role] || message.role;
  const parts = [
    `message ${message.message_idx}`,
    message.seconds && seconds(message.seconds),
    message.cost && money(message.cost),
  ];
  const calls = (message.calls || []).map((place) =>
    callItem(
      talk,
      place,
      marks.filter((mark) => mark.call === place),
    ),
  );
  if (message.break) {
    const between = message.calls.map((place) => changeList(talk.calls[place].changes, talk.calls[place].more));
    return el("li", { class: "break", id: `${jump}-message-${message.message_idx}`, tabindex: -1 }, message.break, between);
  }
  const turning = talk.turning_point && talk.turning_point.message_idx === message.message_idx;
  return el(
    "li",
    { class: `message ${who}${turning ? " turning" : ""}`, id: `${jump}-message-${message.message_idx}`, tabindex: -1 },
    turning
      ? el("p", { class: "turningpoint" }, "The turning point: ", talk.turning_point.text || talk.turning_point.kind)
      : "",
    el("p", { class: "who" }, el("b", {}, message.actor ? `${who} · ${clip(message.actor, 40)}` : who), el("span", {}, parts.filter(Boolean).join(" · "))),
    message.thought
      ? el("details", { class: "thought" }, el("summary", {}, "Thought"), el("p", {}, message.thought))
      : "",
    message.text ? el("div", { class: "bubble" }, message.text) : "",
    calls,
    markLine(marks.filter((mark) => mark.call === null)),
  );
}

function callItem(talk, place, marks) {
  const call = talk.calls[place];
  const inline =
    call.malformed !== null ? call.malformed : call.arguments.map(([name, value]) => `${name}: ${value}`).join(", ");
  const badges = [
    call.error ? el("span", { class: "badge failed" }, "error") : "",
    call.result === null ? el("span", { class: "badge error" }, "no result") : "",
    call.fault ? el("span", { class: "badge error" }, `tool fault: ${call.fault}`) : "",
    call.changes.length ? el("span", { class: "badge edits" }, counted(call.changes.length + call.more, "change")) : "",
  ];
  const details = el(
    "details",
    { class: "call" },
    el(
      "summary",
      {},
      el("code", { class: "name" }, call.name),
      el("span", { class: "inline" }, clip(inline, 300)),
      badges,
    ),
  );
  // What is folded is built when it is opened: results may be long.
  details.addEventListener(
    "toggle",
    () => details.open && details.childElementCount === 1 && details.append(...callContent(call)),
  );
  return el("div", { class: "callbox" }, details, changeList(call.changes, call.more), markLine(marks));
}

function callContent(call) {
  const given =
    call.malformed !== null
      ? [
          el("p", { class: "note" }, "These arguments are not a JSON object; the call was not made."),
          el("pre", {}, call.malformed),
        ]
      : call.arguments.length
        ? el(
            "dl",
            { class: "arguments" },
            call.arguments.map(([name, value]) => [el("dt", {}, name), el("dd", {}, jsonBlock(value))]),
          )
        : el("p", { class: "note" }, "No arguments.");
  const result = call.result === null ? el("p", { class: "note" }, "There is no result.") : jsonBlock(call.result);
  return [
    el("h5", {}, "Arguments"),
    given,
    el("h5", { class: call.error ? "failed" : "" }, call.error ? "Result: an error" : "Result"),
    result,
  ].flat();
}

const SHOWN_CHANGES = 6;

function changeList(changes, more) {
  if (!changes.length) return "";
  const list = el("ul", { class: "changed", "aria-label": "What the call changed" });
  const show = (shown) => {
    list.replaceChildren(
      ...changes.slice(0, shown).map((change) => el("li", {}, changeLine(change, "before", "after"))),
    );
    const left = changes.length - shown;
    if (left > 0)
      list.append(
        el(
          "li",
          {},
          button(`${left} more`, () => show(changes.length), { class: "link" }),
        ),
      );
    else if (more) list.append(el("li", { class: "note" }, `and ${more} more`));
  };
  show(SHOWN_CHANGES);
  return list;
}

function changeLine([side, path, before, after]) {
  const where = el("code", { class: "path" }, side === "user" ? "user side: " : "", path);
  if (before === null) return [el("span", { class: "sign added" }, "+ "), where, " ", valueNode(after, "added")];
  if (after === null) return [el("span", { class: "sign removed" }, "− "), where, " ", valueNode(before, "removed")];
  const [from, to] = differing(before, after);
  return [
    where,
    " ",
    valueNode(before, "removed", from),
    el("span", { class: "to" }, " → "),
    valueNode(after, "added", to),
  ];
}

// A value; `shown` is what is read of it while it is folded.
function valueNode(text, kind, shown = text) {
  if (text.length <= LONGEST_INLINE) return el("code", { class: `value ${kind}` }, text);
  const details = el(
    "details",
    { class: `value ${kind}` },
    el("summary", {}, el("code", {}, clip(shown, LONGEST_INLINE))),
  );
  details.addEventListener(
    "toggle",
    () => details.open && details.childElementCount === 1 && details.append(jsonBlock(text)),
  );
  return details;
}

// Two values, each from shortly before the first difference on where what they have in common is long.
function differing(one, other) {
  if (Math.max(one.length, other.length) <= LONGEST_INLINE) return [one, other];
  let common = 0;
  while (common < Math.min(one.length, other.length) && one[common] === other[common]) common += 1;
  const start = common < LONGEST_INLINE / 2 ? 0 : common - Math.floor(LONGEST_INLINE / 3);
  return [one, other].map((text) => (start ? "…" : "") + text.slice(start));
}

// Checks next to messages

function marksByMessage(talk) {
  const found = new Map();
  for (const check of talk.checks) {
    if (check.message_idx === null) continue;
    if (!found.has(check.message_idx)) found.set(check.message_idx, []);
    found.get(check.message_idx).push(check);
  }
  return found;
}

function markLine(checks) {
  if (!checks.length) return "";
  return el(
    "ul",
    { class: "marks", "aria-label": "Checks decided here" },
    checks.map((check) => el("li", {}, checkChip(check))),
  );
}

function checkChip(check) {
  const action = check.ofCall;
  const broken = action ? "not met by this" : "broken here";
  const verb = check.met ? "met here" : check.gates ? broken : "not met, not in the reward";
  // At the call that it was met by, an action need not be named again.
  const text = action && check.call !== null ? (check.met ? "" : check.note) : check.text;
  return el(
    "span",
    {
      class: `check ${check.met ? "passed" : "failed"}${check.gates ? "" : " aside"}`,
      title: [check.text, check.note].filter(Boolean).join("\n"),
    },
    el("span", { "aria-hidden": "true" }, check.met ? "✓ " : "✕ "),
    el("b", {}, check.kind),
    ` ${verb}${text ? ": " : ""}`,
    clip(text, 140),
  );
}

// Everything next to the chat

function unmetBox(talk, jump) {
  const unmet = talk.checks.filter((check) => !check.met && check.gates);
  if (!unmet.length) return "";
  const lines = unmet.map((check) =>
    el(
      "li",
      {},
      el("b", {}, check.kind),
      " ",
      check.text,
      check.note ? el("span", { class: "note" }, ` – ${check.note}`) : "",
      check.message_idx === null ? "" : [" ", messageLink(check.message_idx, jump)],
      check.kind === "DB" ? firstDifferences(talk) : "",
    ),
  );
  return el(
    "section",
    { class: "box failed" },
    el("h3", {}, unmet.length === 1 ? "The check that was not met" : `${unmet.length} checks were not met`),
    el("ul", {}, lines),
  );
}

const SHOWN_DIFFERENCES = 3;

function firstDifferences(talk) {
  const left = talk.differences.length - SHOWN_DIFFERENCES;
  return [
    differenceList(talk.differences.slice(0, SHOWN_DIFFERENCES)),
    left > 0 ? el("p", { class: "note" }, `and ${left} more`) : "",
  ];
}

function messageLink(number, jump, label) {
  return button(label || `message ${number}`, () => goToMessage(number, jump), { class: "link" });
}

function goToMessage(number, jump) {
  for (let at = number; at >= 0; at -= 1) {
    const found = byId(`${jump}-message-${at}`) || byId(`AB-message-${at}`);
    if (!found) continue;
    const fold = found.closest("details:not([open])");
    if (fold) fold.open = true;
    found.focus({ preventScroll: true });
    found.scrollIntoView({
      block: "center",
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
    });
    return;
  }
}

// Reasons of errors for which neither side is to blame.
const NEITHER = ["the recording does not match", "the cassette is missing"];

function blameTitle(blame) {
  if (NEITHER.includes(blame.reason)) return "Neither side failed";
  if (blame.party === "undecided") {
    const parties = blame.candidates.map((party) => `the ${party}`);
    return `Undecided whether ${parties.slice(0, -1).join(", ")} or ${parties.at(-1)} failed`;
  }
  return `It looks like the ${blame.party}'s fault${blame.actor ? `, in a message of ${blame.actor}` : ""}`;
}

function blameBox(talk, jump) {
  const blame = talk.blame;
  // What shows whose fault it is often is the turning point.
  const point = blame && talk.turning_point && blame.evidence.startsWith(talk.turning_point.text) ? null : talk.turning_point;
  if (!blame && !point) return "";
  const number = blame ? blame.message_idx : null;
  return el(
    "section",
    { class: "box" },
    blame
      ? [
          el("h3", {}, blameTitle(blame)),
          el("p", {}, sentence(blame.reason)),
          // An error has a box of its own.
          talk.error && talk.error.includes(blame.evidence) ? "" : el("p", { class: "note" }, blame.evidence),
        ]
      : el("h3", {}, "Turning point"),
    number === null ? "" : el("p", {}, messageLink(number, jump)),
    point
      ? el(
          "p",
          {},
          "The turning point: ",
          point.text || point.kind,
          " ",
          point.message_idx === null ? "" : messageLink(point.message_idx, jump),
        )
      : "",
  );
}

function sentence(text) {
  const plain = String(text || "");
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? "" : ".");
}

function errorBox(talk) {
  if (!talk.error) return "";
  return el("section", { class: "box error" }, el("h3", {}, "What went wrong"), el("pre", {}, talk.error));
}

const KIND_WORDS = {
  matched: "matched",
  differs: "other arguments",
  missing: "not made",
  extra: "no reference action",
};

function actionsPanel(talk, jump) {
  if (!talk.rows.length) return el("p", { class: "note" }, "There are no reference actions and no calls.");
  const counts = Object.keys(KIND_WORDS).map((kind) => [kind, talk.rows.filter((row) => row.kind === kind).length]);
  const parts = counts
    .filter(([, many]) => many)
    .map(([kind, many]) => `${many} ${kind === "extra" ? "extra" : KIND_WORDS[kind]}`);
  return [
    el("p", { class: "note" }, parts.join(", ")),
    el(
      "table",
      { class: "alignment" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Reference"), el("th", { scope: "col" }, "Actual"))),
      el(
        "tbody",
        {},
        talk.rows.map((row) => {
          const action = row.action === null ? null : talk.actions[row.action];
          const call = row.call === null ? null : talk.calls[row.call];
          return el(
            "tr",
            { class: row.kind },
            el("td", {}, action ? sideCell(action, row.arguments) : el("span", { class: "note" }, "–")),
            el(
              "td",
              {},
              call
                ? [sideCell(call, row.arguments), " ", messageLink(call.message_idx, jump)]
                : el("b", { class: "missing" }, "not made"),
            ),
          );
        }),
      ),
    ),
  ];
}

function sideCell(one, differing) {
  const shown = (one.arguments || []).map(([name, value]) =>
    el(
      "span",
      { class: `argument${differing.includes(name) ? " differs" : ""}` },
      el("i", {}, name),
      " ",
      clip(value, 120),
    ),
  );
  const by = one.by === "user" ? el("span", { class: "note" }, "user · ") : "";
  const error = one.error ? el("span", { class: "badge failed" }, "error") : "";
  return [el("span", { class: "callname" }, by, el("code", {}, one.name), " ", error), shown];
}

function checksPanel(talk, jump) {
  if (!talk.checks.length) return el("p", { class: "note" }, "It was not graded, or it has no checks.");
  return el(
    "ul",
    { class: "checks" },
    talk.checks.map((check) =>
      el(
        "li",
        { class: check.met ? "passed" : "failed" },
        el("span", { class: "sign", "aria-hidden": "true" }, check.met ? "✓" : "✕"),
        el(
          "div",
          {},
          el("b", {}, check.kind),
          el("span", { class: "note" }, `${check.met ? "met" : "not met"}${check.gates ? "" : ", not in the reward"}`),
          el("p", {}, check.text),
          check.note ? el("p", { class: "note" }, check.note) : "",
          check.message_idx === null ? "" : messageLink(check.message_idx, jump),
        ),
      ),
    ),
  );
}

function differenceList(differences) {
  return el(
    "ul",
    { class: "changed wrong" },
    differences.map(([side, path, expected, got]) => {
      const there = expected !== null && got !== null;
      const [wanted, found] = there ? differing(expected, got) : [expected, got];
      return el(
        "li",
        {},
        el("code", { class: "path" }, side === "user" ? "user side: " : "", path),
        expected === null
          ? el("div", { class: "note" }, "not expected")
          : el("div", {}, el("span", { class: "note" }, "expected "), valueNode(expected, "added", wanted)),
        got === null
          ? el("div", { class: "note" }, "missing")
          : el("div", {}, el("span", { class: "note" }, "got "), valueNode(got, "removed", found)),
      );
    }),
  );
}

function taskPanel(talk) {
  if (!talk.task) return el("p", { class: "note" }, "The task is not known.");
  return el(
    "dl",
    { class: "texts" },
    talk.task.map(([title, text]) => [el("dt", {}, title), el("dd", {}, text)]),
  );
}

function factsPanel(talk) {
  const facts = [
    ...talk.facts,
    ...(talk.test ? [["Test", talk.test]] : []),
    ...(talk.verdict ? talk.verdict.notes : []),
  ];
  const usage = talk.usage.map((used) => {
    const cost = used.unpriced_calls
      ? `${money(used.known_cost)} and ${counted(used.unpriced_calls, "call")} with unknown price`
      : money(used.known_cost);
    const tokens = `${thousands(used.prompt_tokens)} + ${thousands(used.completion_tokens)} tokens`;
    return [`${used.role} ${used.model}`, `${counted(used.calls, "call")}, ${tokens}, ${cost}`];
  });
  return factList([...facts, ...usage]);
}

function factList(facts) {
  return el(
    "dl",
    { class: "facts" },
    facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

function panel(title, content, open, note) {
  return el(
    "details",
    { class: "card panel", open },
    el("summary", {}, el("h3", {}, title), note ? el("span", { class: "note" }, note) : ""),
    content,
  );
}

function checksNote(checks) {
  const unmet = checks.filter((check) => !check.met);
  const gating = unmet.filter((check) => check.gates).length;
  if (!checks.length) return "";
  return gating ? `${gating} not met` : unmet.length ? "all checks in the reward met" : "all met";
}

function panels(talk, jump, wide) {
  const missing = talk.rows.filter((row) => row.kind === "missing" || row.kind === "differs").length;
  return [
    panel("Checks", checksPanel(talk, jump), wide, checksNote(talk.checks)),
    panel("Reference actions and calls", actionsPanel(talk, jump), wide, missing ? `${missing} not made` : ""),
    talk.differences.length
      ? panel("Database at the end", differenceList(talk.differences), wide, counted(talk.differences.length, "difference"))
      : "",
    ...blockPanels(talk, jump, wide),
    panel("Task", taskPanel(talk), false),
    panel("Facts", factsPanel(talk), false),
  ];
}

function notes(talk) {
  const found = [talk.note, ...talk.replay.slice(0, 5).map((line) => `Replay: ${line}`)].filter(Boolean);
  return found.length
    ? el(
        "ul",
        { class: "notes" },
        found.map((line) => el("li", {}, line)),
      )
    : "";
}
