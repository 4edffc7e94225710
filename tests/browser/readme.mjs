// The README's picture: the overview of a trace in the repository, light and dark. Its words are kept next to it, so
// that this test fails when the page says something else. `make pictures` takes both again; look at them before you
// commit.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settled } from "./stand.mjs";
import { test } from "./tools.mjs";

const SIZE = { width: 1280, height: 940 };
const isUpdate = process.env.TACHO_PICTURES === "update";

const PIECES = 140; // of text in the order of the page, about as many as the picture has

const words = (page) =>
  page.evaluate((n) => {
    const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const lines = [];
    for (let node = walk.nextNode(); node && lines.length < n; node = walk.nextNode()) {
      const text = node.data.replace(/\s+/g, " ").trim();
      if (text) lines.push(text);
    }
    return `${lines.join("\n")}\n`;
  }, PIECES);

test("the README's picture is of the page as it is", async (s) => {
  const images = join(s.root, "docs/images");
  const own = await s.another((folder) => {
    mkdirSync(join(folder, "resnet"));
    cpSync(join(s.root, "tests/data/sample.pt.trace.json.gz"), join(folder, "resnet/sample.pt.trace.json.gz"));
  });
  try {
    for (const theme of ["light", "dark"]) {
      const context = await s.browser.newContext({ viewport: SIZE, colorScheme: theme, locale: "en-US" });
      const page = await context.newPage();
      await page.goto(`${own.url}/#/overview?run=resnet&theme=${theme}`);
      await settled(page);
      const said = await words(page);
      if (isUpdate) {
        await page.screenshot({ path: join(images, `overview-${theme}.png`) });
        writeFileSync(join(images, "overview.txt"), said);
      }
      assert.equal(said, readFileSync(join(images, "overview.txt"), "utf8"), "the page changed: make pictures");
      await context.close();
    }
  } finally {
    await own.end();
  }
});
