// Shows a choice on the playground at once, and finds vehicles while somebody types. The page works
// without this script.
"use strict";

const SEARCH_PAUSE_MS = 180;
const form = document.getElementById("choose");
const stage = document.getElementById("stage");

// What a picture of an exact size has until somebody says which.
const USUAL_BOX = { w: 800, h: 450 };
let turn = 0;

// Each choice is a page of its own: its URL can be kept and shared, and the server writes its
// snippets.
async function show(address) {
  const mine = ++turn;
  if (stage) stage.classList.add("busy");
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    // Somebody has chosen again while this was on its way.
    if (mine !== turn) return;
    const fresh = page.querySelector(".result");
    if (!answer.ok || !fresh || !stage) {
      location.assign(address);
      return;
    }
    // The server brings what the form says into its shortest spelling.
    history.replaceState(null, "", answer.url);
    const picture = fresh.querySelector("#picture");
    const image = document.getElementById("picture");
    const done = () => stage.classList.remove("busy");
    image.onload = done;
    image.onerror = () => {
      done();
      document.getElementById("told").textContent = "This image is not available now. Try again in a minute.";
    };
    stage.className = fresh.querySelector("#stage").className + " busy";
    image.alt = picture.alt;
    for (const side of ["width", "height"]) {
      if (picture.hasAttribute(side)) image.setAttribute(side, picture.getAttribute(side));
      else image.removeAttribute(side);
    }
    image.src = picture.getAttribute("src");
    document.querySelector(".result figcaption").replaceChildren(...fresh.querySelector("figcaption").childNodes);
    for (const code of fresh.querySelectorAll(".snippets code")) {
      document.getElementById(code.id).textContent = code.textContent;
    }
    const offered = page.getElementById("body");
    const chosenBody = offered.value;
    body.replaceChildren(...offered.children);
    // To move options out of one list chooses another one there.
    body.value = chosenBody;
    for (const picker of page.querySelectorAll("input[type=color]")) document.getElementById(picker.id).value = picker.value;
  } catch {
    location.assign(address);
  }
}

function chosen() {
  return `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
}

// Some choices make others needless, or needed.
const { make, model, body, color, hex, finish, background, ground, size, w, h, fit, trim, padding } = form.elements;
const boxes = [w, h];

function agree(changed) {
  const isExact = () => fit.value !== "inside";
  // Another model has bodies of its own.
  if (changed === make || changed === model) body.value = "";
  if (changed === size && size.value) {
    for (const side of boxes) side.value = "";
    fit.value = "inside";
  } else if (changed?.name === "fit" && isExact() && boxes.every((side) => !side.value)) {
    for (const side of boxes) side.value = USUAL_BOX[side.name];
  }
  if (boxes.some((side) => side.value)) size.value = "";
  else if (!size.value) size.value = "large";
  for (const side of boxes) side.required = isExact();
  hex.required = color.value === "other";
  finish.disabled = color.value !== "other";
  ground.required = background.value === "other";
  padding.disabled = !trim.checked;
}
agree();

// The picker and the text beside it are one choice.
form.addEventListener("input", (event) => {
  const { target } = event;
  if (target.dataset.for) document.getElementById(target.dataset.for).value = target.value;
  else if (target === hex || target === ground) {
    const digits = /^\s*#?([0-9a-f]{6})\s*$/i.exec(target.value);
    if (digits) document.getElementById(`${target.id}-picker`).value = `#${digits[1]}`;
  }
});
form.addEventListener("change", (event) => {
  if (event.target.id === "q") return;
  agree(event.target);
  if (form.checkValidity()) show(chosen());
});
// What is folded away cannot say what is wrong with it.
form.addEventListener("invalid", (event) => event.target.closest("details")?.setAttribute("open", ""), true);
form.addEventListener("submit", (event) => {
  if (!stage) return;
  event.preventDefault();
  show(chosen());
});

// Live search.
const query = document.getElementById("q");
const found = document.getElementById("found");
let timer = 0;
let latest = 0;
let options = [];
let at = -1;

function close() {
  found.hidden = true;
  query.setAttribute("aria-expanded", "false");
  query.removeAttribute("aria-activedescendant");
  at = -1;
}

function mark(place) {
  at = place;
  options.forEach((option, index) => option.setAttribute("aria-selected", String(index === place)));
  if (place >= 0) {
    query.setAttribute("aria-activedescendant", options[place].id);
    options[place].scrollIntoView({ block: "nearest" });
  }
}

function take(hit) {
  const asked = Number((query.value.match(/\b(19|20)\d\d\b/) || [])[0]);
  const year = hit.years.includes(asked) ? asked : Math.max(...hit.years);
  make.value = hit.make_slug;
  model.value = hit.model_slug;
  body.value = "";
  document.getElementById("year").value = year;
  query.value = `${hit.make_name} ${hit.model_name} ${year}`;
  close();
  show(chosen());
}

async function look() {
  const mine = ++latest;
  const words = query.value.trim();
  if (words.length < 2) return close();
  const answer = await fetch(`/api/v1/vehicles?limit=8&q=${encodeURIComponent(words)}`);
  if (!answer.ok || mine !== latest) return;
  const { data } = await answer.json();
  const hits = data.results.filter((hit) => hit.kind === "model" && hit.years.length > 0);
  options = hits.map((hit, index) => {
    const option = document.createElement("li");
    option.id = `hit-${index}`;
    option.setAttribute("role", "option");
    option.textContent = `${hit.make_name} ${hit.model_name}, ${Math.min(...hit.years)} to ${Math.max(...hit.years)}`;
    option.addEventListener("pointerdown", (event) => { event.preventDefault(); take(hit); });
    option.take = () => take(hit);
    return option;
  });
  found.replaceChildren(...options);
  found.hidden = options.length === 0;
  query.setAttribute("aria-expanded", String(!found.hidden));
  mark(-1);
}

query.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, SEARCH_PAUSE_MS);
});
query.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && options.length) mark((at + 1) % options.length);
  else if (event.key === "ArrowUp" && options.length) mark((at + options.length - 1) % options.length);
  else if (event.key === "Enter" && !found.hidden) options[Math.max(at, 0)].take();
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
query.addEventListener("blur", close);
