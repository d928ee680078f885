// @vitest-environment jsdom
import { expect, test } from "vitest";
import { toHtml } from "./toHtml";

test("emphasis and links stay", () => {
  expect(toHtml("**a** [b](https://example.com)")).toContain('<strong>a</strong> <a href="https://example.com">b</a>');
});

test.each(["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))"])(
  "%s does no harm",
  (text) => {
    expect(toHtml(text)).not.toMatch(/script|onerror/i);
  },
);
