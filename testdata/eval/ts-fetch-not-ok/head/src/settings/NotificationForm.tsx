import { useState, type FormEvent } from "react";
import { saveNotifications, type NotificationSettings } from "./save";

type Status = "idle" | "saving" | "saved" | "failed";

export function NotificationForm({ initial }: { initial: NotificationSettings }) {
  const [settings, setSettings] = useState(initial);
  const [status, setStatus] = useState<Status>("idle");

  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setStatus("saving");
    try {
      await saveNotifications(settings);
      setStatus("saved");
    } catch (err) {
      console.error("settings not saved", err);
      setStatus("failed");
    }
  };

  return (
    <form onSubmit={submit}>
      <label>
        <input
          type="checkbox"
          checked={settings.mentions}
          onChange={(e) => setSettings({ ...settings, mentions: e.target.checked })}
        />
        Tell me when I am mentioned
      </label>
      <button type="submit" disabled={status === "saving"}>
        Save
      </button>
      <p role="status">
        {status === "saved" && "Saved"}
        {status === "failed" && "The settings could not be saved. Try again."}
      </p>
    </form>
  );
}
