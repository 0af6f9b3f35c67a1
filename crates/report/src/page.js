// The filters of the report: over the records that are in the page.
const list = document.getElementById("records");
const records = [...list.querySelectorAll(".record")];
const keys = ["role", "type", "status", "rule", "run"];
const fields = [...keys, "only", "text"];
for (const key of keys) {
  const select = document.getElementById(key);
  for (const value of [...new Set(records.map((record) => record.dataset[key]))].filter(Boolean).sort()) {
    select.add(new Option(value, value));
  }
}
const query = new URLSearchParams(location.hash.slice(1));
for (const id of fields) {
  const field = document.getElementById(id);
  field.value = query.get(id) ?? "";
  field.addEventListener("input", show);
}
function show() {
  const wanted = Object.fromEntries(fields.map((id) => [id, document.getElementById(id).value]));
  let shown = 0;
  for (const record of records) {
    const fits = keys.every((key) => !wanted[key] || record.dataset[key] === wanted[key])
      && (!wanted.only || record.dataset.only.split(" ").includes(wanted.only))
      && record.textContent.includes(wanted.text);
    record.hidden = !fits;
    shown += fits;
  }
  order(wanted.only === "near-misses");
  document.getElementById("count").textContent = `${shown} of ${records.length}`;
  const set = Object.entries(wanted).filter(([, value]) => value);
  history.replaceState(null, "", "#" + new URLSearchParams(set));
}
// The nearest misses first, or the order of the log.
function order(nearestFirst) {
  if (nearestFirst === (list.dataset.order === "nearest")) return;
  list.dataset.order = nearestFirst ? "nearest" : "log";
  const passed = (record) => Number(record.dataset.passed);
  list.append(...(nearestFirst ? records.toSorted((one, other) => passed(other) - passed(one)) : records));
}
show();
