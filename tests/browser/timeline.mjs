// The timeline: drawing, moving, finding, selecting, areas, tracks, notes, saving.
import assert from "node:assert/strict";
import { settled } from "./stand.mjs";
import { addressHas, plain, test, visit } from "./tools.mjs";

test("timeline: a hit of the search is selected and explained", (s) =>
  visit(
    s,
    "timeline?run=resnet_w0",
    async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("wgrad");
      await addressHas(page, "find=wgrad");
      await settled(page);
      assert.match(plain(await page.textContent(".tl-hits")), /of 132 hits in view/);
      await page.keyboard.press("Enter");
      await addressHas(page, "sel=slice:");
      await settled(page);
      assert.match(await page.textContent(".tl-what"), /wgrad/);
    },
  ), ["resnet_w0"]);
