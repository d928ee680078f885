import DOMPurify from "dompurify";
import { marked } from "marked";

const ALLOWED_TAGS = ["p", "br", "strong", "em", "code", "pre", "ul", "ol", "li", "blockquote", "a"];

/** A comment as HTML that holds nothing but text, emphasis, lists and links. */
export function toHtml(markdown: string): string {
  const html = marked.parse(markdown, { async: false, gfm: true });
  return DOMPurify.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR: ["href"] });
}
