"use strict";

// The state at a step is the initial state plus the changes of all steps up to it: [what, owner, value, entries?].
const traces = new Map();
let addressing;

for (const article of document.querySelectorAll("article.trace")) {
  const data = JSON.parse(article.querySelector("script.states").textContent);
  const links = [...article.querySelectorAll(".steps a")];
  traces.set(article.id, { article, data, links, panel: article.querySelector(".state"), chosen: 0 });
}

// Folded content stays in the page: search in the browser and links unfold the content, and paper shows it.
function setFolded(place, folded) {
  const button = place.querySelector(".fold");
  if (!button) return;
  button.setAttribute("aria-expanded", String(!folded));
  for (const part of place.querySelectorAll(":scope > .folded")) part.hidden = folded ? "until-found" : false;
}

for (const place of document.querySelectorAll("[data-folds]")) {
  const heading = place.querySelector("h2, h3");
  const button = document.createElement("button");
  button.className = "fold";
  button.append(...heading.childNodes);
  heading.append(button);
  const body = document.createElement("div");
  body.className = "folded";
  while (heading.nextSibling) body.append(heading.nextSibling);
  place.append(body);
  setFolded(place, true);
  body.addEventListener("beforematch", () => setFolded(place, false));
  button.addEventListener("click", () => setFolded(place, button.getAttribute("aria-expanded") === "true"));
}

function unfoldAround(node) {
  const place = node?.closest("[data-folds]");
  if (place) setFolded(place, false);
}

function stateAfter({ data }, step) {
  const state = new Map(data.start.map(([what, owner, value, entries]) => [what, { owner, value, entries, changed: false }]));
  for (const [index, changes] of data.steps.slice(0, step).entries()) {
    for (const [what, value, entries] of changes) {
      state.set(what, { owner: state.get(what)?.owner ?? "", value, entries, changed: index === step - 1 });
    }
  }
  return state;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Entries below the high watermark are replicated, and marked as such.
function logOf({ entries, changed }, highWatermark) {
  const log = element("ol", undefined, "log");
  entries.forEach((entry, offset) => {
    const item = element("li", undefined, offset < highWatermark ? "replicated" : "");
    if (changed && offset === entries.length - 1) item.classList.add("changed");
    item.append(element("span", String(offset), "offset"), entry);
    log.append(item);
  });
  return log;
}

// The state of a process itself is in the heading; the other parts are a list, by their names without the owner.
function partsOf(owner, all, state) {
  const heading = element("h5", owner || "pipeline");
  const list = element("dl");
  for (const [what, shown] of all) {
    const own = `${owner}'s `;
    if (what === owner || what === `${own}role`) {
      heading.append(" ", element("span", shown.value, shown.changed ? "changed" : ""));
      continue;
    }
    const hasEntries = shown.entries && shown.entries.length > 0;
    const value = element("dd", hasEntries ? undefined : shown.entries ? "empty" : shown.value, shown.changed && !hasEntries ? "changed" : "");
    if (hasEntries) value.append(logOf(shown, Number(state.get(`${own}high watermark`)?.value ?? 0)));
    list.append(element("dt", what.startsWith(own) ? what.slice(own.length) : what), value);
  }
  return [heading, list];
}

function show(trace, step) {
  const state = stateAfter(trace, step);
  const owners = new Map();
  for (const [what, shown] of state) {
    if (!owners.has(shown.owner)) owners.set(shown.owner, []);
    owners.get(shown.owner).push([what, shown]);
  }
  const parts = [element("h4", step ? `After step ${step}` : "At the start")];
  for (const [owner, all] of owners) parts.push(...partsOf(owner, all, state));
  trace.panel.replaceChildren(...parts);
}

// The Tab key stops only at the chosen step of a trace; arrow keys reach the other steps.
function choose(trace, step) {
  for (const link of trace.chosen ? [trace.links[trace.chosen - 1]] : trace.links) {
    link.removeAttribute("aria-current");
    link.tabIndex = -1;
  }
  for (const mark of trace.article.querySelectorAll(".chosen")) mark.classList.remove("chosen");
  trace.chosen = step;
  if (step) {
    trace.links[step - 1].setAttribute("aria-current", "step");
    trace.links[step - 1].tabIndex = 0;
  }
  for (const mark of trace.article.querySelectorAll(`[data-step="${step}"]`)) mark.classList.add("chosen");
  show(trace, step);
}

function go(trace, step) {
  const link = trace.links[step - 1];
  if (!link) return;
  choose(trace, step);
  unfoldAround(trace.article);
  // Browsers drop addresses that change too quickly, as with a held key.
  clearTimeout(addressing);
  addressing = setTimeout(() => history.replaceState(null, "", link.hash), 60);
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function fromAddress() {
  unfoldAround(location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null);
  const named = /^#(t\d+)-s(\d+)$/.exec(location.hash);
  const trace = named && traces.get(named[1]);
  if (!trace) return;
  trace.article.scrollIntoView();
  go(trace, Number(named[2]));
}

for (const link of document.querySelectorAll('nav a[href^="#"]')) {
  link.addEventListener("click", () => unfoldAround(document.getElementById(link.hash.slice(1))));
}

// A link to a whole trace leads to its chosen step, where the arrow keys work. The address can already be this one.
function toTrace(trace) {
  go(trace, trace.chosen);
  trace.article.scrollIntoView();
}

for (const link of document.querySelectorAll('a[href^="#t"]')) {
  const trace = traces.get(link.hash.slice(1).replace(/-title$/, ""));
  if (!trace) continue;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    toTrace(trace);
  });
}

const MOVES = {
  ArrowDown: (chosen) => chosen + 1,
  ArrowRight: (chosen) => chosen + 1,
  ArrowUp: (chosen) => chosen - 1,
  ArrowLeft: (chosen) => chosen - 1,
  Home: () => 1,
  End: (chosen, last) => last,
};

for (const trace of traces.values()) {
  trace.links.forEach((link, index) => link.addEventListener("click", (event) => {
    event.preventDefault();
    go(trace, index + 1);
  }));
  trace.article.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const last = trace.links.length;
    go(trace, Math.min(last, Math.max(1, move(trace.chosen, last))));
  });
  choose(trace, trace.links.length);
}
window.addEventListener("hashchange", fromAddress);
// During loading the browser itself scrolls the step to the upper edge of the window.
window.addEventListener("load", fromAddress);
fromAddress();
