// Elements, and figures as people read them. Texts reach the page only as text nodes.

const SVG = "http://www.w3.org/2000/svg";

function build(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const el = (tag, props, ...children) => build(document.createElement(tag), props, children);
const svg = (tag, props, ...children) => build(document.createElementNS(SVG, tag), props, children);
const byId = (id) => document.getElementById(id);

function button(label, onclick, props) {
  return el("button", { type: "button", onclick, ...props }, label);
}

// Both made once: localeCompare and toLocaleString make one of their own at each call.
const collate = new Intl.Collator("en", { numeric: true }).compare;
const thousands = new Intl.NumberFormat("en-US").format;
const counted = (number, noun, nouns) => `${thousands(number)} ${number === 1 ? noun : nouns || noun + "s"}`;
const rate = (value) =>
  value
    .toFixed(3)
    .replace(/^1\.000$/, "1")
    .replace(/^0\.000$/, "0");

// Any number but a rate: three decimals, and two digits of one below 0.01.
const figure = (value) => String(Math.abs(value) < 0.01 ? +value.toPrecision(2) : +value.toFixed(3));

function money(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "$0";
  return "$" + value.toFixed(value >= 100 ? 0 : value >= 1 ? 2 : value >= 0.001 ? 3 : 5);
}

// Of a round sum, as few digits as it has.
const roundMoney = (value) => "$" + String(+value.toPrecision(6));

function seconds(value) {
  if (!value) return "–";
  if (value < 0.05) return `${+value.toPrecision(2)} s`;
  if (value < 10) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)} m ${whole % 60} s`;
}

const clip = (text, width) => (text.length <= width ? text : text.slice(0, width - 1) + "…");

const MARKS = { passed: "✓", failed: "✕", error: "!", none: "–" };

function outcomeChip(outcome) {
  const words = outcome === "none" ? "not run" : outcome;
  return el("span", { class: `chip ${outcome}` }, el("span", { "aria-hidden": "true" }, MARKS[outcome] + " "), words);
}

const REASONS = {
  user_stop: "user stopped",
  agent_stop: "agent stopped",
  max_steps: "too many steps",
  too_many_errors: "too many errors",
  capability_limit: "limit of a capability",
  timeout: "out of time",
  agent_error: "agent's fault",
  user_error: "user's fault",
  infrastructure_error: "infrastructure",
  context_window_exceeded: "context too long",
  unexpected_error: "unexpected error",
};

function ending(text) {
  const [reason, token] = text.split(" ");
  const said = token && token !== "###STOP###" ? ` (${token.replaceAll("#", "").toLowerCase()})` : "";
  return (REASONS[reason] || reason) + said;
}

// JSON laid out on lines, without reading its figures: what was 1.0 or longer than a browser's integers stays so.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const LONGEST_TINTED = 30000;

function jsonBlock(text) {
  const pre = el("pre", { class: "json" });
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed) || trimmed.length > LONGEST_TINTED || !isJson(trimmed)) {
    pre.append(text);
    return pre;
  }
  const tokens = trimmed.match(TOKEN);
  let depth = 0;
  const line = () => "\n" + "  ".repeat(depth);
  tokens.forEach((token, place) => {
    const next = tokens[place + 1];
    if (token === "{" || token === "[") {
      const empty = next === "}" || next === "]";
      depth += 1;
      pre.append(token + (empty ? "" : line()));
    } else if (token === "}" || token === "]") {
      depth -= 1;
      const before = tokens[place - 1];
      pre.append((before === "{" || before === "[" ? "" : line()) + token);
    } else if (token === ",") pre.append("," + line());
    else if (token === ":") pre.append(": ");
    else {
      const kind = next === ":" ? "key" : token.startsWith('"') ? "text" : "figure";
      pre.append(el("span", { class: kind }, token));
    }
  });
  return pre;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
