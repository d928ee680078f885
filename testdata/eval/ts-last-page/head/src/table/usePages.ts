import { useMemo, useState } from "react";

export const PAGE_SIZE = 25;

export interface Pages<T> {
  rows: T[];
  page: number; // from 1
  pageCount: number;
  previous: () => void;
  next: () => void;
}

export function usePages<T>(rows: T[]): Pages<T> {
  const [wanted, setWanted] = useState(1);
  const pageCount = Math.floor(rows.length / PAGE_SIZE);
  const page = Math.max(1, Math.min(wanted, pageCount));
  const shown = useMemo(
    () => rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    [rows, page],
  );
  return {
    rows: shown,
    page,
    pageCount,
    previous: () => setWanted(page - 1),
    next: () => setWanted(page + 1),
  };
}
