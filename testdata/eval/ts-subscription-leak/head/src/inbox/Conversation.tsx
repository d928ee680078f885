import { useMessages } from "./useMessages";

export function Conversation({ id }: { id: string }) {
  const { messages, status } = useMessages(id);
  if (status === "loading") {
    return <p role="status">Loading messages…</p>;
  }
  if (status === "failed") {
    return <p role="alert">The messages could not be read. Reload the page to try again.</p>;
  }
  return (
    <ol aria-label="Messages">
      {messages.map((m) => (
        <li key={m.id}>
          <strong>{m.author}</strong> {m.text}
        </li>
      ))}
    </ol>
  );
}
