import { renderHook, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import * as api from "./api";
import { useSearch } from "./useSearch";

test("an overtaken answer is not shown", async () => {
  const slow = Promise.withResolvers<api.Hit[]>();
  vi.spyOn(api, "search").mockImplementation((query) =>
    query === "old" ? slow.promise : Promise.resolve([{ id: "2", title: "New", url: "/2" }]),
  );
  const { result, rerender } = renderHook(({ q }) => useSearch(q), { initialProps: { q: "old" } });
  await waitFor(() => expect(api.search).toHaveBeenCalledTimes(1));
  rerender({ q: "new" });
  await waitFor(() => expect(result.current.hits).toHaveLength(1));
  slow.resolve([]);
  await slow.promise;
  expect(result.current.hits[0]?.title).toBe("New");
});
