import assert from "node:assert/strict";
import { test } from "node:test";
import { SvgPen } from "./svg.ts";

test("what is drawn comes out as SVG, names cannot break out of it", () => {
  const pen = new SvgPen((text) => text.length * 6, "#ccc");
  pen.fillStyle = "#123456";
  pen.fillRect(1, 2, 3, 4);
  pen.fillText('a<b> & "c"', 5, 6);
  const text = pen.text(100, 50);
  assert.match(text, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100" height="50"/);
  assert.match(text, /<rect x="1" y="2" width="3" height="4" fill="#123456"\/>/);
  assert.match(text, /a&#60;b&#62; &#38; &#34;c&#34;/);
});

test("clips opened inside save end with restore", () => {
  const pen = new SvgPen(() => 0, "#ccc");
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, 10, 10);
  pen.clip();
  pen.save();
  pen.clip();
  pen.restore();
  pen.restore();
  const text = pen.text(1, 1);
  assert.equal((text.match(/<g /g) ?? []).length, (text.match(/<\/g>/g) ?? []).length);
});
