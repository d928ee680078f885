import { Comment } from "./Comment";
import type { CommentData } from "./types";

export function CommentList({ comments }: { comments: CommentData[] }) {
  return (
    <section aria-label="Comments">
      {comments.map((c) => (
        <Comment key={c.id} comment={c} />
      ))}
    </section>
  );
}
