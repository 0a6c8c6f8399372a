// Check each page of a built site against WCAG 2.1 AA, in light and dark, wide and narrow:
// npm install axe-core playwright-core; node accessibility.mjs docs/_build/html /usr/bin/chromium
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Packages are those of the folder in which it is run.
const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
const [folder, executablePath] = process.argv.slice(2);
const all = readdirSync(folder, { recursive: true });
// What stands in _static is parts of pages.
const pages = all.filter((name) => name.endsWith(".html") && !name.startsWith("_static"));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
// The report allows no script but its own.
const tab = await browser.newPage({ bypassCSP: true });
let violations = 0;
for (const name of pages) {
  for (const colorScheme of ["light", "dark"]) {
    await tab.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.goto(pathToFileURL(resolve(folder, name)).href);
      await tab.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
      const options = { runOnly: TAGS, resultTypes: ["violations"] };
      const found = await tab.evaluate((given) => globalThis.axe.run(given), options);
      for (const { id, nodes } of found.violations) {
        violations += 1;
        console.log(`${name}, ${colorScheme}, ${width}: ${id}: ${nodes.map((n) => n.target)}`);
      }
    }
  }
}
await browser.close();
console.log(`${pages.length} pages, ${violations} violations`);
process.exit(violations ? 1 : 0);
