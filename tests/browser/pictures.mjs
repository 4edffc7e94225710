// Pictures of every view in both themes and both languages, and what axe-core says about each of them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { settled } from "./stand.mjs";
import { test, visit } from "./tools.mjs";

const VIEWS = [
  ["overview", "resnet_w0"],
  ["why", "gpt_eager"],
  ["operators", "gpt_eager"],
  ["kernels", "gpt_eager"],
  ["roofline", "gpt_eager"],
  ["modules", "resnet_w0"],
  ["memory", "resnet_w0"],
  ["steps", "ddp"],
  ["distributed", "ddp"],
  ["timeline", "resnet_w0"],
  ["pipeline", "resnet_w0"],
  ["runs", ""],
];
// Each theme and each language once; the other two (TACHO_LOOKS=all) only matter to a person. What axe judges:
// everything, then what another theme and other words can change. Rows of a table are the same: the first five stand
// for all.
const LOOKS = [
  ["light", "en", {}],
  ["dark", "zh", { runOnly: ["color-contrast", "valid-lang", "html-has-lang", "label", "button-name", "link-name", "image-alt"] }],
  ...(process.env.TACHO_LOOKS === "all" ? [["dark", "en"], ["light", "zh"]] : []),
];

async function look(s, page, name, judge) {
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(s.root, `build/screenshots/${name}.png`) });
  if (!judge) return;
  const found = await page.evaluate((o) => globalThis.axe.run({ exclude: [["tbody tr:nth-child(n+6)"]] }, { resultTypes: ["violations"], ...o }), judge);
  const bad = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  const words = bad.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  assert.deepEqual(words, [], name);
}

/** Language and theme are in the address: the same page in another look, without loading it again. */
const turn = (page, theme, lang) =>
  page.evaluate(
    ([t, l]) => {
      const rest = location.hash.replace(/([?&])(?:theme|lang)=\w+&?/g, "$1").replace(/[?&]+$/, "");
      location.hash = `${rest || "#/"}${rest.includes("?") ? "&" : "?"}theme=${t}&lang=${l}`;
    },
    [theme, lang],
  );

/** A view in all looks: a picture of each, and no serious fault of accessibility. */
export async function pictures(s, page, name) {
  await page.evaluate(s.axe);
  for (const [theme, lang, judge] of LOOKS) {
    await turn(page, theme, lang);
    await page.waitForFunction(
      ([t, l]) => document.documentElement.dataset.theme === t && document.documentElement.lang.startsWith(l),
      [theme, lang],
    );
    await settled(page);
    await look(s, page, `${name}-${theme}-${lang}`, judge);
  }
}

for (const [view, run] of VIEWS)
  test(`picture and accessibility: ${view}`, async (s) => {
    const shown = run && !s.real.includes(run) ? "sample" : run;
    await visit(s, `${view}${shown ? `?run=${shown}` : ""}`, (page) => pictures(s, page, view));
  });

for (const [width, height] of [[1024, 768], [1920, 1080], [880, 700]])
  test(`a window ${width} wide: nothing cut off`, (s) =>
    visit(
      s,
      "overview?run=sample",
      async (page) => {
        await page.screenshot({ path: join(s.root, `build/screenshots/overview-${width}.png`) });
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
      },
      { width, height },
    ));
