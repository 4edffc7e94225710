// The Query view: an example is run, its rows are those of the command line, a chart is drawn, an event leads to the
// timeline, a mistake is shown where it is, and the address has it all.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pictures } from "./pictures.mjs";
import { openPage, settled } from "./stand.mjs";
import { addressHas, test, visit } from "./tools.mjs";

const SQL = "SELECT op_name, count(*) AS kernels, sum(dur) AS device_ns FROM kernel GROUP BY op_name ORDER BY device_ns DESC LIMIT 4";
const place = (sql, more = "") => `query?run=sample&sql=${encodeURIComponent(sql)}${more}`;

const fromCommandLine = (s, sql) => {
  const trace = join(s.root, "tests/data/sample.pt.trace.json.gz");
  return JSON.parse(execFileSync(s.tacho, ["query", trace, sql, "--json", "-q"]).toString()).tables.result;
};

test("query: the rows are those of the command line, also with Ctrl+Enter and after an example", async (s) => {
  const answer = fromCommandLine(s, SQL);
  await visit(s, "query?run=sample", async (page) => {
    await settled(page);
    await page.fill("textarea", SQL);
    await page.press("textarea", "Control+Enter");
    await addressHas(page, "op_name");
    await settled(page);
    const text = await page.locator("main").innerText();
    for (const [name, kernels] of answer.rows) {
      assert.ok(text.includes(name), `${name} is shown`);
      assert.ok(text.includes(String(kernels)), `${kernels} is shown`);
    }
    await page.click(".sql-examples button >> nth=0");
    await addressHas(page, "short_name");
    await settled(page);
    assert.match(await page.inputValue("textarea"), /^SELECT short_name/);
    assert.match(await page.locator("main").innerText(), /nchwToNhwcKernel/);
    await page.goBack();
    await settled(page);
    assert.equal(await page.inputValue("textarea"), SQL);
  });
});

test("query: bars and a line of two columns", (s) =>
  visit(s, place(SQL, "&form=bars"), async (page) => {
    await settled(page);
    assert.equal(await page.locator("svg[data-chart] text.bar-name").count(), 4);
    await page.getByRole("radio", { name: "Line" }).click();
    await settled(page);
    assert.ok((await page.locator(".chart svg path[stroke]").count()) >= 1);
    await page.getByRole("radio", { name: "Table" }).click();
    await settled(page);
    assert.match(await page.locator("main").innerText(), /aten::copy_/);
  }));

test("query: an event leads to the timeline", (s) =>
  visit(s, place("SELECT id, name, dur FROM slice WHERE kind = 'kernel' ORDER BY dur DESC LIMIT 1"), async (page) => {
    await settled(page);
    await page.locator("[role=grid] .link, table .link, main .link[title]").first().click();
    await addressHas(page, "sel=slice:");
    await settled(page);
  }));

test("query: a mistake is shown where it is, and another question goes on", async (s) => {
  // The browser itself reports a refused request, so this page is opened without demanding silence.
  const { page, context } = await openPage(s, "query?run=sample");
  try {
    await settled(page);
    await page.fill("textarea", "SELECT nobody FROM slice");
    await page.press("textarea", "Control+Enter");
    const alert = page.locator(".sql-error");
    await alert.waitFor();
    assert.match(await alert.innerText(), /there is no column nobody/);
    assert.equal((await alert.locator("pre").textContent()).split("\n")[1].indexOf("^"), 7);
    await page.fill("textarea", "SELECT 42 AS answer");
    await page.locator("button.button", { hasText: /^Run$/ }).click();
    await alert.waitFor({ state: "detached" });
    await page.locator("main td", { hasText: /^42$/ }).waitFor(); // the mistake goes first, then the answer comes
  } finally {
    await context.close();
  }
});

test("query: what is typed is colored and completed by tables, columns and functions", (s) =>
  visit(s, "query?run=sample", async (page) => {
    await settled(page);
    const offered = () => page.$$eval(".sql-completions:not([hidden]) [role=option] code", (l) => l.map((e) => e.textContent));
    await page.focus("textarea");
    await page.keyboard.type("SELECT * FROM ker");
    assert.equal((await offered())[0], "kernel");
    await page.keyboard.press("Tab");
    assert.equal(await page.inputValue("textarea"), "SELECT * FROM kernel");
    await page.keyboard.type(" ORDER BY op_n");
    assert.equal((await offered())[0], "op_name");
    await page.keyboard.press("Escape");
    assert.deepEqual(await offered(), []);
    const inks = await page.$$eval(".sql-colors span", (l) => l.map((e) => `${e.className} ${e.textContent.trim()}`));
    assert.ok(inks.includes("ink-keyword SELECT") && inks.includes("ink-definition kernel"), String(inks));
    assert.equal((await page.textContent(".sql-colors")).trimEnd(), await page.inputValue("textarea"));
  }));

test("query: a notebook of cells with notes and charts is in its link", (s) =>
  visit(s, place(SQL), async (page, context) => {
    await settled(page);
    await page.fill(".cell-note", "Which operators cost most?");
    await page.press(".cell-note", "Tab");
    await addressHas(page, "cells=");
    await page.click("role=button[name='Add a cell']");
    const second = page.locator("textarea").nth(1);
    await second.fill("SELECT dur FROM kernel");
    await second.press("Control+Enter");
    await settled(page);
    const result = page.locator("section[aria-label='Result 2']");
    for (const [form, drawn] of [["Histogram", "rect"], ["Points", "circle"], ["Line", "path[stroke]"]]) {
      await result.getByRole("radio", { name: form }).click();
      await settled(page);
      assert.ok((await result.locator(`svg[data-chart] ${drawn}`).count()) > 0, form);
    }
    const other = await context.newPage();
    await other.goto(page.url());
    await settled(other);
    assert.equal(await other.inputValue(".cell-note"), "Which operators cost most?");
    assert.equal(await other.locator("textarea").nth(1).inputValue(), "SELECT dur FROM kernel");
    assert.equal(await other.locator("section[aria-label='Result 2'] [role=radio][aria-checked=true]").textContent(), "Line");
    await other.click("role=button[name='Remove cell 1']");
    await addressHas(other, "sql=SELECT dur FROM kernel");
    await other.close();
  }));

test("query: a heat map of two columns of words and one of numbers", (s) =>
  visit(s, place("SELECT kind, track, sum(dur) AS t FROM slice GROUP BY kind, track", "&form=heat"), async (page) => {
    await settled(page);
    assert.ok((await page.locator(".heat-cell").count()) > 4);
  }));

test("query: pictures in both themes and languages, without a serious fault of accessibility", (s) =>
  visit(s, place(SQL), async (page) => {
    await settled(page);
    await pictures(s, page, "query");
  }));
