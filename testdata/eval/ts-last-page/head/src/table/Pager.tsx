import type { Pages } from "./usePages";

export function Pager({ pages }: { pages: Pages<unknown> }) {
  if (pages.pageCount <= 1) {
    return null;
  }
  return (
    <nav aria-label="Pages">
      <button type="button" onClick={pages.previous} disabled={pages.page === 1}>
        Previous
      </button>
      <span aria-current="page">
        Page {pages.page} of {pages.pageCount}
      </span>
      <button type="button" onClick={pages.next} disabled={pages.page === pages.pageCount}>
        Next
      </button>
    </nav>
  );
}
