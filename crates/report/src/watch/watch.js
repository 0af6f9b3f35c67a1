// Keeps a page up to date, and sends what its buttons ask for.
"use strict";

// Milliseconds between two looks at the run.
const PERIOD = 2000;
let tag = document.body.dataset.tag;

function notice(text) {
  const place = document.getElementById("notice");
  if (place.textContent !== text) place.textContent = text;
}

// Replaces the parts of this page that changed. What the reader has opened or chosen in them stays so.
function replaceParts(next) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const fresh = next.getElementById(old.id);
    if (!fresh || fresh.isEqualNode(old)) continue;
    for (const one of old.querySelectorAll("details[open][id]")) {
      const same = next.getElementById(one.id);
      if (same) same.open = true;
    }
    for (const one of old.querySelectorAll("input:checked")) {
      const same = next.getElementById(one.id);
      if (same) same.checked = true;
    }
    old.replaceWith(fresh);
  }
  document.dispatchEvent(new Event("replaced"));
}

async function refresh() {
  let answer;
  try {
    answer = await fetch(location.href, { headers: { "if-none-match": `"${tag}"` } });
  } catch {
    return notice("The server does not answer any more. This page shows what it said last.");
  }
  if (document.getElementById("message")) return answer.ok && location.reload();
  if (answer.status === 304) return notice("");
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) {
    const why = next.getElementById("message")?.textContent ?? "The server cannot make this page.";
    return notice(`${why} This page shows what was there last.`);
  }
  replaceParts(next);
  tag = next.body.dataset.tag;
  notice("");
}

async function keepFresh() {
  if (!document.hidden) await refresh();
  setTimeout(keepFresh, PERIOD);
}

async function post(button) {
  const output = document.getElementById(button.dataset.output);
  const token = document.getElementById("token").content;
  button.disabled = true;
  output.textContent = "Running …";
  try {
    const answer = await fetch(button.dataset.post, { method: "POST", headers: { "x-veriplay-token": token } });
    const text = await answer.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const message = page.getElementById("message")?.textContent;
    if (answer.ok) output.replaceChildren(...page.body.childNodes);
    else output.textContent = message ?? text;
  } catch {
    output.textContent = "The server does not answer any more.";
  }
  button.disabled = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-post]");
  if (button) post(button);
});
// A choice shows its list at once, and an address names only what was chosen.
document.addEventListener("change", (event) => {
  if (event.target.matches(".filters select, .filters input[type=checkbox]")) event.target.form.requestSubmit();
});
document.addEventListener("formdata", (event) => {
  for (const [key, value] of [...event.formData]) if (!value) event.formData.delete(key);
});
// A message has no tag: it waits for the page that it stands for.
if (tag || document.getElementById("message")) setTimeout(keepFresh, PERIOD);
