import { useRef, useState } from "react";
import { Declined, pay } from "./api";
import type { Cart, Order } from "./types";

type Status = "idle" | "paying" | "declined" | "failed";

const MESSAGES: Record<Status, string> = {
  idle: "",
  paying: "We ask your bank…",
  declined: "Your bank said no. Choose another way to pay.",
  failed: "We could not reach your bank. Try again: you pay once.",
};

interface Props {
  cart: Cart;
  methodId: string;
  onPaid: (order: Order) => void;
}

export function PayButton({ cart, methodId, onPaid }: Props) {
  const [status, setStatus] = useState<Status>("idle");
  const paying = useRef(false); // state is a render late for a double click

  const press = async () => {
    if (paying.current) {
      return;
    }
    paying.current = true;
    setStatus("paying");
    try {
      onPaid(await pay(cart, methodId));
      setStatus("idle");
    } catch (err) {
      setStatus(err instanceof Declined ? "declined" : "failed");
    } finally {
      paying.current = false;
    }
  };

  const failed = status === "declined" || status === "failed";
  return (
    <>
      <button type="button" onClick={() => void press()} disabled={status === "paying"}>
        Pay
      </button>
      <p role={failed ? "alert" : "status"}>{MESSAGES[status]}</p>
    </>
  );
}
