// Every kind of claim leads to its event in one gesture: verdicts, strips, dots, cells and bars of every view, of one rank
// and of all. What it must be is asked of the command line.
import assert from "node:assert/strict";
import { addressHas, plain, rowsOf, test, visit } from "./tools.mjs";
import { settled } from "./stand.mjs";

const strip = async (page) => plain(await page.textContent(".tl-strip"));
const chosen = async (page) => plain(await page.textContent(".tl-what code"));
const panel = (name) => `section[aria-label='${name}']`;

/** Opens a view, does something there, and waits for the event it leads to. */
async function leads(page, s, place, act) {
  await page.goto(`${s.url}/#/${place}`);
  await settled(page);
  await act();
  await page.waitForSelector(".tl-strip");
  await settled(page);
  return decodeURIComponent(page.url());
}

const verdict = (page) => () => page.click(".verdict .link:has-text('Show in timeline')");
const selected = (url, slice) => assert.match(url, new RegExp(`sel=slice:${slice}(&|$)`));

test("jumps: verdicts of roofline, memory and steps lead to what they name", async (s) => {
  const operators = rowsOf(s.json("operators", "gpt_eager", "--evidence").tables.operators);
  const roofline = s.json("roofline", "gpt_eager").verdict.values;
  const holder = s.json("memory", "gpt_eager").verdict.values.op;
  await visit(s, "roofline?run=gpt_eager", async (page) => {
    const mm = operators.find((r) => r.name === roofline.op);
    selected(await leads(page, s, "roofline?run=gpt_eager", verdict(page)), mm.slice);
    await leads(page, s, "memory?run=gpt_eager", verdict(page));
    assert.ok((await strip(page)).includes(holder), await strip(page));
    assert.ok(holder.includes(await chosen(page)), `${holder}: ${await chosen(page)}`);
    await leads(page, s, "steps?run=gpt_eager", verdict(page));
    assert.match(await strip(page), /Step 4/); // the longest
  });
}, ["gpt_eager"]);

test("jumps: strips, dots and rows of operators, kernels and roofline", async (s) => {
  const operators = rowsOf(s.json("operators", "gpt_eager", "--evidence").tables.operators);
  const kernels = rowsOf(s.json("kernels", "gpt_eager", "--evidence").tables.kernels).sort((a, b) => b.total - a.total);
  const first = [...operators].sort((a, b) => b.device_self - a.device_self)[0];
  await visit(s, "operators?run=gpt_eager", async (page) => {
    const part = (name, svg, n) => () => page.locator(`${panel(name)} svg[data-chart]`).nth(svg).locator("g.part").nth(n).click();
    selected(await leads(page, s, "operators?run=gpt_eager", part("Share of time", 0, 0)), first.slice);
    selected(await leads(page, s, "operators?run=gpt_eager&form=bars", part("Share of time", 0, 0)), first.slice);
    selected(await leads(page, s, "kernels?run=gpt_eager", part("Share of kernel time", 0, 0)), kernels[0].slice);
    const matrix = kernels.find((k) => k.tensor_core === true);
    selected(await leads(page, s, "kernels?run=gpt_eager", part("Share of kernel time", 1, 0)), matrix.slice);
    const dot = page.locator(`${panel("Duration and occupancy")} circle.part`).first();
    assert.match(await leads(page, s, "kernels?run=gpt_eager", () => dot.dblclick()), /sel=slice:\d+/);
    const row = page.locator(`${panel("Roofline")} tbody tr`, { hasText: first.name }).first();
    const url = await leads(page, s, "roofline?run=gpt_eager", async () => {
      await row.hover();
      await row.locator(".to-timeline").click();
    });
    selected(url, first.slice);
  });
}, ["gpt_eager"]);

test("jumps: kinds of the path, causes of idle time and kinds of events", async (s) => {
  const idle = rowsOf(s.json("overview", "gpt_eager", "--evidence", "--table", "idle").tables.idle);
  await visit(s, "why?run=gpt_eager", async (page) => {
    const part = (name) => () => page.locator(`${panel(name)} .strip g.part`).first().click();
    const url = await leads(page, s, "why?run=gpt_eager", part("Why the device is idle"));
    assert.ok(idle.some((r) => url.includes(`sel=slice:${r.slice}`)), url);
    const kind = page.locator(`${panel("The step by kind")} tbody tr:has(.to-timeline)`).first();
    const way = await leads(page, s, "why?run=gpt_eager", async () => {
      await kind.hover();
      await kind.locator(".to-timeline").click();
    });
    assert.ok(/sel=slice:\d+/.test(way) && way.includes("path=1"), way);
    await leads(page, s, "overview?run=gpt_eager&multiples=kind&more=1", part("Event kinds by stage"));
    assert.match(await strip(page), /Forward, user range/);
    assert.equal(await chosen(page), "train_step");
  });
}, ["gpt_eager"]);

