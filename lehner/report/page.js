// A click on a column's head, or Enter on it, sorts its table; what has no value stays last.
const byWords = new Intl.Collator("en", { numeric: true }).compare;

// A number, an interval or a bound as in "< .001" begins with what it is sorted by.
function readNumber(text) {
  const found = /^[<>≈ ]*([-+]?(?:∞|\d*\.?\d+(?:e[-+]?\d+)?))(?![\w-])/i.exec(text.replace(/−/g, "-").replace(/(\d),(?=\d{3})/g, "$1"));
  return found && Number(found[1].replace("∞", "Infinity"));
}

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? a - b : byWords(a, b);
}

function sort(head) {
  const place = head.cellIndex, body = head.closest("table").tBodies[0];
  const direction = head.ariaSort === "ascending" ? -1 : 1;
  const rows = [...body.rows].map((row) => {
    const text = row.cells[place].textContent, number = readNumber(text);
    return { row, value: number ?? text, none: ["", "–"].includes(text) };
  });
  rows.sort((a, b) => a.none || b.none ? a.none - b.none : direction * compare(a.value, b.value));
  body.append(...rows.map((one) => one.row));
  for (const one of head.parentElement.cells) one.removeAttribute("aria-sort");
  head.ariaSort = direction === 1 ? "ascending" : "descending";
}

for (const head of document.querySelectorAll("thead th")) {
  if (head.closest("table").tBodies[0].rows.length < 2) continue;
  // A column without a title has nothing that a screen reader could say of its button.
  if (!head.textContent.trim()) continue;
  const button = document.createElement("button");
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}
