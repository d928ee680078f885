import { useMemo } from "react";
import { marked } from "marked";
import type { CommentData } from "./types";

marked.use({ gfm: true, breaks: true });

const dateFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function Comment({ comment }: { comment: CommentData }) {
  const html = useMemo(() => marked.parse(comment.text, { async: false }), [comment.text]);
  return (
    <article aria-label={`Comment by ${comment.author}`}>
      <header>
        <strong>{comment.author}</strong>{" "}
        <time dateTime={comment.createdAt}>{dateFormat.format(new Date(comment.createdAt))}</time>
      </header>
      <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
    </article>
  );
}
