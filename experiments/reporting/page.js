// A click on a column's head, or Enter on it, sorts its table; what has no value stays last.
const byWords = new Intl.Collator("en", { numeric: true }).compare;

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return typeof a === "number" ? a - b : byWords(a, b);
}

function sort(head) {
  const place = head.cellIndex, body = head.closest("table").tBodies[0];
  const direction = head.ariaSort === "ascending" ? -1 : 1;
  const rows = [...body.rows].map((row) => {
    const cell = row.cells[place], text = cell.textContent;
    const number = cell.dataset.number?.replace("inf", "Infinity");
    return { row, value: number ? Number(number) : text, none: ["", "–"].includes(text) };
  });
  rows.sort((a, b) => a.none || b.none ? a.none - b.none : direction * compare(a.value, b.value));
  body.append(...rows.map((one) => one.row));
  for (const one of head.parentElement.cells) one.removeAttribute("aria-sort");
  head.ariaSort = direction === 1 ? "ascending" : "descending";
}

for (const head of document.querySelectorAll("thead th")) {
  if (head.closest("table").tBodies[0].rows.length < 2) continue;
  const button = document.createElement("button");
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
}
