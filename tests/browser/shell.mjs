// The frame around the views: runs, palette, trust, keys, window, what was not recorded.
import assert from "node:assert/strict";
import { settled } from "./stand.mjs";
import { heading, plain, test, visit } from "./tools.mjs";

test("the start page lists the runs, a click opens one", (s) =>
  visit(s, "", async (page) => {
    assert.match(await heading(page), new RegExp(`^${s.real.length + 1} runs`));
    await page.click("td >> text=sample");
    await page.waitForFunction(() => location.hash.startsWith("#/overview?run=sample"));
    await settled(page);
    assert.notEqual(await heading(page), "");
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes("run=sample"));
  }));

test("palette, trust drawer and key sheet open by key and give the focus back", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.keyboard.press("Control+k");
    await page.fill(".palette input", "kern");
    await page.waitForSelector(".palette-entry >> text=Kernels");
    await page.click(".palette-entry >> text=Kernels");
    await page.waitForFunction(() => location.hash.startsWith("#/kernels"));
    await page.keyboard.press("Shift+T");
    assert.match(await page.textContent(".drawer"), /Events read/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.waitForSelector(".sheet");
    await page.keyboard.press("Escape");
    assert.equal(await page.$("[role=dialog]"), null);
  }));

test("a view without data says why and how to record it", (s) =>
  visit(s, "memory?run=ddp", async (page) => {
    assert.match(await heading(page), /not recorded/);
    assert.match(await page.textContent("pre em"), /profile_memory=True/);
    assert.ok(await page.$(".rail-link.without"));
  }), ["ddp"]);

test("the window narrows every view, Alt and arrows move it", (s) =>
  visit(s, "overview?run=resnet_w0&step=3", async (page) => {
    assert.match(plain(await page.textContent(".tape-length")), /^1 step/);
    await page.keyboard.press("Alt+ArrowRight");
    await page.waitForFunction(() => location.hash.includes("step=4"));
    await page.keyboard.press("0");
    await page.waitForFunction(() => !location.hash.includes("step="));
  }), ["resnet_w0"]);
