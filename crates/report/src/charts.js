// Charts: values under the pointer, another smoothing, and the data as a file.
"use strict";

// The numbers of a chart, read once.
const chartNumbers = new WeakMap();

function numbersOf(figure) {
  if (!chartNumbers.has(figure)) {
    const names = ["run", "steps", "values", "bandSteps", "low", "high"];
    const named = (curve) => Object.fromEntries(names.map((name, at) => [name, curve[at]]));
    const curves = JSON.parse(figure.dataset.curves).map(named);
    chartNumbers.set(figure, { frame: JSON.parse(figure.dataset.frame), curves });
  }
  return chartNumbers.get(figure);
}

const allCharts = () => [...document.querySelectorAll("figure[data-curves]")];
const runNames = () => [...document.querySelectorAll("#names .run")].map((name) => name.textContent);

// The mean of each value and those around it: `values.length / share` to either side, none for 0.
function runningMean(values, share) {
  const reach = share ? Math.floor(values.length / share) : 0;
  const sums = [0];
  for (const value of values) sums.push(sums.at(-1) + value);
  return values.map((_, at) => {
    const from = Math.max(at - reach, 0);
    const to = Math.min(at + reach + 1, values.length);
    return (sums[to] - sums[from]) / (to - from);
  });
}

// Draws the thick lines anew. Of a long curve they are means of the lowest and the highest points that the page has.
function smooth() {
  const share = Number(document.getElementById("smoothing")?.value ?? 15);
  for (const figure of allCharts()) {
    const { frame, curves } = numbersOf(figure);
    const [left, right, low, high, x0, x1, y0, y1] = frame;
    const x = (step) => (x0 + ((step - left) / (right - left)) * (x1 - x0)).toFixed(1);
    const y = (value) => (y0 + ((value - low) / (high - low)) * (y1 - y0)).toFixed(1);
    const lines = figure.querySelectorAll("polyline[stroke-width='2']");
    curves.forEach(({ steps, values }, at) => {
      const means = runningMean(values, share);
      lines[at]?.setAttribute("points", steps.map((step, index) => `${x(step)},${y(means[index])}`).join(" "));
    });
  }
}

// The place in sorted `steps` that is nearest to `step`.
function nearest(steps, step) {
  let [from, to] = [0, steps.length - 1];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (steps[middle] <= step) from = middle;
    else to = middle;
  }
  return Math.abs(steps[to] - step) < Math.abs(steps[from] - step) ? to : from;
}

// The interval of a curve at a step.
function bandAt(curve, step) {
  const at = curve.bandSteps.indexOf(step);
  return at < 0 ? [] : [curve.low[at], curve.high[at]];
}

function valueText(curve, step, names) {
  const at = nearest(curve.steps, step);
  const [low, high] = bandAt(curve, curve.steps[at]);
  const band = low === undefined ? "" : ` (${low} to ${high})`;
  const run = names.length > 1 ? `${names[curve.run]}: ` : "";
  return `${run}${curve.values[at]}${band} at step ${curve.steps[at]}`;
}

function showLine(figure, x, y0, y1) {
  const svg = figure.querySelector("svg");
  let line = svg.querySelector(".pointer");
  if (!line) {
    line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "pointer");
    svg.append(line);
  }
  for (const [key, value] of Object.entries({ x1: x, x2: x, y1: y0, y2: y1 })) line.setAttribute(key, value);
}

// Shows the values at a step in every chart: they have the same axis of steps.
function showStep(step) {
  const names = runNames();
  for (const figure of allCharts()) {
    const { frame, curves } = numbersOf(figure);
    const [left, right, , , x0, x1, y0, y1] = frame;
    showLine(figure, x0 + ((step - left) / (right - left)) * (x1 - x0), y0, y1);
    figure.querySelector("output").textContent = curves.map((curve) => valueText(curve, step, names)).join("; ");
  }
}

// A step to show, until the page is drawn next: a pointer moves more often.
let nextStep = null;

function showStepSoon(step) {
  if (nextStep === null) {
    requestAnimationFrame(() => {
      const shown = nextStep;
      nextStep = null;
      showStep(shown);
    });
  }
  nextStep = step;
}

function follow(event) {
  const figure = event.target.closest?.("figure[data-curves]");
  if (!figure) return;
  const [left, right, , , x0, x1] = numbersOf(figure).frame;
  const svg = figure.querySelector("svg");
  const place = svg.getBoundingClientRect();
  const x = ((event.clientX - place.left) / place.width) * svg.viewBox.baseVal.width;
  showStepSoon(left + ((Math.min(Math.max(x, x0), x1) - x0) / (x1 - x0)) * (right - left));
}

// All curves as CSV: a row for each value.
function csv() {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const names = runNames();
  const rows = ["run,metric,step,value,low,high"];
  for (const figure of allCharts()) {
    const metric = quoted(figure.querySelector("figcaption").textContent);
    for (const curve of numbersOf(figure).curves) {
      curve.steps.forEach((step, at) => {
        const [low, high] = bandAt(curve, step);
        rows.push([quoted(names[curve.run]), metric, step, curve.values[at], low ?? "", high ?? ""].join(","));
      });
    }
  }
  return rows.join("\r\n") + "\r\n";
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = "curves.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}

document.addEventListener("pointermove", follow);
document.addEventListener("click", (event) => {
  if (event.target.closest("#csv")) download();
});
document.addEventListener("change", (event) => {
  if (event.target.id === "smoothing") smooth();
});
// A live page has replaced its charts.
document.addEventListener("replaced", smooth);
