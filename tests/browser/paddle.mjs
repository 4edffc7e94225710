// A run of another framework: the seven panels of the overview that users of Paddle know are drawn, and say
// what the command line says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "./stand.mjs";
import { addressHas, plain, rowsOf, test, visit } from "./tools.mjs";

/** A separate server on the Paddle traces of tests/data, and the command line's answer about the first. */
async function onPaddle(s, check) {
  const folder = mkdtempSync(join(tmpdir(), "tacho-paddle-"));
  const tacho = process.env.TACHO ?? join(s.root, "build/tacho");
  cpSync(join(s.root, "tests/data/paddle"), join(folder, "run"), { recursive: true });
  const server = await serve(tacho, folder);
  const answer = JSON.parse(execFileSync(tacho, ["overview", join(folder, "run"), "-q", "--json"]).toString());
  try {
    await visit({ ...s, url: server.url }, "overview?run=run&more=1&by=category", (page) => check(page, answer.tables));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const panel = async (page, name) => plain(await page.textContent(`section[aria-label='${name}']`));
const micro = (ns) => `${Math.round(ns / 1e3)}`;

test("all panels of the overview are drawn for a run of Paddle", (s) =>
  onPaddle(s, async (page, tables) => {
    const device = rowsOf(tables.devices)[0];
    const meters = await panel(page, "Device");
    assert.ok(meters.includes(`${(device.utilization * 100).toFixed(1)}`), meters);
    const stages = await panel(page, "Stages");
    for (const row of rowsOf(tables.stages).filter((r) => r.stage === "forward" || r.stage === "backward"))
      assert.ok(stages.includes(micro(row.host_time / 2)), `${row.stage}: ${stages}`);
    const ranges = await panel(page, "User ranges");
    assert.ok(ranges.includes("my_block"), ranges);
    const facts = await panel(page, "Configuration");
    for (const word of ["SYNTHETIC-GPU-0", "GPU", "77 %"]) assert.ok(facts.includes(word), facts);
    // Stages of each step, on the host and on the device: one bar a step, one part for each stage that took time.
    for (const [item, side] of [["Stages, host", "host_time"], ["Stages, device", "device_time"]]) {
      await page.click("section[aria-label='Steps'] >> role=button[name=/^Form/]");
      await page.click(`role=menuitemradio[name='${item}']`);
      await addressHas(page, `bars=${side.split("_")[0]}`);
      const per = rowsOf(tables.stage_steps).filter((r) => r.stage !== "step");
      const parts = await page.$$eval("section[aria-label='Steps'] g[role=button] rect:not([fill=transparent])", (l) => l.length);
      assert.equal(parts, per.filter((r) => r[side] > 0).length, item);
      assert.equal(await page.locator("section[aria-label='Steps'] g[role=button]").count(), new Set(per.map((r) => r.step)).size);
    }
  }));

test("kinds of events are shown by stage and within each stage, on host and device, for a run of Paddle", (s) =>
  onPaddle(s, async (page, tables) => {
    const section = page.locator("section[aria-label='Event kinds by stage']");
    const kinds = new Set(rowsOf(tables.stage_events).filter((r) => r.host_time > 0).map((r) => r.kind));
    const stages = new Set(rowsOf(tables.stage_events).filter((r) => r.host_time > 0).map((r) => r.stage));
    assert.ok(kinds.has("op_phase") && kinds.has("op") && stages.has("forward"));
    const drawn = (n) =>
      page.waitForFunction(
        (least) => document.querySelectorAll("section[aria-label='Event kinds by stage'] svg").length >= least,
        n,
      );
    await drawn(stages.size);
    await page.click("role=radio[name='By kind']");
    await addressHas(page, "multiples=kind");
    await drawn(kinds.size);
    const work = rowsOf(tables.stage_events).filter((r) => r.device_time > 0);
    await section.locator("role=radio[name='Device']").click();
    await addressHas(page, "kinds=device_time");
    assert.equal(await section.locator(".multiples rect").count(), work.length);
  }));
