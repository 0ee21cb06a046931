import { expect, test } from "vitest";
import { numberedLines } from "./lines.ts";

test("lines look as the sidecar's read_file shows them", () => {
  expect(numberedLines("a\r\nb\n")).toEqual({ text: "1 a\n2 b", first: 1, last: 2, total: 2 });
  const ten = Array.from({ length: 10 }, (_, index) => `l${index + 1}`).join("\n");
  expect(numberedLines(ten, 9, 10)?.text).toBe(" 9 l9\n10 l10");
  expect(numberedLines("")).toEqual({ text: "", first: 1, last: 0, total: 0 });
});

test("long files are cut and say how to go on; lines that don't exist are refused", () => {
  const long = numberedLines("x\n".repeat(2_001));
  expect(long?.last).toBe(2_000);
  expect(long?.text.endsWith("… 1 more lines; continue with startLine 2001")).toBe(true);
  expect(numberedLines("a\n", 5)).toBeUndefined();
  expect(numberedLines("a\nb\n", 2, 1)).toBeUndefined();
});
