import type { CommentData } from "./types";

export function CommentList({ comments }: { comments: CommentData[] }) {
  return (
    <section aria-label="Comments">
      {comments.map((c) => (
        <p key={c.id}>{c.text}</p>
      ))}
    </section>
  );
}