test("jumps: ranks, cells and collectives of a distributed run lead to the call on that rank", async (s) => {
  const answer = s.json("distributed", "ddp", "--all-workers");
  const { rank } = answer.verdict.values;
  const late = rowsOf(answer.tables.arrivals).filter((r) => r.rank === rank).sort((a, b) => b.late_by - a.late_by)[0];
  await visit(s, "distributed?run=ddp", async (page) => {
    const url = await leads(page, s, "distributed?run=ddp", verdict(page));
    assert.ok(url.includes(`worker=${late.worker}`), url);
    assert.match(await strip(page), new RegExp(`rank ${rank}, Step ${late.step}, ${late.name}`, "i"));
    assert.equal(await chosen(page), late.name);
    await page.click(".tl-back");
    await addressHas(page, "#/distributed");
    const cell = (name, n) => () => page.locator(`${panel(name)} .heat g.part`).nth(n).click();
    assert.match(await leads(page, s, "distributed?run=ddp", cell("Which rank is late", 6)), /sel=slice:\d+/);
    assert.match(await leads(page, s, "distributed?run=ddp&heat=computation", cell("Ranks and steps", 4)), /worker=rank1.*sel=slice:\d+|sel=slice:\d+.*worker=rank1/);
    assert.match(await strip(page), /rank 1, step \d+/i);
    for (const name of ["Stragglers", "Collectives", "Process groups", "Devices"]) {
      const row = page.locator(`${panel(name)} tbody tr:has(.to-timeline)`).last();
      await leads(page, s, "distributed?run=ddp", async () => {
        await row.hover();
        await row.locator(".to-timeline").click();
      });
      assert.match(page.url(), /worker=rank\d/, name);
      assert.match(decodeURIComponent(page.url()), /sel=slice:\d+/, name);
    }
    const bar = page.locator(`${panel("Transfer and waiting")} .rank-row`).nth(2).locator("g.part").last();
    await leads(page, s, "distributed?run=ddp", () => bar.click());
    assert.match(await strip(page), /rank 2, .*waiting/i);
  });
}, ["ddp"]);

test("jumps: of all ranks, a row leads to the rank that spends most in it", async (s) => {
  for (const name of ["operators", "kernels"]) {
    const workers = rowsOf(s.json(name, "ddp", "--all-workers", "--table", "workers").tables.workers);
    const most = [...workers].sort((a, b) => b.worst - a.worst)[0];
    const own = rowsOf(s.json(name, "ddp", "--worker", most.worst_worker, "--evidence").tables[name]).find((r) => r.name === most.name);
    await visit(s, `${name}?run=ddp&worker=*`, async (page) => {
      const row = page.locator(`${panel("Across ranks")} tbody tr:has(.to-timeline)`).first();
      const url = await leads(page, s, `${name}?run=ddp&worker=*`, async () => {
        await row.hover();
        await row.locator(".to-timeline").click();
      });
      assert.ok(url.includes(`worker=${most.worst_worker}`), url);
      selected(url, own.slice);
      await page.click(".tl-back");
      await addressHas(page, "worker=*");
    });
  }
  const spread = rowsOf(s.json("overview", "ddp", "--all-workers").tables.spread).find((r) => r.category === "communication");
  await visit(s, "overview?run=ddp&worker=*", async (page) => {
    const row = page.locator(`${panel("Across ranks")} tbody tr`, { hasText: "Communication" }).first();
    const url = await leads(page, s, "overview?run=ddp&worker=*", async () => {
      await row.hover();
      await row.locator(".to-timeline").click();
    });
    assert.ok(url.includes(`worker=${spread.max_worker}`) && /sel=slice:\d+/.test(url), url);
  });
}, ["ddp"]);

test("jumps: a row of a comparison leads to where it costs most in B, and back", async (s) => {
  const own = rowsOf(s.json("operators", "gpt_eager", "--evidence").tables.operators);
  await visit(s, "compare?run=resnet_w0&other=gpt_eager", async (page) => {
    const row = page.locator(`${panel("Operators")} tbody tr`, { hasText: "aten::mm" }).first();
    const url = await leads(page, s, "compare?run=resnet_w0&other=gpt_eager&q=aten::mm", async () => {
      await row.hover();
      await row.locator(".to-timeline").click();
    });
    assert.match(url, /run=gpt_eager/);
    selected(url, own.find((r) => r.name === "aten::mm").slice);
    assert.match(await strip(page), /B: aten::mm/);
    await page.click(".tl-back");
    await addressHas(page, "#/compare");
    await addressHas(page, "run=resnet_w0");
  });
}, ["gpt_eager", "resnet_w0"]);

test("jumps: boxes of flame graphs, stacked and in time, lead to the costliest call", async (s) => {
  const operators = rowsOf(s.json("operators", "gpt_eager", "--evidence").tables.operators);
  const self = [...operators].sort((a, b) => b.host_self - a.host_self)[0];
  await visit(s, "operators?run=gpt_eager&form=flame&flame=bottom", async (page) => {
    const place = "operators?run=gpt_eager&form=flame&flame=bottom";
    const canvas = page.locator(".tl-flame canvas");
    const corner = { position: { x: 12, y: 8 } }; // bottom-up, the first box is what takes most itself
    selected(await leads(page, s, place, () => canvas.click({ ...corner, modifiers: ["Shift"] })), self.slice);
    assert.equal(await strip(page).then((words) => words.includes(self.name)), true, await strip(page));
    await page.click(".tl-back");
    await addressHas(page, "form=flame");
    const url = await leads(page, s, place, async () => {
      await canvas.click(corner); // zooms, and says what is chosen
      assert.ok(plain(await page.textContent(".flame-chosen")).startsWith(self.name));
      await page.click(".flame-chosen .link:has-text('Show in timeline')");
    });
    selected(url, self.slice);
    const timed = await leads(page, s, "operators?run=gpt_eager&form=flame&flame=time", () =>
      canvas.click({ position: { x: 200, y: 8 }, modifiers: ["Shift"] }),
    );
    assert.match(timed, /sel=slice:\d+/);
    assert.ok((await strip(page)).includes(await chosen(page)), `${await strip(page)}: ${await chosen(page)}`);
  });
}, ["gpt_eager"]);

test("jumps: blocks of the address map and moments of the memory curve lead to the allocation", async (s) => {
  const { events, peaks } = s.json("memory", "gpt_eager", "--evidence", "--table", "events,peaks").tables;
  const { device } = rowsOf(peaks)[0];
  const born = rowsOf(events).filter((r) => r.device === device && r.kind === "allocation" && r.allocated_at !== null);
  await visit(s, "memory?run=gpt_eager&picture=map", async (page) => {
    const canvas = page.locator(".chart.map canvas");
    let words = "";
    const block = await leads(page, s, "memory?run=gpt_eager&picture=map", async () => {
      await canvas.waitFor();
      const box = await canvas.boundingBox();
      for (let y = box.height - 6; y > 0 && !words; y -= 10) {
        await page.mouse.move(box.x + box.width / 2, box.y + y);
        const card = page.locator(".map-card b");
        if (!(await card.count()) || !/::/.test(await card.textContent())) continue;
        words = await card.textContent();
        await page.mouse.down();
        await page.mouse.up();
      }
    });
    assert.match(block, /sel=slice:\d+/);
    assert.ok(words && (await strip(page)).includes(words), `${words}: ${await strip(page)}`);
    const curve = page.locator(".curve .u-over");
    const spot = { position: { x: 240, y: 60 } };
    const sliceIn = (url) => Number(/sel=slice:(\d+)/.exec(url)?.[1]);
    const once = await leads(page, s, "memory?run=gpt_eager", async () => {
      await curve.click(spot);
      await addressHas(page, "at=");
      await page.click(`${panel("Alive at the peak")} .link:has-text('Show in timeline')`);
    });
    const at = Number(/[?&]at=(\d+)/.exec(decodeURIComponent(once))?.[1]);
    const last = Math.max(...born.map((r) => r.allocated_at).filter((time) => time <= at));
    assert.ok(born.some((r) => r.allocated_at === last && r.slice === sliceIn(once)), `${at}: ${once}`);
    const twice = await leads(page, s, "memory?run=gpt_eager", () => curve.dblclick(spot));
    assert.equal(sliceIn(twice), sliceIn(once));
    assert.match(await strip(page), /Alive at/);
  });
}, ["gpt_eager"]);

