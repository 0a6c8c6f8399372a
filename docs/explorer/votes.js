"use strict";
// Votes: how many raters chose each category. Cells are combinations of votes and system answer;
// what is given by cell has the answers of the first votes first.

const voteTables = new Map();

/** The votes that raters can give, and the cell (votes, answer) that each pattern belongs to. */
function voteTable(raters, categories) {
  const key = `${raters} ${categories}`;
  if (!voteTables.has(key)) voteTables.set(key, tabulateVotes(raters, categories));
  return voteTables.get(key);
}

function tabulateVotes(raters, categories) {
  const place = new Map();
  const votes = [];
  const codes = [];
  const cellOfPattern = new Uint16Array(categories ** (raters + 1));
  for (let pattern = 0; pattern < cellOfPattern.length; pattern++) {
    const answers = digits(pattern, categories, raters + 1);
    const ratings = answers.slice(0, raters);
    const count = Array(categories).fill(0);
    for (const rating of ratings) count[rating]++;
    const key = count.join(" ");
    if (!place.has(key)) {
      place.set(key, votes.length);
      votes.push(count);
      codes.push(ratings);
    }
    cellOfPattern[pattern] = place.get(key) * categories + answers[raters];
  }
  const agreeing = votes.map((count) => sum(count.map((n) => (n * (n - 1)) / 2)));
  // Patterns of a cell side by side: items drawn by pattern are then drawn by cell, too.
  const order = Uint16Array.from(cellOfPattern.keys());
  order.sort((a, b) => cellOfPattern[a] - cellOfPattern[b]);
  return { raters, categories, votes, codes, agreeing, cellOfPattern, order };
}

function digits(number, base, length) {
  const found = Array(length);
  for (let i = length - 1; i >= 0; i--, number = Math.floor(number / base))
    found[i] = number % base;
  return found;
}

/** Adds up what is given by pattern. */
function sumToCells(table, byPattern) {
  const cells = new Float64Array(table.votes.length * table.categories);
  for (let i = 0; i < byPattern.length; i++) cells[table.cellOfPattern[i]] += byPattern[i];
  return cells;
}

/** Adds up over the answers. */
function itemsByVotes({ votes, categories: k }, cells) {
  const items = new Float64Array(votes.length);
  for (let i = 0; i < cells.length; i++) items[Math.floor(i / k)] += cells[i];
  return items;
}
