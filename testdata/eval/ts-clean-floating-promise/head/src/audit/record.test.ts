import { expect, test, vi } from "vitest";
import { auditStore } from "./store";
import { outbox } from "./outbox";
import { record } from "./record";

test("what the store does not take goes to the outbox", async () => {
  vi.spyOn(auditStore, "append").mockRejectedValue(new Error("down"));
  const put = vi.spyOn(outbox, "put").mockResolvedValue();
  const entry = { actorId: "u1", action: "export.read", subjectId: "e1", at: "2025-07-01T00:00:00Z" } as const;
  record(entry);
  await vi.waitFor(() => expect(put).toHaveBeenCalledWith("audit", entry));
});
