// The filters of the report: over the records that are in the page.
"use strict";
const records = [...document.querySelectorAll(".record")];
const keys = ["role", "status", "run"];
for (const key of keys) {
  const select = document.getElementById(key);
  for (const value of [...new Set(records.map((record) => record.dataset[key]))].sort()) {
    select.add(new Option(value, value));
  }
}
const query = new URLSearchParams(location.hash.slice(1));
for (const id of [...keys, "text"]) {
  const field = document.getElementById(id);
  field.value = query.get(id) ?? "";
  field.addEventListener("input", show);
}
function show() {
  const wanted = Object.fromEntries([...keys, "text"].map((id) => [id, document.getElementById(id).value]));
  let shown = 0;
  for (const record of records) {
    const fits = keys.every((key) => !wanted[key] || record.dataset[key] === wanted[key])
      && record.textContent.includes(wanted.text);
    record.hidden = !fits;
    shown += fits;
  }
  document.getElementById("count").textContent = `${shown} of ${records.length}`;
  const set = Object.entries(wanted).filter(([, value]) => value);
  history.replaceState(null, "", "#" + new URLSearchParams(set));
}
show();
