import { useEffect, useState } from "react";
import { search, type Hit } from "./api";

const PAUSE_MS = 150;

interface Result {
  hits: Hit[];
  failed: boolean;
}

const NOTHING: Result = { hits: [], failed: false };

/** What is found for a query, some time after it was last changed. */
export function useSearch(query: string): Result {
  const [result, setResult] = useState(NOTHING);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;

    const run = async () => {
      try {
        const hits = query.trim() === "" ? [] : await search(query, { signal });
        if (!signal.aborted) {
          setResult({ hits, failed: false });
        }
      } catch (err) {
        if (!signal.aborted) {
          console.error("search failed", err);
          setResult({ hits: [], failed: true });
        }
      }
    };
    const timer = setTimeout(() => void run(), PAUSE_MS);

    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query]);

  return result;
}
