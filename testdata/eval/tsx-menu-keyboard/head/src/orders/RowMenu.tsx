import { useEffect, useRef, useState } from "react";
import { cancelOrder, refundOrder, reprintReceipt } from "./api";
import type { Order } from "./types";

interface Action {
  name: string;
  dangerous: boolean;
  run: (orderId: string) => Promise<void>;
}

const ACTIONS: Action[] = [
  { name: "Reprint", dangerous: false, run: reprintReceipt },
  { name: "Refund", dangerous: true, run: refundOrder },
  { name: "Cancel order", dangerous: true, run: cancelOrder },
];

export function RowMenu({ order, onChanged }: { order: Order; onChanged: () => void }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (!open) {
      return;
    }
    const close = (e: MouseEvent) => {
      if (!root.current?.contains(e.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener("mousedown", close);
    return () => document.removeEventListener("mousedown", close);
  }, [open]);

  const choose = async (action: Action) => {
    setOpen(false);
    await action.run(order.id);
    onChanged();
  };

  return (
    <div ref={root} className="row-menu">
      <div className="row-menu__dots" onClick={() => setOpen(!open)}>
        ⋮
      </div>
      {open && (
        <div className="row-menu__list">
          {ACTIONS.map((action) => (
            <div key={action.name} className="row-menu__item" onClick={() => void choose(action)}>
              <span className="row-menu__bullet">•</span>
              <span className="row-menu__space" />
              <span className="row-menu__icon" aria-hidden="true">
                <img src={`/icons/${action.name}.svg`} alt="" />
              </span>
              <span style={{ color: action.dangerous ? "#c00" : "inherit" }}>{action.name}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
