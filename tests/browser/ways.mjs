// The ways a user takes through the page, from a question to its answer.
import assert from "node:assert/strict";
import { settled } from "./stand.mjs";
import { addressHas, cells, heading, plain, test, visit } from "./tools.mjs";

test("way: find the slow data loader", (s) =>
  visit(s, "overview?run=resnet_w0", async (page) => {
    assert.match(await heading(page), /data loading is too slow/);
    assert.match(await page.textContent(".advice >> nth=0"), /num_workers/);
    await page.click(".advice >> nth=0 >> text=Show in timeline");
    await page.waitForFunction(() => location.hash.startsWith("#/timeline") && location.hash.includes("view="));
  }), ["resnet_w0"]);

test("way: follow a backward operator to its forward operator", (s) =>
  visit(s, "timeline?run=resnet_w0&find=aten::convolution_backward", async (page) => {
    await page.keyboard.press("n");
    await addressHas(page, "sel=slice:");
    await settled(page);
    const chosen = () => page.evaluate(() => Number(location.hash.match(/sel=slice:(\d+)/)[1]));
    const slice = async (id) => page.evaluate(async (i) => (await fetch(`/api/v1/slice?run=resnet_w0&id=${i}`)).json(), id);
    const id = await chosen();
    const forward = (await slice(id)).why.find((w) => w.role === "forward");
    assert.ok(forward, "the producer wrote an arrow");
    assert.match(plain(await page.textContent(".tl-why")), new RegExp(`${forward.name}.*forward · thread 391`));
    await page.click(`.tl-why li:has-text('forward') >> button`);
    await addressHas(page, `sel=slice:${forward.id}`);
    await settled(page);
    assert.equal(plain(await page.textContent(".tl-what")), forward.name);
    await page.click("role=tab[name=/Flow/]");
    await page.waitForSelector(".tl-table >> text=forward – backward");
    await page.keyboard.press("]");
    await page.waitForFunction((f) => Number(location.hash.match(/sel=slice:(\d+)/)?.[1]) !== f, forward.id);
    await page.goBack();
  }), ["resnet_w0"]);

test("way: zoom a memory range and reset it", (s) =>
  visit(s, "memory?run=resnet_w0", async (page) => {
    const words = () => page.textContent("section[aria-label='Allocations'] .panel-words");
    const before = await words();
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + 20, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 160, box.y + 80, { steps: 6 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes("range="));
    await settled(page);
    assert.notEqual(await words(), before);
    const again = await page.locator(".u-over").boundingBox();
    await page.mouse.click(again.x + 100, again.y + 60, { button: "right" });
    await page.waitForFunction(() => !location.hash.includes("range="));
    await settled(page);
    assert.equal(await words(), before);
  }), ["resnet_w0"]);

test("way: find the straggler", async (s) => {
  const answer = s.json("distributed", "ddp", "--all-workers");
  await visit(s, "distributed?run=ddp", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    const rank = answer.verdict.values.rank;
    assert.ok((await cells(page, ".heat .strong")).some((t) => t.startsWith(`rank ${rank}`)));
    assert.equal((await page.$$("section[aria-label='Collectives'] tbody tr:not(.spacer)")).length, answer.tables.collectives.rows.length);
  });
}, ["ddp"]);

test("way: share a link and open it", async (s) => {
  let link = "";
  await visit(s, "overview?run=resnet_w0", async (page) => {
    await page.click("role=button[name='3'] >> nth=0").catch(() => page.keyboard.press("2"));
    await page.waitForFunction(() => location.hash.includes("step=3"));
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await page.waitForFunction(() => location.hash.startsWith("#/kernels"));
    await settled(page);
    await page.locator(".main-table tbody tr:not(.spacer)").nth(2).click();
    await page.waitForFunction(() => location.hash.includes("sel="));
    link = new URL(page.url()).hash.slice(2);
  });
  await visit(s, link, async (page) => {
    assert.match(plain(await page.textContent(".tape-length")), /^1 step/);
    assert.equal((await page.$$("tr.marked")).length, 1);
    assert.ok(await page.$(".chip"));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !location.hash.includes("sel="));
  });
}, ["resnet_w0"]);

test("way: switch to Chinese and dark, both stay", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.click("role=button[name='中文']");
    await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
    await settled(page);
    assert.equal(plain(await page.textContent(".rail-link[aria-current]")).replace(/ ?\d+$/, ""), "概览");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    await page.keyboard.press("Shift+D");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    assert.match(await heading(page), /[\u4e00-\u9fff]/);
  }));
