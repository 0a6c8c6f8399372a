"""The bias explorer's JavaScript, run by Node.js or by headless Chromium."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "explorer"
NODE = shutil.which("node")
CHROMIUM = next(
    (path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-quic --virtual-time-budget=100000"
).split()

# What does not exist, NaN in JavaScript, is null in JSON.
VOTE_LIMITS = """settings.map((s) => {
  const { table, cells } = enumerate(s);
  return { ...limitsFromVotes(table, cells), truth: trueAccuracy(s) };
})"""
MODEL_LIMITS = """settings.map((s) => {
  const limit = (model) => finish(modelLimit(enumerate(s), model));
  return Object.fromEntries(Object.keys(MODELS).map((model) => [model, limit(model)]));
})"""
SPREADS = """settings.map((s) =>
  finish(voteSpreads(enumerate(s), sortedUniforms(s.samples, s.items, 1))))"""
THROUGH_ADDRESS = "settings.map((s) => fromHash(toHash({ ...DEFAULTS, ...s })))"
FITTED_SAMPLES = """settings.map((s) => {
  const enumerated = enumerate(s);
  const { table, patterns } = enumerated;
  return sortedUniforms(s.samples, s.items, 1).map((sorted) => {
    const counts = new Array(patterns.length).fill(0);
    countItems(patterns, sorted).forEach((n, i) => (counts[table.order[i]] = n));
    const fit = (model) => finish(fitSample(MODELS[model](enumerated, sorted)));
    const fits = Object.keys(MODELS).map((model) => [model, fit(model)]);
    return { counts, ...estimateFromVotes(table, sumToCells(table, counts)),
      ...Object.fromEntries(fits) };
  });
})"""
FINISH = """
function finish(steps) {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}
"""


def scripts() -> list[Path]:
    """List the scripts that the page loads, in order, without the last, which fills the page."""
    names = re.findall(r'<script defer src="([^"]+)">', (FOLDER / "index.html").read_text())
    return [FOLDER / name for name in names[:-1]]


def run_in_node(expression: str, settings: list[dict[str, Any]]) -> Any:
    """Evaluate an expression of `settings` after the page's scripts."""
    parts = [path.read_text() for path in scripts()]
    declaration = f"{FINISH}const settings = {json.dumps(settings)};"
    program = "\n".join([*parts, declaration, f"console.log(JSON.stringify({expression}));"])
    command = [str(NODE), "-"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def dump_page(address: str, folder: Path) -> str:
    """Give a page's document as headless Chromium has it when all is done."""
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder}", "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout
