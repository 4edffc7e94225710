// Views other than the timeline: their charts, switches and tables, against the numbers of the command
// line.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { settled } from "./stand.mjs";
import { addressHas, addressLacks, cells, heading, plain, rowsOf, test, visit } from "./tools.mjs";

const panel = (name) => `section[aria-label='${name}']`;
const ms = (ns, digits = 2) => (ns / 1e6).toFixed(digits);
const bodyRows = (page, name) => page.locator(`${panel(name)} tbody tr:not(.spacer)`);

/** What `short` of the page writes: three significant digits and a unit. */
function short(value, steps) {
  const [factor, unit] = steps.find(([f]) => value >= f) ?? steps[steps.length - 1];
  const v = value / factor;
  return `${v.toFixed(factor === 1 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(v || 1))))} ${unit}`;
}
const time = (ns) => short(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
const size = (b) => short(b, [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]]);

test("operators: rates of shapes from the command line, slow ones in the critical colour", async (s) => {
  const shapes = rowsOf(s.json("operators", "gpt_eager", "--group-by", "name+shape").tables.operators).filter((r) => r.name === "aten::mm");
  await visit(s, "operators?run=gpt_eager", async (page) => {
    await page.locator(".main-table button.chevron").first().click();
    await page.waitForSelector("tr.faded code >> text=50257");
    await settled(page);
    const text = plain(await page.textContent(".main-table tbody"));
    for (const r of shapes.slice(0, 5)) assert.ok(text.includes((r.flops_per_s / 1e12).toFixed(1)), `${r.shapes} ${r.flops_per_s}`);
    const best = Math.max(...shapes.map((r) => r.flops_per_s ?? 0));
    const slow = shapes.filter((r) => r.flops_per_s !== null && r.flops_per_s < best / 3).length;
    assert.equal(await page.locator("tr.faded .critical").count(), slow);
  });
}, ["gpt_eager"]);

test("operators: strips, pies and bars show the sums of the command line, self or total", async (s) => {
  const rows = rowsOf(s.json("operators", "gpt_eager").tables.operators);
  const sum = (c) => rows.reduce((a, r) => a + r[c], 0);
  await visit(s, "operators?run=gpt_eager", async (page) => {
    const chart = () => page.textContent(panel("Share of time")).then(plain);
    assert.ok((await chart()).includes(`Device self ${time(sum("device_self"))}`), await chart());
    await page.click("role=radio[name='Total']");
    await addressHas(page, "measure=total");
    assert.ok((await chart()).includes(`Host total ${time(sum("host_total"))}`), await chart());
    await page.click("role=radio[name='Bars']");
    await addressHas(page, "form=bars");
    const first = [...rows].sort((a, b) => b.device_total - a.device_total)[0];
    assert.ok((await chart()).includes(time(first.device_total)), await chart());
    await page.click("role=radio[name='Host']");
    const host = [...rows].sort((a, b) => b.host_total - a.host_total)[0];
    await addressHas(page, "side=host");
    assert.ok((await chart()).includes(time(host.host_total)), await chart());
    await page.click("role=radio[name='Pies']");
    assert.equal(await page.locator(".pie").count(), 4);
  });
}, ["gpt_eager"]);

test("operators: the flame graph holds the self time of all operators, on the host and on the device", async (s) => {
  const rows = rowsOf(s.json("operators", "gpt_eager").tables.operators);
  const file = await (await fetch(`${s.url}/api/v1/export?run=gpt_eager&form=speedscope`)).json();
  const sum = (device) =>
    file.profiles.filter((p) => (p.name === "device") === device).reduce((a, p) => a + p.weights.reduce((x, y) => x + y, 0), 0);
  assert.equal(sum(true), rows.reduce((a, r) => a + r.device_self, 0));
  assert.equal(sum(false), rows.reduce((a, r) => a + r.host_self, 0));
  await visit(s, "operators?run=gpt_eager&form=flame", async (page) => {
    for (const order of ["Bottom-up", "Time order", "Merged"]) {
      await page.click(`role=radio[name='${order}']`);
      await settled(page);
      assert.ok(await page.waitForSelector(".tl-flame canvas"), order);
    }
    const box = await page.locator(".tl-flame canvas").boundingBox();
    await page.mouse.move(box.x + 20, box.y + 6);
    assert.match(plain(await page.textContent(".tl-card")), /^\S.* · [\d.]+ (ms|µs) · [\d.]+ %/);
  });
}, ["gpt_eager"]);

test("operators: a row opens to frames, the editor can be chosen and stays", (s) =>
  visit(s, "operators?run=gpt_eager&group=name%2Bstack&q=stack:gpu_traces", async (page) => {
    await page.locator(".main-table button.chevron").first().click();
    const frame = page.locator("a.frame").first();
    assert.match(await frame.getAttribute("href"), /^vscode:\/\/file\/.+:\d+$/);
    await page.click("role=button[name=/^Open in/]");
    await page.click("role=menuitemradio[name='PyCharm']");
    assert.match(await frame.getAttribute("href"), /^pycharm:\/\/open\?file=.+&line=\d+$/);
    await page.reload();
    await settled(page);
    await page.locator(".main-table button.chevron").first().click();
    assert.match(await page.locator("a.frame").first().getAttribute("href"), /^pycharm:/);
  }), ["gpt_eager"]);

test("tables: fuzzy words, conditions, a second sort key and the types of operators", async (s) => {
  const loose = rowsOf(s.json("operators", "gpt_eager", "--filter", "lgsftmx").tables.operators).map((r) => r.name);
  const long = rowsOf(s.json("operators", "gpt_eager", "--filter", "device_self>2ms").tables.operators);
  await visit(s, "operators?run=gpt_eager", async (page) => {
    const names = () => page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title));
    await page.fill(".main-table input[type=search]", "lgsftmx");
    await addressHas(page, "q=lgsftmx");
    await settled(page);
    assert.deepEqual((await names()).sort(), [...loose].sort());
    await page.fill(".main-table input[type=search]", "device_self>2ms");
    await addressHas(page, "q=device_self>2ms");
    await settled(page);
    assert.match(plain(await page.textContent(".main-table .panel-words")), new RegExp(`^${long.length} rows`));
    await page.fill(".main-table input[type=search]", "");
    await addressLacks(page, "q=");
    await page.click("th button >> text=Calls");
    await page.click("th button >> text=Host total", { modifiers: ["Shift"] });
    await addressHas(page, "sort=calls:desc,host_total:desc");
    await settled(page);
    const sorted = rowsOf(s.json("operators", "gpt_eager", "--sort", "calls:desc,host_total:desc").tables.operators);
    assert.deepEqual((await names()).slice(0, 12), sorted.slice(0, 12).map((r) => r.name));
    assert.equal(await page.locator("role=radio[name='Type']").count(), 0); // all but a few are of one name space
    await page.goto(`${s.url}/#/operators?run=gpt_eager&group=type`);
    await page.waitForSelector("role=radio[name='Type']"); // a link still shows them
    await settled(page);
    await page.locator(".main-table button.chevron").first().click();
    assert.ok((await page.locator("tr.faded").count()) > 3);
  });
}, ["gpt_eager"]);

test("roofline: points and roofs of the command line, a point filters, the card says its numbers, shapes can be told apart", async (s) => {
  const answer = s.json("roofline", "gpt_eager", "--limit", "0");
  const rows = rowsOf(answer.tables.points);
  const drawn = rows.filter((r) => r.intensity > 0 && r.flops_per_s > 0);
  const mfu = rowsOf(answer.tables.mfu)[0];
  const chart = panel("FLOP/s by arithmetic intensity");
  await visit(s, "roofline?run=gpt_eager", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    assert.ok(plain(await page.textContent(".facts")).startsWith(`${(mfu.mfu * 100).toFixed(1)} % MFU`));
    assert.equal(await page.locator(`${chart} circle`).count(), drawn.length);
    for (const r of rowsOf(answer.tables.ridges))
      assert.ok(plain(await page.textContent(`${chart} .roofs`)).includes(`${r.type} ${short(r.peak, [[1e15, "PFLOP/s"], [1e12, "TFLOP/s"]])}`));
    await page.locator(`${chart} circle`).first().hover({ force: true });
    await page.waitForSelector(".tip >> text=FLOP/B");
    const card = plain(await page.textContent(".tip"));
    const first = [...drawn].sort((a, b) => b.time - a.time)[0];
    assert.ok(card.startsWith(first.name) && card.includes(`${(first.roof_share * 100).toFixed(1)} % of the roofline`), card);
    await page.locator(`${chart} circle`).first().click({ force: true });
    await addressHas(page, `sel=operator:${first.name}`);
    await settled(page);
    const names = await page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title));
    assert.ok(names.length > 0 && names.every((n) => n.includes(first.name)), names.join());
    await page.click("role=radio[name='Name + shape']");
    await addressHas(page, "group=name+shape");
    await settled(page);
    assert.ok(plain(await page.textContent(".main-table tbody")).includes("50257"));
  });
  await visit(s, "roofline?run=gpt_eager&lang=zh", async (page) => assert.equal(await heading(page), plain(answer.verdict.text.zh)), {
    colorScheme: "dark",
  });
}, ["gpt_eager"]);

test("kernels: a selected kernel leads to its operator in the roofline, none to all of it", async (s) => {
  const first = rowsOf(s.json("kernels", "gpt_eager", "--limit", "0").tables.kernels).find((r) => r.op === "aten::mm");
  const points = rowsOf(s.json("roofline", "gpt_eager", "--limit", "0").tables.points);
  for (const [sel, wanted] of [[`&sel=${encodeURIComponent(`kernel:${first.name}`)}`, points.filter((p) => p.name.includes("aten::mm"))], ["", points]])
    await visit(s, `kernels?run=gpt_eager${sel}`, async (page) => {
      await page.click("role=button[name='Roofline →']");
      await page.waitForSelector("role=heading[level=1]");
      await addressHas(page, "/roofline");
      await settled(page);
      const names = await page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title));
      assert.ok(names.length > 0 && names.every((n) => wanted.some((p) => n.includes(p.name))), names.join());
      assert.equal(page.url().includes("q="), sel !== "");
    });
}, ["gpt_eager"]);

test("operators, kernels: how far from the peak, as columns that can be chosen", async (s) => {
  for (const [view, key, mean] of [["operators", "aten::mm", "device_self"], ["kernels", "nvjet", "total"]]) {
    const rows = rowsOf(s.json(view, "gpt_eager", "--roofline", "--limit", "0").tables[view]);
    const first = rows.filter((r) => r.name.startsWith(key)).sort((a, b) => b[mean] - a[mean])[0];
    await visit(s, `${view}?run=gpt_eager&q=name:"${first.name}"`, async (page) => {
      assert.equal(await page.locator("th >> text=Of peak").count(), 0);
      await page.click("role=button[name=/^Columns/]");
      await page.click("role=menuitemradio[name='Of peak']");
      await page.keyboard.press("Escape");
      await settled(page);
      const text = plain(await page.textContent(".main-table"));
      assert.ok(text.includes(`${(first.peak_share * 100).toFixed(1)} %`), `${view} ${first.peak_share} ${text}`);
    });
  }
}, ["gpt_eager"]);

test("overview: the MFU stands beside the other meters of the device", async (s) => {
  const device = rowsOf(s.json("overview", "gpt_eager").tables.devices)[0];
  await visit(s, "overview?run=gpt_eager", async (page) => {
    assert.ok(plain(await page.textContent(".meters")).includes(`MFU${(device.mfu * 100).toFixed(1)} %`), await page.textContent(".meters"));
  });
}, ["gpt_eager"]);

test("kernels: tensor cores, the scatter filters, launches have their configuration", async (s) => {
  const answer = s.json("kernels", "gpt_eager");
  const rows = rowsOf(answer.tables.kernels);
  const total = rows.reduce((a, r) => a + r.total, 0);
  const used = rows.filter((r) => r.tensor_core).reduce((a, r) => a + r.total, 0) / total;
  await visit(s, "kernels?run=gpt_eager", async (page) => {
    assert.equal(await heading(page), plain(answer.verdict.text.en));
    assert.match(await heading(page), /^26\.9 % of the kernel time runs in 3 kernels built for an older GPU/);
    assert.ok(plain(await page.textContent(panel("Share of kernel time"))).includes(`Tensor Cores ${(used * 100).toFixed(0)} %`));
    assert.equal(await page.locator(`${panel("Duration and occupancy")} circle`).count(), rows.length);
    const first = [...rows].sort((a, b) => b.total - a.total)[0];
    await page.locator(`${panel("Duration and occupancy")} circle`).first().click({ force: true });
    await addressHas(page, "q=name:");
    await settled(page);
    assert.deepEqual(await page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title)), [first.name]);
    await page.click("role=radio[name='Launch']");
    await addressHas(page, "group=launch");
    await settled(page);
    const launch = rowsOf(s.json("kernels", "gpt_eager", "--group-by", "launch").tables.kernels).find((r) => r.name === first.name);
    assert.ok(plain(await page.textContent(".main-table tbody")).includes(launch.grid));
  });
}, ["gpt_eager"]);

test("memory: the contents of a moment and of the peak, by operator, module and size, as on the command line", async (s) => {
  const peak = rowsOf(s.json("memory", "resnet_w0", "--table", "contents").tables.contents).filter((r) => r.device === "GPU0");
  await visit(s, "memory?run=resnet_w0", async (page) => {
    const shown = () => page.textContent(panel("Alive at the peak")).then(plain);
    assert.ok((await shown()).includes(size(peak.reduce((a, r) => a + r.bytes, 0))), await shown());
    assert.equal(await page.locator(".alive li").count(), peak.length + 1);
    await page.click("role=radio[name='Module']");
    await addressHas(page, "holders=module");
    await settled(page);
    const modules = rowsOf(s.json("memory", "resnet_w0", "--table", "contents", "--by", "module").tables.contents);
    // The largest seven, and how many more there are: they come on a click.
    assert.equal(await page.locator(".alive li").count(), 9);
    await page.click(".alive-more button");
    assert.equal(await page.locator(".alive li").count(), modules.filter((r) => r.device === "GPU0").length + 1);
    await page.click("role=radio[name='Operator']");
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.click(box.x + box.width * 0.5, box.y + 60);
    await addressHas(page, "at=");
    await settled(page);
    const at = new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("at");
    const then = rowsOf(s.json("memory", "resnet_w0", "--table", "contents", "--at", `${at}ns`).tables.contents);
    const sum = then.filter((r) => r.device === "GPU0").reduce((a, r) => a + r.bytes, 0);
    assert.ok((await shown()).includes(size(sum)), `${await shown()} ${size(sum)}`);
  });
}, ["resnet_w0"]);

test("memory: the first look asks for each table once, and for the device in view", (s) =>
  visit(s, "overview?run=resnet_w0", async (page) => {
    const asked = [];
    page.on("request", (r) => r.url().includes("/api/v1/memory") && asked.push(new URL(r.url()).searchParams));
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.waitForSelector(".alive-total");
    await settled(page);
    assert.deepEqual(asked.map((q) => q.get("table")).sort(), ["contents", "curve", "events", "peaks", "statistics"]);
    for (const q of asked) assert.ok(q.get("table") === "peaks" || q.get("filter").includes("GPU0"), String(q));
  }), ["resnet_w0"]);

test("memory: events and statistics follow a range, their numbers are the command line's", async (s) => {
  const range = ["--from", "90ms", "--to", "120ms"];
  const answer = s.json("memory", "resnet_w0", ...range, "--filter", 'device:"GPU0"');
  await visit(s, "memory?run=resnet_w0&range=90000000..120000000", async (page) => {
    assert.match(plain(await page.textContent(`${panel("Allocations")} .panel-words`)), new RegExp(`^${answer.tables.events.rows.length} `));
    const largest = rowsOf(answer.tables.events).sort((a, b) => b.bytes - a.bytes)[0];
    assert.ok(plain(await bodyRows(page, "Allocations").first().textContent()).includes((largest.bytes / 2 ** 20).toFixed(1)));
    const most = rowsOf(answer.tables.statistics).sort((a, b) => b.self_allocation_bytes - a.self_allocation_bytes)[0];
    assert.ok(plain(await bodyRows(page, "By operator").first().textContent()).includes(most.op));
    await page.click("role=radio[name='Address map']");
    await page.waitForSelector(`${panel("Memory over time")} canvas`);
    await settled(page);
  });
}, ["resnet_w0"]);

test("modules: classes have the sums of the command line, a module leads to its operators", async (s) => {
  const classes = rowsOf(s.json("modules", "resnet_w0", "--group-by", "type").tables.modules);
  await visit(s, "modules?run=resnet_w0&group=type", async (page) => {
    const row = plain(await page.textContent("tr:has-text('Conv2d')"));
    assert.ok(row.includes(ms(classes.find((r) => r.module === "Conv2d").device_self)), row);
  });
  await visit(s, "modules?run=resnet_w0", async (page) => {
    await page.click("tr:has-text('Conv2d_0') >> nth=0");
    await page.click("text=Operators of Conv2d_0");
    await addressHas(page, 'q=stack:"nn.Module: Conv2d_0"');
    await settled(page);
    assert.ok(plain(await page.textContent(".main-table tbody")).includes("aten::cudnn_convolution"));
  });
}, ["resnet_w0"]);

test("modules: a module leads to its kernels, forward and backward", async (s) => {
  const rows = rowsOf(s.json("kernels", "resnet_w0", "--module", "Conv2d_0").tables.kernels).sort((a, b) => b.total - a.total);
  assert.ok(rows.length > 2 && rows.length < s.json("kernels", "resnet_w0").tables.kernels.rows.length);
  await visit(s, "modules?run=resnet_w0", async (page) => {
    await page.click("tr:has-text('Conv2d_0') >> nth=0");
    await page.click("text=Kernels of Conv2d_0");
    await addressHas(page, "module=Conv2d_0");
    await settled(page);
    assert.deepEqual(await page.$$eval(".main-table tbody td.first", (l) => l.map((e) => e.title)), rows.map((r) => r.name));
    await page.click("role=button[name='Kernels of all modules']");
    await addressLacks(page, "module=");
  });
}, ["resnet_w0"]);

test("steps: hidden and exposed communication, the average, a click sets the window", async (s) => {
  const one = s.json("steps", "ddp", "--step", "2");
  const segments = rowsOf(one.tables.segments);
  const comm = segments.filter((r) => r.stage === "communication");
  assert.ok(comm.length > 0 && comm.every((r) => r.exposed <= r.duration));
  await visit(s, "steps?run=ddp&step=2", async (page) => {
    const boxes = await page.$$eval(`${panel("Step 2")} svg rect`, (l) => l.map((e) => e.getAttribute("fill")));
    assert.equal(boxes.filter((f) => f === "var(--communication)").length, comm.length + 1); // and the legend's
    assert.equal(boxes.filter((f) => f === "url(#overlap)").length, segments.filter((r) => r.stage === "hidden").length + 1);
    await page.click("role=radio[name='Average']");
    await addressHas(page, "show=average");
    await page.locator(`${panel("All steps")} g[role=button]`).nth(1).click();
    await addressHas(page, "step=3");
  });
}, ["ddp"]);

test("distributed: devices, the last to arrive and waiting as on the command line", async (s) => {
  const answer = s.json("distributed", "ddp", "--all-workers");
  const devices = rowsOf(answer.tables.devices);
  const arrivals = rowsOf(answer.tables.arrivals);
  const calls = new Map();
  for (const r of arrivals) {
    const key = `${r.name} ${r.start - r.late_by}`; // all members agree on when the first arrived
    calls.set(key, [...(calls.get(key) ?? []), r]);
  }
  const last = [...calls.values()].map((list) => list.sort((a, b) => b.late_by - a.late_by)[0].rank);
  await visit(s, "distributed?run=ddp", async (page) => {
    assert.equal(await bodyRows(page, "Devices").count(), devices.length);
    const text = plain(await page.textContent(panel("Devices")));
    for (const d of devices) assert.ok(text.includes(`${(d.utilization * 100).toFixed(1)} %`), text);
    const rank = answer.verdict.values.rank;
    assert.ok(plain(await page.textContent(".facts")).includes(`rank ${rank} arrives last in ${last.filter((r) => r === rank).length} of ${calls.size}`));
    const overlap = rowsOf(answer.tables.overlap)[0];
    assert.ok(plain(await page.textContent(panel("Overlap"))).includes(time(overlap.communication)));
    const late = panel("Which rank is late");
    await page.click(`${late} >> role=radio[name='Waiting']`);
    await page.click(`${late} >> role=radio[name='Collective']`);
    await addressHas(page, "by=name");
    const names = [...new Set(arrivals.map((r) => r.name))];
    assert.equal(await page.locator(`${late} .heat g.part`).count(), names.length * new Set(arrivals.map((r) => r.rank)).size);
    await page.click(`${late} >> role=radio[name='Step']`);
    await addressHas(page, "by=step");
    await page.locator(`${late} .heat g.part`).first().click({ modifiers: ["Shift"] });
    await addressHas(page, "sel=rank:0");
  });
}, ["ddp"]);

test("distributed: a hundred ranks are thin rows, the worst named, the straggler among the bars", (s) =>
  visit(s, "distributed?run=ddp", async (page) => {
    await page.route("**/api/v1/distributed*", async (route) => {
      const answer = await (await route.fetch()).json();
      for (const table of Object.values(answer.tables)) {
        const [rank, worker] = ["rank", "worker"].map((n) => table.columns.findIndex((c) => c.name === n));
        const copy = (row, k) => row.map((v, i) => (i === rank ? v + 4 * k : i === worker ? `${v}.${k}` : v));
        table.rows = Array.from({ length: 25 }, (_, k) => table.rows.map((r) => copy(r, k))).flat();
        table.total_rows = table.rows.length;
      }
      await route.fulfill({ json: answer });
    });
    await page.reload();
    await page.waitForSelector(`${panel("Which rank is late")} .heat-many canvas`);
    await settled(page);
    assert.equal(await page.locator(`${panel("Which rank is late")} .heat-over text`).count(), 10);
    assert.equal(await page.locator(`${panel("Ranks and steps")} .heat-many canvas`).count(), 1);
    for (const name of ["Overlap", "Transfer and waiting"]) {
      const bars = await cells(page, `${panel(name)} .rank-row > span`);
      assert.equal(bars.length, 17);
      assert.deepEqual([bars[0], bars[16]], ["rank 2", "median"]);
    }
    await page.click(`${panel("Which rank is late")} >> role=radio[name='By value']`);
    await addressHas(page, "order=value");
  }), ["ddp"]);

test("distributed: ranks and steps, who holds up the job, what if, as on the command line", async (s) => {
  const { tables } = s.json("distributed", "ddp", "--all-workers");
  const [late, ifs, map] = [rowsOf(tables.stragglers), rowsOf(tables.what_if), rowsOf(tables.heat_map)];
  await visit(s, "distributed?run=ddp&heat=waiting", async (page) => {
    assert.equal(await page.locator(`${panel("Ranks and steps")} .heat g.part`).count(), map.length);
    assert.equal(await bodyRows(page, "Stragglers").count(), late.length);
    assert.match(await page.textContent(panel("Stragglers")), /CPU|Computation|Data loading/);
    assert.equal(await bodyRows(page, "What if").count(), ifs.length);
    assert.ok(plain(await page.textContent(panel("What if"))).includes(`${(ifs[1].share * 100).toFixed(1)} %`));
    await page.click(`${panel("Ranks and steps")} >> role=radio[name='Computation']`);
    await addressHas(page, "heat=computation");
  });
}, ["ddp"]);

test("input pipeline: what a step waits for data, its loader, its advice", async (s) => {
  const answer = s.json("overview", "resnet_w0");
  const steps = rowsOf(answer.tables.steps);
  const mean = (c) => steps.reduce((a, r) => a + r[c], 0) / steps.length;
  await visit(s, "pipeline?run=resnet_w0", async (page) => {
    assert.match(await heading(page), new RegExp(`^${((mean("data_loader") / mean("total")) * 100).toFixed(0)} % `));
    assert.ok(plain(await page.textContent(".facts")).includes(time(mean("data_loader"))));
    assert.match(await page.textContent(panel("Input pipeline")), /SingleProcessData/);
    assert.match(await page.textContent(".advice"), /num_workers/);
  });
  await visit(s, "pipeline?run=gpt_eager", async (page) => assert.match(await heading(page), /not recorded/));
}, ["resnet_w0", "gpt_eager"]);

test("overview: donut, stages of the device, kinds by stage and by kind", async (s) => {
  const answer = s.json("overview", "resnet_w0");
  const kinds = rowsOf(answer.tables.stage_events).filter((r) => r.host_time > 0);
  await visit(s, "overview?run=resnet_w0&average=donut&bars=device&more=1", async (page) => {
    assert.ok(await page.$(`${panel("Average step")} svg.donut`));
    const strips = () => page.locator(`${panel("Event kinds by stage")} .multiple`).count();
    assert.equal(await strips(), new Set(kinds.map((r) => r.stage)).size);
    await page.click("role=radio[name='By kind']");
    await addressHas(page, "multiples=kind");
    assert.equal(await strips(), new Set(kinds.map((r) => r.kind)).size);
    const text = plain(await page.textContent(panel("Event kinds by stage")));
    const most = kinds.sort((a, b) => b.host_time - a.host_time)[0];
    assert.ok(text.includes(time(most.host_time)), text);
  });
}, ["resnet_w0"]);

test("every title has its definition on hover, in both languages", async (s) => {
  for (const [lang, view, title, words] of [
    ["en", "operators?run=gpt_eager", "Share of time", /device time of kernels/],
    ["zh", "kernels?run=gpt_eager", "核函数耗时占比", /[\u4e00-\u9fff]/],
  ])
    await visit(s, view, async (page) => {
      const head = lang === "en" ? page.locator(`h2 .defined >> text=${title}`) : page.locator("h2 .defined").first();
      await head.hover();
      await page.waitForSelector(".tip");
      assert.match(await page.textContent(".tip"), words);
    }, { lang });
}, ["gpt_eager"]);

test("charts are saved as SVG and PNG, those on a canvas too; tables as CSV", async (s) => {
  for (const [view, name, inside] of [
    ["operators?run=gpt_eager", "Share of time", /mm 34/],
    ["memory?run=resnet_w0", "Memory over time", /<path d="M[^"]{2000}/],
    ["steps?run=ddp", "All steps", /<rect /],
  ])
    await visit(s, view, async (page) => {
      const menu = async (item) => {
        await page.hover(panel(name));
        await page.click(`${panel(name)} .panel-menu button`);
        const [file] = await Promise.all([page.waitForEvent("download"), page.click(`role=menuitem[name='${item}']`)]);
        return readFileSync(await file.path());
      };
      assert.match(plain((await menu("SVG")).toString()), inside);
      assert.equal((await menu("PNG")).subarray(1, 4).toString(), "PNG");
      const csv = (await menu("CSV")).toString().split("\n");
      assert.ok(csv.length > 2 && csv[0].includes(","), csv[0]);
    });
}, ["gpt_eager", "resnet_w0", "ddp"]);

test("numbers stand before their unit behind a thin space, in Chinese too", async (s) => {
  for (const lang of ["en", "zh"])
    await visit(s, "overview?run=resnet_w0", async (page) => {
      const facts = await page.textContent(".facts");
      assert.match(facts, /\d\u2009ms/);
      assert.ok(!/\d (ms|µs|MiB|GiB)\b/.test(facts), facts);
      assert.ok((await cells(page, ".meter b")).every((t) => /^[\d.]+.?%$/.test(t)));
    }, { lang });
}, ["resnet_w0"]);

test("a panel that is still loading names no unit", (s) =>
  visit(s, "overview?run=sample", async (page) => {
    await page.route("**/api/v1/steps?*", () => {}); // never answered
    await page.evaluate(() => (location.hash = "#/steps?run=sample"));
    await page.waitForSelector(".panel[aria-busy=true] .waiting");
    assert.equal(await page.locator(".panel[aria-busy=true] .panel-words").count(), 0);
  }));
