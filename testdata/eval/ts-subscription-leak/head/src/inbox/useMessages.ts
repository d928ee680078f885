import { useEffect, useState } from "react";
import { api } from "../api";
import { socket } from "../socket";
import type { Message } from "./types";

interface State {
  messages: Message[];
  status: "loading" | "ready" | "failed";
}

/** The messages of a conversation, the oldest first, and those that arrive. */
export function useMessages(conversationId: string): State {
  const [state, setState] = useState<State>({ messages: [], status: "loading" });

  useEffect(() => {
    const controller = new AbortController();
    setState({ messages: [], status: "loading" });

    api
      .messages(conversationId, { signal: controller.signal })
      .then((messages) => setState({ messages, status: "ready" }))
      .catch((err: unknown) => {
        if (!controller.signal.aborted) {
          console.error("messages could not be read", err);
          setState({ messages: [], status: "failed" });
        }
      });

    const channel = socket.channel(`conversation:${conversationId}`);
    const onMessage = (message: Message) => {
      setState((before) => ({ ...before, messages: [...before.messages, message] }));
    };
    channel.on("message", onMessage);
    channel.join();

    return () => controller.abort();
  }, [conversationId]);

  return state;
}