test("jumps: parts of the step, modules and moments of a comparison lead to where they cost most", async (s) => {
  const part = rowsOf(s.json("overview", "gpt_eager", "--evidence").tables.breakdown).find((r) => r.category === "kernel");
  const modules = rowsOf(s.json("modules", "gpt_eager", "--evidence").tables.modules);
  const place = "compare?run=resnet_w0&other=gpt_eager";
  const step = panel("Mean step");
  await visit(s, place, async (page) => {
    const sign = (row) => async () => {
      await row.hover();
      await row.locator(".to-timeline").click();
    };
    const url = await leads(page, s, place, sign(page.locator(`${step} tbody tr`, { hasText: "Kernel" }).first()));
    assert.match(url, /run=gpt_eager/);
    selected(url, part.slice);
    assert.match(await strip(page), /B: Kernel/);
    assert.match(await leads(page, s, place, () => page.locator(`${step} svg g.part`).first().click()), /claim=[AB]: /);
    const root = modules.find((r) => r.depth === 0);
    const row = page.locator(`${panel("Modules")} tbody tr`, { hasText: root.module }).first();
    selected(await leads(page, s, `${place}&part=modules`, sign(row)), root.slice);
    assert.match(await strip(page), new RegExp(`B: ${root.module}`));
    const lines = page.locator(`${panel("Memory")} svg[data-chart]`);
    const moment = await leads(page, s, `${place}&part=memory`, () => lines.click({ position: { x: 300, y: 100 } }));
    assert.match(moment, /run=gpt_eager.*sel=slice:\d+|sel=slice:\d+.*run=gpt_eager/);
    assert.match(await strip(page), /B: Alive at/);
  });
}, ["gpt_eager", "resnet_w0"]);

test("jumps: data loading that the verdict of Steps names leads to where it takes longest, also of one step", async (s) => {
  await visit(s, "steps?run=resnet_w0", async (page) => {
    for (const step of [undefined, "4"]) {
      const { values } = s.json("steps", "resnet_w0", "--worker", "worker0", ...(step ? ["--step", step] : [])).verdict;
      const place = `steps?run=resnet_w0${step ? `&step=${step}` : ""}`;
      selected(await leads(page, s, place, verdict(page)), values.slice);
      assert.match(await strip(page), /Data loader/);
    }
  });
}, ["resnet_w0"]);

test("jumps: what a comparison measured, and each of its ranks, lead to where B has most of it", async (s) => {
  const first = (name, sort, ...more) => rowsOf(s.json(name, "gpt_eager", "--evidence", "--sort", sort, "--table", name, ...more).tables[name])[0];
  const memory = s.json("memory", "gpt_eager", "--evidence", "--table", "events,peaks").tables;
  const peak = rowsOf(memory.peaks).sort((a, b) => b.allocated - a.allocated)[0];
  const before = rowsOf(memory.events).filter((r) => r.device === peak.device && r.kind === "allocation" && r.allocated_at !== null && r.allocated_at <= peak.time);
  const longest = rowsOf(s.json("steps", "gpt_eager", "--table", "steps").tables.steps).sort((a, b) => b.duration - a.duration)[0];
  const place = "compare?run=resnet_w0&other=gpt_eager";
  const sign = (row) => async () => {
    await row.hover();
    await row.locator(".to-timeline").click();
  };
  await visit(s, place, async (page) => {
    const measured = (name) => sign(page.locator(`${panel("Is it real?")} tbody tr`, { hasText: new RegExp(`^${name}`) }).first());
    selected(await leads(page, s, place, measured("Device")), first("kernels", "max:desc").slice);
    assert.match(await strip(page), /B: Device/);
    selected(await leads(page, s, place, measured("Host")), first("operators", "host_self:desc").slice);
    selected(await leads(page, s, place, measured("Kernels")), first("kernels", "calls:desc").slice);
    assert.match(await leads(page, s, place, measured("Per launch")), /sel=slice:\d+/);
    assert.match(await chosen(page), /launch/i);
    const step = /view=(\d+)-(\d+)/.exec(await leads(page, s, place, measured("Step")));
    assert.ok(Number(step[1]) <= longest.start && longest.end <= Number(step[2]), `${step[0]}: ${longest.start}-${longest.end}`);
    selected(await leads(page, s, place, measured("Peak memory")), before.sort((a, b) => b.allocated_at - a.allocated_at)[0].slice);
  });
  const part = (rank, step) => rowsOf(s.json("overview", "ddp", "--worker", `rank${rank}`, "--step", step, "--evidence").tables.breakdown);
  await visit(s, "compare?run=ddp&worker=*&other=ddp&step=3&other_step=4", async (page) => {
    const [a, b] = [part(2, "3"), part(2, "4")];
    const by = b.map((r) => [Math.abs(r.time - (a.find((x) => x.category === r.category)?.time ?? 0)), r]).sort((x, y) => y[0] - x[0])[0][1];
    const row = page.locator(`${panel("Ranks")} tbody tr`, { hasText: "rank 2" });
    const url = await leads(page, s, "compare?run=ddp&worker=*&other=ddp&step=3&other_step=4", sign(row));
    assert.match(url, /worker=rank2/);
    if (by.slice !== null) selected(url, by.slice);
    else assert.match(url, /view=\d+-\d+/);
    assert.match(await strip(page), /[AB]: rank 2, /);
  });
}, ["gpt_eager", "resnet_w0", "ddp"]);
