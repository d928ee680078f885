import { useEffect, useMemo, useRef } from "react";
import { toHtml } from "./toHtml";
import type { CommentData } from "./types";

export function Comment({ comment }: { comment: CommentData }) {
  const html = useMemo(() => toHtml(comment.text), [comment.text]);
  const body = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (body.current) {
      body.current.innerHTML = html; // sanitised by toHtml
    }
  }, [html]);

  return (
    <article aria-label={`Comment by ${comment.author}`}>
      <strong>{comment.author}</strong>
      <div className="prose" ref={body} />
    </article>
  );
}
