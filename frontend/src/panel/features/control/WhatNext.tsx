import { type FormEvent, useState } from "react";
import type { Thread } from "../../../client/index.ts";
import { useBrain } from "../../shared/brain.tsx";
import { Icon } from "../../shared/icons.tsx";
import { complain } from "../../shared/toasts.tsx";

interface Props {
  readonly thread: Thread;
  readonly onGoing: () => void;
}

/** It has given up, and said why and what could be done: a place to say what to do next. With that it goes on. */
export function WhatNext({ thread, onGoing }: Props) {
  const service = useBrain();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  if (thread.status !== "escalated") return null;
  const goOn = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await service.message(thread.taskId, text.trim());
      setText("");
      onGoing();
    } catch (error) {
      complain(error);
    }
    setBusy(false);
  };
  return (
    <form className="what-next" aria-label="What to do next" onSubmit={goOn}>
      <label htmlFor="what-next">What should it do next?</label>
      <textarea
        id="what-next"
        rows={2}
        placeholder="It goes on from where it is, with what you say here."
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button button-primary" disabled={busy || text.trim() === ""}>
        <Icon name="resume" /> Go on
      </button>
    </form>
  );
}
