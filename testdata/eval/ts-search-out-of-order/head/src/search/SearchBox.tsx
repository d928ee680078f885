import { useEffect, useId, useState } from "react";
import { search, type Hit } from "./api";

const PAUSE_MS = 150;

export function SearchBox() {
  const id = useId();
  const [query, setQuery] = useState("");
  const [hits, setHits] = useState<Hit[]>([]);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    if (query.trim() === "") {
      setHits([]);
      return;
    }
    const timer = setTimeout(async () => {
      try {
        setHits(await search(query));
        setFailed(false);
      } catch (err) {
        console.error("search failed", err);
        setFailed(true);
      }
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [query]);

  return (
    <search>
      <label htmlFor={id}>Search articles</label>
      <input id={id} type="search" value={query} onChange={(e) => setQuery(e.target.value)} />
      {failed && <p role="alert">The search could not be done. Try again.</p>}
      <p role="status">{hits.length} results</p>
      <ul>
        {hits.map((hit) => (
          <li key={hit.id}>
            <a href={hit.url}>{hit.title}</a>
          </li>
        ))}
      </ul>
    </search>
  );
}
