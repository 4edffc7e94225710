// What a reader does to a table: widths, order and menu, by pointer and by keys; all of it is remembered.
import assert from "node:assert/strict";
import { settled } from "./stand.mjs";
import { addressHas, plain, test, visit } from "./tools.mjs";

const HEADS = ".main-table thead th";
const heads = (page) => page.$$eval(HEADS, (l) => l.map((e) => e.textContent.replace(/[ ↓↑+\d]+$/, "").replace(/,.*/, "").trim()));
const widthOf = async (page, i) => (await page.locator(HEADS).nth(i).boundingBox()).width;

async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, to.y, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
}

test("table: columns are widened, fitted and moved by pointer and keys, and stay so", (s) =>
  visit(s, "operators?run=sample", async (page) => {
    const first = await heads(page);
    const sorted = new URL(page.url()).hash;
    const [calls, next] = [await page.locator(HEADS).nth(1).boundingBox(), await page.locator(HEADS).nth(3).boundingBox()];
    // The edge of the second column, 60 px to the right.
    const edge = { x: calls.x + calls.width - 3, y: calls.y + 12 };
    await drag(page, edge, { x: edge.x + 60, y: edge.y });
    assert.ok(Math.abs((await widthOf(page, 1)) - calls.width - 60) <= 3, `${calls.width} became ${await widthOf(page, 1)}`);
    await page.locator(`${HEADS} .edge`).nth(1).dblclick();
    assert.ok((await widthOf(page, 1)) < calls.width + 40);
    // A head dropped on another takes its place, and does not sort.
    await drag(page, { x: calls.x + 30, y: calls.y + 12 }, { x: next.x + next.width / 2, y: next.y + 12 });
    const moved = await heads(page);
    assert.equal(moved.indexOf(first[1]), 3, moved.join(" | "));
    assert.equal(moved[0], first[0]);
    assert.equal(new URL(page.url()).hash, sorted);
    // By keys: the same head back, wider, fitted.
    await page.locator(`${HEADS} button`).nth(3).focus();
    await page.keyboard.press("Alt+Shift+ArrowLeft");
    await page.waitForFunction(([h, name]) => document.querySelectorAll(h)[2].textContent.startsWith(name), [HEADS, first[1]]);
    const before = await widthOf(page, 2);
    await page.locator(`${HEADS} button`).nth(2).focus();
    await page.keyboard.press("Shift+ArrowRight");
    assert.equal(Math.round((await widthOf(page, 2)) - before), 16);
    const order = await heads(page);
    await page.reload();
    await settled(page);
    assert.deepEqual(await heads(page), order);
    // The menu of a head takes all of it back.
    await page.locator(HEADS).nth(2).click({ button: "right" });
    await page.click("role=menuitem[name='Reset columns']");
    assert.deepEqual(await heads(page), first);
  }));

test("table: the menu of a row copies, filters and shows in the timeline; the keyboard goes on where the mouse was", (s) =>
  visit(s, "operators?run=sample", async (page) => {
    const row = (i) => page.locator(".main-table tbody tr:not(.spacer)").nth(i);
    const names = await page.$$eval(".main-table tbody tr:not(.spacer) td.first", (l) => l.map((e) => e.title));
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await row(2).locator("td").nth(1).click();
    assert.match(await row(2).getAttribute("class"), /active/);
    await page.keyboard.press("ArrowDown");
    assert.match(await row(3).getAttribute("class"), /active/);
    await row(1).locator("td").first().click({ button: "right" });
    await page.click("role=menuitem[name='Copy cell']");
    assert.equal(await copied(), names[1]);
    // By the keyboard, at the row of the cursor; Escape closes nothing but the menu.
    await page.keyboard.press("Shift+F10");
    await page.keyboard.press("ArrowDown");
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^Copy row/);
    await page.keyboard.press("Enter");
    assert.ok((await copied()).startsWith(`${names[1]}\t`));
    await row(1).locator("td").nth(1).click({ button: "right" });
    await page.click("role=menuitem[name=/^Filter by this/]");
    await addressHas(page, `q=name:"${names[1]}"`);
    await settled(page);
    assert.ok(plain(await row(0).textContent()).includes(names[1].replace(/^.*::/, "")));
    await row(0).locator("td").first().click({ button: "right" });
    await page.click("role=menuitem[name=/^Show in timeline/]");
    await page.waitForFunction(() => location.hash.startsWith("#/timeline"));
  }));

test("table: columns without room are counted in the head, and come on a click", (s) =>
  visit(
    s,
    "operators?run=sample",
    async (page) => {
      const shown = (await heads(page)).length;
      const more = page.locator(".main-table .more-columns");
      const n = Number((await more.textContent()).replace("+", ""));
      await more.click();
      assert.equal((await heads(page)).length, shown + n);
    },
    { width: 720, height: 450 },
  ));

test("table: on paper it is whole, or says how many rows are missing, and as wide as in the window", (s) =>
  visit(s, "operators?run=sample", async (page) => {
    const rows = () => page.locator(".main-table tbody tr:not(.spacer)").count();
    const total = Number(await page.locator(".main-table table").getAttribute("aria-rowcount"));
    assert.ok((await rows()) < total, `${total} rows are all in the window`);
    const width = await page.evaluate(() => document.querySelector("main").clientWidth);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.equal(await rows(), total > 200 ? 201 : total);
    // Chromium paints a head again on every page, but no button in it.
    assert.deepEqual(await page.$$eval(".main-table thead button", (all) => [...new Set(all.map((b) => getComputedStyle(b).display))]), ["contents"]);
    assert.equal(await page.evaluate(() => Math.round(Number.parseFloat(getComputedStyle(document.querySelector("main")).width))), width);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: null });
    await page.waitForFunction((n) => document.querySelectorAll(".main-table tbody tr:not(.spacer)").length < n, total);
  }));
