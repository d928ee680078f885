import { useId, useState, type FormEvent } from "react";
import { useNavigate } from "react-router-dom";
import { formatMoney } from "../money";
import { Declined, pay } from "./api";
import type { Cart, Method } from "./types";

type Status = "idle" | "paying" | "declined" | "failed";

const MESSAGES: Record<Status, string> = {
  idle: "",
  paying: "We ask your bank…",
  declined: "Your bank said no. Choose another way to pay.",
  failed: "We could not reach your bank. Try again: you pay once.",
};

export function PayStep({ cart, methods }: { cart: Cart; methods: Method[] }) {
  const navigate = useNavigate();
  const messageId = useId();
  const [methodId, setMethodId] = useState(methods[0]?.id ?? "");
  const [status, setStatus] = useState<Status>("idle");

  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (status === "paying" || methodId === "") {
      return;
    }
    setStatus("paying");
    try {
      const key = crypto.randomUUID();
      const order = await pay({ key, cartId: cart.id, methodId });
      navigate(`/orders/${encodeURIComponent(order.number)}/thanks`, { replace: true });
    } catch (err) {
      setStatus(err instanceof Declined ? "declined" : "failed");
    }
  };

  return (
    <form onSubmit={submit} aria-describedby={messageId}>
      <fieldset disabled={status === "paying"}>
        <legend>How do you want to pay?</legend>
        {methods.map((method) => (
          <label key={method.id}>
            <input
              type="radio"
              name="method"
              value={method.id}
              checked={method.id === methodId}
              onChange={() => setMethodId(method.id)}
            />
            {method.name}
          </label>
        ))}
      </fieldset>
      <p>
        To pay: <strong>{formatMoney(cart.totalCents, cart.currency)}</strong>
      </p>
      <button type="submit" disabled={status === "paying" || methodId === ""}>
        Pay
      </button>
      <p id={messageId} role={status === "declined" || status === "failed" ? "alert" : "status"}>
        {MESSAGES[status]}
      </p>
    </form>
  );
}
